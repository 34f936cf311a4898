"""One conversation of the built-in agent, in a process of its own.

    python worker.py ROOT SESSION SCRIPT PROMPT

It prints each event's name, and each result, as they come. There is no verb for it yet. With the
variable KILLED_AT it kills itself after so many events.
"""

import asyncio
import os
import random
import signal
import sys
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from siding.agents.transcripts.session import Session, Source
from siding.agents.transcripts.store import SessionStore
from siding.agents.transcripts.writer import Stamp
from siding.assistant.loop.events import ToolEnded, TurnEnded
from siding.assistant.loop.loop import converse
from siding.assistant.loop.setup import Allowed, Setup
from siding.assistant.models.any_model import AnyModel
from siding.assistant.session import SessionConversation
from siding.assistant.tools.factory import Memory, tools_of
from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Call, Result, Tool


class Everything:
    """Allows all."""

    async def rule(self, call: Call, tool: Tool) -> Allowed:
        tool.use(call.given)
        return Allowed(call.given)

    async def ended(self, _call: Call, _tool: Tool, _result: Result) -> None:
        pass


async def main(root: Path, session_id: str, script: str, prompt: str) -> None:
    env = {**os.environ, "AGENT": str(os.getpid())}
    place = Place(workspace=root / "work", results=root / "results", home=root / "home", env=env)
    source = Source(
        new_id=lambda: str(uuid.uuid4()),
        now=lambda: datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    )
    stamp = Stamp(cwd=str(place.workspace), version="1.0.0")
    memory = Memory.of(place)
    store = SessionStore(root / "sessions")
    with Session.open(store, session_id, stamp=stamp, source=source) as session:
        for call in session.open_calls():
            session.result(str(call["id"]), "[cut off]", is_error=True)
        setup = Setup(
            conversation=SessionConversation(session),
            model=AnyModel(os.environ),
            guard=Everything(),
            tools=tools_of(place, memory),
            name=f"scripted:{script}",
            system=("You change files.",),
            monotonic=time.monotonic,
            sleep=asyncio.sleep,
            spread=random.random,
        )
        try:
            number = 0
            async for event in converse(setup, prompt, asyncio.Event()):
                _tell(event)
                number += 1
                if number == int(os.environ.get("KILLED_AT", "0")):
                    os.kill(os.getpid(), signal.SIGKILL)
        finally:
            await memory.close()


def _tell(event: Any) -> None:
    words = [type(event).__name__]
    if isinstance(event, ToolEnded):
        words += [event.call.id, "failed" if event.result.is_error else "done"]
    if isinstance(event, TurnEnded):
        words += [event.ending.value, event.text, event.error]
    print(*words, flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
