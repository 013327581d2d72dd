"""Public functions, classes and methods of the packages, read from their syntax trees."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.fakes.sources import parse

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
ARRAY = re.compile(r"\b(?:NDArray|ndarray|Floats?|Vectors?|Matrix|FloatArray|UInt8Array)\b")
SHAPE = re.compile(
    r"\(\w+(?: ?[+*/-] ?\w+)?,(?: ?\w+(?: ?[+*/-] ?\w+)?,?)* ?\)|\bshapes?\b|\bscalar\b|\b[01]-d\b"
)
DTYPE = re.compile(r"\b(?:float(?:16|32|64)?|u?int(?:8|16|32|64)?|bool|dtype|object|complex64)\b")


@dataclass(frozen=True)
class Symbol:
    path: str
    name: str
    node: Definition
    documented: bool

    def __str__(self) -> str:
        return f"{self.path}:{self.node.lineno} {self.name}"

    @property
    def takes_arrays(self) -> bool:
        """Whether an annotation of the signature names an array."""
        node = self.node
        if isinstance(node, ast.ClassDef):
            return False
        args = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        annotations = [each.annotation for each in args if each.annotation] + (
            [node.returns] if node.returns else []
        )
        return any(ARRAY.search(ast.unparse(each)) for each in annotations)

    @property
    def missing(self) -> list[str]:
        """What the docstring of an array function does not state."""
        text = ast.get_docstring(self.node) or ""
        return [name for name, stated in (("shape", SHAPE), ("dtype", DTYPE)) if not stated.search(text)]


def _decorated(node: Definition, name: str) -> bool:
    return any(name in ast.unparse(each) for each in node.decorator_list)


def public_symbols(files: Mapping[str, str]) -> Iterator[Symbol]:
    """Public top-level functions and classes, and public methods of public classes.

    A method without a docstring counts as documented where a base class among the packages documents it, as
    `inspect.getdoc` has it. Left out are overloads, setters, and the tests of contract suites.
    """
    trees = {path: parse(text) for path, text in files.items()}
    classes: dict[str, ast.ClassDef] = {}
    for tree in trees.values():
        classes |= {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

    def inherited(owner: ast.ClassDef, method: str, seen: frozenset[str] = frozenset()) -> bool:
        for base in owner.bases:
            name = re.split(r"[\[.]", ast.unparse(base).partition("[")[0])[-1]
            above = classes.get(name)
            if above is None or name in seen:
                continue
            for node in above.body:
                if isinstance(node, Definition) and node.name == method and ast.get_docstring(node):
                    return True
            if inherited(above, method, seen | {name}):
                return True
        return False

    for path, tree in trees.items():
        for node in tree.body:
            if not isinstance(node, Definition) or node.name.startswith("_") or _decorated(node, "overload"):
                continue
            yield Symbol(path, node.name, node, bool(ast.get_docstring(node)))
            if not isinstance(node, ast.ClassDef):
                continue
            for method in node.body:
                if not isinstance(method, Definition) or method.name.startswith(("_", "test_")):
                    continue
                if _decorated(method, "overload") or _decorated(method, ".setter"):
                    continue
                known = bool(ast.get_docstring(method)) or inherited(node, method.name)
                yield Symbol(path, f"{node.name}.{method.name}", method, known)
