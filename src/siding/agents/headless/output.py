"""Read the output of an agent as it comes: JSON lines, plain text, or events of our own."""

import json
import re
from collections.abc import Mapping
from typing import Any

from siding.agents.headless.port import Fault, Seen
from siding.ground.storage.fields import text, whole

LONGEST_TEXT = 8 << 20  # characters of a result that are kept
_LONGEST_LINE = 64 << 20  # bytes; a tool's result may hold a whole file
_LONGEST_SAYING = 200

_FAULTS = {fault.value: fault for fault in Fault}
# What the messages of model servers mean, as agents hand them on.
_TOO_LONG = re.compile(
    r"prompt (is )?too long|context[_ ]length|context window|input (is )?too long|too many tokens"
    r"|request too large|maximum context",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"authenticat|unauthori[sz]ed|invalid (api|x-api)[- ]key|not logged in|/login|log ?in again"
    r"|api key (is )?(missing|invalid|not valid)|no api key|no key of a provider"
    r"|permission_error|oauth",
    re.IGNORECASE,
)
_NO_SESSION = re.compile(
    r"no conversation found|no rollout found|session not found|error resuming session"
    r"|no previous sessions|there is no session '|none can be gone on with",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"(?:status|code|error)\"?[ :]*(?:code[ :]*)?([45]\d\d)\b|\b([45]\d\d) [A-Z][a-z]+"
)
_FOR_A_WHILE = frozenset({408, 409, 425, 429})


class JsonLines:
    """The part of a stream that is the same for all agents that print JSON lines.

    A line that is no JSON object is passed over: programs print warnings among them.
    """

    def __init__(self) -> None:
        self.seen = Seen()
        self._begun = bytearray()
        self._passing = False  # the rest of a line that is too long

    def feed(self, data: bytes) -> None:
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._line(bytes(self._begun) + piece if self._begun else piece)
            self._begun.clear()
            self._passing = False
        if len(self._begun) + len(rest) > _LONGEST_LINE:
            self._begun.clear()
            self._passing = True
        if not self._passing:
            self._begun += rest

    def end(self) -> None:
        if self._begun:
            self._line(bytes(self._begun))
            self._begun.clear()

    def on_event(self, event: Mapping[str, Any]) -> None:
        """Take one line into `seen`."""
        raise NotImplementedError

    def _line(self, line: bytes) -> None:
        if self._passing or not line.lstrip().startswith(b"{"):
            return
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return
        self.on_event(event)


class PlainText:
    """The standard output of a program as its last message."""

    def __init__(self) -> None:
        self.seen = Seen()
        self._pieces: list[str] = []
        self._kept = 0

    def feed(self, data: bytes) -> None:
        piece = data.decode("utf-8", "replace")
        if self._kept < LONGEST_TEXT:
            self._pieces.append(piece)
            self._kept += len(piece)
        self.seen = self.seen._replace(says=last_line(piece) or self.seen.says)

    def end(self) -> None:
        said = "".join(self._pieces)[:LONGEST_TEXT]
        # As `$(command)` has it in a shell: the newline ends the line and is not of the result.
        self.seen = self.seen._replace(text=said.rstrip("\n"), ended=True)


class EventLines(JsonLines):
    """Reads the lines that an agent written for Siding prints: one JSON object each.

        {"event": "session", "id": "c1", "model": "m"}     the conversation, once it is known
        {"event": "says", "text": "Looking at a.py"}       a message; the last one counts
        {"event": "piece", "text": "Look"}                 a part of a message, as it comes
        {"event": "tool", "name": "edit", "about": "a.py"}  what follows is a new message
        {"event": "used", "tokens": 20, "input_tokens": 110, "dollars": 0.01}    sums so far
        {"event": "denied", "name": "bash"}                what it was not allowed to do
        {"event": "left_out", "name": "model"}             what it was told and cannot do
        {"event": "done", "text": "…", "output": {…}}      both may be left out
        {"event": "failed", "message": "…", "fault": "server"}    one of `port.Fault`

    Unknown events, fields and lines that are no JSON are passed over.
    """

    def __init__(self, model: str = "") -> None:
        super().__init__()
        self.seen = self.seen._replace(model=model)
        self._pieces: list[str] = []

    def on_event(self, event: Mapping[str, Any]) -> None:
        seen = self.seen
        match event.get("event"):
            case "session":
                model = text(event.get("model")) or seen.model
                seen = seen._replace(session=text(event.get("id")), model=model)
            case "piece":
                self._pieces.append(text(event.get("text")))
                seen = seen._replace(says=last_line("".join(self._pieces[-20:])) or seen.says)
            case "says":
                seen = seen._replace(
                    text=text(event.get("text")), says=shown(text(event.get("text")))
                )
            case "tool":
                self._pieces = []
                words = f"{text(event.get('name'))} {text(event.get('about'))}"
                seen = seen._replace(tools=seen.tools + 1, says=shown(words))
            case "used":
                dollars = event.get("dollars")
                seen = seen._replace(
                    tokens=whole(event.get("tokens")),
                    input_tokens=whole(event.get("input_tokens")),
                    dollars=float(dollars) if isinstance(dollars, int | float) else seen.dollars,
                )
            case "denied":
                seen = seen._replace(denied=(*seen.denied, text(event.get("name"))))
            case "left_out":
                seen = seen._replace(left_out=(*seen.left_out, text(event.get("name"))))
            case "done":
                words = text(event.get("text")) or "".join(self._pieces) or seen.text
                seen = seen._replace(
                    text=words,
                    result=event.get("output"),
                    says=last_line(words) or seen.says,
                    ended=True,
                )
            case "failed":
                error = text(event.get("message")) or "it gives no reason"
                fault = _FAULTS.get(text(event.get("fault"))) or fault_of(error)
                seen = seen._replace(ended=True, fault=fault, error=error)
        self.seen = seen


def last_line(said: str) -> str:
    """Return the last line of a text that says something, cut for a list; "" for none."""
    for line in reversed(said[-4096:].splitlines()):
        if line.strip():
            return shown(line)
    return ""


def shown(line: str) -> str:
    """Return a text as one line that fits into a list."""
    words = " ".join(line.split())
    return words if len(words) <= _LONGEST_SAYING else words[: _LONGEST_SAYING - 1] + "…"


def fault_of(message: str, status: int | None = None) -> Fault:
    """Return what kind of failure a message is about; `status` is that of HTTP, if it is known."""
    if _NO_SESSION.search(message):
        return Fault.NO_SESSION
    status = status or _status_in(message)
    if status == 413 or _TOO_LONG.search(message):
        return Fault.TOO_LONG
    if status in (401, 403) or (status is None and _LOGIN.search(message)):
        return Fault.LOGIN
    if status is None:
        return Fault.OTHER
    return Fault.REFUSED if 400 <= status < 500 and status not in _FOR_A_WHILE else Fault.SERVER


def _status_in(message: str) -> int | None:
    found = _STATUS.search(message)
    return int(found[1] or found[2]) if found else None
