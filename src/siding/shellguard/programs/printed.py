"""What a program prints, by its row: names that the rest of a line uses, or what it has read."""

from typing import TYPE_CHECKING

from siding.shellguard.fields import (
    ANY,
    ANYTHING,
    FOUND_BY_NAME,
    MARKS,
    NOTHING,
    NUMBER,
    UNKNOWN,
    PrintedText,
)
from siding.shellguard.paths import ENDLESS_DEVICES, Zone
from siding.shellguard.programs.amounts import bytes_of, fills_disk

if TYPE_CHECKING:
    from collections.abc import Callable

    from siding.shellguard.examiner import Examiner
    from siding.shellguard.programs.given import Given
    from siding.shellguard.state import Call

_PRINTS = {
    "nothing": NOTHING,
    "number": PrintedText(text=NUMBER + "\n"),
    "processes": PrintedText(text=FOUND_BY_NAME + "\n"),
    "endless": PrintedText(endless=True),
    "fetched": PrintedText(remote=True),
    "secrets": PrintedText(secret=True),
    "setup": PrintedText(text=":\n"),
}


def printed(examiner: "Examiner", call: "Call", given: "Given") -> PrintedText:
    """Return what a call prints."""
    (how, *_) = (*given.places.get("(prints)", ()), "")
    if how == "endless" and given.has("bounds"):
        return ANYTHING
    if how == "number" and any(word.isdigit() and len(word) > 4 for word in given.operands):
        return ANYTHING  # `seq 1 1000000`: so many turns are a flood
    if how in _PRINTS:
        return _PRINTS[how]
    stores = "stores" in given.places.get("(operands)", ())
    if how == "input" and (stores or all(word == "-" for word in given.operands)):
        return call.stdin
    if how in _NAMES and not any(UNKNOWN in word for word in given.operands):
        return PrintedText(text="".join(name + "\n" for name in _NAMES[how](_named(given))))
    if FOUND_BY_NAME in (call.stdin.text or "") or _keeps_process(examiner, call, given):
        return PrintedText(text=FOUND_BY_NAME + "\n")
    fetched = any(examiner.is_fetched(word, call.state) for word in call.arguments)
    return PrintedText(
        remote=call.stdin.remote or fetched,
        secret=call.stdin.secret,
        endless=_goes_on(call, given, how),
        listed=how in ("input", "part") and _listed(examiner, call, given),
    )


def _goes_on(call: "Call", given: "Given", how: str) -> bool:
    """Return whether what is printed never ends: a filter goes on as long as its input does."""
    if how in ("input", "part"):
        huge = any(fills_disk(bytes_of(value)) for value in given.values("bounds"))
        return reads_without_end(given) or (call.stdin.endless and huge)
    if how or given.has("bounds"):
        return False
    filters = {"text", "project"}.isdisjoint(given.row.always)
    return reads_without_end(given) or (call.stdin.endless and filters)


def _keeps_process(examiner: "Examiner", call: "Call", given: "Given") -> bool:
    """Return whether a file is shown that names a running process which is not the project's."""
    files = [word for word in _named(given) if word.endswith(".pid")]
    return any(
        examiner.zone(each, call.state) not in (Zone.INSIDE, Zone.TEMPORARY) for each in files
    )


def _listed(examiner: "Examiner", call: "Call", given: "Given") -> bool:
    """Return whether all that is read are files of the workspace."""
    files = [word for word in _named(given) if word != "-"]
    if not files:
        return call.stdin.listed
    return all(examiner.zone(each, call.state) is Zone.INSIDE for each in files)


def reads_without_end(given: "Given") -> bool:
    """Return whether a device that never ends is read, and no option says how little of it."""
    read = (*given.operands, *given.values("reads"))
    if ENDLESS_DEVICES.isdisjoint(read):
        return False
    block = next((bytes_of(value) for name, _, value in given.options if name == "bs="), 1)
    bounds = [bytes_of(value) * block for value in given.values("bounds")]
    return not bounds or any(map(fills_disk, bounds))


def _named(given: "Given") -> list[str]:
    """Return the operands that are places, and no text to search for."""
    first = "(first)" in given.places and not given.has("as-first")
    return given.operands[1:] if first else given.operands


def _below(operands: list[str]) -> list[str]:
    return [f"{each.rstrip('/')}/{ANY}" for each in operands or ["."]]


def _entries(operands: list[str]) -> list[str]:
    if len(operands) < 2:
        return operands if operands and set(operands[0]) & set(MARKS) else [ANY]
    patterns = all(set(each) & set(MARKS) for each in operands)
    return operands if patterns else _below(operands)


_NAMES: "dict[str, Callable[[list[str]], list[str]]]" = {
    "below": _below,
    "entries": _entries,
    "operands": lambda operands: operands,
}
