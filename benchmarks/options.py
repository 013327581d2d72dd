"""What benchmarks share: the command line, and the processor time."""

from __future__ import annotations

import argparse
import resource


def option_parser(doc: str | None) -> argparse.ArgumentParser:
    """A parser without options, whose help is `doc`, the benchmark's docstring, line by line."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def cpu() -> float:
    """CPU-seconds of this process and of its finished children."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
