"""The tool Bash: run a command in a shell."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Call, Progress, Result, Use
from siding.assistant.tools.shell.shells import (
    LONGEST_COMMAND,
    Foreground,
    Shells,
    Tail,
    TooManyShells,
)
from siding.assistant.tools.spec import failed, flag, number, spec_of, text
from siding.ground.process.capture import CannotStart
from siding.shellguard.face import LineUse

USUAL_MS = 120_000
MOST_MS = 600_000
MOST_SHOWN = 30_000  # characters of each output
_TELL_S = 1.0


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
    return f"exit {code}" if code else f"{content.count(chr(10)) + 1} lines"


def _one_line(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= 120 else f"{line[:119]}…"
