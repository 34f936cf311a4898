"""Ask a person on the terminal: for a yes, or for numbers of a list."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from siding.faces.cli.screen.screen import Screen, inert
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.applying.apply import DiffStat


def can_ask() -> bool:
    """Tell whether there is a terminal on both sides: somebody who reads and types."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def agreed(question: str) -> bool:
    """Ask, and tell whether the answer is yes. Anything else, and no answer, is no."""
    sys.stderr.write(f"siding: {question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def one_of(question: str, answers: Mapping[str, str]) -> str:
    """Ask until one of the letters is typed, and return it; the last one if nobody is there any
    more. `answers` says what each means.
    """
    offered = ", ".join(f"{letter} {meaning}" for letter, meaning in answers.items())
    while True:
        sys.stderr.write(f"siding: {question} ({offered})? ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return [*answers][-1]
        if (letter := line.strip().lower()[:1]) in answers:
            return letter


def pick_paths(screen: Screen, stat: DiffStat) -> tuple[bytes, ...]:
    """Show the list and return the chosen paths. Raises UsageError if the answer names none."""
    files = stat.per_file
    if not files:
        raise UsageError("there is nothing to choose from: the task changed nothing")
    for number, each in enumerate(files, start=1):
        numbers = "binary" if each.additions is None else f"+{each.additions} -{each.deletions}"
        name = inert(each.path.decode("utf-8", "backslashreplace"))
        screen.print(f"{number:>4}  {each.status}  {numbers:>12}  {name}")
    screen.out.write("which of them (such as 1 3-5, or all)? ")
    screen.out.flush()
    chosen = numbers_in(sys.stdin.readline(), len(files))
    if not chosen:
        raise UsageError("nothing was chosen, so nothing was applied")
    paths: list[bytes] = []
    for number in chosen:
        each = files[number - 1]
        paths.append(each.path)
        if each.old_path is not None and each.status == "R":
            paths.append(each.old_path)
    return tuple(paths)


def chooser(screen: Screen, typed: Sequence[str]) -> Callable[[str, Sequence[str]], int | None]:
    """Return what lets the person choose which task a word means that they have just `typed`.

    Nobody is asked about other words: variables speak for scripts and prompts, and a dashboard or
    a run acts for others. It asks on standard error, as the output may be for a program.
    """
    words = typed[: typed.index("--")] if "--" in typed else typed

    def choose(named: str, lines: Sequence[str]) -> int | None:
        if not any(word in (named, f"-t{named}", f"--task={named}") for word in words):
            return None
        return pick_one(screen.err, lines, f"which task is {named!r}")

    return choose


def pick_one(out: TextIO, lines: Sequence[str], question: str) -> int:
    """Show the lines with numbers and return the index of the one that is chosen.

    Raises UsageError if the answer names none, or several.
    """
    out.writelines(f"{number:>4}  {inert(line)}\n" for number, line in enumerate(lines, start=1))
    out.write(f"{question} (a number)? ")
    out.flush()
    chosen = numbers_in(sys.stdin.readline(), len(lines))
    if len(chosen) != 1:
        raise UsageError("nothing was chosen" if not chosen else "one of them, not several")
    return chosen[0] - 1


def numbers_in(text: str, count: int) -> list[int]:
    """Return the numbers in ``1 3-5``, ``1,3`` or ``all``; raises UsageError for others."""
    found: set[int] = set()
    for word in text.replace(",", " ").split():
        if word == "all":
            return list(range(1, count + 1))
        first, dash, last = word.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise UsageError(f"{word!r} is not a number of the list")
        found.update(range(int(first), int(last if dash else first) + 1))
    wrong = [number for number in found if not 1 <= number <= count]
    if wrong:
        raise UsageError(f"the list has no number {wrong[0]}")
    return sorted(found)
