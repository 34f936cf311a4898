"""The modules of a package, read and parsed. Nothing of the package is imported."""

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


class Module:
    """One file of Python."""

    def __init__(self, name: str, path: Path, text: str, *, is_package: bool) -> None:
        self.name = name
        self.path = path
        self.text = text
        self.is_package = is_package  # a file `__init__`

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, str(self.path))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree, outer ones first."""
        return tuple(ast.walk(self.tree))

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @property
    def package(self) -> str:
        """The name of the package that the module is in; its own name if it is one."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @cached_property
    def docstrings(self) -> frozenset[int]:
        """The `id` of each node that is a text which does nothing, such as a docstring."""
        return frozenset(
            id(node.value)
            for node in self.nodes
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        )

    @cached_property
    def texts(self) -> tuple[ast.Constant, ...]:
        """The constants that are texts, without docstrings."""
        return tuple(
            node
            for node in self.nodes
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in self.docstrings
        )

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that the module binds at its top level."""
        return frozenset(_bound(self.tree.body))


class Package:
    """A package with all its modules, by their dotted names."""

    def __init__(self, name: str, modules: Mapping[str, Module]) -> None:
        self.name = name
        self.modules = modules

    @property
    def folder(self) -> Path:
        return self.modules[self.name].path.parent

    def place(self, module: Module) -> str:
        """Return the path of a module below the package's folder."""
        return module.path.relative_to(self.folder).as_posix()

    def lines(self, names: frozenset[str] | None = None) -> int:
        """Return the physical lines of these modules, or of all."""
        return sum(self.modules[name].lines for name in (self.modules if names is None else names))

    @cached_property
    def by_path(self) -> Mapping[Path, str]:
        return {module.path: name for name, module in self.modules.items()}


def read_package(folder: Path) -> Package:
    """Read the package whose files are in a folder."""
    modules = {}
    for path in sorted(folder.rglob("*.py")):
        parts = [folder.name, *path.relative_to(folder).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        if all(part.isidentifier() for part in parts):
            modules[name] = Module(name, path, path.read_text("utf-8"), is_package=is_package)
    return Package(folder.name, modules)


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    yield alias.asname or alias.name.partition(".")[0]
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                for each in ast.walk(node):
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                        yield each.id
            case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
                yield from _bound(node.body)
                yield from _bound(getattr(node, "orelse", []))
                for handler in getattr(node, "handlers", []):
                    yield from _bound(handler.body)
