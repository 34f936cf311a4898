"""A workflow's script: its source, what it says of itself, which workflows it calls.

A script is known by its hash. It is Python whose top level may ``await`` and ``return``, or which
defines ``async def main(args)``. It may say what it is in a literal::

    meta = {
        "name": "review",
        "description": "Look at a change from several sides",
        "phases": [{"title": "Look"}, {"title": "Refute"}],
    }
"""

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.workflows.checker import problems_of
from siding.workflows.child.body import compile_body, is_meta
from siding.workflows.errors import Problem, ScriptError
from siding.workflows.javascript.errors import left_to_do

MAX_SOURCE_BYTES = 1 << 20


class Child(NamedTuple):
    """A workflow that a script calls: by its `name`, or by the `path` of its script."""

    name: str = ""
    path: str = ""


def children_in(tree: ast.AST) -> Iterator[Child]:
    """Yield the workflows that ``workflow(…)`` is called with as a literal, each once."""
    seen: set[Child] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_workflow(node.func):
            child = Child(name=_text(_asked(node)), path=_text(_keyword(node, "script_path")))
            if child != Child() and child not in seen:
                seen.add(child)
                yield child


def _is_workflow(called: ast.expr) -> bool:
    return isinstance(called, ast.Name) and called.id == "workflow"


def _asked(call: ast.Call) -> ast.expr | None:
    return call.args[0] if call.args else _keyword(call, "name")


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _text(value: ast.expr | None) -> str:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


class DeclaredPhase(NamedTuple):
    """A phase that the script says it has."""

    title: str
    detail: str = ""


class Meta(NamedTuple):
    """What a script says of itself."""

    name: str
    description: str
    phases: tuple[DeclaredPhase, ...] = ()
    when_to_use: str = ""

    def as_record(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        record: dict[str, Any] = {"name": self.name, "description": self.description}
        if self.when_to_use:
            record["when_to_use"] = self.when_to_use
        if self.phases:
            record["phases"] = [
                {"title": phase.title, **({"detail": phase.detail} if phase.detail else {})}
                for phase in self.phases
            ]
        return record


class Script(NamedTuple):
    """A script that can be run. `warnings` are problems that do not keep it from that. `children`
    are the workflows that it calls, as far as its text names them."""

    source: str
    meta: Meta | None
    warnings: tuple[Problem, ...] = ()
    children: tuple[Child, ...] = ()

    @property
    def sha256(self) -> str:
        return sha256_hex(self.source.encode())


def read_script(source: str) -> Script:
    """Check a source and return it as a script. Raises ScriptError with all that is wrong."""
    if len(source.encode()) > MAX_SOURCE_BYTES:
        raise ScriptError(f"the script is larger than {MAX_SOURCE_BYTES} bytes")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _syntax(error) from None
    found = sorted([*problems_of(tree), *left_to_do(tree)])
    errors = tuple(problem for problem in found if not problem.is_warning)
    meta, wrong = _meta(tree)
    errors = tuple(sorted((*errors, *wrong))) or _not_compiled(source)
    if errors:
        count = f"{len(errors)} problems, the first in " if len(errors) > 1 else ""
        raise ScriptError(f"the script cannot be run: {count}{errors[0]}", errors)
    warnings = tuple(problem for problem in found if problem.is_warning)
    children = tuple(children_in(tree))
    return Script(source=source, meta=meta, warnings=warnings, children=children)


def _not_compiled(source: str) -> tuple[Problem, ...]:
    """Return what only shows when the source is compiled, such as a `return` in a generator."""
    try:
        compile_body(source, "<workflow>")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _syntax(error).problems
    return ()


def _syntax(error: Exception) -> ScriptError:
    line = getattr(error, "lineno", None) or 1
    column = getattr(error, "offset", None) or 1
    said = getattr(error, "msg", None) or str(error) or type(error).__name__
    remedy = "a script is Python; its top level may await and return"
    problem = Problem(line=line, column=column, what=f"not Python: {said}", remedy=remedy)
    return ScriptError(f"the script cannot be run: {problem}", (problem,))


def _meta(tree: ast.Module) -> tuple[Meta | None, tuple[Problem, ...]]:
    statements = [one for one in tree.body if is_meta(one)]
    if not statements:
        return None, ()
    statement = statements[0]
    assert isinstance(statement, ast.Assign)

    def wrong(what: str, remedy: str) -> tuple[None, tuple[Problem, ...]]:
        problem = Problem(
            line=statement.lineno, column=statement.col_offset + 1, what=what, remedy=remedy
        )
        return None, (problem,)

    if len(statements) > 1:
        return wrong("there is more than one meta", "keep one `meta = {…}`")
    try:
        value = ast.literal_eval(statement.value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return wrong("meta must be a plain literal", "write texts, lists and dictionaries only")
    if not isinstance(value, dict):
        return wrong("meta must be a dictionary", 'write `meta = {"name": …, "description": …}`')
    if not isinstance(value.get("name"), str) or not isinstance(value.get("description"), str):
        return wrong("meta has no name and description", "give both, as texts")
    phases = _phases(value.get("phases", []))
    if phases is None:
        return wrong(
            "meta's phases are not a list of titles", 'write `"phases": [{"title": "Review"}]`'
        )
    when = value.get("when_to_use", value.get("whenToUse", ""))
    return Meta(
        name=value["name"],
        description=value["description"],
        phases=phases,
        when_to_use=when if isinstance(when, str) else "",
    ), ()


def _phases(value: Any) -> tuple[DeclaredPhase, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    phases = []
    for one in value:
        titled: Any = {"title": one} if isinstance(one, str) else one
        if not isinstance(titled, Mapping) or not isinstance(titled.get("title"), str):
            return None
        detail = titled.get("detail", "")
        phases.append(
            DeclaredPhase(title=titled["title"], detail=detail if isinstance(detail, str) else "")
        )
    return tuple(phases)
