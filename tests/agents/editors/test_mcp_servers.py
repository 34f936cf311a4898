"""An editor's servers of tools (MCP) reach the real agents, also after their host was killed."""

import json
import os
import signal
import stat
import sys
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from agents.conftest import AgentAtWork, agent_named
from agents.editors import tools_server
from agents.editors.sdk import NODE, SDK, Editor, stop_all
from agents.talking.acp_rows import ACP_ROWS
from agents.talking.rows import ROWS as OWN_ROWS
from agents.talking.rows import OwnAtWork
from sandbox import Sandbox
from siding.agents.table import OWN

pytestmark = pytest.mark.skipif(NODE is None or not SDK.exists(), reason="the SDK is not installed")
ROWS = {**OWN_ROWS, **ACP_ROWS}
_SECRET = "correct-horse-battery"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", sorted(ROWS))
def test_an_agent_gets_the_servers_of_an_editor(sandbox: Sandbox, name: str) -> None:
    row = ROWS[name]
    notes = sandbox.directory / "started"
    server = {
        "name": "whispers",
        "command": sys.executable,
        "args": [tools_server.__file__, str(notes)],
        "env": [{"name": "SECRET", "value": _SECRET}],
    }
    with _at_work(sandbox, name) as agent:
        row.prepare(agent)
        model = agent.says(["Hello."], ["Again."])
        words = ["--agent", name, *(f"--option={each}" for each in row.options(agent))]
        words += ["--model", row.model] if row.model else []
        editor = Editor(sandbox, *words)
        session = editor.begins(server)
        assert editor.result(editor.gives(session, "Hello")) == {"stopReason": "end_turn"}
        assert _has_whisper(model.requests)
        starts = notes.read_text().splitlines()
        assert set(starts) == {_SECRET}
        _kill_host(sandbox)
        model.requests.clear()
        assert editor.result(editor.gives(session, "Go on")) == {"stopReason": "end_turn"}
        assert len(notes.read_text().splitlines()) > len(starts)
        editor.leaves()
        stop_all(sandbox)
    _keeps_it_to_itself(sandbox)


def _at_work(sandbox: Sandbox, name: str) -> AbstractContextManager[AgentAtWork]:
    if name != OWN:
        return agent_named(sandbox, name)
    return closing(OwnAtWork(sandbox, ROWS[OWN].executable or ""))


def _has_whisper(requests: list[dict[str, object]]) -> bool:
    return any("whisper" in json.dumps(each) for each in requests)


def _kill_host(sandbox: Sandbox) -> None:
    (lock,) = sandbox.project.glob("tasks/*/chats/c1/lock")
    os.kill(json.loads(lock.read_text())["pid"], signal.SIGKILL)


def _keeps_it_to_itself(sandbox: Sandbox) -> None:
    """See that the secret is in files alone that only their owner reads, and not in the story."""
    (story,) = sandbox.project.glob("tasks/*/chats/c1/story.jsonl")
    lines = [json.loads(each) for each in story.read_bytes().splitlines()]
    assert [each["servers"] for each in lines if each["event"] == "hosted"] == [["whispers"]] * 2
    found = [
        path
        for path in sandbox.project.rglob("*")
        if path.is_file() and _SECRET in path.read_text("utf-8", "replace")
    ]
    assert {path.name for path in found} == {"servers.json"}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in found)
    workspace = Path(sandbox.workspace(story.parts[-4]))
    assert sandbox.git("status", "--short", cwd=workspace) == ""
