"""How code tells kinds of steps apart: by `match` with `assert_never`, or in ways nobody checks."""

import ast
from typing import NamedTuple

from tools.house.source import Module, Package

_KIND = "StepKind"
_ROOM = "record.ledger"  # where a question has a name and a reason
_WORDS = frozenset({"run", "apply", "rollback", "checkpoint", "phase"})  # of lines in a ledger
_ENDS = ("Detail", "Step")
_NAMES = frozenset({"as_run", "as_apply", "as_rollback", "as_checkpoint", "goes_back", "syncs"})


class Place(NamedTuple):
    """A line of a module."""

    module: Module
    line: int


class StepUse(NamedTuple):
    """The places that tell kinds of steps apart, by how they do it.

    A single question is an `isinstance`, or a comparison with a kind or with its word.
    """

    open_matches: list[Place]  # `match` over steps without `assert_never`
    closed_matches: list[Place]
    chains: list[Place]  # `if`s in a row, two or more of which ask for kinds of steps
    questions: list[Place]  # single ones, outside the room of the ledger
    named: list[Place]  # single ones inside it: what others ask by a name
    checks: list[Place]  # an `assert` that a draft is of the kind that its act began
    by_name: list[Place]  # `step.as_run` and the like, outside the room


def step_classes(package: Package) -> frozenset[str]:
    """Return the names in the closed unions of steps: ``Detail = RunDetail | ApplyDetail | …``."""
    found: set[str] = set()
    for module in package.modules.values():
        if not any(f"{end}{sign}" in module.text for end in _ENDS for sign in (" |", "\n")):
            continue
        for node in module.nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                names = _united(node.value)
                if len(names) > 2 and all(name.endswith(_ENDS) for name in names):
                    found.update(names)
    return frozenset(found)


def step_use(package: Package) -> StepUse:
    """Return where the modules of a package tell kinds of steps apart."""
    classes = step_classes(package)
    use = StepUse([], [], [], [], [], [], [])
    for module in package.modules.values():
        _add(use, module, classes)
    return use


def _add(use: StepUse, module: Module, classes: frozenset[str]) -> None:
    inner: set[int] = set()  # an `elif` is an `if` in the `else` of another
    asserted = {
        id(each)
        for node in module.nodes
        if isinstance(node, ast.Assert)
        for each in ast.walk(node.test)
    }
    is_ledger = module.name.startswith(f"{_ROOM}.") or f".{_ROOM}." in module.name
    for node in module.nodes:
        if isinstance(node, ast.Match):
            if any(_names_kind(case.pattern, classes) for case in node.cases):
                closed = "assert_never" in ast.unparse(node.cases[-1])
                places = use.closed_matches if closed else use.open_matches
                places.append(Place(module, node.lineno))
        elif isinstance(node, ast.If) and id(node) not in inner:
            chain = [node]
            while len(chain[-1].orelse) == 1 and isinstance(chain[-1].orelse[0], ast.If):
                chain.append(chain[-1].orelse[0])
                inner.add(id(chain[-1]))
            asking = [each for each in chain if _asks(each.test, classes)]
            if len(asking) > 1:
                use.chains.append(Place(module, node.lineno))
        if isinstance(node, ast.Call | ast.Compare) and _question(node, classes):
            places = use.named if is_ledger else use.questions
            (use.checks if id(node) in asserted else places).append(Place(module, node.lineno))
        if isinstance(node, ast.Attribute) and node.attr in _NAMES and not is_ledger:
            use.by_name.append(Place(module, node.lineno))


def _united(node: ast.expr) -> list[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _united(node.left) + _united(node.right)
    return [node.id] if isinstance(node, ast.Name) else [""]


def _names_kind(pattern: ast.pattern, classes: frozenset[str]) -> bool:
    return any(
        (isinstance(each, ast.MatchClass) and _last(each.cls) in classes)
        or (isinstance(each, ast.MatchValue) and ast.unparse(each.value).startswith(f"{_KIND}."))
        for each in ast.walk(pattern)
    )


def _asks(test: ast.expr, classes: frozenset[str]) -> bool:
    return any(_question(each, classes) for each in ast.walk(test))


def _question(node: ast.AST, classes: frozenset[str]) -> bool:
    if isinstance(node, ast.Call) and _last(node.func) == "isinstance" and len(node.args) == 2:
        return any(_last(each) in classes for each in ast.walk(node.args[1]))
    if isinstance(node, ast.Compare):
        of_kind = isinstance(node.left, ast.Attribute) and node.left.attr == "kind"
        return any(
            (isinstance(each, ast.Attribute) and _last(each.value) == _KIND)
            or (of_kind and isinstance(each, ast.Constant) and each.value in _WORDS)
            for side in node.comparators
            for each in ast.walk(side)
        )
    return False


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
