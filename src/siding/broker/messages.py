"""The messages of a run and its broker: lines of JSON. docs/reference/broker.md describes them.

A line is read in two steps. `parse` finds out which request it is, so that it can be recorded as
it came; `request_in` makes it one of the closed union `Request`, or refuses it. Code that carries
out a request never sees a field by its name. What the broker says is one of the closed union
`Reply`.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, assert_never

from siding.ground.errors import SidingError, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.fields import mapping, said, text
from siding.record.phases.states import PhaseMove

VERSION = 1
LONGEST = 1 << 20  # bytes of a request
LONGEST_NOTE = 4000  # characters
_LONGEST_LINE = 256 << 10  # characters of a shell line that is judged
_LONGEST_TEXT = 4000
_LONGEST_KEY = 200
_USUAL_STEPS, _MOST_STEPS = 20, 200
_MOST_AGENTS = 16  # of a workflow at once


class BadRequest(UsageError):
    """The request is none that the broker knows."""

    code = "bad_request"


class UnknownReply(SidingError):
    """The broker is of another version, and said what this one does not know."""

    code = "unknown_reply"

    def __init__(self) -> None:
        super().__init__(
            "the broker of this run answered what this version of Siding does not know",
            hint="what was asked may have been done; use the Siding that started the run",
        )


class ToldRequest(NamedTuple):
    """A request as a process of the run has sent it. `number` is its own mark, which the answer
    repeats; `what` may be anything."""

    what: str
    fields: Mapping[str, Any]
    number: object = None


class HelloRequest(NamedTuple):
    """Which broker this is, and what it may be asked."""


class StatusRequest(NamedTuple):
    """Where the run's task stands."""


class TurnsRequest(NamedTuple):
    """Which turns of a conversation stand, if a state was gone back to after the step `since`."""

    session: str
    since: int | None


class CheckRequest(NamedTuple):
    """What the policy says of a command: of a line of shell, or of words."""

    command: tuple[str, ...] | str
    cwd: str


class AskRequest(NamedTuple):
    """A question to a person: a new one, or with `session` one that was asked before."""

    question: object = None
    session: str = ""
    key: str | None = None
    wait: bool = True
    timeout_s: float | None = None


class MoveRequest(NamedTuple):
    """A move of the task through its phases."""

    move: PhaseMove
    summary: str
    phase: str | None
    again: bool


class CheckpointRequest(NamedTuple):
    """A step of what the workspace holds now."""

    message: str


class NoteRequest(NamedTuple):
    """A text for the record of the run, which has it already when the request is carried out."""


class ReportRequest(NamedTuple):
    """What an agent says at a moment that its hooks report."""

    agent: str
    payload: dict[str, Any]


class StepsRequest(NamedTuple):
    """The newest steps of the task."""

    limit: int


class PatchRequest(NamedTuple):
    """What a step changed."""

    step: int


class EventsRequest(NamedTuple):
    """What happens to the task from now on: this has many replies."""


class StartWorkflow(NamedTuple):
    """Start a workflow: by its source, its path or its name; or `resume` an earlier run of one."""

    resume: str = ""
    script: str = ""
    script_path: str = ""
    name: str = ""
    args: object = None
    max_concurrency: int | None = None


class LookAtWorkflow(NamedTuple):
    """Where a run of a workflow is."""

    run: str


class CancelWorkflow(NamedTuple):
    """End a run of a workflow, or one of its agents."""

    run: str
    agent: int | None


class ListWorkflows(NamedTuple):
    """Which workflows there are, and which runs of them."""


AnyLook = HelloRequest | StatusRequest | TurnsRequest | CheckRequest | StepsRequest | PatchRequest
AnyAct = AskRequest | MoveRequest | CheckpointRequest | NoteRequest | ReportRequest
AnyWorkflow = StartWorkflow | LookAtWorkflow | CancelWorkflow | ListWorkflows
Request = AnyLook | AnyAct | AnyWorkflow | EventsRequest


def parse(line: bytes) -> ToldRequest:
    """Return the request in a line. Raises BadRequest."""
    try:
        found = parse_object(line)
    except NotJson as error:
        raise BadRequest(
            f"the request cannot be read: {error}", hint='a line such as {"do": "status"}'
        ) from None
    try:
        # Half a character is no text; bytes of paths that are no UTF-8 come as Python spells them.
        json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except (UnicodeEncodeError, RecursionError):
        raise BadRequest("the request has a text that is no Unicode") from None
    what = found.get("do")
    if not isinstance(what, str) or not what:
        raise BadRequest("the request does not say what to do", hint='{"do": "status"}, say')
    number = found.get("id")
    if not isinstance(number, str | int | None):
        raise BadRequest("'id' must be a text or a number")
    version = found.get("version", VERSION)
    if version != VERSION:
        raise BadRequest(f"version {version!r} of requests is not known", hint=f"this is {VERSION}")
    return ToldRequest(what, found, number)


def request_in(told: ToldRequest) -> Request:
    """Return what is asked. Raises BadRequest for what a run may not ask, and for wrong fields."""
    read = _READERS.get(told.what)
    if read is None:
        known = ", ".join(REQUESTS)
        raise BadRequest(
            f"{told.what[:80]!r} is not what a run may ask", hint=f"it may ask: {known}"
        )
    return read(_Fields(told))


def _turns(take: "_Fields") -> TurnsRequest:
    session = take.text("session", most=_LONGEST_TEXT, needed=True)
    return TurnsRequest(session, take.step_or_none("since"))


def _check(take: "_Fields") -> CheckRequest:
    if "argv" in take.fields:
        return CheckRequest(take.words("argv"), take.text("cwd", most=4096))
    line = take.text("command", most=_LONGEST_LINE, needed=True)
    return CheckRequest(line, take.text("cwd", most=4096))


def _note(take: "_Fields") -> NoteRequest:
    take.text("text", most=LONGEST_NOTE, needed=True)
    return NoteRequest()


def _report(take: "_Fields") -> ReportRequest:
    agent, payload = take.text("agent", most=40, needed=True), take.fields.get("payload")
    if not isinstance(payload, dict):
        raise cannot_report()
    return ReportRequest(agent, payload)


def cannot_report() -> BadRequest:
    """Return the error for a report that nobody can read."""
    return BadRequest("report: 'agent' must be one that can report, and 'payload' an object")


def _question(take: "_Fields") -> AskRequest:
    session = take.text("session", most=100)
    question = None if session else take.fields.get("question")
    if not session and not isinstance(question, dict):
        raise BadRequest(
            "ask: 'question' must be an object", hint="`siding decide --help` shows one"
        )
    return AskRequest(
        question=question,
        session=session,
        key=None if session else take.text("key", most=_LONGEST_KEY) or None,
        wait=(wait := take.yes("wait", default=True)),
        timeout_s=take.seconds("timeout_s") if wait else None,
    )


def _move(take: "_Fields") -> MoveRequest:
    wanted = take.text("move", most=40, needed=True)
    moves = [each.value for each in PhaseMove]
    if wanted not in moves:
        raise BadRequest(f"phase: there is no move {wanted!r}", hint=f"one of {', '.join(moves)}")
    return MoveRequest(
        move=PhaseMove(wanted),
        summary=take.text("summary", most=_LONGEST_TEXT, needed=True),
        phase=take.text("phase", most=200) or None,
        again=take.yes("again"),
    )


def _workflow(take: "_Fields") -> AnyWorkflow:
    act = take.text("act", most=20, needed=True)
    match act:
        case "run":
            resume, script = take.text("resume", most=128), take.text("script", most=LONGEST)
            if resume:
                return StartWorkflow(resume=resume, script=script)
            slots = take.agents("max_concurrency")
            # A text goes before a path, a path before a name.
            path = "" if script else take.text("script_path", most=4096)
            name = "" if script or path else take.text("name", most=255)
            if not (script or path or name):
                raise BadRequest("workflow: one of script, name, or script_path must be provided")
            return StartWorkflow("", script, path, name, take.fields.get("args"), slots)
        case "status":
            return LookAtWorkflow(take.text("run", most=128, needed=True))
        case "cancel":
            run, agent = take.text("run", most=128, needed=True), take.fields.get("agent")
            if agent is not None and (isinstance(agent, bool) or not isinstance(agent, int)):
                raise BadRequest("workflow: 'agent' must be a number")
            return CancelWorkflow(run, agent)
        case "list":
            return ListWorkflows()
        case _:
            raise BadRequest(
                f"workflow: there is no act {act[:20]!r}", hint="cancel, list, run, status"
            )


class _Fields:
    """The fields of a request. Each method returns one, and raises BadRequest if it is wrong."""

    def __init__(self, told: ToldRequest) -> None:
        self.what, self.fields = told.what, told.fields

    def text(self, name: str, *, most: int, needed: bool = False) -> str:
        """Return a text of at most `most` characters, "" if there is none."""
        value = self.fields.get(name)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or (needed and not value.strip()):
            raise BadRequest(f"{self.what}: {name!r} must be a text that is not blank")
        if len(value) > most:
            raise BadRequest(f"{self.what}: {name!r} has more than {most} characters")
        return value

    def yes(self, name: str, *, default: bool = False) -> bool:
        value = self.fields.get(name, default)
        if not isinstance(value, bool):
            raise BadRequest(f"{self.what}: {name!r} must be true or false")
        return value

    def seconds(self, name: str) -> float | None:
        value = self.fields.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise BadRequest(f"{self.what}: {name!r} must be a number of seconds")
        return float(value)

    def words(self, name: str) -> tuple[str, ...]:
        value = self.fields.get(name)
        if not isinstance(value, list) or not value or not all(isinstance(e, str) for e in value):
            raise BadRequest(f"{self.what}: {name!r} must be a list of texts")
        return tuple(value)

    def whole(self, name: str, *, default: int, most: int) -> int:
        value = self.fields.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise BadRequest(f"{self.what}: {name!r} must be a whole number from 1 to {most}")
        return value

    def step_or_none(self, name: str) -> int | None:
        value = self.fields.get(name)
        if not isinstance(value, int | None) or isinstance(value, bool):
            raise BadRequest(f"{self.what}: {name!r} must be the number of a step")
        return value

    def agents(self, name: str) -> int | None:
        value = self.fields.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_AGENTS:
            raise BadRequest(f"{self.what}: {name!r} is 1 to {_MOST_AGENTS}")
        return value


# What a run may ask, by the word in `do`; docs/reference/broker.md has the same list.
_READERS: Mapping[str, Callable[[_Fields], Request]] = {
    "ask": _question,
    "checkpoint": lambda take: CheckpointRequest(take.text("message", most=_LONGEST_TEXT)),
    "events": lambda _take: EventsRequest(),
    "hello": lambda _take: HelloRequest(),
    "note": _note,
    "patch": lambda take: PatchRequest(take.whole("step", default=0, most=10**9)),
    "phase": _move,
    "policy.check": _check,
    "report": _report,
    "status": lambda _take: StatusRequest(),
    "steps": lambda take: StepsRequest(take.whole("limit", default=_USUAL_STEPS, most=_MOST_STEPS)),
    "turns": _turns,
    "workflow": _workflow,
}
REQUESTS = tuple(sorted(_READERS))


class ResultReply(NamedTuple):
    """The request was carried out."""

    number: object
    result: Mapping[str, Any]


class EventReply(NamedTuple):
    """One line of a request that has several."""

    number: object
    event: Mapping[str, Any]


class RefusalReply(NamedTuple):
    """The request was refused, or failed. `output` is that of a gate's command."""

    number: object
    code: str
    message: str
    hint: str | None = None
    output: str = ""

    @classmethod
    def of(cls, number: object, error: SidingError, *, output: str = "") -> "RefusalReply":
        return cls(number, error.code, error.message, error.hint, output)


Reply = ResultReply | EventReply | RefusalReply


def reply_line(reply: Reply) -> bytes:
    """Return a reply as its line."""
    more: dict[str, Any]
    match reply:
        case ResultReply():
            more = {"result": reply.result}
        case EventReply():
            more = {"event": reply.event}
        case RefusalReply():
            more = {"error": said(**{name: getattr(reply, name) for name in _TOLD})}
        case _:
            assert_never(reply)
    number = {} if reply.number is None else {"id": reply.number}
    is_ok = not isinstance(reply, RefusalReply)
    return json.dumps({"ok": is_ok, **number, **more}).encode() + b"\n"


_TOLD = ("code", "message", "hint", "output")


def reply_in(line: bytes) -> Reply:
    """Return the reply in a line. Raises UnknownReply, and ValueError for what is no JSON."""
    found = mapping(json.loads(line))
    number = found.get("id")
    if found.get("ok") is True and "event" in found:
        return EventReply(number, mapping(found["event"]))
    if found.get("ok") is True:
        return ResultReply(number, mapping(found.get("result")))
    if found.get("ok") is False:
        error = mapping(found.get("error"))
        code, message, hint, output = (text(error.get(name)) for name in _TOLD)
        return RefusalReply(number, code, message, hint or None, output)
    raise UnknownReply
