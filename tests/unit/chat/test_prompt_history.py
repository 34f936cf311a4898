"""Earlier prompts of a project: those of the conversation first, and no more read than is shown."""

import os

import pytest

from integration.undo.desk import Desk
from siding.chat import conversations, prompt_history
from siding.chat.events import Queued
from siding.chat.prompt_history import earlier_prompts
from siding.chat.store import Chat
from siding.chat.writer import StoryWriter


def _said(desk: Desk, age: int, *prompts: str) -> Chat:
    """Return a conversation with these prompts that has not grown for so many seconds."""
    chat = conversations.begin(desk.project, desk.task, "claude")
    writer = StoryWriter(desk.project, chat)
    for each in prompts:
        writer.add(Queued(each, each, by="test"))
    writer.close()
    os.utime(chat.story, (1_000_000 - age, 1_000_000 - age))
    return chat


def test_those_of_the_conversation_come_first_and_each_once(desk: Desk) -> None:
    ours = _said(desk, 90, "one", "two", "one")
    _said(desk, 10, "new", "two")
    _said(desk, 50, "old", " ")
    found = earlier_prompts(desk.project, ours)
    assert found[:2] == ["one", "two"]
    assert sorted(found[2:]) == ["new", "old"]
    assert sorted(earlier_prompts(desk.project, None)) == ["new", "old", "one", "two"]


def test_a_story_is_read_only_while_prompts_are_wanted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_history, "MOST", 3)
    ours = _said(desk, 90, "one")
    _said(desk, 10, "new", "newer")
    old = _said(desk, 50, "old")
    read: list[Chat] = []
    lines = prompt_history._lines

    def noted(chat: Chat) -> object:
        read.append(chat)
        return lines(chat)

    monkeypatch.setattr(prompt_history, "_lines", noted)
    assert earlier_prompts(desk.project, ours) == ["one", "newer", "new"]
    assert old.directory not in [each.directory for each in read]
