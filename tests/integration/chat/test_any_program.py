"""Any program that answers lines, in a conversation of the command line."""

import shutil
import sys

import pytest

from integration.chat.talks import Conversation, killed

PYTHON = (sys.executable, "-iuq")


def _begins(talk: Conversation, *program: str) -> str:
    return talk.says("--new", "talk", "--", *program)


def _says(talk: Conversation, line: str) -> str:
    """Give it a line; return what it has printed until it was quiet."""
    before, turns = talk.text(), len(talk.events("recorded", "turn-ended"))
    talk.says("send", line)
    talk.until(lambda: len(talk.events("recorded", "turn-ended")) == turns + 2)
    return talk.text().removeprefix(before)


def test_a_line_in_and_what_it_prints_until_it_is_quiet(talk: Conversation) -> None:
    said = _begins(talk, *PYTHON)
    assert "c1 with lines:python" in said
    assert "that it has done is a guess" in said
    assert "4" in _says(talk, "2 + 2")
    assert "ZeroDivisionError" in _says(talk, "1 / 0")  # what it says of an error is its answer
    _says(talk, "open('made', 'w').close(); x = 7")
    made = talk.sandbox.workspace() / "made"
    assert made.exists()
    talk.sandbox.siding("undo")
    assert not made.exists()
    assert "7" in _says(talk, "x")  # a program is told nothing of an undo, which it would not read
    assert talk.events("informed") == []
    assert "cannot be set" in talk.says("set", "--model", "x", status=2)
    assert "takes no prompt into a turn" in talk.says("steer", "x", status=2)

    # After a kill it is another process.
    killed(talk)
    assert "NameError" in _says(talk, "x")
    troubles = [each["message"] for each in talk.events("troubled")]
    assert "it was started anew, and knows nothing of what was said before" in troubles


@pytest.mark.parametrize("program", [("cat",), ("bc", "-q")], ids=["cat", "bc"])
def test_programs_that_everybody_has(talk: Conversation, program: tuple[str, ...]) -> None:
    if shutil.which(program[0]) is None:
        program = (sys.executable, "-uc", "while True: print(eval(input()))")
    _begins(talk, *program)
    assert _says(talk, "1+1") == {"cat": "1+1\n"}.get(program[0], "2\n")


def test_one_that_exits_comes_back_with_the_next_prompt(talk: Conversation) -> None:
    _begins(talk, "sh", "-c", "read line; echo got $line; exit 3")
    talk.says("send", "one")
    talk.until(lambda: talk.events("ended"))
    assert talk.events("ended")[0]["exit_code"] == 3
    assert "got one" in talk.text()
    talk.says("send", "two")
    talk.until(lambda: "got two" in talk.text())


def test_one_that_prints_for_ever_is_bounded_and_stopped(talk: Conversation) -> None:
    _begins(talk, "sh", "-c", "read line; exec yes $line")
    talk.says("send", "on and on")
    talk.until(lambda: any("is not kept" in each["message"] for each in talk.events("troubled")))
    talk.says("stop")
    talk.until(lambda: talk.events("ended"))
    assert len(talk.text()) == 1 << 20


def test_one_that_never_answers_is_stopped(talk: Conversation) -> None:
    _begins(talk, "sleep", "600")
    talk.says("send", "hello")
    talk.until(lambda: talk.events("turn-started"))
    talk.says("stop")
    talk.until(lambda: talk.events("turn-ended"))
    talk.until(lambda: talk.row["state"] in ("idle", "ended", "unsure"))


def test_what_is_no_such_program_is_refused(talk: Conversation) -> None:
    assert "held over its own protocol" in talk.says("--new", "a", "--", "claude", status=2)
    assert "one word too many" in talk.says("claude", "fix", "it", status=2)
    assert "--option is for agents" in talk.says("--option=-x", "--", "cat", status=2)
    assert "siding chat -- PROGRAM" in talk.says("unheard", "hello", status=2)
    assert "not there" in talk.says("--new", "b", "--", "no-such-program", status=1)
    talk.says("--new", "c", "claude", "--", "--it")  # a prompt that begins with a dash
    talk.until(lambda: "You said: --it" in talk.text())
