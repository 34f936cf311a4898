"""What works beside a conversation, in its tab: chosen, shown and ended from the field."""

import asyncio
from collections.abc import Iterator

import pytest

from agents.talking.scripted_claude import put_in
from integration.chat.talks import Conversation
from siding.chat.events import Queued, Sending
from siding.feed.addresses import WORKFLOWS, Address
from siding.feed.fold import feed_of
from siding.feed.model import Feed, RowKind, State

from ..undo.desk import Desk
from .stories import told
from .task_screen import TaskScreen


@pytest.fixture
def talk(desk: Desk) -> Iterator[Conversation]:
    """The task of the desk, in which `claude` is the scripted one."""
    sandbox = desk.sandbox
    sandbox.env["PATH"] = put_in(sandbox.directory / "bin") + sandbox.env["PATH"]
    sandbox.env["CLAUDE_CONFIG_DIR"] = str(sandbox.directory / "claude")
    found = Conversation(sandbox)
    yield found
    found.go.touch()
    sandbox.siding("chat", "end", "--now", "-t", desk.task.id, status=None)


def _beside(screen: TaskScreen) -> list[str]:
    """Return the rows of the selector."""
    selector = screen.place.talk.beside.selector
    region = selector.region
    return screen.rows()[region.y : region.bottom] if selector.display else []


def test_a_helper_is_shown_below_its_call(
    desk: Desk, talk: Conversation, screen: TaskScreen
) -> None:
    first = talk.go.with_name("first")
    lines = "\n".join(f"say * line {n}" for n in range(40))
    prompt = f"helper {first}\n{lines}\nbackground build\nhelper {talk.go}"

    async def work() -> None:
        talk.sandbox.siding("chat", "claude", "say hello", "-t", desk.task.id)
        async with screen.shown(rest="c1"):
            tab = screen.place.talk
            field, selector = tab.writing.field, tab.beside.selector
            await screen.sees("claude   hello", "waits for a prompt")
            await screen.press("down")
            assert field.has_focus, "nothing works beside: down is of the history"
            assert _beside(screen) == []
            field.write(prompt)
            await screen.press("enter")
            await screen.sees("main", "○ Scout")
            await screen.press("down", "down", "enter")
            await screen.sees("looking")
            await screen.press("x")
            await screen.sees("a helper is ended with its turn")
            await screen.press("i", "j", "q", "escape", "escape")
            assert field.has_focus
            assert field.text == "", "what is typed at the rows goes nowhere"
            first.touch()
            await screen.until(lambda: len(_beside(screen)) == 4)
            await screen.sees("• line 39", "✓ Scout", "background  build", "○ Scout")
            assert "nothing there" not in screen.text()
            await screen.press("down", "down", "enter")
            await screen.sees("nothing there")
            assert "• line 39" not in screen.text()
            assert tab.view.place.item == tab.view.cursor, "its call is at the top"
            await screen.press("pagedown", "escape")
            assert field.has_focus
            assert selector.selector.viewed
            await screen.press("escape")
            await screen.sees("• line 39")
            assert field.has_focus
            assert not selector.selector.viewed
            assert tab.view.following
            await screen.press("down", "down", "down", "enter")
            await screen.sees("what an agent has in the background prints nothing here")
            assert not selector.selector.viewed
            talk.go.touch()
            await screen.until(lambda: sum("leaves in" in each for each in _beside(screen)) == 2)

    asyncio.run(work())


def _with_flow(desk: Desk) -> Feed:
    """Return the feed with a workflow that runs in the task."""
    feed = feed_of(desk.project.app)
    task = next(each for each in feed.rows if each.id == desk.task.id)
    address = str(Address(task.project, WORKFLOWS, "w1"))
    flow = task._replace(
        key="w1", kind=RowKind.WORKFLOW, id="w1", name="review", address=address, parent=task.key
    )
    other = flow._replace(key="w2", name="elsewhere", parent="another")
    flow = flow._replace(state=State.RUNS)
    return feed._replace(epoch=1, rows=(*feed.rows, flow, other))


def test_a_workflow_of_the_task_is_opened_where_it_is(
    desk: Desk, screen: TaskScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(desk, Queued("p1", "the first"), Sending("p1"))
    told(desk, Queued("p2", "the second"), Sending("p2"))

    async def work() -> None:
        async with screen.shown(rest="c2"):
            await screen.sees("you      the second")
            screen.app._take(_with_flow(desk))
            await screen.sees("main", "○ review")
            assert "elsewhere" not in "\n".join(_beside(screen))
            opened: list[str] = []
            monkeypatch.setattr(screen.app, "open_address", opened.append)
            await screen.press("down", "down", "enter")
            await screen.until(lambda: opened)
            assert opened[0].endswith("/~workflows/w1")
            assert not screen.place.talk.beside.selector.selector.viewed
            await screen.press("x")
            await screen.sees("w1", "siding workflow")
            await screen.press("escape", "escape", "h")
            await screen.sees("you      the first", "○ review")

    asyncio.run(work())
