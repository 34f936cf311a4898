"""The tab of a conversation: its story as it goes on, and the field in which prompts are typed."""

import asyncio
from collections.abc import Iterator

import pytest

from integration.chat.talks import Conversation, conversation

from ..undo.desk import Desk
from .task_screen import TaskScreen

TURN = """\
think a long thought
say # What I found
say It is **here**.
run printf 'a\\nb\\nc\\n'
plan the work
say done"""


@pytest.fixture
def talk(desk: Desk) -> Iterator[Conversation]:
    with conversation(desk.sandbox) as found:
        # The screen has the environment of the sandbox, with the scripted agent on its path.
        desk.project.app.env.update(desk.sandbox.env)  # type: ignore[attr-defined]
        yield found


def test_a_story_goes_on_while_it_is_looked_at(
    desk: Desk, talk: Conversation, screen: TaskScreen
) -> None:
    async def work() -> None:
        async with screen.shown():
            await screen.press("t")
            await screen.sees("There is no conversation in this task yet.")
            print(screen.text())

    asyncio.run(work())
