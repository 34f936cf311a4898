"""A forked conversation of Codex has its beginning in the file of another one."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox

FIRST, FORK, SECOND_FORK = (f"01a21d22-0000-7000-8000-00000000000{n}" for n in range(3))


def said(role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"type": "response_item", "payload": payload}


class Home:
    """What Codex 0.169.0 keeps: each file has the lines that are its own, numbered on."""

    def __init__(self, task: Sandbox) -> None:
        self.task = task
        self.day = task.directory / "home" / ".codex" / "sessions" / "2026" / "11" / "27"
        self.day.mkdir(parents=True)

    def path(self, name: str) -> Path:
        return self.day / f"rollout-2026-11-27T13-12-3{name[-1]}-{name}.jsonl"

    def write(self, name: str, first: int, *texts: str, forked: str = "") -> None:
        meta: dict[str, Any] = {"id": name, "cwd": str(self.task.repo), "cli_version": "0.169.0"}
        meta |= {"history_mode": "paginated"}
        if forked:
            meta |= {"forked_from_id": forked, "forked_from_ordinal_exclusive": first}
        lines = [{"type": "session_meta", "payload": meta}]
        lines += [said("assistant" if n % 2 else "user", text) for n, text in enumerate(texts)]
        stamp = f"2026-11-27T13:12:3{name[-1]}"
        written = [
            {"timestamp": f"{stamp}.{at:03d}Z", "ordinal": at, **line}
            for at, line in enumerate(lines, first)
        ]
        self.path(name).write_text("".join(json.dumps(line) + "\n" for line in written))

    def shown(self, name: str) -> list[str]:
        """What is said in a conversation, as `session show` has it."""
        out = self.task.siding("session", "show", name).stdout.decode()
        return [line for line in out.splitlines()[2:] if line and not line.startswith("#")]


@pytest.fixture
def home(sandbox: Sandbox) -> Home:
    made = Home(sandbox)
    made.write(FIRST, 0, "zebra", "One.", "Second", "Two.", "Parent grew", "Four.")
    made.write(FORK, 5, "Fork question", "Three.", forked=FIRST)
    made.write(SECOND_FORK, 8, "Fork of fork", "Five.", forked=FORK)
    return made


BEGINNING = ["zebra", "One.", "Second", "Two."]
FORKED = [*BEGINNING, "Fork question", "Three."]
FORKED_TWICE = [*FORKED, "Fork of fork", "Five."]


def test_a_fork_is_shown_listed_found_and_exported_with_its_beginning(home: Home) -> None:
    task = home.task
    assert home.shown(FORK) == FORKED
    assert home.shown(SECOND_FORK) == FORKED_TWICE
    assert home.shown(FIRST)[-2:] == ["Parent grew", "Four."]
    rows = {row["id"]: row for row in task.json("session", "list", "--format", "json")}
    assert [rows[name]["messages"] for name in (FIRST, FORK, SECOND_FORK)] == [6, 6, 8]
    assert {row["prompt"] for row in rows.values()} == {"zebra"}
    hits = task.json("session", "search", "zebra", "--format", "json")
    assert {hit["session_id"] for hit in hits} == {FIRST, FORK, SECOND_FORK}
    hits = task.json("session", "search", "grew", "--format", "json")
    assert [hit["session_id"] for hit in hits] == [FIRST]
    for form in ("claude", "codex"):
        task.siding("session", "export", SECOND_FORK, "--to", form, "-o", form)
        (written,) = (task.repo / form).rglob("*.jsonl")
        text = written.read_text()
        places = [text.index(f'"{word}"') for word in FORKED_TWICE]
        assert places == sorted(places)
        assert "Parent grew" not in text
    lines = [json.loads(line) for line in text.splitlines()]
    numbers = [line["ordinal"] for line in lines]
    assert numbers == sorted(set(numbers))
    assert "forked_from" not in text  # it has its beginning, and Codex goes on with it
    assert b"zebra" in task.siding("session", "show", FORK, "--format", "html").stdout
    task.siding("session", "import", str(home.path(FORK)))
    assert home.shown(FORK) == FORKED
    task.siding("session", "branch", FORK)
    rows = task.json("session", "list", "--format", "json")
    assert sum(row["messages"] == len(FORKED) for row in rows) == 3


def test_the_other_conversation_is_archived_deleted_and_comes_back(home: Home) -> None:
    archive = home.day.parents[3] / "archived_sessions"
    archive.mkdir()
    archived = home.path(FIRST).rename(archive / home.path(FIRST).name)
    assert home.shown(FORK) == FORKED
    home.write(FORK, 5, "Fork question", "Three.", "More", "Six.", forked=FIRST)
    assert home.shown(FORK) == [*FORKED, "More", "Six."]

    text = archived.read_bytes()
    archived.unlink()
    home.write(SECOND_FORK, 8, "Anew", "Five.", forked=FORK)
    shown = home.shown(SECOND_FORK)
    assert shown[1:] == ["Fork question", "Three.", "Anew", "Five."]
    assert f"forked from conversation {FIRST}" in shown[0]
    archived.write_bytes(text)
    assert home.shown(SECOND_FORK) == [*FORKED, "Anew", "Five."]


def test_forks_that_lead_round_in_a_circle_end(home: Home) -> None:
    home.write(FIRST, 9, "zebra", "One.", forked=SECOND_FORK)
    assert "The beginning is missing" in home.shown(FORK)[0]
