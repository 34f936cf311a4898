"""A transcript is imported again after its client has taken an answer out, or written it anew."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox

from .test_commands import message
from .test_importing import put

ID = "01a1fb8c-7000-7000-8000-000000000001"
FIRST = [
    message(1, "user", "go"),
    message(2, "assistant", "half of an ans"),
    message(3, "user", "and then"),
]


def imported(sandbox: Sandbox, records: list[dict[str, Any]], status: int = 0) -> str:
    path = put(sandbox, ID, records)
    return sandbox.siding("session", "import", str(path), status=status).stderr.decode()


def said(sandbox: Sandbox) -> list[str]:
    """What the model would be sent."""
    found = sandbox.json("session", "resume", ID, "--format", "wire")
    return [part if isinstance(part := each["content"], str) else part[0]["text"] for each in found]


@pytest.fixture
def known(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("init")
    assert "3 new lines" in imported(sandbox, FIRST)
    return sandbox


def test_an_answer_that_was_taken_out_is_withdrawn(known: Sandbox) -> None:
    longer = [*FIRST, message(4, "assistant", "broken of"), message(5, "assistant", "never seen")]
    assert "2 new lines" in imported(known, longer)
    again = [*FIRST, {**longer[4], "parentUuid": FIRST[2]["uuid"]}]
    imported(known, again)
    assert said(known)[-1] == "never seen"
    assert "broken of" not in said(known)
    assert "0 new lines" in imported(known, again)


def test_an_answer_that_was_written_anew_counts_as_it_is_now(known: Sandbox) -> None:
    anew = [FIRST[0], message(2, "assistant", "the whole answer"), FIRST[2]]
    assert "1 new line" in imported(known, anew)
    assert said(known) == ["go", "the whole answer", "and then"]
    more = [*anew, message(4, "assistant", "more")]
    assert "1 new line" in imported(known, more)
    assert said(known)[-1] == "more"


def test_a_prompt_that_differs_is_another_conversation(known: Sandbox) -> None:
    other = [message(1, "user", "something else"), *FIRST[1:]]
    path = put(known, ID, other)
    done = known.siding("session", "import", str(path), status=2)
    assert b"differs from this transcript" in done.stderr
    assert said(known)[0] == "go"


def test_what_was_said_here_is_never_taken_for_something_withdrawn(
    known: Sandbox, tmp_path: Path
) -> None:
    known.siding("session", "rewind", ID, "2")
    path = put(known, ID, [*FIRST, message(4, "assistant", "more")])
    done = known.siding("session", "import", str(path), status=2)
    assert b"differs from this transcript" in done.stderr
    assert json.loads(path.read_text().splitlines()[0])["message"]["content"] == "go"
