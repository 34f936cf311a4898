"""Siding's own agent where nobody can be asked: in a workflow, at the level that allows all."""

from pathlib import Path
from typing import Any

from siding.agents.headless.port import Level
from siding.agents.own.headless import SidingAgentHeadless
from siding.assistant.loop.permissions.decision import decide
from siding.assistant.loop.permissions.rules import (
    Behaviour,
    PermissionMode,
    PermissionRules,
    parse_allow,
)
from siding.assistant.tools.factory import Memory, tools_of
from siding.assistant.tools.spec import checked
from unit.assistant.loop.permissions.ground import GROUND

from .setting import place_in

EVERYTHING = SidingAgentHeadless.everything.split(",")
FILE = {"file_path": "/elsewhere/a"}
OPTION = {"label": "a", "description": "b"}
QUESTION = {
    "question": "which?",
    "header": "h",
    "options": [OPTION, {**OPTION, "label": "c"}],
    "multiSelect": False,
}
IN_THE_WORKSPACE = {"Glob", "Grep"}  # they search there alone
CALLS: dict[str, dict[str, Any]] = {  # a call of each tool, outside of the workspace
    "Read": FILE,
    "Write": {**FILE, "content": "x"},
    "Edit": {**FILE, "old_string": "a", "new_string": "b"},
    "MultiEdit": {**FILE, "edits": [{"old_string": "a", "new_string": "b"}]},
    "NotebookEdit": {"notebook_path": "/elsewhere/a.ipynb", "new_source": "x"},
    "Glob": {"pattern": "*", "path": "/elsewhere"},
    "Grep": {"pattern": "x", "path": "/elsewhere"},
    "Bash": {"command": "make install"},
    "BashOutput": {"bash_id": "1"},
    "KillShell": {"shell_id": "1"},
    "WebFetch": {"url": "https://example.org/"},
    "TodoWrite": {"todos": []},
    "AskUserQuestion": {"questions": [QUESTION]},
    "Siding": {"action": "status"},
}


def refused(allowed: list[str], directory: Path) -> set[str]:
    """Return the tools whose call waits for a person when these are allowed."""
    place = place_in(directory)
    tools = tools_of(place, Memory.of(place))
    assert CALLS.keys() == tools.keys()
    rules = PermissionRules(allow=parse_allow(allowed))
    found = set()
    for name, given in CALLS.items():
        assert checked(tools[name].spec, given) is None
        use, is_safe = tools[name].use(given), tools[name].is_safe(given)
        decision = decide(name, use, PermissionMode.ACCEPT_EDITS, rules, GROUND, is_safe=is_safe)
        if decision.behaviour is not Behaviour.ALLOW:
            found.add(name)
    return found


def test_each_tool_may_be_used_anywhere(tmp_path: Path) -> None:
    assert SidingAgentHeadless.modes[Level.ALL] == PermissionMode.ACCEPT_EDITS.value
    assert refused(EVERYTHING, tmp_path) == IN_THE_WORKSPACE


def test_each_name_is_needed(tmp_path: Path) -> None:
    for name in EVERYTHING:
        assert name in refused([each for each in EVERYTHING if each != name], tmp_path)
