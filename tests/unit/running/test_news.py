"""What an agent is told that was taken back, or done again, of the conversation that it goes on
with: also where that is a copy, which leaves out what was taken back."""

import re
from pathlib import Path

import pytest

from siding.record.ledger.store import Ledger
from siding.record.runs.reported import Reported
from siding.running.news import news


class Task:
    """A task's ledger; each act is one line of it."""

    def __init__(self, path: Path) -> None:
        self.ledger = Ledger(path)
        self.count = 0

    def turn(self, session: str, prompt: str, *more: str, **fields: str) -> None:
        asked = {"prompt": prompt, "turn": f"id of {prompt}", "later_prompts": list(more)}
        told = {"origin": "turn", "run": "r1", "session": session, "message": prompt}
        self._adds("checkpoint", **asked, **told, **fields)

    def back(self, to: int) -> None:
        name = f"{to:04d}"
        self._adds("rollback", target="step", target_step=name, parts="all", on=name)

    def _adds(self, kind: str, **fields: object) -> None:
        self.count += 1
        self.ledger.append(
            {"kind": kind, "status": "completed", "on": f"{self.count - 1:04d}", **fields}
        )

    def told(self, session: str, *, copy_of: str = "", without: str = "") -> tuple[str, str]:
        """Return what the agent is told was taken back, and done again, as a new run goes on."""
        before = Reported(
            session=session,
            copy=session if copy_of else "",
            copy_of=copy_of,
            without=f"id of {without}" if without else "",
        )
        return _of(news(self.ledger, before).text)

    def told_while_it_lives(self, session: str, seen: int) -> tuple[str, str]:
        return _of(news(self.ledger, Reported(session=session, prompts=1, seen=seen)).text)


def _of(text: str) -> tuple[str, str]:
    gone, back = text.partition("Done again")[::2]
    return " ".join(re.findall("“(.*?)”", gone)), " ".join(re.findall("“(.*?)”", back))


@pytest.fixture
def task(tmp_path: Path) -> Task:
    made = Task(tmp_path / "ledger.jsonl")
    for prompt in ("alpha", "beta", "gamma"):
        made.turn("s1", prompt)
    return made


def test_a_copy_is_told_what_was_done_again_that_it_leaves_out(task: Task) -> None:
    task.back(2)
    assert task.told("s2", copy_of="s1", without="gamma") == ("", "")
    task.turn("s2", "delta", copy_of="s1", without="id of gamma")
    assert task.told("s2") == ("", "")
    task.back(3)  # redo
    assert task.told("s3", copy_of="s2", without="delta") == ("", "gamma")
    task.turn("s3", "epsilon", copy_of="s2", without="id of delta")
    assert task.told("s3") == ("", "")  # it knows
    task.back(2)  # and undone once more, and done again
    assert task.told("s3") == ("gamma epsilon", "")
    task.back(7)
    assert task.told("s3") == ("", "")


def test_two_undone_and_one_done_again(task: Task) -> None:
    task.back(2)
    task.back(1)
    task.turn("s2", "delta", copy_of="s1", without="id of beta")
    task.back(2)
    assert task.told("s3", copy_of="s2", without="delta") == ("", "beta")


def test_the_copy_is_told_while_it_lives(task: Task) -> None:
    task.back(2)
    task.turn("s2", "delta", copy_of="s1", without="id of gamma")
    task.back(3)
    assert task.told_while_it_lives("s2", 4) == ("delta", "gamma")
    task.back(1)  # what the copy has from the old conversation is taken back as well
    assert task.told_while_it_lives("s2", 6) == ("beta gamma", "")


def test_a_conversation_that_went_on_whole_is_told_what_was_done_again(task: Task) -> None:
    """As that of an agent of which no copy can be made."""
    task.back(2)
    assert task.told("s1") == ("gamma", "")
    task.turn("s1", "delta")
    task.back(3)
    assert task.told("s1") == ("delta", "gamma")


def test_all_prompts_of_a_turn_are_named(task: Task) -> None:
    task.turn("s1", "delta", "faster", "and better")
    task.back(3)
    assert task.told("s1") == ("delta faster and better", "")
