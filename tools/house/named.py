"""The texts that name modules: what is imported or started without an import statement.

Five forms are known. A test of the suite resolves what they find, so a file that is moved away from
such a text is noticed; a form that is new has to be added here.

    "siding.faces.web.command", "siding.a.b:NAME"       a whole text that is a name
    "from siding.a.b import main; main()"         Python in a text
    import_module(f"{__package__}.{name}")        computed: the names are in tables
    Path(x.__file__).with_name("hook.py")         a program beside a module
    [sys.executable, "-m", "siding", "gc"]        a verb as a process of its own
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from tools.house.imports import Arrow, Kind, imports_of
from tools.house.source import Module, Package
from tools.house.verbs import Verbs

_IMPORTERS = ("import_module", "__import__")
# A module whose text has none of these names none, so it need not be parsed.
_TRACES = (*_IMPORTERS, "with_name", '"-m"', '"%s.', '"%s/', "import %s.", "from %s.")
_STATEMENT = r"^[ ]*(?:from|import) %s[. ].*$"  # what most modules have besides
_STATEMENT_IN_TEXT = r'[=(,]\s*[rf]?"""[^"]*?' + _STATEMENT


class Named(NamedTuple):
    """A text that names a module. `target` is "" if there is no such module or attribute."""

    source: str
    line: int
    text: str
    target: str
    kind: Kind = Kind.STRING


class Computed(NamedTuple):
    """A call that imports a module whose name is put together. `prefix` is "" if not known.

    `places`: how many parts of the name are filled in behind the prefix.
    """

    source: str
    line: int
    prefix: str
    places: int = 1


def arrows_named(package: Package, module: Module, verbs: Verbs) -> Iterator[Arrow]:
    """Yield an arrow for each text of a module that names a module of the package."""
    for each in named_in(package, module, verbs):
        if each.target and each.target != module.name:
            yield Arrow(module.name, each.target, each.kind, each.line)


def named_in(package: Package, module: Module, verbs: Verbs) -> Iterator[Named]:
    """Yield the texts of a module that name modules, also those that name nothing that exists."""
    if not _may_name(module, package.name):
        return
    if module.name == verbs.table:
        yield from _verbs_listed(package, verbs)
    programs = {id(node) for node in _programs(module)}
    for node in module.texts:
        text = str(node.value)
        if re.fullmatch(rf"{package.name}(\.\w+)+(:\w+)?", text):
            kind = Kind.PROGRAM if id(node) in programs else Kind.STRING
            if module.name != verbs.table:
                yield _named(package, module, node.lineno, text)._replace(kind=kind)
        elif re.search(rf"\b(from|import) {package.name}\b", text):
            yield from _in_code(package, module, node.lineno, text)
        elif re.fullmatch(rf"{package.name}(/\w+)+\.py", text):
            name = text.removesuffix(".py").replace("/", ".")
            yield _named(package, module, node.lineno, name)._replace(kind=Kind.PROGRAM)
    yield from _from_tables(package, module, verbs)
    yield from _beside(package, module)
    yield from _verbs_started(package, module, verbs)


def _may_name(module: Module, package: str) -> bool:
    rest = re.sub(_STATEMENT % package, "", module.text, flags=re.MULTILINE)
    return any(each.replace("%s", package) in rest for each in _TRACES) or bool(
        re.search(_STATEMENT_IN_TEXT % package, module.text, re.MULTILINE)
    )


def computed_in(module: Module) -> Iterator[Computed]:
    """Yield the calls of a module that import a name which is no constant."""
    if not any(name in module.text for name in _IMPORTERS):
        return
    for node in module.nodes:
        if not isinstance(node, ast.Call) or _called(node) not in _IMPORTERS or not node.args:
            continue
        if not isinstance(node.args[0], ast.Constant):
            for prefix, places in _prefixes(module, node.args[0]) or [("", 1)]:
                yield Computed(module.name, node.lineno, prefix, places)


def _named(package: Package, module: Module, line: int, text: str) -> Named:
    name, _, attribute = text.partition(":")
    found = package.modules.get(name)
    exists = found is not None and (not attribute or attribute in found.bound)
    return Named(module.name, line, text, name if exists else "")


def _verbs_listed(package: Package, verbs: Verbs) -> Iterator[Named]:
    module = package.modules[verbs.table]
    for words, verb in verbs.by_words.items():
        place = f"{verb.module}:{verb.attribute}" if verb.attribute else verb.module
        found = _named(package, module, verb.line, place)
        yield found._replace(text=f"{words}: {place}", kind=Kind.VERBS)


def _in_code(package: Package, module: Module, line: int, text: str) -> Iterator[Named]:
    """Yield what Python in a text imports. A name may end with a ``{placeholder}``."""
    code = re.sub(r"\.\{\w*\}", "", text)
    try:
        tree = ast.parse(code.strip())
    except SyntaxError:
        return  # a sentence about an import
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_below(alias.name, package):
                    yield _named(package, module, line, alias.name)
        elif isinstance(node, ast.ImportFrom) and _is_below(node.module or "", package):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                is_module = inner in package.modules
                place = inner if is_module else f"{node.module}:{alias.name}"
                yield _named(package, module, line, place)


def _is_below(name: str, package: Package) -> bool:
    return name.partition(".")[0] == package.name


def _from_tables(package: Package, module: Module, verbs: Verbs) -> Iterator[Named]:
    """Yield what the computed imports of a module may import.

    The names are texts of the module, or stand in tables at the top level of one that it imports:
    each text that makes the name of a module with the prefix. Where several parts of a name are
    filled in, each of them is such a text.
    """
    computed = sorted(each for each in computed_in(module) if each.prefix)
    if not computed or module.name == verbs.table:
        return
    imported = {arrow.target for arrow in imports_of(package, module) if arrow.kind != Kind.TYPES}
    tables = [package.modules[name] for name in sorted(imported)]
    listed = {text for table in tables for text in _texts_at_top(table)}
    listed |= {str(each.value) for each in module.texts}
    for each in computed:
        found = sorted(listed) if each.places == 1 else _joined(package, each, listed)
        for text in found:
            if each.prefix + text in package.modules:
                yield Named(module.name, each.line, text, each.prefix + text)
    yield from _handed_in(package, module)


def _joined(package: Package, computed: Computed, listed: set[str]) -> Iterator[str]:
    """Yield what modules are called behind the prefix, if all parts of that are listed."""
    for name in sorted(package.modules):
        rest = name.removeprefix(computed.prefix)
        parts = rest.split(".")
        if rest != name and len(parts) == computed.places and listed.issuperset(parts):
            yield rest


def _handed_in(package: Package, module: Module) -> Iterator[Named]:
    """Yield the names that a function with a computed import is called with in its module."""
    computed = list(computed_in(module))
    for function in module.nodes:
        if not isinstance(function, ast.FunctionDef):
            continue
        lines = range(function.lineno, (function.end_lineno or 0) + 1)
        prefix = next((each.prefix for each in computed if each.line in lines), "")
        for node in module.nodes if prefix else ():
            match node:
                case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(text)), *_]):
                    if name == function.name and prefix + text not in package.modules:
                        yield Named(module.name, node.lineno, text, "")


def _texts_at_top(module: Module) -> Iterator[str]:
    for statement in module.tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            for node in ast.walk(statement):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def _prefixes(module: Module, node: ast.expr) -> list[tuple[str, int]]:
    """Return how the names begin that an expression can make, and how many parts are filled in.

    Of ``f"a.b.{x}.{y}"`` it is ("a.b.", 2).
    """
    if isinstance(node, ast.IfExp):
        return _prefixes(module, node.body) + _prefixes(module, node.orelse)
    if not isinstance(node, ast.JoinedStr):
        return []
    prefix, places = "", 0
    for part in node.values:
        if isinstance(part, ast.FormattedValue) and ast.unparse(part.value) == "__package__":
            prefix += module.package
        elif isinstance(part, ast.FormattedValue):
            places += 1
        elif not places:
            prefix += str(part.value) if isinstance(part, ast.Constant) else ""
    return [(prefix, max(places, 1))] if prefix else []


def _beside(package: Package, module: Module) -> Iterator[Named]:
    """Yield the programs whose files are beside a module: ``Path(x.__file__).with_name("p.py")``.

    `x` is a module that is imported; without it, it is the module itself.
    """
    for node in module.nodes:
        if not isinstance(node, ast.Call) or _called(node) != "with_name" or not node.args:
            continue
        argument = node.args[0]
        text = argument.value if isinstance(argument, ast.Constant) else None
        if not isinstance(text, str) or PurePosixPath(text).suffix != ".py":
            continue
        around = _folder_of(package, module, node)
        found = f"{around}.{text.removesuffix('.py')}"
        target = found if found in package.modules else ""
        yield Named(module.name, node.lineno, text, target, Kind.PROGRAM)


def _folder_of(package: Package, module: Module, node: ast.Call) -> str:
    """Return the package in whose folder `with_name` looks."""
    for each in ast.walk(node.func):
        if isinstance(each, ast.Attribute) and each.attr == "__file__":
            name = ast.unparse(each.value)
            for arrow in imports_of(package, module):
                if arrow.target.rpartition(".")[2] == name:
                    return package.modules[arrow.target].package
    return module.package


def _verbs_started(package: Package, module: Module, verbs: Verbs) -> Iterator[Named]:
    """Yield the verbs that a module starts as processes: ``[…, "-m", "siding", …]``.

    The verb is a text in the same function, or in the module if that function names none.
    """
    if not verbs.table or '"-m"' not in module.text:
        return
    starts = {id(node) for node in _programs(module) if node.value == package.name}
    for scope in _scopes(module):
        nodes = list(_own_nodes(scope))
        started = [node for node in nodes if id(node) in starts]
        if not started:
            continue
        texts = [node for node in module.texts if node in nodes]
        line = min(getattr(node, "lineno", 0) for node in started)
        main = package.modules.get(f"{package.name}.__main__")
        yield Named(
            module.name, line, f"-m {package.name}", main.name if main else "", Kind.PROGRAM
        )
        known = verbs.by_words
        found = list(_verbs_in(texts, known)) or list(_verbs_in(module.texts, known))
        for words in found:
            yield Named(module.name, line, words, known[words].module, Kind.PROGRAM)
        if not found:
            yield Named(module.name, line, f"-m {package.name} without a verb", "", Kind.PROGRAM)


def _verbs_in(texts: Iterable[ast.Constant], known: Mapping[str, object]) -> Iterator[str]:
    met = {str(each.value) for each in texts}
    for words in known:
        if set(words.split()) <= met:
            yield words


def _scopes(module: Module) -> Iterable[ast.AST]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [module.tree, *(node for node in module.nodes if isinstance(node, functions))]


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function or module without those of the functions in it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
            yield from _own_nodes(child)


def _programs(module: Module) -> Iterator[ast.Constant]:
    """Yield the texts behind ``-m`` in a list or tuple: modules that are started as programs."""
    for node in module.nodes if '"-m"' in module.text else ():
        if isinstance(node, ast.List | ast.Tuple):
            for option, program in pairwise(node.elts):
                match option, program:
                    case ast.Constant(value="-m"), ast.Constant():
                        yield program


def _called(node: ast.Call) -> str:
    """Return the last name of what is called."""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
