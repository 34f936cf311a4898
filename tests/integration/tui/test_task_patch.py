"""The tab of the patch, with a real repository below it: comments, marks, folds, since when."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from siding.comments.comments import listed
from siding.faces.tui.places.task import comment_acts
from siding.faces.tui.places.task.changes import From, Since
from siding.faces.tui.places.task.commenting import comment_on
from siding.syncing.sync import SyncRequest, sync

from ..comments.agents import two_agents, until_reads
from ..undo.desk import Desk
from .task_screen import TaskScreen

TEN = "".join(f"line {number}\n" for number in range(1, 31))


def said(desk: Desk) -> list[tuple[str, int, int, str, str]]:
    """Return all comments: path, lines, text, state."""
    _task, found = listed(desk.project, desk.task.id)
    return [
        (
            each.comment.path,
            each.comment.first,
            each.comment.last,
            each.comment.said,
            each.shown_state,
        )
        for each in found
    ]


def with_long_file(desk: Desk) -> None:
    """Let the task change two places of a file that its base has."""
    desk.sandbox.git("rm", "-q", "hello.txt")
    (desk.sandbox.repo / "long.txt").write_text(TEN)
    desk.sandbox.git("add", "-A")
    desk.sandbox.git("commit", "-qm", "long")
    sync(desk.project, SyncRequest(task=desk.task.id))
    desk.write("long.txt", TEN.replace("line 3\n", "three\n").replace("line 25\n", "a\nb\n"))


def test_a_comment_is_written_on_its_line_written_anew_and_taken_away(
    desk: Desk, screen: TaskScreen
) -> None:
    desk.shell("printf 'hello\\nmore\\n' > hello.txt; printf 'x\\ny\\n' > new.txt")

    async def work() -> None:
        async with screen.shown():
            await screen.sees("2 files +3 -0")
            await screen.press("J", "j", "j", "c")
            await screen.type("why this")
            text = await screen.sees("why this", "you, draft", "COMMENTS 1 draft")
            assert text.index("2 + more") < text.index("you, draft")
            assert said(desk) == [("hello.txt", 2, 2, "why this", "draft")]
            await screen.press("j", "e")
            await screen.type("!")
            await screen.sees("why this!")
            await screen.press("d", "enter")
            await screen.gone("why this!")
            assert said(desk) == []
            await screen.press("]", "j", "j", "v", "j", "c")
            await screen.type("both")
            await screen.sees("you, draft")
            assert said(desk) == [("new.txt", 1, 2, "both", "draft")]

    asyncio.run(work())


def test_a_comment_is_refused_where_the_text_is_another_one_by_now(
    desk: Desk, screen: TaskScreen
) -> None:
    desk.shell("printf 'hello\\nmore\\n' > hello.txt")

    async def work() -> None:
        async with screen.shown():
            await screen.sees("2 + more")
            desk.write("hello.txt", "hello\nother\nmore\n")
            await screen.press("J", "j", "j", "c")
            await screen.type("lost")
            await screen.sees("is not as it is shown any more")
            assert said(desk) == []
            assert screen.place.typing.text == "lost"
            await screen.press("escape", "r")
            await screen.sees("3 + more")

    asyncio.run(work())


def test_comments_are_sent_as_one_prompt_once_they_are_agreed_to(
    desk: Desk, screen: TaskScreen
) -> None:
    desk.shell("printf 'hello\\nmore\\n' > hello.txt")

    async def work() -> None:
        async with screen.shown():
            await screen.sees("2 + more")
            await screen.press("S")
            await screen.sees("no comment is a draft")
            await screen.press("J", "j", "j", "c")
            await screen.type("why")
            await screen.sees("you, draft")
            await screen.press("S")
            await screen.sees("no agent lives here that can be given 1 comment: copy the prompt")
            await screen.press("escape")
            assert said(desk)[0][4] == "draft"
            await screen.press("S", "enter")
            await screen.sees("you, sent")
            assert said(desk)[0][4] == "sent"

    asyncio.run(work())


def test_a_comment_that_is_still_being_written_is_sent_too(
    desk: Desk, screen: TaskScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.shell("printf 'hello\\nmore\\n' > hello.txt")
    may_write = threading.Event()

    def slowly(*given: Any) -> object:
        may_write.wait(60)
        return comment_on(*given)

    monkeypatch.setattr(comment_acts, "comment_on", slowly)

    async def work() -> None:
        async with screen.shown():
            await screen.sees("2 + more")
            await screen.press("J", "j", "j", "c")
            await screen.type("why")
            await screen.press("S")
            may_write.set()
            await screen.sees("no agent lives here that can be given 1 comment: copy the prompt")

    asyncio.run(work())


def test_one_of_several_agents_is_chosen(desk: Desk, screen: TaskScreen, tmp_path: Path) -> None:
    desk.write("hello.txt", "hello\nmore\n")

    async def work() -> None:
        async with screen.shown():
            await screen.sees("2 + more")
            for says, moves in (("why", ("j",)), ("and this", ())):
                await screen.press("/")
                await screen.type("more")
                await screen.press("escape", "c")
                await screen.type(says)
                await screen.sees(f"│ {says}", "you, draft")
                await screen.press("S")
                await screen.sees("first  claude, r1: now, typed", "second  codex, r2: now, typed")
                await screen.press(*moves, "enter")
                name = "second" if moves else "first"
                await screen.sees(f"sent 1 comment to {name}")
                until_reads(desk, name, f"Requested change: {says}".encode())
            assert b"and this" not in desk.read("second")
            assert {each[4] for each in said(desk)} == {"sent"}

    with two_agents(desk, tmp_path):
        asyncio.run(work())


def test_a_mark_holds_until_its_text_changes(desk: Desk, screen: TaskScreen) -> None:
    with_long_file(desk)

    async def work() -> None:
        async with screen.shown():
            await screen.sees("FILES 0/1 viewed", "3 + three")
            await screen.press("J", "space")
            await screen.sees("✓ @@ -1,6")
            await screen.press("space")
            await screen.sees("FILES 1/1 viewed", "✓ long.txt")
            desk.write("long.txt", TEN.replace("line 3\n", "3\n").replace("line 25\n", "a\nb\n"))
            await screen.press("r")
            text = await screen.sees("3 + 3", "changed since you viewed it", "FILES 0/1 viewed")
            assert "✓ @@ -22,7" in text
            await screen.press("[", "space")
            await screen.sees("FILES 1/1 viewed")
            await screen.press("[", "space")
            await screen.sees("FILES 0/1 viewed")

    asyncio.run(work())


def test_folds_show_the_lines_between_also_of_what_no_step_has(
    desk: Desk, screen: TaskScreen
) -> None:
    with_long_file(desk)

    async def work() -> None:
        async with screen.shown():
            await screen.sees("15 lines, enter opens", "the rest of the file")
            assert "line 15" not in screen.text()
            await screen.until(lambda: screen.place.patch.source.segment(9)[0].kind == "fold")
            screen.place.patch.lines.stand_on(9)
            await screen.press("enter")
            text = await screen.sees("15  15   line 15")
            assert "21  21   line 21" in text
            await screen.press("enter")
            await screen.gone("line 15")

    asyncio.run(work())


def test_the_place_is_kept_while_the_agent_writes_above_it(desk: Desk, screen: TaskScreen) -> None:
    with_long_file(desk)

    async def work() -> None:
        async with screen.shown():
            await screen.sees("26 + b")
            lines = screen.place.patch.lines
            lines.stand_on(next(n for n in range(lines.count) if lines.source[n].text == "b"))
            row = next(n for n, text in enumerate(screen.rows()) if "26 + b" in text)
            desk.write("aaa.txt", "new\n" * 40)
            desk.write("zzz.txt", "new\n" * 40)
            desk.write(
                "long.txt",
                "first\n" + TEN.replace("line 3\n", "t\n").replace("line 25\n", "a\nb\n"),
            )
            await screen.press("r")
            await screen.sees("27 + b")
            assert lines.source[lines.cursor].text == "b"
            assert "27 + b" in screen.rows()[row]

    asyncio.run(work())


def test_the_patch_since_my_last_look_and_since_a_step(desk: Desk, screen: TaskScreen) -> None:
    desk.shell("echo one > one.txt")

    async def work() -> None:
        async with screen.shown():
            await screen.sees("one.txt")
            await screen.press("s")
            await screen.done()
            desk.shell("echo two > two.txt")
            await screen.press("p", "r")
            await screen.sees("my last look", "two.txt")
            screen.place.show_patch(Since(From.LOOK))
            text = await screen.sees("since my last look", "two.txt")
            assert "one.txt" not in text
            screen.place.show_patch(Since(From.STEP, "1"))
            text = await screen.sees("since step 1", "two.txt")
            assert "one.txt" not in text

    asyncio.run(work())


def test_files_without_lines_are_shown_with_what_they_are(desk: Desk, screen: TaskScreen) -> None:
    with_long_file(desk)
    desk.shell("git checkout -q .; git mv long.txt moved.txt; chmod +x src/a.py; : > empty")
    desk.write("data.bin", bytes(range(256)) * 20)

    async def work() -> None:
        async with screen.shown(size=(120, 40)):
            text = await screen.sees("moved.txt", "data.bin")
            assert "long.txt → moved.txt  +0 -0  renamed" in text
            assert "data.bin  binary  new" in text
            assert "there are no lines to show" in text
            assert "new mode 100755" in text
            assert "an empty file" in text

    asyncio.run(work())


def test_a_hunk_with_white_space_alone_is_hidden(desk: Desk, screen: TaskScreen) -> None:
    with_long_file(desk)
    desk.write("long.txt", TEN.replace("line 3\n", "  line   3\n").replace("line 25\n", "a\n"))

    async def work() -> None:
        async with screen.shown():
            await screen.sees("line   3")
            await screen.press("w")
            text = await screen.sees("only white space, w shows it", "1 hunk")
            assert "line   3" not in text
            assert "25 + a" in text
            await screen.press("w")
            await screen.sees("line   3")

    asyncio.run(work())


def test_under_80_columns_the_list_takes_the_place_of_the_patch(
    desk: Desk, screen: TaskScreen
) -> None:
    desk.shell("printf 'hello\\nmore\\n' > hello.txt; echo new > new.txt")

    async def work() -> None:
        async with screen.shown(size=(60, 24)):
            assert "FILES" not in await screen.sees("2 + more")
            await screen.press("h")
            assert "2 + more" not in await screen.sees("FILES 0/2 viewed", "new.txt")
            await screen.press("j", "enter")
            text = await screen.sees("new.txt  +1 -0  new")
            assert "FILES" not in text
            assert max(map(len, screen.rows())) <= 60
            await screen.press("h")
            await screen.sees("FILES")
            await screen.press("escape")
            await screen.sees("2 + more")

    asyncio.run(work())


def test_an_address_leads_to_a_hunk_and_to_a_step(desk: Desk, screen: TaskScreen) -> None:
    with_long_file(desk)
    desk.shell("echo one > one.txt")

    async def work() -> None:
        async with screen.shown(hunk="long.txt:2"):
            await screen.sees("hunk 2 of 2")
            await screen.press("K")
            await screen.sees("hunk 1 of 2")  # the head follows the cursor
        again = TaskScreen(desk)
        async with again.shown("0003"):
            assert "long.txt" not in await again.sees("step 3", "one.txt")

    asyncio.run(work())
