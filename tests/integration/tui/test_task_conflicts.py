"""A conflict with the base, from the task's screen: brought in, given up, resolved, taken back."""

import asyncio

from siding.applying.unresolved import merging
from siding.feed.fold import HomeFold
from siding.feed.model import State

from ..undo.desk import Desk
from .task_screen import TaskScreen
from .test_task_acts import on_main

_MARKED = b"<<<<<<< main"


def state(desk: Desk) -> State:
    """Return how the task stands in the feed."""
    fold = HomeFold(desk.project.app)
    return next(row.state for row in fold.look().rows if row.id == desk.task.id)


def is_marked(desk: Desk) -> bool:
    return _MARKED in desk.read("hello.txt")


def test_the_base_in_conflict_is_given_up_taken_back_and_resolved(
    desk: Desk, screen: TaskScreen
) -> None:
    desk.shell("echo ours > hello.txt")
    on_main(desk, "theirs\n")

    async def work() -> None:
        async with screen.shown():
            brought = "main brought in; 1 path in conflict, to be resolved"
            await screen.does("Y", "1 left in conflict in the workspace", brought)
            assert is_marked(desk)
            assert state(desk) is State.WAITS
            await screen.press("M")
            await screen.sees("0 of 1 path resolved", "x give the merge up")
            await screen.does("x", "Give the merge with main up", "as before the merge")
            assert (desk.read("hello.txt"), merging(desk.project, desk.task.id)) == (
                b"ours\n",
                None,
            )
            assert state(desk) is State.READY
            for _time in (1, 2):
                await screen.does("U", "Undo: step 0003", "undid step 0003")
                assert is_marked(desk)
                assert state(desk) is State.WAITS
                await screen.does("R", "Redo: step 0003", "did step 0003 again")
                assert desk.read("hello.txt") == b"ours\n"
                assert state(desk) is State.READY
            await screen.does("Y", "1 left in conflict in the workspace", brought)
            await screen.does("U", "Undo: step", "undid step")
            assert desk.read("hello.txt") == b"ours\n"
            await screen.does("R", "Redo: step", "did step")
            assert is_marked(desk)
            assert state(desk) is State.WAITS
            desk.write("hello.txt", "both\n")
            await screen.press("M")
            await screen.sees("1 of 1 path resolved")
            await screen.press("escape")
            desk.checkpoint("resolved")
            await screen.press("r")
            await screen.does("A", "Apply to main", "applied to main; the task is closed")
            assert (desk.sandbox.repo / "hello.txt").read_text() == "both\n"
            await screen.does("U", "opened again", "opened task work again")
            await screen.does("U", "is taken back from main", "undid step")
            assert (desk.sandbox.repo / "hello.txt").read_text() == "theirs\n"

    asyncio.run(work())


def test_an_apply_in_conflict_is_given_up_and_begun_once_more(
    desk: Desk, screen: TaskScreen
) -> None:
    desk.shell("echo ours > hello.txt")
    on_main(desk, "theirs\n")

    async def work() -> None:
        async with screen.shown():
            for _time in (1, 2):
                await screen.press("A")
                await screen.sees("1 in conflict", "m bring the conflict into the workspace")
                await screen.does("m", "with both sides marked", "main merged into the workspace")
                assert is_marked(desk)
                assert state(desk) is State.WAITS
                await screen.press("M")
                await screen.sees("markers left  hello.txt")
                await screen.does("x", "Give the merge with main up", "as before the merge")
                assert desk.read("hello.txt") == b"ours\n"
                assert state(desk) is State.READY
            await screen.does("U", "Undo: step 0005", "undid step 0005")
            assert is_marked(desk)
            assert state(desk) is State.WAITS
            await screen.press("M")
            await screen.sees("markers left  hello.txt")

    asyncio.run(work())
