"""Find agents that write beside each other in one workspace."""

import ast
from collections.abc import Iterator

from siding.workflows.problems import Problem, problem_at

_AT_ONCE = {"parallel", "pipeline", "gather"}


def unisolated_writers(tree: ast.Module) -> Iterator[Problem]:
    """Yield a warning for each `agent` that may write while others do, without an isolation.

    Which agents only read nobody can tell from the script: those with an `isolation`, or with
    `allowed_tools` that are known to read only, are left out.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _name(node.func) not in _AT_ONCE:
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call) and _name(inner.func) == "agent" and _may_write(inner):
                yield problem_at(
                    inner,
                    f"agents of {_name(node.func)}() share one workspace while they work",
                    'give them isolation="worktree", "turn" or "read" if they may write',
                    is_warning=True,
                )


_READING = {"read", "grep", "glob", "ls", "webfetch", "websearch"}


def _may_write(call: ast.Call) -> bool:
    for keyword in call.keywords:
        if keyword.arg == "isolation" or keyword.arg is None:
            return False
        if keyword.arg == "allowed_tools":
            try:
                tools = ast.literal_eval(keyword.value)
            except ValueError:
                return False
            return not all(isinstance(tool, str) and tool.lower() in _READING for tool in tools)
    return True


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""
