"""The tool BashOutput: what a command in the background has printed since the last look."""

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.search.request import Mode, Request, SearchFailed
from siding.assistant.tools.search.ripgrep import Searches
from siding.assistant.tools.shell.shells import Background, Shells, State
from siding.assistant.tools.spec import failed, number, spec_of, text

_MOST_SHOWN = 15_000  # characters of each output
_LONGEST_WAIT_S = 60
_LOOK_S = 0.05


class BashOutput:
    """Shows new output, once."""

    def __init__(self, shells: Shells, searches: Searches) -> None:
        self._shells = shells
        self._searches = searches
        self.spec = spec_of(
            __file__,
            "BashOutput",
            {
                "bash_id": text("the name of the command"),
                "filter": text("a regular expression for the lines that are shown"),
                "wait": number(
                    "seconds to wait for something new (0)", minimum=0, maximum=_LONGEST_WAIT_S
                ),
            },
            "bash_id",
        )

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return True

    def use(self, given: Mapping[str, Any]) -> Use:
        return Use(given["bash_id"], text=f"BashOutput {given['bash_id']}")

    async def run(self, call: Call) -> Result:
        shell = self._shells.background().get(call.given["bash_id"])
        if shell is None:
            return unknown(self._shells, call.given["bash_id"])
        await _news(shell, call.given.get("wait", 0))
        await shell.settle()
        state, pattern = shell.state, call.given.get("filter", "")
        parts = [_status(shell)]
        printed: dict[str, str] = {}
        for name, keeper in zip(("stdout", "stderr"), shell.outputs, strict=True):
            fresh = printed[name] = keeper.fresh(_MOST_SHOWN)
            shown = await self._filtered(fresh, pattern) if fresh and pattern else fresh
            if shown.strip("\n"):
                parts.append(f"{name}:\n{shown.rstrip(chr(10))}")
        if not any(printed.values()):
            parts.append("(Nothing new.)")
        elif len(parts) == 1:
            parts.append("(There are new lines; the filter matches none of them.)")
        details = {"shellId": shell.name, "command": shell.command, "status": state.value}
        return Result(
            "\n".join(parts),
            shown=f"{shell.name}: {state}",
            details={**details, **printed, "exitCode": shell.code, "filterPattern": pattern},
        )

    async def _filtered(self, fresh: str, pattern: str) -> str:
        """Return the lines that match; as a search in a file, which a bad pattern cannot hang."""
        with tempfile.TemporaryDirectory(prefix="siding-output.") as scratch:
            file = Path(scratch, "output")
            file.write_text(fresh.replace("\0", "\ufffd"), "utf-8", errors="replace")
            request = Request(Path(scratch), Mode.CONTENT, pattern, file=file.name)
            try:
                found = await self._searches.find(request)
            except SearchFailed as error:
                return f"(The filter was not used. {error})\n{fresh}"
        return "\n".join(line.text for hit in found.hits for line in hit.lines)


def unknown(shells: Shells, name: str) -> Result:
    """Return the result of a call with a name that no command has."""
    known = ", ".join(shells.background()) or "none"
    return failed(f"There is no command {name!r} in the background. There are: {known}")


async def _news(shell: Background, wait_s: float) -> None:
    """Wait until there is new output or the command has ended."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + wait_s
    while (
        shell.state is State.RUNNING
        and not any(keeper.has_news for keeper in shell.outputs)
        and loop.time() < deadline
    ):
        await asyncio.sleep(_LOOK_S)


def _status(shell: Background) -> str:
    if shell.state is State.FAILED:
        return f"{shell.name} has failed with exit code {shell.code}."
    return f"{shell.name} {_STATES[shell.state]}."


_STATES = {
    State.RUNNING: "is running",
    State.COMPLETED: "has completed",
    State.KILLED: "was ended",
}
