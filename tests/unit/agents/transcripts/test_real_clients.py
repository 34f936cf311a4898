"""Transcripts that real clients wrote: one prompt, one call of a tool, one answer.

They come from Claude Code 2.1.197, Codex 0.169.0 and Gemini CLI 0.61.0, each run against a server
of our own that spoke its API; texts of more than 400 characters are cut, nothing else is changed.
What Siding made of each of them was taken up by the other two clients, and they went on with it.
"""

import json
from pathlib import Path

import pytest

from siding.agents.table import agents_with
from siding.agents.transcripts.interchange import bring_in, form_of, give_out
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.messages import text_of, tool_results, tool_uses
from siding.agents.transcripts.reading.views import wire
from siding.agents.transcripts.store import SessionStore

REAL = Path(__file__).parents[1] / "real"
FILES = {
    "claude": REAL / "claude-2.1.197.jsonl",
    "codex": REAL / "codex-0.169.0.jsonl",
    "gemini": REAL / "gemini-0.61.0.jsonl",
}
every_client = pytest.mark.parametrize("form", agents_with("interchange"))


def named(form: str, directory: Path) -> Path:
    """Return a copy under a name such as the client gives."""
    session = {
        "claude": "f0da2612-e2d6-4522-b89d-8136cac40894",
        "codex": "rollout-2026-11-21T19-16-08-01a1ff89-92f3-7423-bc64-2bf12cae83c7",
        "gemini": "session-2026-11-21T19-16-65e7fe82",
    }[form]
    path = directory / f"{session}.jsonl"
    path.write_bytes(FILES[form].read_bytes())
    return path


def chain_of(store: SessionStore, session: str) -> list[Record]:
    with store.live(session) as transcript:
        return list(transcript.records(transcript.chain()))


def outline(chain: list[Record]) -> list[str]:
    """Return what is said in a conversation, in a word each."""
    said = []
    for each in chain:
        if each["type"] not in ("user", "assistant") or each.get("isMeta"):
            continue
        said += ["call" for _ in tool_uses(each)]
        said += ["result" for _ in tool_results(each)]
        if text_of(each).strip():
            said.append(text_of(each))
    return said


@every_client
def test_the_conversation_is_read(form: str, tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions")
    path = named(form, tmp_path)
    assert form_of(path) == form
    session = bring_in(store, path).session_id
    chain = chain_of(store, session)
    expected = ["Change the greeting", "call", "result", "Done: the greeting is changed."]
    assert outline(chain) == expected
    assert wire(chain)[-1]["role"] == "assistant"
    results = [block for each in chain for block in tool_results(each)]
    assert "functionResponse" not in json.dumps(results)


@every_client
def test_it_goes_out_as_it_came(form: str, tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions")
    path = named(form, tmp_path)
    session = bring_in(store, path).session_id
    (given,) = give_out(store, session, form, tmp_path / "out")
    assert given.read_bytes() == path.read_bytes()
    assert given.name == path.name


@pytest.mark.parametrize("other", agents_with("interchange"))
@every_client
def test_it_goes_to_another_client_and_back(form: str, other: str, tmp_path: Path) -> None:
    """What the other client is told is the same conversation, the tool's answer included."""
    store = SessionStore(tmp_path / "sessions")
    session = bring_in(store, named(form, tmp_path)).session_id
    (given,) = give_out(store, session, other, tmp_path / "out")
    there = SessionStore(tmp_path / "there")
    arrived = bring_in(there, given).session_id
    assert arrived == session
    assert outline(chain_of(there, session)) == outline(chain_of(store, session))
