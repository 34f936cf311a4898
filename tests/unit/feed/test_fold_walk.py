"""Random acts on a real project: a fold that reads what it is hinted sees what a new fold sees.

The hints are what a watcher of the fold's own directories would give, and no more.
"""

import os
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from integration.undo.desk import Desk
from prepared import prepared
from siding.applying.apply import Mode
from siding.asking.answer import answer, cancel
from siding.asking.decisions.record import Via
from siding.asking.question import ask
from siding.feed.fold import HomeFold, feed_of
from siding.feed.model import Feed, State, changed, difference
from siding.ground.errors import NotFound, SidingError
from siding.tasks.changes import TaskUpdate, update
from siding.tasks.close import Fate
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
        self.is_closed = False

    @precondition(lambda self: not self.is_closed)
    @rule(exit_code=st.sampled_from([0, 0, 3]), writes=st.booleans())
    def run(self, exit_code: int, writes: bool) -> None:
        self.count += 1
        self._hooks("")  # damaged ones let nothing run
        change = f"echo {self.count} >>f{self.count % 3};" if writes else ""
        self.desk.shell(f"{change} exit {exit_code}")

    @precondition(lambda self: len(self.open) < 2)
    @rule(of_task=st.booleans())
    def ask(self, of_task: bool) -> None:
        self.count += 1
        value = {**QUESTION, "items": [{"id": 1, "title": f"Which {self.count}?", "kind": "text"}]}
        task_id = self.desk.task.id if of_task else None
        asked = ask(self.desk.project, value, task_id=task_id)
        self.open.append(asked.decision.session_id)

    @precondition(lambda self: self.open)
    @rule(drop=st.booleans())
    def answer(self, drop: bool) -> None:
        session = self.open.pop()
        if drop:
            cancel(self.desk.project, session, via=Via.TERMINAL)
        else:
            given = [{"id": 1, "chosen": "this"}]
            answer(self.desk.project, session, given, via=Via.TERMINAL)

    @precondition(lambda self: not self.is_closed)
    @rule()
    def kill_host(self) -> None:
        self._hooks("")
        with suppress(SidingError):
            self.desk.checkpoint()  # what was cut off before is settled
        cut_off(self.desk, "sleep", "60")

    @rule(redo=st.booleans())
    def undo(self, redo: bool) -> None:
        with suppress(SidingError):
            (self.desk.redo if redo else self.desk.undo)()
        self._look_at_task()

    @precondition(lambda self: not self.is_closed)
    @rule(mode=st.sampled_from(Mode), close=st.booleans())
    def apply(self, mode: Mode, close: bool) -> None:
        with suppress(SidingError):
            self.desk.apply(mode, close=close)
        self._look_at_task()

    @precondition(lambda self: not self.is_closed)
    @rule(fate=st.sampled_from(Fate))
    def close(self, fate: Fate) -> None:
        with suppress(SidingError):
            self.desk.close(fate)
        self._look_at_task()

    @precondition(lambda self: self.is_closed)
    @rule()
    def reopen(self) -> None:
        self.desk.reopen()
        self._look_at_task()

    @rule()
    def plan(self) -> None:
        self.count += 1
        self.desk.plan(f"plan {self.count}")

    @rule()
    def rename_owner(self) -> None:
        with suppress(NotFound):
            update(self.desk.project, self.desk.task.id, TaskUpdate(owner=f"o{self.count}"))

    @rule(content=st.sampled_from(["hooks: {pre_run: [make]}\n", "hooks: [\n", ""]))
    def hooks(self, content: str) -> None:
        self._hooks(content)

    def _hooks(self, content: str) -> None:
        config = self.desk.sandbox.repo / ".siding" / "config.yaml"
        config.parent.mkdir(exist_ok=True)
        config.write_text(content)

    @rule(is_damaged=st.booleans())
    def damage(self, is_damaged: bool) -> None:
        task = self.desk.project.task_layout(self.desk.plan(f"d{self.count}").id)
        self.count += 1
        if is_damaged:
            task.task_json.write_text("{")
        else:
            os.rename(task.root, self.desk.sandbox.directory / f"gone {self.count}")

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
            assert row.state is not State.READY or row.unapplied

    def _look_at_task(self) -> None:
        self.is_closed = True
        with suppress(NotFound):  # it was deleted
            self.desk.task = self.desk.project.tasks.load(self.desk.task.id)
            self.is_closed = self.desk.task.status.value == "closed"


FoldWalk.TestCase.settings = settings(
    max_examples=int(os.environ.get("SIDING_WALKS", "4")),
    stateful_step_count=14,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
TestFoldWalk = pytest.mark.timeout(600)(FoldWalk.TestCase)
