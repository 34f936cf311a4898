"""The MCP servers of a conversation: how they are kept, and who is given which."""

import json
import stat
from pathlib import Path

import pytest

from siding.agents.talking.abilities import Abilities
from siding.agents.talking.servers import McpServer, as_codex, as_document, servers_in
from siding.chat.servers import keep_servers, kept_servers, not_taken, taken_by
from siding.chat.store import Chat

_PROGRAM = McpServer("my files", "files", ("-v",), {"KEY": "k"})
_WEB = McpServer("web", kind="http", url="https://x/", headers={"Key": "k"})
_SSE = McpServer("old", kind="sse", url="https://x/sse")


def test_they_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    chat = Chat(tmp_path)
    assert kept_servers(chat) == ()
    assert not keep_servers(chat, ())
    assert keep_servers(chat, (_PROGRAM, _WEB, _SSE))
    assert not keep_servers(chat, (_PROGRAM, _WEB, _SSE))
    assert kept_servers(chat) == (_PROGRAM, _WEB, _SSE)
    assert stat.S_IMODE(chat.servers.stat().st_mode) == 0o600
    for damaged in ("", "[]", '{"servers": 3}', '{"servers": [{}]}'):
        chat.servers.write_text(damaged)
        assert kept_servers(chat) == ()


def test_an_agent_is_given_what_it_takes_and_it_is_said_what_not() -> None:
    given = (_PROGRAM, _WEB, _SSE)
    all_, some, none = (
        Abilities(servers=True, web_servers=True),
        Abilities(servers=True),
        Abilities(),
    )
    assert taken_by(all_, given) == (_PROGRAM, _WEB)
    assert taken_by(some, given) == (_PROGRAM,)
    assert taken_by(none, given) == ()
    assert not not_taken("a", all_, (_PROGRAM, _WEB))
    assert [each.message.endswith("so: web, old") for each in not_taken("a", some, given)] == [True]
    (said,) = not_taken("a", none, given)
    assert said.message.startswith("a cannot be given MCP servers (my files, web, old)")


def test_each_form_has_all_of_it() -> None:
    document = json.loads(as_document((_PROGRAM, _WEB)))["mcpServers"]
    assert document == {
        "my files": {"command": "files", "args": ["-v"], "env": {"KEY": "k"}},
        "web": {"type": "http", "url": "https://x/", "headers": {"Key": "k"}},
    }
    assert as_codex((_PROGRAM, _WEB)) == {
        "my_files": {"command": "files", "args": ["-v"], "env": {"KEY": "k"}},
        "web": {"url": "https://x/", "http_headers": {"Key": "k"}},
    }


@pytest.mark.parametrize("given", [[{}], [{"name": "a"}], [{"name": "a", "type": "http"}]])
def test_one_that_cannot_be_started_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match="needs a `name`"):
        servers_in(given)
