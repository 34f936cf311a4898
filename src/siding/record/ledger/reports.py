"""Parts of a ledger line: output, processes, hooks, rules that matched, the sandbox and its proxy.

Each part is read by `from_record` and written by `as_record`. Paths are quoted as git quotes them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import ProcessInfo
from siding.ground.storage.fields import (
    mapping,
    mappings,
    said,
    strings,
    text,
    text_or_none,
    whole,
    whole_or_none,
    words,
)
from siding.record.ledger.usage import UsedTokens, usage_from, usage_record

ALARM = "alarm"
NOTE = "note"
LISTED = 100  # that a ledger line names


class OutputReport(NamedTuple):
    """The sizes and the hash of ``artifacts/NNNN.output``; `sha256` covers the whole file."""

    streams: str = ""  # piped, pty
    stdout_bytes: int | None = None  # None in lines of another tool, which does not count them
    stderr_bytes: int | None = None
    sha256: str = ""
    complete: bool = True
    rows: int = 0  # of the run's terminal when it ended; 0: it had none, or nobody noted it
    columns: int = 0

    @classmethod
    def from_record(cls, value: object) -> "OutputReport | None":
        if not isinstance(value, dict):
            return None
        return cls(
            streams=text(value.get("streams")),
            stdout_bytes=whole_or_none(value.get("stdout_bytes")),
            stderr_bytes=whole_or_none(value.get("stderr_bytes")),
            sha256=text(value.get("sha256")),
            complete=bool(value.get("complete", True)),
            rows=whole(value.get("rows")),
            columns=whole(value.get("columns")),
        )

    def as_record(self) -> dict[str, Any]:
        record = self._asdict()
        if not self.rows or not self.columns:
            del record["rows"], record["columns"]
        return record


class RequestsReport(NamedTuple):
    """How often a run asked its broker, and the hash of ``artifacts/NNNN.requests``."""

    number: int
    sha256: str

    @classmethod
    def from_record(cls, value: object) -> "RequestsReport | None":
        if not isinstance(value, dict):
            return None
        return cls(number=whole(value.get("number")), sha256=text(value.get("sha256")))


class AgentReport(NamedTuple):
    """What an agent said of itself while it ran, and how its commands were judged."""

    session: str  # its own id of the newest conversation; "": it has reported nothing
    transcript: str  # the path of that, as the agent saw it
    prompts: int
    prompt: str  # the newest one, if its turn had not ended when the run did
    judge: str  # off, on or require
    judged: int  # commands
    blocked: int
    asked: int  # of a person

    @classmethod
    def from_record(cls, value: object) -> "AgentReport | None":
        if not isinstance(value, dict):
            return None
        return cls(
            session=text(value.get("session")),
            transcript=text(value.get("transcript")),
            prompts=whole(value.get("prompts")),
            prompt=text(value.get("prompt")),
            judge=text(value.get("judge")),
            judged=whole(value.get("judged")),
            blocked=whole(value.get("blocked")),
            asked=whole(value.get("asked")),
        )


class LeftProcess(NamedTuple):
    """A process that was still alive when the command ended."""

    pid: int
    name: str
    started: int  # clock ticks since boot on Linux


def as_left(processes: Sequence[ProcessInfo]) -> tuple[LeftProcess, ...]:
    """Return processes as a line holds them."""
    return tuple(LeftProcess(*each) for each in processes)


class ProcessReport(NamedTuple):
    """What happened to the processes that were still alive when a command ended."""

    ended: tuple[LeftProcess, ...] = ()  # Siding ended them
    survivors: tuple[LeftProcess, ...] = ()  # Siding could not end them
    left_running: tuple[LeftProcess, ...] = ()  # they were kept running on purpose

    @classmethod
    def from_record(cls, value: object) -> "ProcessReport":
        found = mapping(value)
        return cls(*(_processes(found.get(name)) for name in cls._fields))

    def as_record(self) -> dict[str, Any]:
        return {
            name: [each._asdict() for each in listed] for name, listed in self._asdict().items()
        }


def _processes(value: object) -> tuple[LeftProcess, ...]:
    return tuple(
        LeftProcess(whole(each.get("pid")), text(each.get("name")), whole(each.get("started")))
        for each in mappings(value)
    )


class HookReport(NamedTuple):
    """A hook that ran around the command: its exit code and output."""

    moment: str  # pre_run, post_run
    command: str
    source: str  # project, repository
    exit_code: int
    output: str

    @classmethod
    def from_record(cls, value: Mapping[str, Any]) -> "HookReport":
        return cls(
            moment=text(value.get("moment")),
            command=text(value.get("command")),
            source=text(value.get("source")),
            exit_code=whole(value.get("exit_code")),
            output=text(value.get("output")),
        )

    def as_record(self) -> dict[str, Any]:
        return self._asdict()


class PolicyEvent(NamedTuple):
    """A rule of the policy that a command matched."""

    rule: str
    action: str  # log, warn, ask, block
    matched: str = ""  # the text that the rule matched
    reason: str = ""
    command: str = ""  # the simple command, one part of the command line
    via: tuple[str, ...] = ()  # the commands that contain it, such as "sh -c"
    answer: str | None = None  # to an ``ask``: yes, always, remembered, flag, no, nobody

    @classmethod
    def from_record(cls, value: Mapping[str, Any]) -> "PolicyEvent":
        return cls(
            rule=text(value.get("rule")),
            action=text(value.get("action")),
            matched=text(value.get("matched")),
            reason=text(value.get("reason")),
            command=text(value.get("command")),
            via=words(value.get("via")),
            answer=text_or_none(value.get("answer")),
        )

    def as_record(self) -> dict[str, Any]:
        record = self._asdict() | {"via": list(self.via)}
        if self.answer is None:
            del record["answer"]
        return record


class OutsideChange(NamedTuple):
    """One thing outside the workspace that changed during the run."""

    what: str  # branch, tag, ref, stash, head, index, files, config, hook, git, worktree, own, ...
    name: str
    how: str  # in words: "made", "moved", ...
    weight: str = ALARM  # or NOTE, for changes that ordinary commands make
    before: str | None = None
    after: str | None = None

    @classmethod
    def from_record(cls, value: Mapping[str, Any]) -> "OutsideChange":
        return cls(
            what=text(value.get("what")),
            name=text(value.get("name")),
            how=text(value.get("how")),
            weight=text(value.get("weight")),
            before=text_or_none(value.get("before")),
            after=text_or_none(value.get("after")),
        )

    def as_record(self) -> dict[str, Any]:
        return {key: value for key, value in self._asdict().items() if value is not None}


class IsolationReport(NamedTuple):
    """The changes outside the workspace while a command ran."""

    changes: tuple[OutsideChange, ...] = ()
    files: str = ""  # whether the files of the checkout were checked: "looked at", "not looked at"

    @classmethod
    def from_record(cls, value: object) -> "IsolationReport | None":
        if not isinstance(value, dict):
            return None
        changes = tuple(OutsideChange.from_record(each) for each in mappings(value.get("changes")))
        return cls(changes=changes, files=text(value.get("files")))

    def as_record(self) -> dict[str, Any]:
        return {"changes": [each.as_record() for each in self.changes], "files": self.files}

    @property
    def alarms(self) -> tuple[OutsideChange, ...]:
        """The changes that ordinary commands do not make."""
        return tuple(each for each in self.changes if each.weight == ALARM)

    @property
    def notes(self) -> tuple[OutsideChange, ...]:
        """The changes that ordinary commands make, too."""
        return tuple(each for each in self.changes if each.weight == NOTE)


class SandboxReport(NamedTuple):
    """The sandbox that a command ran in."""

    mode: str = ""  # on, require
    engine: str | None = None  # bwrap, landlock; None: the command ran without a sandbox
    profile: str = ""
    network: str = ""
    git: str = ""
    not_covered: tuple[str, ...] = ()  # what the sandbox did not restrict, as sentences
    reason: str = ""  # why the engine is not bwrap, or why there was no sandbox
    hosts: tuple[str, ...] = ()  # that alone may be reached, with the network `allow`

    @classmethod
    def from_record(cls, value: object) -> "SandboxReport | None":
        if not isinstance(value, dict):
            return None
        return cls(
            mode=text(value.get("mode")),
            engine=text_or_none(value.get("engine")),
            profile=text(value.get("profile")),
            network=text(value.get("network")),
            git=text(value.get("git")),
            not_covered=strings(value.get("not_covered")),
            reason=text(value.get("reason")),
            hosts=strings(value.get("hosts")),
        )

    def as_record(self) -> dict[str, Any]:
        inside = {} if self.engine is None else {"not_covered": list(self.not_covered)}
        return {
            "mode": self.mode,
            "engine": self.engine,
            "profile": self.profile,
            **said(network=self.network, hosts=list(self.hosts), git=self.git),
            **inside,
            **said(reason=self.reason),
        }


class Trap(NamedTuple):
    """One such file. `path` is quoted as git quotes it.

    `content` is a SHA-256 of the path and of what of its content counts: the same one is the same
    trap, in whichever step and task.
    """

    path: str
    by: str  # what runs it
    when: str
    how: str  # "made" or "changed"
    content: str

    @classmethod
    def from_record(cls, value: Mapping[str, Any]) -> "Trap":
        return cls(*(text(value.get(name)) for name in cls._fields))


def traps_record(traps: Sequence[Trap]) -> dict[str, Any]:
    """Return the fields of a ledger line; none without traps."""
    if not traps:
        return {}
    listed = [each._asdict() for each in traps[:LISTED]]
    return {"traps": listed, **({"trap_count": len(traps)} if len(traps) > LISTED else {})}


class RefusedHost(NamedTuple):
    """A host that a run asked for and that was not allowed, and how often."""

    host: str
    port: int
    times: int
    why: str = ""


class WireReport(NamedTuple):
    """Sums of the lines in ``artifacts/NNNN.wire``. Times are in milliseconds."""

    metered: bool = False  # requests to models were to be measured
    requests: int = 0
    failed: int = 0  # answered by an error, or not at all
    cut: int = 0  # answers that the server did not bring to their end
    left: int = 0  # answers whose end the client did not wait for
    retries: int = 0
    uncounted: int = 0  # answers in which tokens could not be read
    statuses: Mapping[str, int] = {}
    errors: Mapping[str, int] = {}  # by the API's own word
    usage: Mapping[str, UsedTokens] = {}  # by model
    first_ms: int = 0  # until the first byte of an answer: the median
    slowest_ms: int = 0  # of a whole answer
    tunnels: int = 0  # connections to allowed hosts
    refused: tuple[RefusedHost, ...] = ()
    ended_at: str = ""  # the proxy ended then, before the run did; "": it did not
    through: int = 0  # of a turn: the bytes of the file until its end
    sha256: str = ""  # of the file; "" in a turn

    @classmethod
    def from_record(cls, value: object) -> "WireReport | None":
        if not isinstance(value, dict):
            return None
        counts = ("requests", "failed", "cut", "left", "retries", "uncounted", "tunnels")
        times = ("first_ms", "slowest_ms", "through")
        return cls(
            metered=value.get("metered") is True,
            statuses=_counts(value.get("statuses")),
            errors=_counts(value.get("errors")),
            usage=usage_from(value.get("usage")),
            refused=tuple(map(_refused, mappings(value.get("refused")))),
            ended_at=text(value.get("ended_at")),
            sha256=text(value.get("sha256")),
            **{name: whole(value.get(name)) for name in (*counts, *times)},
        )

    def as_record(self) -> dict[str, Any]:
        record = {
            **self._asdict(),
            "statuses": dict(self.statuses),
            "errors": dict(self.errors),
            "usage": usage_record(self.usage),
            "refused": [each._asdict() for each in self.refused],
        }
        return {name: value for name, value in said(**record).items() if value}


def _counts(value: object) -> dict[str, int]:
    return {str(name): whole(count) for name, count in mapping(value).items()}


def _refused(record: Mapping[str, Any]) -> RefusedHost:
    return RefusedHost(
        host=text(record.get("host")),
        port=whole(record.get("port")),
        times=whole(record.get("times")),
        why=text(record.get("why")),
    )
