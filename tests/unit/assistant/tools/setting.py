"""A workspace with the tools of a conversation, used as the loop uses them."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from siding.assistant.tools.factory import Memory, tools_of
from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Call, Result, Tool
from siding.assistant.tools.spec import checked

T = TypeVar("T")


class Bench:
    """The tools at work. Use it within `with_tools`."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.root = place.workspace
        self.memory = Memory.of(place)
        self.tools: Mapping[str, Tool] = tools_of(place, self.memory)
        self._calls = 0

    async def call(self, tool: str, /, **given: Any) -> Result:
        """Check a call, have it say what it does, and run it."""
        self._calls += 1
        call = Call(f"toolu_{self._calls}", tool, given)
        found = self.tools[tool]
        problem = checked(found.spec, given)
        if problem is not None:
            return problem
        found.use(given)
        return await found.run(call)

    async def text(self, tool: str, /, **given: Any) -> str:
        """Return the text of a call that must go well."""
        result = await self.call(tool, **given)
        assert not result.is_error, result.content
        assert isinstance(result.content, str)
        return result.content

    async def error(self, tool: str, /, **given: Any) -> str:
        """Return the text of a call that must fail."""
        result = await self.call(tool, **given)
        assert result.is_error, result.content
        assert isinstance(result.content, str)
        return result.content


def place_in(tmp_path: Path, **more: Any) -> Place:
    """Return a place with a workspace of its own."""
    root = Path(os.path.realpath(tmp_path))
    for name in ("work", "home"):
        (root / name).mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(root / "home"), "LC_ALL": "C.UTF-8"}
    place = Place(workspace=root / "work", results=root / "results", home=root / "home", env=env)
    return place._replace(**more)


def with_tools(place: Place, act: Callable[[Bench], Awaitable[T]]) -> T:
    """Run `act` with tools, and end what it has started."""

    async def run() -> T:
        bench = Bench(place)
        try:
            return await act(bench)
        finally:
            await bench.memory.close()

    return asyncio.run(run())


def lives(pid: int) -> bool:
    """Tell whether a process runs; one that nobody has reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
