"""Ask questions of your own videos and documents, offline.

    from rag import Library
    library = Library.open(".rag")
    print(library.ask("What is the mirror made of?").text)

Importing this package loads no model and no heavy library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag import errors, records

if TYPE_CHECKING:
    from rag.library import Library

__version__ = "0.1.0"
__all__ = ["Library", "__version__", "errors", "records"]


def __getattr__(name: str) -> Any:
    if name == "Library":
        from rag.library import Library

        return Library
    raise AttributeError(f"module 'rag' has no attribute {name!r}")
