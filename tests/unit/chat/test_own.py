"""What an agent has said of itself: what can be chosen, and its commands."""

from integration.undo.desk import Desk
from siding.agents.talking.port import Offered, Opened, OwnCommand, OwnModel
from siding.chat import conversations
from siding.chat.events import Switched
from siding.chat.settings import Own, own_of
from siding.chat.writer import StoryWriter


def test_another_agent_has_said_nothing_of_what_the_one_before_has(desk: Desk) -> None:
    chat = conversations.begin(desk.project, desk.task, "claude")
    writer = StoryWriter(desk.project, chat)
    writer.add(Offered((OwnModel("small"), OwnModel("large"))))
    writer.add(Opened("s", commands=(OwnCommand("/review", "look"),), modes=("plan",)))
    found = own_of(chat)
    assert [*found.models] == ["small", "large"]
    assert [*found.modes] == ["plan"]
    assert [*found.commands] == [("/review", "look")]
    writer.add(Switched("codex", ("codex",)))
    assert own_of(chat) == Own()
    writer.close()
