"""Hooks of the program that drives the agent: it is told what happens, and may object."""

from typing import Protocol

from siding.assistant.loop.guard import CallHooks, HookRuling

__all__ = ["ConversationHooks", "HookRuling"]


class ConversationHooks(CallHooks, Protocol):
    """What a front end passes on. Each waits as long as the program takes."""

    async def prompted(self, text: str) -> HookRuling:
        """Return whether a prompt may be answered; `told` of it is for the model."""
        ...

    async def object(self, text: str) -> str:
        """Return what objects to the end of the turn, whose last text this is; "" for nothing."""
        ...

    def take_told(self) -> list[str]:
        """Return what the model is to be told since this was last called."""
        ...
