"""A run: a command that Siding started in a task. Its record exists until its step is recorded."""

from collections.abc import Mapping
from shlex import join
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, said, text, whole, words

LONGEST_PROMPT = 4000  # characters of a prompt that are kept


class ProcessMark(NamedTuple):
    """A process, told apart from a later one with the same number by its start time.

    `started` is in the unit of the system's process table, on Linux clock ticks since boot.
    """

    pid: int = 0
    started: int = 0

    @classmethod
    def from_record(cls, record: object) -> "ProcessMark":
        found = mapping(record)
        return cls(pid=whole(found.get("pid")), started=whole(found.get("started")))


class Run(NamedTuple):
    """A command that runs, or whose host died before it recorded how the command ended.

    The host is the Siding process that started the command and records it. A process number counts
    only while the machine has the same `boot`.
    """

    number: int
    started_at: str  # ISO 8601
    cmd: tuple[str, ...]  # without secrets
    cwd: str  # relative to the workspace
    token: str  # in the environment of everything that the run starts
    boot: str  # "" if the system does not tell
    host: ProcessMark
    command: ProcessMark = ProcessMark()  # without a pid until the command was started
    keeper: ProcessMark = ProcessMark()  # the parent of the command; without a pid if it has none
    agent: str | None = None
    name: str = ""
    since: str = ""  # the id of the newest step when the run began; "" for none
    is_recorded: bool = True  # False: it makes no step (`--no-record`)
    in_program: bool = False  # the host hosts other runs as well, and must not be signalled
    broker: str = ""  # the path of the socket at which the run may ask; "" if it has none
    over_limit: bool = False  # limits of what agents may use do not count for it
    judge: str = ""  # "require": what its agent does and has no verdict is not done
    # How long a question whether its agent may do something waits for a person, in seconds; None:
    # as long as it takes; 0: nobody is asked.
    ask_s: float | None = None
    # What its agent asks before it can report: `first` (`agents.start_questions`), `env`, the
    # variables with which its files are found, and whether it `reports`. {}: that is not known.
    asks: Mapping[str, Any] = {}
    rest: Mapping[str, Any] = {}  # the fields that this version does not know

    @property
    def id(self) -> str:
        return f"r{self.number}"

    @property
    def title(self) -> str:
        """The command, quoted so that it can be typed into a shell."""
        return join(self.cmd)

    @classmethod
    def from_record(cls, number: int, record: Mapping[str, Any]) -> "Run":
        """Return the run in a document; a field of an unexpected type counts as missing."""
        known = {*cls._fields, "version", "run", "recorded"}
        return cls(
            number=number,
            started_at=text(record.get("started_at")),
            cmd=words(record.get("cmd")),
            cwd=text(record.get("cwd")),
            token=text(record.get("token")),
            boot=text(record.get("boot")),
            host=ProcessMark.from_record(record.get("host")),
            command=ProcessMark.from_record(record.get("command")),
            keeper=ProcessMark.from_record(record.get("keeper")),
            agent=text(record.get("agent")) or None,
            name=text(record.get("name")),
            since=text(record.get("since")),
            is_recorded=record.get("recorded") is not False,
            in_program=record.get("in_program") is True,
            broker=text(record.get("broker")),
            over_limit=record.get("over_limit") is True,
            judge=text(record.get("judge")),
            ask_s=_seconds(record.get("ask_s")),
            asks=mapping(record.get("asks")),
            rest={name: value for name, value in record.items() if name not in known},
        )

    def as_record(self) -> dict[str, Any]:
        """Return the fields of the document; those without a value are left out."""
        return {
            **self.rest,
            "run": self.id,
            "started_at": self.started_at,
            "cmd": list(self.cmd),
            "cwd": self.cwd,
            "token": self.token,
            "boot": self.boot,
            "host": self.host._asdict(),
            **({"command": self.command._asdict()} if self.command.pid else {}),
            **({"keeper": self.keeper._asdict()} if self.keeper.pid else {}),
            **said(agent=self.agent, name=self.name, since=self.since, broker=self.broker),
            **({} if self.is_recorded else {"recorded": False}),
            **({"in_program": True} if self.in_program else {}),
            **({"over_limit": True} if self.over_limit else {}),
            **said(judge=self.judge),
            **({} if self.ask_s is None else {"ask_s": self.ask_s}),
            **said(asks=self.asks),
        }


def _seconds(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value)


def is_run_id(named: str) -> bool:
    """Tell whether a text has the form of a run's id, such as ``r7``."""
    try:
        return run_number(named) > 0
    except ValueError:
        return False


def run_number(named: str) -> int:
    """Return the number in a run's id, such as ``r7``; raise ValueError for any other text."""
    digits = named[1:]
    if named[:1] != "r" or not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        raise ValueError(named)
    return int(digits)
