"""Conversations with a scripted agent."""

from collections.abc import Iterator

import pytest

from integration.chat.talks import Conversation, conversation
from sandbox import Sandbox


@pytest.fixture
def talk(sandbox: Sandbox) -> Iterator[Conversation]:
    with conversation(sandbox) as found:
        yield found
