"""The detail of a run step."""

from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import (
    mapping,
    mappings,
    said,
    text,
    text_or_none,
    whole_or_none,
    words,
)
from siding.record.ledger.kinds import StepKind
from siding.record.ledger.reports import (
    AgentReport,
    HookReport,
    IsolationReport,
    OutputReport,
    ProcessReport,
    RequestsReport,
    SandboxReport,
)
from siding.record.ledger.usage import UsedTokens, usage_from, usage_record
from siding.record.ledger.wire import WireReport

BASE = "base"  # in `since`: the run began before the first step


class RunDetail(NamedTuple):
    """A command that ran in the workspace."""

    cmd: tuple[str, ...] = ()
    cwd: str = ""  # relative to the workspace
    env: Mapping[str, str] = {}  # only the variables that `-e` set
    timeout_s: float | None = None
    ending: str = ""
    child_exit_code: int | None = None  # if it differs from the exit code of the step
    output: OutputReport | None = None
    notes: tuple[str, ...] = ()
    processes: ProcessReport = ProcessReport()
    hooks: tuple[HookReport, ...] = ()
    sandbox: SandboxReport | None = None
    limits: Mapping[str, int] = {}  # the limits in force, without the time limit
    isolation: IsolationReport | None = None  # None: cut off before the repository was checked
    run: str = ""  # the id of the run; "" in lines of earlier versions
    name: str = ""  # the name that the run was given
    prompt: str = ""  # what its agent was asked, if a program called it; perhaps cut
    since: str = ""  # the newest step when the run began, or BASE; "" if it is the one before
    requests: RequestsReport | None = None  # what it asked its broker; None: nothing
    reported: AgentReport | None = None  # None: its agent was not told to report, or it has none
    usage: Mapping[str, UsedTokens] = {}  # what its agent used, by model; {}: not known
    wire: WireReport | None = None  # what passed its proxy; None: it had none
    retries: str = ""  # the id of the step that was done again
    returns: str | None = None  # of a retry: the snapshot that an undo restores

    @property
    def kind(self) -> str:
        return StepKind.RUN.value

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "RunDetail":
        timeout_s = record.get("timeout_s")
        return cls(
            cmd=words(record.get("cmd")),
            cwd=text(record.get("cwd")),
            env=mapping(record.get("env")),
            timeout_s=timeout_s if isinstance(timeout_s, int | float) else None,
            ending=text(record.get("ending")),
            child_exit_code=whole_or_none(record.get("child_exit_code")),
            output=OutputReport.from_record(record.get("output")),
            notes=words(record.get("notes")),
            processes=ProcessReport.from_record(record.get("processes")),
            hooks=tuple(map(HookReport.from_record, mappings(record.get("hooks")))),
            sandbox=SandboxReport.from_record(record.get("sandbox")),
            limits=mapping(record.get("limits")),
            isolation=IsolationReport.from_record(record.get("isolation")),
            run=text(record.get("run")),
            name=text(record.get("name")),
            prompt=text(record.get("prompt")),
            since=text(record.get("since")),
            requests=RequestsReport.from_record(record.get("requests")),
            reported=AgentReport.from_record(record.get("reported")),
            usage=usage_from(record.get("usage")),
            wire=WireReport.from_record(record.get("wire")),
            retries=text(record.get("retries")),
            returns=text_or_none(record.get("returns")),
        )

    def as_record(self) -> dict[str, Any]:
        child = self.child_exit_code
        return {
            "cmd": list(self.cmd),
            "cwd": self.cwd,
            "env": dict(self.env),
            **({} if self.timeout_s is None else {"timeout_s": self.timeout_s}),
            **({} if child is None else {"child_exit_code": child}),
            **({} if self.output is None else {"output": self.output.as_record()}),
            **({} if self.isolation is None else {"isolation": self.isolation.as_record()}),
            **({} if self.sandbox is None else {"sandbox": self.sandbox.as_record()}),
            **({} if self.requests is None else {"requests": self.requests._asdict()}),
            **({} if self.reported is None else {"reported": self.reported._asdict()}),
            **({} if self.wire is None else {"wire": self.wire.as_record()}),
            **said(
                ending=self.ending,
                notes=list(self.notes),
                processes=self.processes.as_record() if any(self.processes) else None,
                hooks=[each.as_record() for each in self.hooks],
                limits=dict(self.limits),
                run=self.run,
                name=self.name,
                prompt=self.prompt,
                since=self.since,
                usage=usage_record(self.usage),
                retries=self.retries,
                returns=self.returns,
            ),
        }
