"""The tab of a conversation: its story as it goes on, and the field in which prompts are typed."""

import asyncio
import re
from collections.abc import Iterator

import pytest
from textual.events import Paste

from agents.talking.scripted_claude import put_in
from integration.chat.talks import Conversation
from siding.agents.talking.port import How, Text, ToolEnded, ToolStarted, TurnEnded
from siding.chat.alone import held_alone, writing
from siding.chat.conversations import begin
from siding.chat.events import Queued, Sending
from siding.chat.store import QUEUE_WORK
from siding.faces.tui.places.task.talk import story as of_story
from siding.faces.tui.plain.reading import story_lines
from siding.feed.fold import feed_of

from ..undo.desk import Desk
from .stories import told
from .task_screen import TaskScreen

TURN = """\
think a long thought
think about it
say # What I found
say It is **here**.
edit new.txt fresh
plan the work
ask Which colour?"""
_ARMS_S = 0.45  # a hand: after a card came, and between its chord and its answer
_LETTERS = re.compile(r"type (\S \S \S \S) : that answers")
LINES = "\n".join(f"line {n}" for n in range(12))


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


def test_a_conversation_from_its_first_prompt_on(
    desk: Desk, talk: Conversation, screen: TaskScreen
) -> None:
    async def work() -> None:
        async with screen.shown(size=(100, 40)):
            await screen.press("t")
            await screen.sees("There is no conversation in this task yet.", "with siding-agent")
            await screen.press("enter")
            await screen.sees("Begin a conversation with")
            await screen.press("j", "enter")
            await screen.sees("begins one with claude")
            screen.place.talk.writing.field.write(TURN)
            await screen.press("enter")
            await screen.sees("you      think a long thought", "thinks a long thought …")
            await screen.sees("claude   What I found", "It is here.", "! Edit   new.txt", "c1 asks")
            await _answers(screen, "Refuse it")
            await screen.sees("refused by terminal", "✗ Edit", "[>] the work", "2 Blue")
            await _answers(screen, "1")
            await screen.sees("allowed by terminal: Red", "1.2k in · 800 cached · 34 out")
            await screen.sees("waits for a prompt", "claude · small · mode default")
            await screen.press("escape", "z")
            await screen.sees("▾   thinks", "   about it")
            await screen.press("z")
            await screen.gone("   about it")

    async def _answers(screen: TaskScreen, key: str) -> None:
        """Answer the card above the field: only its chord arms it, and the text stays."""
        field = screen.place.talk.writing.field
        while screen.place.pane.card is None:
            screen.app._take(feed_of(desk.project.app)._replace(epoch=1))
            await asyncio.sleep(0.1)
        await screen.press("1", "x")
        assert field.text == "1x", "a card takes nothing that is typed"
        await asyncio.sleep(_ARMS_S)
        await screen.press("ctrl+y")
        assert screen.place.pane.arming.is_armed
        await asyncio.sleep(_ARMS_S)
        pane = screen.place.pane
        option = re.search(rf"(\d) {key}", screen.text())
        await screen.press(option[1] if option else key)
        if (letters := _LETTERS.search(screen.text())) is not None:
            await screen.press(*letters[1].split())
        await screen.until(lambda: not pane.arming.is_armed)
        assert field.has_focus, "the keys go back to what is typed"
        field.write("")
        await screen.until(lambda: not pane._busy)
        screen.place.withdraw()
        pane.show_rows([])

    asyncio.run(work())


def test_what_waits_is_changed_steered_and_stopped(
    desk: Desk, talk: Conversation, screen: TaskScreen
) -> None:
    async def work() -> None:
        desk.sandbox.siding("chat", "claude", talk.busy, "-t", desk.task.id)
        async with screen.shown(rest="c1"):
            field = screen.place.talk.writing.field
            await screen.sees("claude   at work", "c1 works")
            for each in ("one", "two", "three"):
                field.write(each)
                await screen.press("enter")
                await screen.sees(f" {each}")
            await screen.sees("queued 3 three")
            await screen.press("alt+q", "j", "K")
            await screen.sees("queued 1 two", "queued 2 one")
            await screen.press("d")
            await screen.sees("queued 1 one", "queued 2 three", "it is dropped")
            await screen.press("e")
            await screen.type(" more")
            await screen.sees("queued 1 one more", "the prompt is changed")
            await screen.press("s")
            await screen.sees("you      one more", "queued 1 three")
            await screen.press("escape")
            field.write("and this")
            await screen.press("alt+enter")
            await screen.sees("you      and this", "queued 1 three")
            field.write("/mode plan")
            await screen.press("enter")
            await screen.sees("the mode is plan", "· mode plan ·")
            await screen.press("alt+m")
            await screen.sees("model of claude", "it is this now", "another one: it is typed")
            await screen.press("j", "enter")
            await screen.sees("the model is large")
            await screen.press("escape", "escape")
            await screen.sees("the turn was stopped", "it is told to stop")
            (edited,) = talk.events("edited")
            steered = [line["prompt"] for line in talk.events("sending") if line.get("steers")]
            dropped = [line["prompt"] for line in talk.events("dropped")]
            assert edited["prompt"] in steered, (
                "the prompt that waited goes, and no other in its place"
            )
            assert edited["prompt"] not in dropped
            assert talk.events("stop-asked")
            await screen.gone("three")

    asyncio.run(work())


def test_an_agent_that_takes_no_steers_says_so_and_the_words_stay(
    desk: Desk, talk: Conversation, screen: TaskScreen
) -> None:
    begin(desk.project, desk.task, "siding-agent")

    async def work() -> None:
        async with screen.shown(rest="c1"):
            await screen.sees("ended; a prompt brings it back")
            field = screen.place.talk.writing.field
            field.write("now")
            await screen.press("alt+enter")
            await screen.sees("siding-agent takes no prompt into a turn that runs")
            await screen.until(lambda: field.text == "now")
            await screen.press("escape", "escape")
            await screen.sees("nothing runs")

    asyncio.run(work())
    assert talk.events("queued") == []


def test_what_is_typed_is_kept_completed_and_found_again(
    desk: Desk, talk: Conversation, screen: TaskScreen
) -> None:
    """Pastes are one line, files and commands are completed, a draft stays, history is there."""
    chat = told(desk, Queued("p1", "an earlier prompt\nof two lines"), Queued("p2", "the last"))
    desk.write("src/notes.md", "x")

    async def first() -> None:
        async with screen.shown(rest=chat.id):
            field = screen.place.talk.writing.field
            await screen.sees("queued 2 the last")
            await screen.press(*"see @no")
            await screen.sees(">@src/notes.md")
            await screen.press("tab")
            assert field.text == "see @src/notes.md "
            field.post_message(Paste(LINES))
            await screen.sees("see @src/notes.md [12 pasted lines]")
            await screen.press(*" and", "ctrl+j", *"this")
            await screen.press("up", "up")
            await screen.until(lambda: field.text == "the last")
            await screen.press("up", "down", "down")
            await screen.until(lambda: field.text.endswith("lines] and\nthis"))

    async def second(screen: TaskScreen) -> None:
        async with screen.shown(rest=chat.id):
            field = screen.place.talk.writing.field
            await screen.sees("[12 pasted lines] and")
            await screen.press("alt+o")
            assert field.text == f"see @src/notes.md {LINES} and\nthis"
            field.write("")
            await screen.press("/", "m", "o")
            await screen.sees("/mode ", "/model ")
            await screen.press("escape")
            await screen.press("ctrl+r")
            await screen.sees("earlier prompts", "2 of 2")
            await screen.press(*"two", "enter")
            await screen.until(lambda: field.text == "an earlier prompt\nof two lines")
            field.write("")
            await screen.until(lambda: not (chat.directory / "unsent").exists())

    asyncio.run(first())
    asyncio.run(second(TaskScreen(desk)))
    assert talk.events("sending") == []


def test_a_long_story_is_read_searched_and_bounded(
    desk: Desk, screen: TaskScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_story, "MOST", 300)
    monkeypatch.setattr(of_story, "KEPT", 200)
    parts: list[object] = [Queued("p1", "begin"), Sending("p1")]
    for number in range(60):
        parts += [
            ToolStarted(str(number), "Bash", f"make part-{number}", "execute"),
            ToolEnded(str(number), text=f"needle {number}\nand more\nand the end"),
            Text(f"Part {number} is there.\n"),
        ]
    chat = told(desk, *parts)

    async def work() -> None:
        async with screen.shown(rest=chat.id, size=(120, 30)):
            view = screen.place.talk.view
            await screen.sees("Part 59 is there.", f"older parts: siding chat show -c {chat.id}")
            assert view.count <= 300
            await screen.press("escape", "slash")
            await screen.type("needle 40")
            await screen.sees("needle 40", "n next place")  # it was folded
            await screen.press("escape")
            place = view.place
            lock = held_alone(desk.project, chat, QUEUE_WORK)
            assert lock is not None
            with lock, writing(desk.project, chat) as story:
                story.add(Text("\n".join(f"* new {n}" for n in range(14))))
            await screen.press("r")
            await screen.sees("▼ 1", "new lines, end follows")
            assert view.place == place, "what is read stays where it is"
            await screen.press("G")
            await screen.sees("• new 11")
            await screen.press("i")
            assert screen.place.talk.writing.field.has_focus

    asyncio.run(work())


def test_two_conversations_of_a_task(desk: Desk, screen: TaskScreen) -> None:
    told(desk, Queued("p1", "the first"), Sending("p1"))
    told(desk, Queued("p2", "the second"), Sending("p2"))

    async def work() -> None:
        async with screen.shown():
            await screen.press("t")
            await screen.sees("you      the second")
            field = screen.place.talk.writing.field
            field.write("for the second")
            await screen.press("escape", "h")
            await screen.sees("you      the first", "c1 ")
            assert field.text == "", "what was typed for one does not go to another"
            await screen.press("escape", "h")
            await screen.sees("there is no other conversation on this side")
            await screen.press("l")
            await screen.sees("you      the second", "for the second")
            told(desk, Queued("p3", "the third"), Sending("p3"))
            screen.place.talk.changed()
            await screen.done()
            await screen.sees("you      the second", "for the second")

    asyncio.run(work())


def test_plain_mode_says_the_same_words(desk: Desk) -> None:
    told(
        desk,
        Queued("p1", "begin\nand end", by="desk"),
        Sending("p1"),
        Text("One.\nTwo."),
        ToolStarted("1", "Bash", "make", "execute"),
        ToolEnded("1", failed=True, text="no rule\x1b[31m"),
        TurnEnded(How.STOPPED, "you said so"),
    )
    assert [*story_lines(desk.project, desk.task.id, "")] == [
        "desk: begin",
        "desk: and end",
        "claude: One.",
        "claude: Two.",
        "tool: Run make: no rule\\x1b[31m (failed)",
        "note: the turn was stopped: you said so",
        "note: 0.0 s · first word after 0.0 s",
    ]
