"""How a victim is started: as a fork of a process that has Siding loaded, where that is the same.

Most of what a gate costs is starts of Python, and no call of those is below a case: a fault never
strikes there. So a victim that is Siding's command line, alone or with a promise after it, is a
fork of the small process that `forked.py` asks, seized and filtered as one that was started. What
runs the calls that count is the same code in a process of its own, with all that it starts.

A program of its own is started still: any other command, a victim that is sent a signal, as a
signal meets the interpreter too, and with SIDING_FAULTS=full every victim.
"""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

import forked
import installed
import planted

from .arena import FULL, Arena, Command, resolve
from .ptrace import filter_program, seize, spawn_seized
from .tracer import Ending, Tracer

# `commands.promising` and its like: a command whose end with status 0 says one word.
_PROMISING = re.compile(r'"\$@"( >&2)? && echo (\w+)')


class Words(NamedTuple):
    """A command line of Siding: the words after its name, and what is done with its end."""

    given: tuple[str, ...]
    promise: str = ""
    quiet: bool = False  # what it prints goes to standard error


def run_traced(
    tracer: Tracer, arena: Arena, command: Command, *, timeout_s: float, fresh: bool = False
) -> Ending:
    """Run a command of the arena under the tracer; `fresh` starts a program in any case."""
    argv, env, cwd = resolve(command, arena.case)
    words = None if fresh or FULL else words_of(argv)
    append = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    with ExitStack() as stack:
        streams = [os.open(path, append) for path in (arena.stdout, arena.stderr)]
        for stream in streams:
            stack.callback(os.close, stream)
        return tracer.run(
            argv,
            cwd=cwd,
            env=env,
            stdout=streams[0],
            stderr=streams[1],
            timeout_s=timeout_s,
            spawn=spawn_seized if words is None else partial(_fork_seized, stack, words),
        )


def words_of(argv: Sequence[str]) -> Words | None:
    """What Siding itself is told; None where it is not Siding alone that runs."""
    if _is_siding(argv[0]):
        return Words(tuple(argv[1:]))
    if tuple(argv[:2]) == ("sh", "-c") and len(argv) > 4 and _is_siding(argv[4]):
        found = _PROMISING.fullmatch(argv[2])
        if found is not None:
            return Words(tuple(argv[5:]), promise=found[2], quiet=found[1] is not None)
    return None


def _is_siding(program: str) -> bool:
    # The name first: a gate for another program does not need an installation.
    return os.path.basename(program) == "siding" and program == installed.program()


def _fork_seized(
    stack: ExitStack,
    words: Words,
    _argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdout: int,
    stderr: int,
    reads: bool,
) -> int:
    """As `spawn_seized`. The process that forked it collects what is left when `stack` ends."""
    ready = forked.held(
        stack,
        words.given,
        env=env,
        cwd=cwd,
        streams=(stderr if words.quiet else stdout, stderr, stdout),
        mistake=env.get(planted.VARIABLE, ""),
        promise=words.promise,
        calls=filter_program(reads=reads),
    )
    seize(ready.pid)
    ready.begin()
    return ready.pid
