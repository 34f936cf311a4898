"""What people and programs ask of a conversation, as files that its host takes one after the other.

A request is on the disk before anybody acts on it, and stays there until its effect is in the
story. The lines of the story name it, so that one that was acted on right before a kill is known.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from siding.ground.files.durable import create_bytes, make_dirs, remove_file
from siding.ground.files.regular import read_small
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.fields import mapping, text, words

LONGEST = 4 << 20  # bytes of a request; pictures lie beside it
FIRST = "first"
_SUFFIX = ".json"


class GivePrompt(NamedTuple):
    """A prompt for the next turn, or into the one that runs."""

    prompt: str
    text: str
    files: tuple[str, ...] = ()
    steers: bool = False
    remembers: bool = False  # the agent is told what was taken back, and does not go back


class EditPrompt(NamedTuple):
    prompt: str
    text: str


class MovePrompt(NamedTuple):
    """Put a prompt before another that waits; "" puts it last, `FIRST` first."""

    prompt: str
    before: str = ""


class DropPrompt(NamedTuple):
    prompt: str


class SendAgain(NamedTuple):
    """A prompt of which nobody knows whether it was taken is to be sent again."""

    prompt: str


class SteerPrompt(NamedTuple):
    """Give a prompt that waits into the running turn. Where none runs it waits as before."""

    prompt: str


class StopTurn(NamedTuple):
    """End the turn, and drop what waits."""


class GoOn(NamedTuple):
    """Send what is held."""


class Change(NamedTuple):
    """Change what the agent works with; "" leaves it."""

    model: str = ""
    mode: str = ""
    effort: str = ""


class Compact(NamedTuple):
    """Have the agent make its conversation shorter."""


class EndTalk(NamedTuple):
    """End the agent when its turn has ended; with `now` at once, with all that it has started.

    The next prompt goes on with the conversation.
    """

    now: bool = False


class HandOver(NamedTuple):
    """End the agent at its turn's end, as its own screen is to be opened; keep what waits."""

    forced: bool = False  # whatever it has running in the background


class Stay(NamedTuple):
    """Do not end the agent: nobody waits for its own screen any more."""


class SwitchTo(NamedTuple):
    """Have another agent go on at the turn's end."""

    agent: str
    program: tuple[str, ...]
    options: tuple[str, ...] = ()
    model: str = ""
    forced: bool = False


AnyPrompt = GivePrompt | EditPrompt | MovePrompt | DropPrompt | SendAgain
Request = (
    AnyPrompt
    | SteerPrompt
    | StopTurn
    | GoOn
    | Change
    | Compact
    | EndTalk
    | HandOver
    | Stay
    | SwitchTo
)

_KINDS: Mapping[str, type[Any]] = {
    "prompt": GivePrompt,
    "edit": EditPrompt,
    "move": MovePrompt,
    "drop": DropPrompt,
    "steer": SteerPrompt,
    "again": SendAgain,
    "stop": StopTurn,
    "go-on": GoOn,
    "set": Change,
    "compact": Compact,
    "end": EndTalk,
    "hand-over": HandOver,
    "stay": Stay,
    "switch": SwitchTo,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


class Asked(NamedTuple):
    """A request in its file. `id` is the file's name; `by` says who asks, and from where."""

    id: str
    request: Request
    by: str = ""

    @property
    def at_ns(self) -> int:
        """When it was asked, in nanoseconds since 1970."""
        number = self.id.partition("-")[0]
        return int(number) if number.isdecimal() else 0


class Requests:
    """The requests of one conversation that nobody has acted on."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, request: Request, *, by: str, at_ns: int, more: str) -> str:
        """Store a request durably; return its id. `more` makes it one of its own."""
        name = f"{at_ns:020}-{more}"
        record = {"do": _NAMES[type(request)], "by": by, **request._asdict()}
        make_dirs(self._directory)
        data = json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogateescape")
        create_bytes(self._directory / f"{name}{_SUFFIX}", data)
        return name

    def has(self, request_id: str) -> bool:
        """Tell whether nobody has carried out a request."""
        return (self._directory / f"{request_id}{_SUFFIX}").exists()

    def waiting(self) -> list[Asked]:
        """Return them, oldest first. What cannot be read is passed over, and stays."""
        try:
            names = sorted(os.listdir(self._directory))
        except FileNotFoundError:
            return []
        found = (self._read(name) for name in names if name.endswith(_SUFFIX))
        return [each for each in found if each is not None]

    def done(self, request_id: str, *, durably: bool) -> None:
        """Take a request away: its effect is on the disk.

        One whose effect is in the story may come back with a machine that lost its power, and is
        known then. Where the story has nothing of it, it is taken away `durably`.
        """
        path = self._directory / f"{request_id}{_SUFFIX}"
        with suppress(FileNotFoundError):
            if durably:
                remove_file(path)
            else:
                path.unlink()

    def _read(self, name: str) -> Asked | None:
        data = read_small(self._directory / name, LONGEST)
        if data is None:
            return None
        try:
            record = parse_object(data)
        except NotJson:
            return None
        request = _request_in(record)
        if request is None:
            return None
        return Asked(name.removesuffix(_SUFFIX), request, text(record.get("by")))


def _request_in(record: Mapping[str, Any]) -> Request | None:
    kind = _KINDS.get(text(record.get("do")))
    if kind is None:
        return None
    given = mapping(record)
    if kind is GivePrompt:
        return GivePrompt(
            text(given.get("prompt")),
            text(given.get("text")),
            words(given.get("files")),
            steers=given.get("steers") is True,
            remembers=given.get("remembers") is True,
        )
    if kind is EndTalk:
        return EndTalk(now=given.get("now") is True)
    if kind is HandOver:
        return HandOver(forced=given.get("forced") is True)
    if kind is SwitchTo:
        return SwitchTo(
            text(given.get("agent")),
            words(given.get("program")),
            words(given.get("options")),
            text(given.get("model")),
            forced=given.get("forced") is True,
        )
    made: Request = kind(*(text(given.get(name)) for name in kind._fields))
    return made
