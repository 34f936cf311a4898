"""Which conversations a client does not have as they are now, so that they are written for it."""

import json
from pathlib import Path
from typing import Any

import pytest

from integration.undo.desk import Desk
from siding.agents.transcripts.homes import FoundTranscript
from siding.sessions.client import is_only_here
from siding.sessions.lookup import FoundSession, Scope

THEIRS: dict[str, Any] = {"type": "user", "uuid": "u1", "message": {"content": "hello"}}


@pytest.fixture
def found(tmp_path: Path) -> FoundSession:
    """A conversation of the client's that was brought here and not changed since."""
    path = tmp_path / "s1.jsonl"
    path.write_text(json.dumps(THEIRS) + "\n")
    return FoundSession(
        id="s1",
        client="claude",
        title=None,
        prompt="hello",
        cwd=str(tmp_path),
        branch=None,
        tag=None,
        task="",
        step=None,
        messages=1,
        changed_at=0.0,
        written_at=0.0,
        size=1,
        path=path,
        is_stored=True,
        hidden=False,
        source=FoundTranscript("claude", path, size=1, mtime_ns=0),
    )


def test_what_only_this_project_has_is_written_for_the_client(
    desk: Desk, found: FoundSession
) -> None:
    scope = Scope(desk.project, None)
    assert not is_only_here(scope, found)
    assert is_only_here(scope, found._replace(source=None))


def test_what_lies_in_the_clients_home_is_there_already(desk: Desk, found: FoundSession) -> None:
    scope = Scope(desk.project, None)
    assert not is_only_here(scope, found._replace(is_stored=False, source=None))
    assert not is_only_here(Scope(None, None), found._replace(source=None))
