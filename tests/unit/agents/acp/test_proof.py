"""What the records of agents that speak ACP prove of a prompt, and how these agents are started."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from siding.agents.acp.talking import ANY, proven
from siding.agents.talking.abilities import Evidence
from siding.agents.talking.port import TALKING, Hold, Proof, Sent, Talking

SESSION = "a7a4040e-3d1b-4c5e-abca-728b6e054706"


def talking_of(agent: str) -> Talking:
    found = TALKING.of(agent)
    assert found is not None
    return found


def hold_in(home: Path, **fields: Any) -> Hold:
    return Hold(program=("x",), cwd=home / "w", env={"HOME": str(home)})._replace(**fields)


# -- By the text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "turn", "proof"),
    [
        ([], 0, Proof.NOT_TAKEN),
        (["a"], 1, Proof.NOT_TAKEN),
        (["go on"], 0, Proof.TAKEN),
        (["a", "go on"], 1, Proof.TAKEN),
        (["a", " go on\n"], 1, Proof.TAKEN),
        (["go on"], 1, Proof.UNSURE),  # an earlier one with this text
        (["go on", "go on"], 1, Proof.TAKEN),  # and this one: there are as many as there should be
        (["go on", "typed", "go on"], 1, Proof.UNSURE),  # a person may have typed it elsewhere
        (["a", "go on", "later"], 1, Proof.UNSURE),  # it is not the last
        (["a", "typed", "go on"], 1, Proof.TAKEN),
    ],
)
def test_what_the_texts_of_a_record_prove(texts: Sequence[str], turn: int, proof: Proof) -> None:
    sent = Sent(prompt="p", text="go on", turn=turn, session="s")
    assert proven(sent, texts, "", records_first=True) is proof
    # Of an agent that may ask a model first, what is not there proves nothing.
    later = Proof.UNSURE if proof is Proof.NOT_TAKEN else proof
    assert proven(sent, texts, "", records_first=False) is later


def test_what_stands_before_the_first_prompt_is_not_of_it() -> None:
    sent = Sent(prompt="p", text="go", turn=0, session="s")
    assert proven(sent, ["Be kind.\ngo"], "Be kind.", records_first=True) is Proof.TAKEN
    assert proven(sent, ["Be kind.\nstop"], "Be kind.", records_first=True) is Proof.NOT_TAKEN


# -- In each record --------------------------------------------------------------------------------


def _lines(path: Path, *lines: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def gemini(home: Path, texts: Sequence[str]) -> None:
    """As it writes it: messages come again, and its own words stand before the first prompt."""
    chats = home / ".gemini" / "tmp" / "w" / "chats"
    head = {"sessionId": SESSION, "kind": "main"}
    context = {"id": "0", "type": "user", "content": [{"text": "<session_context>\n</session"}]}
    said = [
        {"id": f"{at}", "type": "user", "content": [{"text": text}]}
        for at, text in enumerate(texts, 1)
    ]
    path = chats / f"session-2026-11-28T09-15-{SESSION[:8]}.jsonl"
    _lines(path, head, {"$set": {"messages": [context]}}, *said, *said)
    _lines(path, {"$set": {"messages": [context, *said]}})
    other = {"sessionId": f"{SESSION[:8]}-another", "kind": "main"}
    stray = {"id": "9", "type": "user", "content": [{"text": "go on"}]}
    _lines(chats / f"session-2026-11-28T09-16-{SESSION[:8]}.jsonl", other, stray)


def qwen(home: Path, texts: Sequence[str]) -> None:
    path = home / ".qwen" / "projects" / "-w" / "chats" / f"{SESSION}.jsonl"
    _lines(path, {"type": "system", "provenance": "system"})
    for text in texts:
        message = {"role": "user", "parts": [{"text": text}]}
        _lines(path, {"type": "user", "provenance": "real_user", "message": message})
        _lines(path, {"type": "user", "provenance": "tool", "message": message})


def copilot(home: Path, texts: Sequence[str]) -> None:
    path = home / ".copilot" / "session-state" / SESSION / "events.jsonl"
    _lines(path, {"type": "session.start", "data": {"sessionId": SESSION}})
    for text in texts:
        data = {"content": text, "transformedContent": f"<now/>\n\n{text}"}
        _lines(path, {"type": "user.message", "data": data})


def opencode(home: Path, texts: Sequence[str]) -> None:
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE message (id, session_id, data)")
    connection.execute("CREATE TABLE part (id, message_id, session_id, data)")
    for at, text in enumerate(texts):
        for role in ("user", "assistant"):
            key = f"{at}-{role}"
            message = (key, SESSION, json.dumps({"role": role}))
            connection.execute("INSERT INTO message VALUES (?, ?, ?)", message)
            part = (f"{key}-1", key, SESSION, json.dumps({"type": "text", "text": text}))
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?)", part)
    connection.commit()
    connection.close()


WRITERS: dict[str, Callable[[Path, Sequence[str]], None]] = {
    "gemini": gemini,
    "opencode": opencode,
    "copilot": copilot,
    "qwen": qwen,
}


@pytest.mark.parametrize("agent", WRITERS)
def test_a_record_is_read(agent: str, tmp_path: Path) -> None:
    talking, hold = talking_of(agent), hold_in(tmp_path)
    assert talking.abilities.evidence is Evidence.TEXT
    sent = Sent(prompt="p", text="go on", turn=1, session=SESSION)
    assert talking.proof(sent, hold) is Proof.UNSURE  # there is no record
    WRITERS[agent](tmp_path, ["first", "go on"])
    assert talking.proof(sent, hold) is Proof.TAKEN
    missing = Proof.NOT_TAKEN if agent == "opencode" else Proof.UNSURE
    assert talking.proof(sent._replace(text="never said"), hold) is missing
    assert talking.proof(sent._replace(text="first"), hold) is Proof.UNSURE
    assert talking.proof(sent._replace(turn=2), hold) is Proof.UNSURE


@pytest.mark.parametrize("agent", WRITERS)
def test_a_record_that_is_torn_proves_nothing_false(agent: str, tmp_path: Path) -> None:
    talking, hold = talking_of(agent), hold_in(tmp_path)
    WRITERS[agent](tmp_path, ["first", "go on"])
    (path,) = [each for each in tmp_path.rglob("*") if each.is_file() and "09-16" not in each.name]
    path.write_bytes(path.read_bytes()[:-40] if agent != "opencode" else b"no database")
    sent = Sent(prompt="p", text="go on", turn=1, session=SESSION)
    assert talking.proof(sent, hold) in (Proof.UNSURE, Proof.TAKEN)
    assert talking.proof(sent._replace(text="never"), hold) is Proof.UNSURE


def test_of_an_agent_that_nobody_knows_nothing_is_proven(tmp_path: Path) -> None:
    sent = Sent(prompt="p", text="go on", turn=0, session=SESSION)
    assert ANY.abilities.evidence is Evidence.NONE
    assert ANY.proof(sent, hold_in(tmp_path)) is Proof.UNSURE


# -- How they are started --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("gemini", ["--acp", "-m", "a-model"]),
        ("opencode", ["acp"]),
        ("qwen", ["--acp"]),
        ("copilot", ["--acp"]),
    ],
)
def test_the_command_line(agent: str, words: list[str], tmp_path: Path) -> None:
    hold = hold_in(tmp_path, program=("/bin/agent",), model="a-model", options=("--own",))
    opening = talking_of(agent).opened(hold)
    assert [*opening.argv] == ["/bin/agent", *words, "--own"]
    assert opening.files == {}
    assert talking_of(agent).own_screen(hold) == ()


def test_opencode_asks_whatever_its_settings_say(tmp_path: Path) -> None:
    bash = '{"*": "allow", "rm *": "deny"}'
    given = f'{{"permission": {{"bash": {bash}, "webfetch": "deny"}}, "theme": "x"}} // mine'
    env = {"HOME": str(tmp_path), "OPENCODE_CONFIG_CONTENT": given}
    opening = talking_of("opencode").opened(hold_in(tmp_path, env=env))
    assert json.loads(opening.env["OPENCODE_CONFIG_CONTENT"]) == {
        "permission": {
            "bash": {"*": "ask", "rm *": "deny"},
            "webfetch": "deny",
            "edit": "ask",
        },
        "theme": "x",
    }
    never = {**env, "OPENCODE_CONFIG_CONTENT": '{"permission": {"edit": "deny"}}'}
    opening = talking_of("opencode").opened(hold_in(tmp_path, env=never))
    permission = json.loads(opening.env["OPENCODE_CONFIG_CONTENT"])["permission"]
    assert permission == {"edit": "deny", "bash": "ask"}
    broken = hold_in(tmp_path, env={**env, "OPENCODE_CONFIG_CONTENT": "{"})
    assert "OPENCODE_CONFIG_CONTENT" in talking_of("opencode").opened(broken).why_not
