"""The command line of a benchmark."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path


def option_parser(doc: str | None) -> argparse.ArgumentParser:
    """A parser without options, whose help is `doc`, the benchmark's docstring, line by line."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def kept_folder() -> Path:
    """Where footage and libraries are kept from one run to the next."""
    return Path(tempfile.gettempdir()) / "rag-benchmarks"
