# CPU image: no network at run time, no root, the library and the corpus as volumes.
#
#   docker build -t rag .
#   docker run --rm -v "$PWD/corpus:/corpus:ro" -v rag-library:/library rag index /corpus
#   docker run --rm --network none -v "$PWD/corpus:/corpus:ro" -v rag-library:/library rag ask "..."
#
# On Linux the package index's own torch brings several GB of CUDA libraries that a CPU never uses. PyTorch
# documents an index of CPU wheels; give it to pip, whose choice of torch then is the CPU build:
#
#   docker build --build-arg PIP_EXTRA_INDEX_URL="<the CPU index>" -t rag .
#
# For workers of a cluster (deploy/): docker build --build-arg EXTRAS="ocr,asr,cluster" -t rag:cluster .
#
# Weights lie in /models: mount a folder there, or fill the volume with `rag models pull NAME`.
FROM python:3.11-slim

ARG PIP_EXTRA_INDEX_URL=""
ARG EXTRAS="ocr,asr"

# OpenCV, which OCR needs, links these two; slim images lack them.
RUN apt-get update \
 && apt-get install --no-install-recommends --yes libgl1 libglib2.0-0 \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY rag rag
COPY indexers indexers
COPY corpora corpora
COPY localization localization
COPY eval eval
RUN python -m pip install --no-cache-dir -c constraints.txt ".[${EXTRAS}]" \
 && rm -rf /src

RUN useradd --create-home --uid 10001 rag \
 && mkdir /corpus /library /models \
 && chown rag:rag /library /models
USER rag
WORKDIR /corpus
ENV RAG_LIBRARY=/library \
    RAG_ENCODER__MODELS_DIR=/models
VOLUME ["/corpus", "/library", "/models"]

ENTRYPOINT ["rag"]
CMD ["--help"]
