"""Acts from the task's screen: each is shown before it is done, and can be taken back."""

import asyncio
import threading
from typing import Any

import pytest

from siding.applying.unresolved import merging
from siding.faces.plans.acts import carry_out, plan
from siding.faces.plans.plan import ActDone, ActPlan
from siding.forks.forks import fork
from siding.forks.state import recorded
from siding.running.checkpoint import checkpoint

from ..undo.desk import Desk
from .task_screen import TaskScreen


def steps(desk: Desk) -> list[str]:
    return [each.kind_shown for each in desk.steps()]


def on_main(desk: Desk, text: str) -> None:
    (desk.sandbox.repo / "hello.txt").write_text(text)
    desk.sandbox.git("commit", "-qam", "theirs")


def test_back_to_a_step_undone_and_done_again(desk: Desk, screen: TaskScreen) -> None:
    desk.shell("echo one > one.txt")
    desk.shell("echo two > two.txt")

    async def work() -> None:
        async with screen.shown():
            await screen.press("s")
            await screen.sees("0002", "0001")
            await screen.press("j", "b")
            text = await screen.sees("Go back to step 0001", "1 deleted", "enter do it")
            assert "  two.txt" in text
            await screen.press("escape")
            await screen.gone("enter do it")
            assert (desk.root / "two.txt").exists()
            await screen.press("b")
            await screen.sees("enter do it")
            await screen.press("enter")
            await screen.sees("back to step 0001   U takes it back")
            assert not (desk.root / "two.txt").exists()
            await screen.press("U")
            await screen.sees("Undo: step 0003 is undone", "1 written")
            await screen.press("enter")
            await screen.sees("undid step 0003")
            assert desk.read("two.txt") == b"two\n"
            await screen.press("R")
            await screen.sees("Redo: ", "enter do it")
            await screen.press("enter")
            await screen.sees("did step 0003 again")
            assert not (desk.root / "two.txt").exists()
            assert steps(desk) == ["run", "run", "rollback", "undo", "redo"]

    asyncio.run(work())


def test_the_key_of_an_act_waits_for_the_one_that_goes_on(
    desk: Desk, screen: TaskScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.shell("echo one > one.txt")
    let, told = threading.Event(), threading.Event()
    told.set()

    def late(*words: Any) -> ActDone:
        assert let.wait(60)
        return carry_out(*words)

    def late_plan(*words: Any) -> ActPlan:
        assert told.wait(60)
        return plan(*words)

    monkeypatch.setattr("siding.faces.tui.places.task.acting.carry_out", late)
    monkeypatch.setattr("siding.faces.tui.places.task.acting.plan", late_plan)

    async def work() -> None:
        async with screen.shown():
            try:
                await screen.press("U")
                await screen.sees("enter do it")
                await screen.press("enter", "A", "j", "R")
                await screen.sees("undo goes on: redo comes after it")
            finally:
                let.set()
            await screen.sees("undid step 0001", "Redo: ", "enter do it")
            assert not (desk.root / "one.txt").exists()
            await screen.press("enter")
            await screen.sees("did step 0001 ", " again   U")
            # A plan does not come under the hand of who types by then.
            told.clear()
            await screen.press("A", "/")
            await screen.until(lambda: screen.place.typing.has_focus)
            told.set()
            await screen.sees("apply is worked out: press its key again")
            await screen.press("escape")
            await screen.done()

    asyncio.run(work())


def test_an_undo_asks_when_something_was_changed_since(desk: Desk, screen: TaskScreen) -> None:
    desk.shell("echo one > one.txt")

    async def work() -> None:
        async with screen.shown():
            desk.write("one.txt", "by hand\n")
            await screen.press("U")
            await screen.sees("enter do it")
            await screen.press("enter")
            await screen.sees("asks for your word", "go on all the same")
            await screen.press("escape")
            assert desk.read("one.txt") == b"by hand\n"
            await screen.press("U")
            await screen.sees("enter do it")
            await screen.press("enter")
            await screen.sees("go on all the same")
            await screen.press("enter")
            await screen.sees("undid step")
            assert not (desk.root / "one.txt").exists()

    asyncio.run(work())


def test_what_is_done_is_what_was_shown(desk: Desk, screen: TaskScreen) -> None:
    desk.shell("echo one > one.txt")

    async def work() -> None:
        async with screen.shown():
            await screen.press("A")
            await screen.sees("Apply to main", "A one.txt")
            on_main(desk, "theirs\n")
            await screen.press("enter")
            await screen.sees("something has changed since this was shown")
            assert not (desk.sandbox.repo / "one.txt").exists()

    asyncio.run(work())


def test_a_conflict_is_resolved_applied_and_taken_back(desk: Desk, screen: TaskScreen) -> None:
    desk.shell("echo ours > hello.txt")
    on_main(desk, "theirs\n")

    async def work() -> None:
        async with screen.shown():
            await screen.press("M")
            await screen.sees("no conflict is being resolved")
            await screen.press("A")
            text = await screen.sees("1 in conflict", "m bring the conflict into the workspace")
            assert "enter do it" not in text
            await screen.press("m")
            await screen.sees("in conflict, with both sides marked", "enter do it")
            await screen.press("enter")
            await screen.sees("main merged into the workspace, 1 path to be resolved")
            await screen.press("M")
            text = await screen.sees("0 of 1 path resolved", "markers left  hello.txt")
            assert "continue" not in text
            await screen.press("enter")
            assert merging(desk.project, desk.task.id) is not None
            desk.write("hello.txt", "both\n")
            await screen.press("r")
            await screen.sees("1 of 1 path resolved", "enter continue: apply it")
            await screen.press("enter")
            await screen.sees("Apply to main", "enter do it")
            await screen.press("enter")
            await screen.sees("applied to main; the task is closed")
            assert (desk.sandbox.repo / "hello.txt").read_text() == "both\n"
            await screen.press("U")
            await screen.sees("opened again", "enter do it")
            await screen.press("enter")
            await screen.sees("opened task work again")
            await screen.press("U")
            await screen.sees("is taken back from main")
            await screen.press("enter")
            await screen.sees("undid step")
            assert (desk.sandbox.repo / "hello.txt").read_text() == "theirs\n"
            await screen.press("A")
            print(await screen.done())

    asyncio.run(work())


def test_the_base_is_brought_in_and_that_taken_back(desk: Desk, screen: TaskScreen) -> None:
    desk.shell("echo one > one.txt")
    on_main(desk, "theirs\n")

    async def work() -> None:
        async with screen.shown():
            await screen.press("Y")
            await screen.sees("Bring main in", "theirs", "enter do it")
            await screen.press("enter")
            await screen.sees("main brought in")
            assert desk.read("hello.txt") == b"theirs\n"
            await screen.press("Y")
            text = await screen.sees("task work has all of main already")
            assert "enter do it" not in text
            await screen.press("escape", "U")
            await screen.sees("enter do it")
            await screen.press("enter")
            await screen.sees("undid step")
            assert desk.read("hello.txt") == b"hello\n"

    asyncio.run(work())


def test_a_step_is_done_again_with_another_command(desk: Desk, screen: TaskScreen) -> None:
    desk.shell("echo one > one.txt")
    desk.shell("echo two > two.txt")

    async def work() -> None:
        async with screen.shown():
            await screen.press("s")
            await screen.sees("0001")
            await screen.press("j", "T")
            await screen.type("touch three.txt")
            await screen.sees("Do step 0001 again", "then runs: touch three.txt", "2 steps left")
            await screen.press("enter")
            await screen.sees("[o Output]", "it printed nothing")
            await screen.press("s")
            assert sorted(each.name for each in desk.root.glob("*.txt")) == [
                "hello.txt",
                "three.txt",
            ]
            await screen.sees("left behind (L shows them)")
            await screen.press("L")
            await screen.sees("left behind: ")
            await screen.press("U")
            await screen.sees("enter do it")
            await screen.press("enter")
            await screen.sees("undid step")
            assert (desk.root / "two.txt").exists()

    asyncio.run(work())


def test_two_steps_and_two_attempts_are_compared(desk: Desk, screen: TaskScreen) -> None:
    desk.shell("echo one > one.txt")
    desk.shell("echo two > two.txt")
    desk.shell("echo three > three.txt")
    other = fork(desk.project, recorded(desk.project, desk.task, "1"))
    (other.path / "other.txt").write_text("other\n")
    checkpoint(desk.project, other.id, "other", wait=False)
    other.close()

    async def work() -> None:
        async with screen.shown():
            await screen.press("s")
            await screen.sees("0003")
            await screen.press("c", "j", "j", "c")
            text = await screen.sees("1 → 3", "two.txt", "three.txt")
            assert "one.txt" not in text
            await screen.press("C")
            await screen.sees("Compare with", "1 steps, from 0001")
            await screen.press("enter")
            text = await screen.sees("this → attempt", "other.txt  +1 -0  new", "two.txt  +0 -1")
            assert "one.txt" not in text

    asyncio.run(work())


def test_bisect_by_a_check_and_by_eye(desk: Desk, screen: TaskScreen) -> None:
    desk.shell("echo one > one.txt")
    desk.shell("echo bad > bad.txt")
    desk.shell("echo two > two.txt")

    async def work() -> None:
        async with screen.shown():
            await screen.press("B")
            await screen.type("test ! -e bad.txt")
            await screen.sees("step 0002 broke it", "its patch")
            await screen.press("enter")
            await screen.sees("step 2", "bad.txt")
            await screen.press("B", "enter")
            for _look in range(2):
                text = await screen.sees("does it hold there?")
                is_bad = "after step 0002" in text or "after step 0003" in text
                await screen.press("n" if is_bad else "y")
            await screen.sees("step 0002 broke it")
            await screen.press("j", "enter")
            await screen.sees("Go back to step 0001")

    asyncio.run(work())
