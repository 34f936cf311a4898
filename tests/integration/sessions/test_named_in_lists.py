"""What a list calls a session and how long it says it is: the same as what is shown of it."""

import json
from typing import Any

import pytest

from client_homes import place, session_id
from sandbox import Sandbox

NAME = session_id(1)
SAID = ("ONE: first", "TWO: second", "THREE: third")
STAMPED = {"entrypoint": "cli", "version": "2.1.197"}


class Talk:
    """A transcript that Claude Code keeps, line by line."""

    def __init__(self, sandbox: Sandbox, stamp: dict[str, str]) -> None:
        self.sandbox, self.stamp = sandbox, stamp
        self.lines: list[dict[str, Any]] = []

    def add(self, kind: str, **fields: Any) -> None:
        number = len(self.lines)
        before = self.lines[-1]["uuid"] if self.lines else None
        self.lines.append(
            {
                "parentUuid": before,
                "type": kind,
                "uuid": f"{number:08x}-0000-4000-8000-000000000000",
                "timestamp": f"2026-11-20T10:{number:02d}:00.000Z",
                "sessionId": NAME,
                "cwd": str(self.sandbox.repo),
                **self.stamp,
                **fields,
            }
        )

    def asks(self, text: str) -> None:
        self.add("user", message={"role": "user", "content": text})
        answer = [{"type": "text", "text": f"about {text}"}]
        self.add("assistant", message={"role": "assistant", "id": f"m{text}", "content": answer})

    def compacts(self) -> None:
        """As old documents of the format have it: the boundary names a parent."""
        about = {"trigger": "auto", "preTokens": 9, "messagesSummarized": len(self.lines)}
        self.add("system", subtype="compact_boundary", compactMetadata=about)
        said = {"role": "user", "content": "A SUMMARY"}
        self.add("user", isCompactSummary=True, message=said)

    def put(self) -> None:
        last = {"type": "last-prompt", "lastPrompt": SAID[-1], "sessionId": NAME}
        home = self.sandbox.directory / "home"
        path = place(home, "claude", NAME, cwd=str(self.sandbox.repo))
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps(each) + "\n" for each in [*self.lines, last]))


def listed(sandbox: Sandbox, session: str = NAME) -> tuple[str, int, str]:
    rows = sandbox.json("session", "list", "--format", "json")
    (row,) = (each for each in rows if each["id"] == session)
    return row["title"] or row["prompt"], row["messages"], row["client"]


def shown(sandbox: Sandbox, *words: str) -> str:
    return sandbox.siding("session", "show", NAME, *words).stdout.decode()


@pytest.mark.parametrize("stamp", [STAMPED, {}], ids=["stamped", "as in old versions"])
def test_a_session_keeps_its_name_and_client(stamp: dict[str, str], sandbox: Sandbox) -> None:
    talk = Talk(sandbox, stamp)
    for each in SAID:
        talk.asks(each)
    talk.put()
    assert listed(sandbox) == (SAID[0], 6, "claude")
    sandbox.siding("session", "rewind", NAME, "4")
    assert listed(sandbox) == (SAID[0], 4, "claude")
    notes = sandbox.repo / "notes.md"
    notes.write_text("What was said.")
    for _ in range(2):  # a second compaction, of the first one
        sandbox.siding("session", "compact", NAME, "--summary", str(notes))
        assert listed(sandbox) == (SAID[0], 1, "claude")
        assert shown(sandbox).startswith(f"{SAID[0]}\n")
    first = sandbox.siding("session", "branch", NAME).stdout.decode().strip()
    second = sandbox.siding("session", "branch", NAME).stdout.decode().strip()
    assert listed(sandbox, first) == (f"{SAID[0]} (Branch)", 1, "claude")
    assert listed(sandbox, second) == (f"{SAID[0]} (Branch 2)", 1, "claude")


def test_the_name_is_a_prompt_that_was_not_rewound(sandbox: Sandbox) -> None:
    talk = Talk(sandbox, STAMPED)
    for each in SAID:
        talk.asks(each)
    # It was gone back to before the first prompt in the client, and gone on from there.
    talk.lines[2]["parentUuid"] = None
    talk.put()
    sandbox.siding("session", "branch", NAME)
    assert listed(sandbox)[:2] == (SAID[1], 4)


def test_what_was_compacted_away_is_shown_only_with_all(sandbox: Sandbox) -> None:
    talk = Talk(sandbox, {})
    talk.asks(SAID[0])
    talk.compacts()
    talk.asks(SAID[1])
    talk.put()
    assert listed(sandbox) == (SAID[0], 3, "claude")
    text = shown(sandbox)
    assert [each in text for each in ("about ONE", "A SUMMARY", "about TWO")] == [False, True, True]
    assert "about ONE" in shown(sandbox, "--all")
    assert "#4 model" in text
    assert "#5" not in text
    sandbox.siding("session", "rewind", NAME, "3")  # the numbers are those that were shown
    assert "about TWO" not in shown(sandbox)
    assert SAID[1] in shown(sandbox)
    assert listed(sandbox) == (SAID[0], 2, "claude")


def test_a_compaction_that_was_cut_off_hides_nothing(sandbox: Sandbox) -> None:
    talk = Talk(sandbox, {})
    talk.asks(SAID[0])
    talk.compacts()
    talk.lines.pop()  # its summary never came
    talk.put()
    assert "about ONE" in shown(sandbox)
