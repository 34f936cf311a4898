"""A task's patch, steps and output, with a card and the help, at every width and in every look."""

import asyncio

import pytest

from siding.agents.talking.port import (
    Planned,
    PlanStep,
    Text,
    Thought,
    ToolEnded,
    ToolStarted,
)
from siding.asking.question import ask, plain_question
from siding.chat.events import Queued, Sending
from siding.faces.tui.rows.styles import Look, Palette
from siding.faces.tui.text import in_ascii
from siding.feed.fold import feed_of
from unit.faces.tui.apps import checked

from ..undo.desk import Desk
from .stories import told
from .task_screen import TaskScreen

_WIDTHS = (60, 80, 120, 200, 300)
_LOOKS = (Look(Palette.SIXTEEN), Look(Palette.NONE, is_ascii=True))
_MAKES = r"""
for name in 漢字.py 'größe é.txt'; do printf 'def 漢字(): return "שלום"  # …\n' > "$name"; done
printf '\033[31mrot\033[0m 漢字 \033[38;2;1;2;3mé\033[0m\n'; seq 60
"""
# What each tab shows at every width, whatever else has to go.
_TABS = {"p": "@@ -0,0 +1 @@", "s": "0001", "o": "rot", "t": "漢字 is 一"}
_STORY = (
    Queued("p1", "漢字 größe\nשלם"),
    Sending("p1"),
    Thought("hmm\n…"),
    ToolStarted("1", "Bash", "echo 漢字", "execute"),
    ToolEnded("1", text="\x1b[31mrot\x1b[0m\x07"),
    Text("# 漢字 is 一\n\n* é `code`\n\n```py\nx = 1\n```\n"),
    Planned((PlanStep("一", "in_progress"),)),
    Queued("p2", "what waits 漢字 " * 20),
)


@pytest.mark.parametrize("look", _LOOKS, ids=lambda look: f"{look.palette}-{look.is_ascii}")
def test_nothing_is_clipped_or_moved(desk: Desk, screen: TaskScreen, look: Look) -> None:
    desk.shell(_MAKES)
    told(desk, *_STORY)
    ask(desk.project, plain_question("漢字 or größe?", ["一", "zwei"]), task_id=desk.task.id)

    async def work() -> None:
        async with screen.shown(size=(60, 30), look=look):
            screen.app._take(feed_of(desk.project.app)._replace(epoch=1))
            await screen.sees("ctrl+y or tab answers", "zwei")
            for width in _WIDTHS:
                await screen.at_width(width)
                for tab, shows in _TABS.items():
                    await screen.press(tab)
                    await screen.sees(in_ascii(shows) if look.is_ascii else shows)
                    await screen.sees("ctrl+y or tab answers")
                    _foot_is_whole(screen, width)
                await screen.press(*"漢字 @", "ctrl+j", "x")  # typed
                _foot_is_whole(screen, width)
                await screen.press("escape")
                await screen.press("?")
                shown = "\n".join(checked(screen.app, width))
                assert all(key in shown for key in ("keys:", " line down ", "ctrl+y")), shown
                await screen.press("escape")
            await screen.at_width(_WIDTHS[0])
            await screen.press("A")  # its plan, on the narrowest one
            await screen.sees("enter do it")
            _foot_is_whole(screen, _WIDTHS[0])
            await screen.press("escape")

    asyncio.run(work())


def _foot_is_whole(screen: TaskScreen, width: int) -> None:
    """Hold the lines to the screen, and the foot to hints that are there from end to end."""
    lines = checked(screen.app, width)
    hints = [text for text, _key in screen.place.key_table.hints()]
    shown = [each for each in lines[-2].split("  ") if each]
    assert all(each in hints for each in shown), (lines[-2], hints)
    assert not hints or shown[-1:] == hints[-1:]
