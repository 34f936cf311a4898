"""Random acts on a real project: a fold that reads what it is hinted sees what a new fold sees.

The hints are what a watcher of the fold's own directories would give, and no more.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from integration.undo.desk import Desk
from prepared import prepared
from siding.applying.apply import Mode
from siding.asking.answer import answer, cancel
from siding.asking.decisions.record import Via
from siding.asking.question import ask
from siding.feed.fold import HomeFold, feed_of
from siding.feed.model import Feed, State, changed, difference
from siding.ground.errors import SidingError
from siding.record.tasks.task import Task, TaskState
from siding.tasks.close import Fate, close_task
from siding.tasks.reopen import reopen
from unit.faces.cli.in_process import cut_off

from .watched import entries, hints

QUESTION = {"task": "q", "source": "plan.md", "items": [{"id": 1, "title": "Which?"}]}


class FoldWalk(RuleBasedStateMachine):
    """What a person and agents do, on one task and a few that are planned."""

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk.at(prepared(Desk))
        self.fold = HomeFold(self.desk.project.app)
        self.shown: Feed = self.fold.look()
        self.before = entries(self.fold.directories())
        self.count = 0
        self.open: list[str] = []
        self.plans: list[Task] = []

    @rule(number=st.integers(0, 1 << 32))
    def act(self, number: int) -> None:
        """Do one of the acts. Left alone, Hypothesis does few of them again and again."""
        self.count += 1
        self.draw = Random(f"{number} {self.count}")
        with suppress(SidingError):  # an act that is refused changes nothing
            self.draw.choice(ACTS)(self)

    def run(self) -> None:
        self._hooks("")  # damaged ones let nothing run
        change = self.draw.choice(["", f"echo {self.count} >>f{self.count % 3};", "rm -f f?;"])
        self.desk.shell(f"{change} exit {self.draw.choice([0, 0, 3])}")

    def change_back(self) -> None:
        self._hooks("")
        self.desk.shell("echo 1 >f9")
        self.sees_what_is_there()
        self.desk.shell("rm f9")

    def ask(self) -> None:
        value = {**QUESTION, "items": [{"id": 1, "title": f"Which {self.count}?", "kind": "text"}]}
        plans = [task.id for task in self.plans]
        task_id = self.draw.choice([None, self.desk.task.id, *plans])
        asked = ask(self.desk.project, value, task_id=task_id)
        self.open.append(asked.decision.session_id)

    def answer(self) -> None:
        if self.open:
            session = self.open.pop()
            if self.draw.random() < 0.5:
                cancel(self.desk.project, session, via=Via.TERMINAL)
            else:
                given = [{"id": 1, "chosen": "this"}]
                answer(self.desk.project, session, given, via=Via.TERMINAL)

    def kill_host(self) -> None:
        if self.desk.project.tasks.load(self.desk.task.id).status is not TaskState.CLOSED:
            cut_off(self.desk, "sleep", str(self.count))

    def settle(self) -> None:
        self._hooks("")
        self.desk.checkpoint()

    def undo(self) -> None:
        self.desk.undo()

    def redo(self) -> None:
        self.desk.redo()

    def apply(self) -> None:
        self._hooks("")
        self.desk.apply(self.draw.choice(list(Mode)), close=self.draw.random() < 0.3)

    def close(self) -> None:
        self.desk.task = self.desk.project.tasks.load(self.desk.task.id)
        self.desk.close(self.draw.choice(list(Fate)))

    def reopen(self) -> None:
        self.desk.reopen()

    def plan(self) -> None:
        self.plans.append(self.desk.plan(f"plan {self.count}"))

    def close_plan(self) -> None:
        if self.plans:
            task = self.desk.project.tasks.load(self.draw.choice(self.plans).id)
            close_task(self.desk.project, task, fate=self.draw.choice(list(Fate)), force=True)

    def reopen_plan(self) -> None:
        if self.plans:
            reopen(self.desk.project, self.draw.choice(self.plans).id)

    def change_hooks(self) -> None:
        self._hooks(self.draw.choice(["hooks: {pre_run: [make]}\n", "hooks: [\n", ""]))

    def damage(self) -> None:
        task = self.desk.project.task_layout(self.desk.plan(f"d{self.count}").id)
        if self.draw.random() < 0.5:
            task.task_json.write_text("{")
        else:
            os.rename(task.root, self.desk.sandbox.directory / f"gone {self.count}")

    def _hooks(self, content: str) -> None:
        config = self.desk.sandbox.repo / ".siding" / "config.yaml"
        config.parent.mkdir(exist_ok=True)
        config.write_text(content)

    @invariant()
    def sees_what_is_there(self) -> None:
        self.fold.touched(hints(self.before, entries(self.before)) or ["/nowhere"])
        found = self.fold.look()
        self.before = entries(self.fold.directories())
        fresh = feed_of(self.desk.project.app)
        assert found == fresh
        change = difference(self.shown, fresh, epoch=0, seq=0)
        shown = self.shown if change is None else changed(self.shown, change)
        assert set(shown.rows) == set(fresh.rows)
        assert set(shown.asks) == set(fresh.asks)
        self.shown = fresh
        keys = {row.key for row in fresh.rows}
        assert {ask.row for ask in fresh.asks} <= {*keys, ""}
        for row in fresh.rows:
            assert set(row.asks) <= {ask.id for ask in fresh.asks}
            assert row.state is not State.READY or (row.unapplied and row.files)


ACTS: list[Callable[[FoldWalk], None]] = [
    FoldWalk.run,
    FoldWalk.run,
    FoldWalk.change_back,
    FoldWalk.ask,
    FoldWalk.answer,
    FoldWalk.kill_host,
    FoldWalk.settle,
    FoldWalk.undo,
    FoldWalk.redo,
    FoldWalk.apply,
    FoldWalk.close,
    FoldWalk.reopen,
    FoldWalk.reopen,
    FoldWalk.plan,
    FoldWalk.close_plan,
    FoldWalk.reopen_plan,
    FoldWalk.change_hooks,
    FoldWalk.damage,
]
FoldWalk.TestCase.settings = settings(
    max_examples=int(os.environ.get("SIDING_WALKS", "3")),
    stateful_step_count=30,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
TestFoldWalk = pytest.mark.timeout(600)(FoldWalk.TestCase)
