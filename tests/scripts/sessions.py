"""CLI sessions as readable scripts: commands and what they print, side by side.

    # A comment, or the story so far.
    $ siding log
    STEP  KIND [..]
    ...
    0002  run [..]
    ? 0

``$`` starts a shell command, run by bash in the session's directory (see `play` for what needs no
shell). The lines after it are what it
prints, on both streams; ``[..]`` stands for anything within a line, a line ``...`` for any number
of lines. ``? N`` is the exit status where it is not 0.
"""

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from forked import siding_in_fork
from sandbox import environment
from warm import put_program

_PLAIN = re.compile(r"(?:[\w ./:=@%+,-]|'[^'\n]*'|\"[^\"$`\\\n]*\")*")
# A line in which a signal matters, or which looks for the program, starts the product itself.
_ITS_OWN = re.compile(r"&(?:$|[^&>])|\b(?:kill|timeout|script|command|which|type|eval)\b")
PRELUDE = "export PS1= LC_ALL=C.UTF-8; set -o pipefail\n"


class Exchange(NamedTuple):
    """One command of a session and what it should print."""

    line: int
    command: str
    expected: tuple[str, ...]
    status: int


def exchanges(text: str) -> Iterator[Exchange]:
    """Yield the commands of a session."""
    command: str | None = None
    start, status = 0, 0
    expected: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("$ "):
            if command is not None:
                yield Exchange(start, command, tuple(expected), status)
            command, start, status, expected = line[2:], number, 0, []
        elif line.startswith("> ") and command is not None and not expected:
            command += "\n" + line[2:]
        elif line.startswith("? "):
            status = int(line[2:])
        elif command is not None and not line.startswith("# "):
            expected.append(line)
    if command is not None:
        yield Exchange(start, command, tuple(expected), status)


def play(
    text: str, directory: Path, *, forked: bool = False
) -> Iterator[tuple[Exchange, str, int]]:
    """Run a session's commands one after the other; yield each with its output and status.

    With `forked`, commands of Siding that need nothing of a shell are started without one.
    """
    env = environment(directory)
    shells = _with_warm_program(env, directory) if forked else env
    place = directory / "work"
    place.mkdir()
    remembered = directory / "cwd"
    for exchange in exchanges(text):
        if words := _plain_words(exchange.command) if forked else None:
            here = {**env, "PWD": str(place)}
            ended = siding_in_fork(words[1:], env=here, cwd=place, merged=True)
            yield exchange, ended.stdout.decode("utf-8", "replace"), ended.status
            continue
        # The shell's directory lives on from command to command.
        script = (
            f"{PRELUDE}cd '{place}' || exit 99\n{exchange.command}\n"
            f"status=$?\npwd >'{remembered}'\nexit $status\n"
        )
        done = subprocess.run(
            ["bash", "-c", script],
            env=env if _ITS_OWN.search(exchange.command) else shells,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,  # not in the terminal of whoever started the tests
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        place = Path(remembered.read_text(encoding="utf-8").strip())
        yield exchange, done.stdout.decode("utf-8", "replace"), done.returncode


def end_what_lives(directory: Path) -> None:
    """End the runs that a session has left in the background: nobody would end them later."""
    for place in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if place.readlink().is_relative_to(directory):
                os.kill(int(place.parent.name), signal.SIGKILL)  # its keeper ends what it started


def _with_warm_program(env: dict[str, str], directory: Path) -> dict[str, str]:
    put_program(directory / "warm")
    return {**env, "PATH": os.pathsep.join([str(directory / "warm"), env["PATH"]])}


def _plain_words(command: str) -> list[str] | None:
    """Return the words of a command of Siding that a shell would only take apart."""
    if not command.startswith("siding ") or not _PLAIN.fullmatch(command):
        return None
    return shlex.split(command)


def matches(expected: tuple[str, ...], output: str) -> bool:
    """Return whether `output` is what the script says."""
    wanted = [line.rstrip() for line in expected]
    while wanted and not wanted[-1]:
        wanted.pop()
    pattern = ""
    for line in wanted:
        if line == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            parts = [re.escape(part) for part in line.split("[..]")]
            pattern += r"[^\n]*".join(parts) + r"[ \t]*\n"
    text = output if output.endswith("\n") or not output else output + "\n"
    return re.fullmatch(pattern + r"\n*", text) is not None
