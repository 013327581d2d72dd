"""Settings of encoders, OCR and speech recognition."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from corpora.settings import SettingsSection

Switch = Literal["auto", "on", "off"]
Device = Literal["auto", "cpu", "cuda", "mps"]


class EncoderSettings(SettingsSection):
    """Section `encoder`: models and backend of the encoders."""

    image: str = "auto"
    """`auto`, `none`, a name of `rag models list`, or `hf:FOLDER` (also `hf:./FOLDER`)."""
    text: str = "multilingual-e5-small-q4"
    """Encoder of texts and questions of a new library: a name of `rag models list`, `hf:FOLDER`, or
    `FAMILY:PATH` of another package. A library keeps its own, and `rag index` refuses another one."""
    device: Device = "auto"
    """Where pulled models run: `cuda`, `mps`, `cpu`; `auto` takes the first that torch sees. A library keeps
    the device that its images were encoded on; the default models run on the processor."""
    models_dir: Path | None = None
    """Folder of local weights; default `$XDG_DATA_HOME/rag/models`."""


class OcrSettings(SettingsSection):
    """Section `ocr`: on-screen text, and that of scanned pages of PDF files."""

    mode: Switch = "auto"
    """Reading of text in images; `auto`: if the reader is installed."""
    min_confidence: float = Field(0.6, ge=0, le=1)
    """Words read with less confidence are dropped."""


class AsrSettings(SettingsSection):
    """Section `asr`: speech."""

    mode: Switch = "auto"
    """Reading of speech; `auto`: if the model is installed and its weights are here."""
    model: str = "faster-whisper-base"
    """A name of `rag models list`, or `hf:FOLDER` of a Whisper in CTranslate2's form."""
    language: str = ""
    """Language spoken, as a code of Whisper such as `en`; empty lets the model detect it."""


FRAME_MEASURES = "pictures/3"
"""The version of the measurements of frames (`indexers.shots`)."""
SOUND_MEASURES = "sound/1"
"""The version of the measurements of audio (`indexers.soundtrack`)."""
