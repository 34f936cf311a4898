"""The tools for commands: Bash, BashOutput, KillShell. `shells` runs the commands."""

import asyncio
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Call, Progress, Result, Use
from siding.assistant.tools.search.ripgrep import Searches
from siding.assistant.tools.search.search import Mode, Request, SearchFailed
from siding.assistant.tools.shells import (
    LONGEST_COMMAND,
    Background,
    Foreground,
    Shells,
    State,
    Tail,
    TooManyShells,
)
from siding.assistant.tools.spec import failed, flag, number, spec_of, text
from siding.ground.errors import counted
from siding.ground.process.capture import CannotStart
from siding.shellguard.face import LineUse

USUAL_MS = 120_000
MOST_MS = 600_000
MOST_SHOWN = 30_000  # characters of each output
_TELL_S = 1.0
_MOST_NEWS = 15_000  # characters of each output
_LONGEST_WAIT_S = 60
_LOOK_S = 0.05
_STATES = {
    State.RUNNING: "is running",
    State.COMPLETED: "has completed",
    State.KILLED: "was ended",
}


class Bash:
    """Runs commands, each in the directory where the last one ended."""

    def __init__(self, place: Place, shells: Shells) -> None:
        self._place = place
        self._shells = shells
        self.spec = spec_of(
            __file__,
            "Bash",
            {
                "command": text("the command"),
                "timeout": number(
                    f"milliseconds after which it is ended ({USUAL_MS}; at most {MOST_MS})",
                    minimum=1,
                ),
                "description": text("what it does, in five to ten words"),
                "run_in_background": flag("start it and go on; see BashOutput and KillShell"),
            },
            "command",
        )

    def is_safe(self, given: Mapping[str, Any]) -> bool:
        judging = self._place.judging
        if judging is None or given.get("run_in_background"):
            return False
        judging = judging._replace(cwd=str(self._shells.cwd))
        return LineUse.only_reads(given["command"], judging)

    def use(self, given: Mapping[str, Any]) -> Use:
        command = given["command"]
        return Use(command, command=command, text=f"Bash {_one_line(command)}")

    async def run(self, call: Call) -> Result:
        command = call.given["command"]
        if "\0" in command or len(command.encode("utf-8", "replace")) > LONGEST_COMMAND:
            return failed(
                f"The command cannot be passed to a shell: it has a NUL character or more than "
                f"{LONGEST_COMMAND:,} bytes. Write it into a file and run that."
            )
        try:
            if call.given.get("run_in_background"):
                return self._begin(call, command)
            return await self._run(call, command)
        except (CannotStart, TooManyShells) as error:
            return failed(str(error))

    def _begin(self, call: Call, command: str) -> Result:
        started = self._shells.begin(command, call.id)
        return Result(
            f"It runs in the background as {started.name}. Read what it prints with BashOutput; "
            "end it with KillShell.",
            shown=f"in the background: {started.name}",
            details={
                "stdout": "",
                "stderr": "",
                "interrupted": False,
                "isImage": False,
                "backgroundTaskId": started.name,
            },
        )

    async def _run(self, call: Call, command: str) -> Result:
        timeout_ms = min(call.given.get("timeout", USUAL_MS), MOST_MS)
        tail = Tail()
        telling = asyncio.create_task(self._tell(call.id, tail))
        try:
            ended = await self._shells.run(command, call.id, timeout_ms / 1000, tail)
        finally:
            telling.cancel()
            with suppress(asyncio.CancelledError):
                await telling
        return _result(ended, timeout_ms, str(self._place.workspace))

    async def _tell(self, call: str, tail: Tail) -> None:
        """Tell the last line again and again, while it changes."""
        told = ""
        while True:
            await asyncio.sleep(_TELL_S)
            if tail.line != told:
                told = tail.line
                self._place.tell(Progress(call, told))


def _result(done: Foreground, timeout_ms: int, workspace: str) -> Result:
    stdout = done.outputs.stdout.text(MOST_SHOWN)
    stderr = done.outputs.stderr.text(MOST_SHOWN)
    notes: list[str] = []
    code = None if done.ended is None else done.ended.code
    if done.ended is None:
        notes.append(
            f"It was ended after {timeout_ms / 1000:g} s. Give it more time with `timeout`, at "
            f"most {MOST_MS} ms, or run it in the background."
        )
    elif done.ended.left:
        notes.append(
            f"Still running, until this conversation ends: {', '.join(done.ended.left)}. "
            "(Use run_in_background for what is to go on.)"
        )
    if done.moved_back:
        notes.append(f"The directory is {workspace} again: it had left the workspace.")
    if code:
        notes.insert(0, f"Exit code {code}")
    parts = [stdout.rstrip("\n"), stderr.rstrip("\n"), *notes]
    content = "\n".join(part for part in parts if part) or "(It printed nothing.)"
    details: dict[str, Any] = {
        "stdout": stdout,
        "stderr": stderr,
        "interrupted": done.ended is None,
        "isImage": False,
        "exitCode": code,
    }
    kept = {
        name: str(keeper.path)
        for name, keeper in zip(("stdout", "stderr"), done.outputs, strict=True)
        if keeper.path is not None
    }
    if kept:
        details["persistedOutputPath"] = next(iter(kept.values()))
        details["persistedOutputSize"] = sum(keeper.size for keeper in done.outputs)
        details["persistedOutputs"] = kept
    return Result(content, is_error=code != 0, shown=_shown(code, content), details=details)


def _shown(code: int | None, content: str) -> str:
    if code is None:
        return "took too long"
    return f"exit {code}" if code else counted(content.count("\n") + 1, "line")


def _one_line(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= 120 else f"{line[:119]}…"


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
            fresh = printed[name] = keeper.fresh(_MOST_NEWS)
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


class KillShell:
    """Ends a command with all that it has started."""

    def __init__(self, shells: Shells) -> None:
        self._shells = shells
        self.spec = spec_of(
            __file__, "KillShell", {"shell_id": text("the name of the command")}, "shell_id"
        )

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return False

    def use(self, given: Mapping[str, Any]) -> Use:
        name = given["shell_id"]
        return Use(name, text=f"KillShell {name}", in_conversation=True)

    async def run(self, call: Call) -> Result:
        name = call.given["shell_id"]
        shell = self._shells.background().get(name)
        if shell is None:
            return unknown(self._shells, name)
        await shell.settle()
        if shell.state is not State.RUNNING:
            return Result(f"{name} had ended already.", shown="had ended")
        await shell.kill()
        details = {"shell_id": name, "command": shell.command}
        return Result(f"{name} was ended: {shell.command}", shown="ended", details=details)
