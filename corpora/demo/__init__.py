"""A small corpus made on the spot: films and documents on the workshop, the kitchen and the garden."""

from __future__ import annotations

from corpora.demo.questions import DemoQuestion, demo_questions
from corpora.demo.writing import write_demo_corpus

__all__ = ["DemoQuestion", "demo_questions", "write_demo_corpus"]
