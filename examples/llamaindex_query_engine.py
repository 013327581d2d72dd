"""Ask a library through LlamaIndex.

    rag index ./corpus
    python examples/llamaindex_query_engine.py .rag "What is the mirror made of?"

The first line makes the library, the second asks it.
"""

from __future__ import annotations

import sys

from rag import Library, RagError
from rag.llamaindex import LibraryQueryEngine, LibraryRetriever


def main(folder: str, question: str) -> None:
    """Ask one question through LlamaIndex and print the answer with its sources."""
    with Library.open(folder) as library:
        print("Retrieved:")
        for found in LibraryRetriever(library, top_k=3).retrieve(question):
            place = found.metadata
            where = f" {place['start']:.1f}-{place['end']:.1f} s" if place["kind"] == "video" else ""
            print(f"  {found.score:.3f} {place['path']}{where}: {found.text[:60]!r}")

        response = LibraryQueryEngine(library=library).query(question)
        print(f"Answer: {response} (confidence {response.metadata['confidence']:.2f})")
        for source in response.source_nodes:
            print(f"  because of {source.metadata['path']}: {source.text[:60]!r}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit('usage: python examples/llamaindex_query_engine.py LIBRARY "QUESTION"')
    try:
        main(sys.argv[1], sys.argv[2])
    except RagError as error:
        sys.exit(str(error))
