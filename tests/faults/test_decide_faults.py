"""Decisions under faults: whatever is cut off where, no question and no answer is lost or doubled.

A promise is a line that was printed: the session of a question that was put, or who answered it.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from siding.asking.answer import answer
from siding.asking.decisions.record import AlreadyClosed, Via
from siding.asking.lookup import get, list_decisions
from siding.asking.question import ask
from siding.record.place.project import Project, ensure_project
from siding.record.place.wiring import open_app

from .arena import Command, GateFailed
from .commands import GATE, act
from .harness import sweep
from .powercut import powercut
from .product import repository, siding

pytestmark = GATE

BUDGET = int(os.environ.get("SIDING_FAULTS_BUDGET", "2"))
QUESTION = {
    "task": "t",
    "source": "s",
    "items": [
        {
            "id": 1,
            "title": "Who?",
            "options": [{"value": "victim", "label": "v"}, {"value": "rival", "label": "r"}],
        }
    ],
}
ASK = ("decide", "--file", "{case}/q.json", "--key", "k", "--no-wait")


def known(case: Path) -> None:
    repository(case)
    (case / "q.json").write_text(json.dumps(QUESTION))
    act(case, "-q", "init")


def put(case: Path) -> None:
    """A question is open, and beside it a newer one, which `pending.json` has."""
    known(case)
    (case / "session").write_text(act(case, "-q", *ASK).stdout)
    act(case, "-q", "decide", "--file", "{case}/q.json", "--key", "newer", "--no-wait")


def answering(who: str, *, fault: str = "") -> Command:
    """Answer the question; say who did, once it is recorded."""
    inner = siding("-q", "decide", "answer", fault=fault)
    script = f'"$@" $(cat {{case}}/session) --choose 1={who} && echo {who}'
    return inner._replace(argv=("sh", "-c", script, "sh", *inner.argv))


def here(case: Path) -> Project:
    env = {"PATH": os.environ["PATH"], "HOME": str(case), "SIDING_HOME": str(case / "home")}
    project, _ = ensure_project(open_app(env=env, cwd=case / "repo"))
    return project


def asked_holds(case: Path, promises: list[str]) -> None:
    """What was promised is found under its key; asking again makes no second question."""
    project = here(case)
    listed, _ = list_decisions(project, closed=True)
    before = {each.session_id for each in listed if each.key == "k"}
    assert len(before) <= 1, before
    assert before == set(promises) or not promises
    again = ask(project, QUESTION, key="k").decision
    assert not before or again.session_id in before
    assert pending(project) == again.session_id
    if again.state == "open":
        answer(project, again.session_id, [{"id": 1, "chosen": "victim"}], via=Via.TERMINAL)
    assert ask(project, QUESTION, key="k").decision.state == "answered"


def pending(project: Project) -> str:
    """What a reader of the seed's format takes for the newest question."""
    document: dict[str, Any] = json.loads(
        (project.layout.decisions_dir / "pending.json").read_bytes()
    )
    return str(document["_meta"]["session_id"])


def answered_holds(case: Path, promises: list[str]) -> None:
    """One answer, the one that was promised; the question is there whatever happened to it."""
    project = here(case)
    newer = ask(project, QUESTION, key="newer").decision
    new = ask(project, QUESTION, key="k").decision
    assert new.session_id == (case / "session").read_text().strip()
    assert (newer.state, pending(project)) == ("open", newer.session_id)
    assert len(promises) <= 1, promises
    if new.state == "open":
        assert not promises, "an answer was promised and is not there"
        answer(project, new.session_id, [{"id": 1, "chosen": "rival"}], via=Via.TERMINAL)
    else:
        assert not promises or new.items[0].values == (promises[0],), (promises, new)
        with pytest.raises(AlreadyClosed):
            answer(project, new.session_id, [{"id": 1, "chosen": "rival"}], via=Via.TERMINAL)
        assert get(project, new.session_id).items == new.items
    listed, damaged = list_decisions(project, closed=True)
    assert not damaged
    assert len({each.session_id for each in listed}) == len(listed) == 2
    left = {path.name for path in (project.layout.decisions_dir / "open").glob("*.json")}
    assert len(left) <= 2


@pytest.mark.parametrize(
    "modes", [("kill", "torn"), ("err:EIO", "err:ENOSPC"), ("full",)], ids=lambda modes: modes[0]
)
def test_asking(modes: tuple[str, ...]) -> None:
    sweep(known, siding("-q", *ASK), asked_holds, modes=modes, budget=BUDGET)


@pytest.mark.parametrize(
    "modes", [("kill", "torn"), ("err:EIO", "err:ENOSPC"), ("full",)], ids=lambda modes: modes[0]
)
def test_answering(modes: tuple[str, ...]) -> None:
    sweep(put, answering("victim"), answered_holds, modes=modes, budget=BUDGET)


def test_two_who_answer_at_once() -> None:
    """The second comes at any call of the first: one is recorded, the other is told."""
    sweep(
        put,
        answering("victim"),
        answered_holds,
        modes=("stop",),
        budget=2 * BUDGET,
        rival=answering("rival"),
    )


def test_two_who_ask_at_once() -> None:
    rival = siding("-q", *ASK)

    def same_holds(case: Path, promises: list[str]) -> None:
        assert len(set(promises)) <= 1, promises
        asked_holds(case, sorted(set(promises)))

    sweep(known, siding("-q", *ASK), same_holds, modes=("stop",), budget=BUDGET, rival=rival)


def test_the_power_fails() -> None:
    powercut(known, siding("-q", *ASK), asked_holds, budget=BUDGET)
    powercut(put, answering("victim"), answered_holds, budget=BUDGET)


PLANTED: dict[str, Callable[[str], object]] = {
    "decision-question-first": lambda fault: sweep(
        put, answering("victim", fault=fault), answered_holds, modes=("kill",), budget=100
    ),
    "decision-last-answer-wins": lambda fault: sweep(
        put,
        answering("victim", fault=fault),
        answered_holds,
        modes=("stop",),
        budget=100,
        rival=answering("rival"),
    ),
    "skip-fsync": lambda fault: powercut(
        known, siding("-q", *ASK, fault=fault), asked_holds, budget=100
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_each_planted_fault_is_caught(fault: str) -> None:
    with pytest.raises(GateFailed):
        PLANTED[fault](fault)
