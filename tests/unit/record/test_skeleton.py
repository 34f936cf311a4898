"""The one order of every act: what refuses changes nothing, what began is recorded."""

from typing import ClassVar

import pytest

from integration.undo.desk import Desk
from siding.record.acts.skeleton import Act, Done, Ended, Work, perform
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent, Intents
from siding.record.ledger.move_details import RollbackDetail
from siding.record.ledger.step import Step
from siding.record.place.locks import holding_task
from siding.record.recording.recorder import Recorder
from siding.record.tasks.task import TaskBusy
from siding.running.checkpoint import checkpoint


class Refusal(Exception):
    """What a toy act raises."""


class ToyAct(Act[str, str, tuple[str, Step | None]]):
    """Writes a file into the workspace, and notes the order in which it is asked."""

    what = "a toy act"
    wait = False
    unchanged: ClassVar[tuple[type[BaseException], ...]] = (KeyError,)

    def __init__(self, desk: Desk, *, fails_in: str = "", error: type[Exception] = Refusal) -> None:
        self.calls: list[str] = []
        self._desk = desk
        self._fails_in = fails_in
        self._error = error

    def settle(self, recorder: Recorder) -> list[Step]:
        self._called("settle")
        return super().settle(recorder)

    def plan(self, work: Work) -> str:
        self._called("plan")
        work.resources.callback(self.calls.append, "closed")
        return "planned"

    def draft(self, work: Work, plan: str) -> Draft | None:
        self._called("draft")
        return None if self._fails_in == "nothing" else Draft(RollbackDetail(message=plan))

    def carry_out(self, work: Work, plan: str, intent: Intent) -> Ended[str]:
        assert self._intents() == [intent]
        self._desk.write("made", "made\n")
        self._called("carry_out")
        return Ended(intent, intent.draft.completed(), "done")

    def result(self, work: Work, plan: str, done: Done[str] | None) -> tuple[str, Step | None]:
        self._called("result")
        return ("", None) if done is None else (done.outcome, done.step)

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if name == self._fails_in:
            raise self._error(name)

    def _intents(self) -> list[Intent]:
        return Intents(self._desk.project.task_layout(self._desk.task.id)).all()


def intents(desk: Desk) -> list[Intent]:
    return Intents(desk.project.task_layout(desk.task.id)).all()


def test_it_is_looked_at_then_done_then_recorded(desk: Desk) -> None:
    act = ToyAct(desk)
    outcome, step = perform(desk.project, desk.task.id, act)
    assert act.calls == ["settle", "plan", "draft", "carry_out", "result", "closed"]
    assert (outcome, step) == ("done", desk.steps()[-1])
    assert [(each.kind, each.message, each.files) for each in desk.steps()] == [
        ("rollback", "planned", 1)
    ]
    assert intents(desk) == []


@pytest.mark.parametrize("moment", ["settle", "plan", "draft"])
def test_what_is_refused_has_changed_nothing(desk: Desk, moment: str) -> None:
    with pytest.raises(Refusal):
        perform(desk.project, desk.task.id, ToyAct(desk, fails_in=moment))
    assert (desk.steps(), intents(desk)) == ([], [])


def test_where_there_is_nothing_to_do_there_is_no_step(desk: Desk) -> None:
    act = ToyAct(desk, fails_in="nothing")
    assert perform(desk.project, desk.task.id, act) == ("", None)
    assert act.calls == ["settle", "plan", "draft", "result", "closed"]
    assert (desk.steps(), intents(desk)) == ([], [])


def test_a_failure_that_changed_nothing_leaves_no_step(desk: Desk) -> None:
    with pytest.raises(KeyError):
        perform(desk.project, desk.task.id, ToyAct(desk, fails_in="carry_out", error=KeyError))
    assert (desk.steps(), intents(desk)) == ([], [])


def test_another_failure_is_recorded_by_the_next_act(desk: Desk) -> None:
    with pytest.raises(Refusal):
        perform(desk.project, desk.task.id, ToyAct(desk, fails_in="carry_out"))
    assert len(intents(desk)) == 1
    checkpoint(desk.project, desk.task.id, "next", wait=False)
    first, second = desk.steps()
    assert (first.status, first.recovered, first.files) == ("interrupted", True, 1)
    assert (second.message, second.files) == ("next", 0)
    assert intents(desk) == []


def test_an_act_may_recover_at_once(desk: Desk) -> None:
    class Careful(ToyAct):
        recovers_at_once: ClassVar[bool] = True

    with pytest.raises(Refusal):
        perform(desk.project, desk.task.id, Careful(desk, fails_in="carry_out"))
    assert [each.status for each in desk.steps()] == ["interrupted"]
    assert intents(desk) == []


def test_others_wait_while_it_is_carried_out(desk: Desk) -> None:
    class Keeping(ToyAct):
        def carry_out(self, work: Work, plan: str, intent: Intent) -> Ended[str]:
            with (
                pytest.raises(TaskBusy),
                holding_task(desk.project, desk.task.id, "another", wait=False),
            ):
                pass
            return super().carry_out(work, plan, intent)

    perform(desk.project, desk.task.id, Keeping(desk))


def test_others_work_meanwhile_if_it_lets_the_task_go(desk: Desk) -> None:
    """Their steps come first; its own follows them, and holds what it changed since."""

    class LettingGo(ToyAct):
        keeps_hold: ClassVar[bool] = False

        def carry_out(self, work: Work, plan: str, intent: Intent) -> Ended[str]:
            desk.write("early", "early\n")
            checkpoint(desk.project, desk.task.id, "meanwhile", wait=False)
            return super().carry_out(work, plan, intent)

    perform(desk.project, desk.task.id, LettingGo(desk))
    meanwhile, own = desk.steps()
    assert (meanwhile.number, meanwhile.message, meanwhile.files) == (1, "meanwhile", 1)
    assert (own.number, own.kind, own.files) == (2, "rollback", 1)
    assert own.parent == meanwhile.snapshot
    assert intents(desk) == []
