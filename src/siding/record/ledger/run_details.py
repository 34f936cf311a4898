"""The details of the steps of runs: a run, and a checkpoint, which may be a turn of one.

An act fills the detail of its step, and ``as_record`` writes the fields that only this kind has.
"""

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
    WireReport,
)
from siding.record.ledger.usage import UsedTokens, usage_from, usage_record

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


class CheckpointDetail(NamedTuple):
    """The workspace was recorded: on request, or because it changed since the last step."""

    message: str = ""
    # asked: `siding checkpoint`; turn: of a run that lived (see `run`), or of an agent that a
    # person started without one (the step names it); running: changed while runs
    # lived (see `Step.beside`);
    # outside: changed between steps; carry: `task start --carry`; from: `task start --from`
    origin: str = ""
    taken: str = ""  # the snapshot of another task that the workspace was set to
    run: str = ""  # the id of the run whose turn it is
    # why the turn was recorded then: quiet, timer, asked; of an agent that reports: stopped,
    # failed, or prompt (the next one came, and the agent had not said that it stopped); call: a
    # tool has ended within the turn
    moment: str = ""
    prompt: str = ""  # what the agent was asked in this turn, as far as it was kept
    later_prompts: tuple[str, ...] = ()  # what it was asked besides, while the turn ran
    session: str = ""  # the agent's own id of the conversation
    copy_of: str = ""  # and of the one that it is a copy of, as far as that stood then
    without: str = ""  # and of the first prompt that the copy leaves out
    turn: str = ""  # and of the prompt
    call: str = ""  # and of the tool's call, if the step is that of one
    transcript: str = ""  # the conversation's file, as the agent saw it
    returns: str = ""  # the snapshot that the turn began with, if it has earlier steps
    usage: Mapping[str, UsedTokens] = {}  # what its agent used in the turn, by model; {}: not known
    wire: WireReport | None = None  # what passed the proxy of its run in the turn; None: nothing

    @property
    def prompts(self) -> tuple[str, ...]:
        """All that its agent was asked in this turn, in order."""
        return (self.prompt, *self.later_prompts) if self.prompt.strip() else ()

    @property
    def kind(self) -> str:
        return StepKind.CHECKPOINT.value

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "CheckpointDetail":
        return cls(
            message=text(record.get("message")),
            origin=text(record.get("origin")),
            taken=text(record.get("taken")),
            run=text(record.get("run")),
            moment=text(record.get("moment")),
            prompt=text(record.get("prompt")),
            later_prompts=words(record.get("later_prompts")),
            session=text(record.get("session")),
            copy_of=text(record.get("copy_of")),
            without=text(record.get("without")),
            turn=text(record.get("turn")),
            call=text(record.get("call")),
            transcript=text(record.get("transcript")),
            returns=text(record.get("returns")),
            usage=usage_from(record.get("usage")),
            wire=WireReport.from_record(record.get("wire")),
        )

    def as_record(self) -> dict[str, Any]:
        more = said(
            taken=self.taken,
            run=self.run,
            moment=self.moment,
            prompt=self.prompt,
            later_prompts=list(self.later_prompts),
            session=self.session,
            copy_of=self.copy_of,
            without=self.without,
            turn=self.turn,
            call=self.call,
            transcript=self.transcript,
            returns=self.returns,
            usage=usage_record(self.usage),
            wire=None if self.wire is None else self.wire.as_record(),
        )
        return {"message": self.message, "origin": self.origin, **more}
