"""What the tools get from outside: directories, the environment, and small ports."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from siding.assistant.tools.port import Progress
from siding.ground.clock import Clock, SystemClock
from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import JudgingPlace


class Asker(Protocol):
    """Puts questions to a person and waits for the answers, as long as that takes."""

    async def ask(self, call: str, questions: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
        """Return the answer to each question, by its text.

        `questions` are those of the tool AskUserQuestion. Raises `NobodyAnswers`.
        """
        ...


class NobodyAnswers(Exception):
    """There is no person to ask, or they would not answer. The text says which."""


class Broker(Protocol):
    """Passes requests to the broker of the run (docs/reference/broker.md)."""

    async def request(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the answer: ``{"ok": true, "result": …}`` or ``{"ok": false, "error": …}``.

        Raises OSError if there is no broker.
        """
        ...


class Fetched(NamedTuple):
    """The answer of an HTTP server, whole. `location`: where a redirect leads, "" if it is none."""

    status: int
    reason: str
    kind: str  # the header Content-Type
    body: bytes
    location: str = ""
    is_cut: bool = False  # there was more than `most` bytes


class Answered(NamedTuple):
    """The head of an HTTP server's answer; the names of its `headers` are in small letters."""

    status: int
    reason: str
    headers: Mapping[str, str]


# Is told the head and the next part of a body; returns True when no more of it is wanted.
TakePart = Callable[[Answered, bytes], bool]


class Http(Protocol):
    """Asks HTTP servers, each request on a connection of its own: it follows no redirect."""

    async def get(self, url: str, *, most: int, timeout_s: float) -> Fetched:
        """Return the answer of a GET. Raises OSError or TimeoutError."""
        ...

    async def send(
        self,
        method: str,
        url: str,
        body: bytes,
        *,
        headers: Mapping[str, str],
        take: TakePart,
        silence_s: float,
    ) -> Answered:
        """Send a request; `take` is told what comes, in a thread. Raises OSError, TimeoutError.

        A server that says nothing for `silence_s` seconds is left.
        """
        ...


def unheard(_progress: Progress) -> None:
    """Take note of nothing."""


def open_to_all(_path: str) -> bool:
    """Deny nothing."""
    return False


def unsaid(_line: str) -> None:
    """Say nothing."""


class Place(NamedTuple):
    """Where the tools of one conversation work. Paths are absolute and resolved.

    `env` is the whole environment of commands. Large results are stored in `results`, which is made
    when the first one is; the model may read there. `judging` is what the policy judges commands
    by: without it no command counts as safe. Files of which `is_denied` is true, told by their
    resolved path, are left out by searches.
    """

    workspace: Path
    results: Path
    home: Path
    env: Mapping[str, str]
    extra: tuple[Path, ...] = ()  # further directories that may be changed
    clock: Clock = SystemClock()
    tell: Callable[[Progress], None] = unheard
    note: Callable[[str], None] = unsaid  # a line for standard error
    asker: Asker | None = None
    broker: Broker | None = None
    http: Http | None = None
    judging: JudgingPlace | None = None
    is_denied: Callable[[str], bool] = open_to_all

    @property
    def roots(self) -> tuple[Path, ...]:
        """The directories that may be changed."""
        return (self.workspace, *self.extra)


def file_name(name: str) -> str:
    """Return a text as the name of a file; those that models give to calls stay as they are."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)[:100]
