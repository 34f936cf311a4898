"""The detail of a checkpoint step."""

from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import said, text, words
from siding.record.ledger.kinds import StepKind
from siding.record.ledger.usage import UsedTokens, usage_from, usage_record
from siding.record.ledger.wire import WireReport


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
