"""Answers on Home with the real store: none without its own chord, and the first one counts."""

import asyncio
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

import left_to_prove
from sandbox import Sandbox
from siding.asking.answer import answer
from siding.asking.decisions.record import AlreadyClosed, Via
from siding.asking.lookup import get, list_decisions
from siding.asking.question import ask, plain_question
from siding.faces.tui.app import SidingApp
from siding.faces.tui.places.home.place import HomePlace
from siding.feed.fold import feed_of
from siding.record.place.project import Project, ensure_project
from siding.record.place.wiring import open_app
from unit.faces.tui.apps import GivenSource
from unit.faces.tui.cards.decisions import Clock
from unit.faces.tui.cards.hands import JudgedPane, RandomHand

KEYS = 2_000 if left_to_prove.ALL else 400


class StaysHome(HomePlace):
    """Home that no key leaves."""

    def may_leave(self) -> bool:
        return False


class Asked:
    """A project with questions, and Home that shows them one after the other."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.siding = open_app(env=sandbox.env, cwd=sandbox.repo)
        self.project: Project = ensure_project(self.siding)[0]
        self.source = GivenSource()
        self.pane = JudgedPane(Clock())
        self.home = StaysHome()
        self.home.pane = self.pane
        self.app = SidingApp(self.siding, begin=lambda: self.home, source=lambda: self.source)
        self._epochs = count(1)

    def put(self, number: int) -> str:
        """Put a question; return its id."""
        question = plain_question(f"question {number}?", ["a", "b"])
        return ask(self.project, question).decision.session_id

    def look(self) -> None:
        """Show what is so now."""
        feed = feed_of(self.siding)._replace(epoch=next(self._epochs))
        self.app._take(feed)

    def answer_elsewhere(self) -> None:
        """Answer what is shown, as the dashboard would, before this screen knows."""
        found, _ = list_decisions(self.project)
        if found:
            answers = [{"id": 1, "chosen": "b"}]
            with suppress(AlreadyClosed):  # this screen was first
                answer(self.project, found[0].session_id, answers, via=Via.FLAG)


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    return Asked(Sandbox(tmp_path))


def test_random_keys_over_the_real_store(asked: Asked) -> None:
    asyncio.run(_at_random(asked))
    closed, _ = list_decisions(asked.project, closed=True)
    by_screen = [each for each in closed if each.via == Via.TERMINAL]
    elsewhere = [each for each in closed if each.via == Via.FLAG]
    assert asked.pane.wrong == []
    assert len(by_screen) >= 3
    assert len(elsewhere) >= 3
    assert len(by_screen) <= len(asked.pane.answers)
    assert {each.items[0].values for each in elsewhere} == {("b",)}


async def _at_random(asked: Asked) -> None:
    numbers = count(1)
    async with asked.app.run_test() as pilot:

        def put() -> None:
            asked.put(next(numbers))
            asked.look()

        put()
        happens = {put: 0.04, asked.look: 0.06, asked.answer_elsewhere: 0.02}
        hand = RandomHand(asked.app, asked.pane.clock, 3, happens)
        for number in range(KEYS):
            await hand.step()
            if number % 20 == 0:
                await pilot.pause(0.01)  # cards are read in a thread
        await asked.app.workers.wait_for_complete()


def test_the_first_answer_counts_and_the_other_person_is_told(asked: Asked) -> None:
    asyncio.run(_too_late(asked))


async def _too_late(asked: Asked) -> None:
    first, second = asked.put(1), asked.put(2)
    async with asked.app.run_test() as pilot:
        asked.look()
        await asked.app.workers.wait_for_complete()
        await pilot.pause()
        asked.pane.clock.at += 1
        await pilot.press("tab")
        asked.pane.clock.at += 1
        asked.answer_elsewhere()
        await pilot.press("1")
        await asked.app.workers.wait_for_complete()
        await pilot.pause()
        assert "answered already" in asked.home.foot.said
        assert get(asked.project, first).items[0].values == ("b",)
        asked.look()  # its card goes; the next one comes, and is not armed
        await asked.app.workers.wait_for_complete()
        await pilot.pause()
        asked.pane.clock.at += 1
        assert asked.pane.asking is not None
        assert asked.pane.asking.entry.session_id == second
        await pilot.press("1", "2")
        await asked.app.workers.wait_for_complete()
        assert get(asked.project, second).state == "open"
