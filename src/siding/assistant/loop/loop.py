"""The loop: ask the model, run its calls, ask again, until it is done.

`converse` yields what happens. Everything that must last is stored, by the port `Conversation`,
before it is told. Whatever ends a turn (a limit, an error, an interrupt), the conversation is one
that a model accepts: each call has a result.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress

from siding.assistant.loop.events import Event
from siding.assistant.loop.setup import Content, Setup
from siding.assistant.loop.turn import Turn

_MOST_WAITING = 256  # events that are not taken yet; then the loop waits


async def converse(
    setup: Setup, prompt: Content, stop: asyncio.Event
) -> AsyncGenerator[Event, None]:
    """Answer a prompt; yield what happens, at last `TurnEnded`.

    Setting `stop` interrupts the turn, which then ends in order. Closing the generator, or
    cancelling who iterates over it, ends everything at once and stores nothing more.
    """
    events: asyncio.Queue[Event | None] = asyncio.Queue(_MOST_WAITING)

    async def work() -> None:
        try:
            await Turn(setup, stop, events.put).run(prompt)
        finally:
            await events.put(None)

    worker = asyncio.create_task(work())
    try:
        while (event := await events.get()) is not None:
            yield event
        await worker
    finally:
        if not worker.done():
            worker.cancel()
            while not events.empty():
                events.get_nowait()
            with suppress(asyncio.CancelledError):
                await worker
