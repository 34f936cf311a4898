"""The conversation that is meant, and what was done in it.

It is the newest of this workspace, or the one that was named. What was done are its turns, requests
to models, and calls of tools.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from siding.agents.transcripts.kinds import ASSISTANT, USER, Record, moment
from siding.agents.transcripts.markdown import result_text
from siding.agents.transcripts.messages import (
    is_boundary,
    is_tool_result,
    message_id,
    message_of,
    text_of,
    tool_results,
    tool_uses,
)
from siding.agents.transcripts.reading.transcript import Transcript
from siding.agents.transcripts.session import live_records
from siding.assistant.opening import is_of
from siding.ground.errors import NotFound
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text, whole
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.place.selection import current_task_id
from siding.sessions.shelf import store_of

EMPTY_HINT = "`siding agent -p '…'` begins one; `siding session list` shows all"
_LONGEST_RESULT = 1 << 20  # characters


class Looked(NamedTuple):
    """A conversation that is looked at.

    `live` is what the model may still see, `history` also what was compacted away.
    """

    id: str
    title: str
    path: Path
    live: Sequence[Record]
    history: Sequence[Record]
    replacements: Sequence[Record]


def looked_at(project: Project, named: str) -> Looked:
    """Return a conversation; without a name the newest of this workspace. Raises NotFound."""
    store = store_of(project)
    session = store.require(named) if named else _newest(project)
    with store.live(session) as transcript:
        heads = transcript.shown()
        metadata = store.metadata(session, transcript)
        title = store.title(session, transcript)
        if title is None:
            title = transcript.first_prompt(heads)
    history: list[Record] = []
    if heads:
        with Transcript.unsettled(store.layout(session).transcript) as whole:
            history = list(whole.records(whole.history(heads[-1].uuid)))
    return Looked(
        id=session,
        title=title,
        path=store.layout(session).transcript,
        live=live_records(store, session),
        history=history,
        replacements=metadata.replacements_of(session),
    )


def workspace_here(project: Project) -> Path:
    """Return the workspace that the agent would work in; the checkout, if there is none."""
    named = project.app.env.get("SIDING_WORKSPACE")
    if named:
        return Path(named)
    task = current_task_id(project)
    workspace = None if task is None else project.registry.of_task(task)
    return project.paths.root if workspace is None else Path(workspace.path)


def _newest(project: Project) -> str:
    rows = store_of(project).rows()
    workspace = workspace_here(project)
    for row in rows:
        if is_of(row.path, workspace):
            return row.id
    raise NotFound("there is no conversation in this workspace yet", hint=EMPTY_HINT)


def steps_of(project: Project, session: str) -> list[Step]:
    """Return the steps of the turns of a conversation, oldest first."""
    found = []
    for task in project.tasks.ids():
        for step in project.ledger(task).steps():
            turn = step.as_checkpoint
            if turn is not None and turn.session == session:
                found.append(step)
    return found


# -- What was done in a conversation. Pure ---------------------------------------------------------


class ToolCall(NamedTuple):
    """One call of a tool. `took_ms` is from call to result, None without one (it was cut off).

    `details` is what the tool tells programs beside what it told the model.
    """

    id: str
    name: str
    given: object
    at: str
    result: str = ""
    has_result: bool = False
    is_error: bool = False
    ended_at: str = ""
    details: object = None
    turn: int = 0  # the number of the turn, from 1; 0 before the first

    @property
    def took_ms(self) -> int | None:
        """How long it took, a question to a person included."""
        begun, ended = moment(self.at), moment(self.ended_at)
        return None if begun is None or ended is None else max(0, ended - begun)


class ModelRequest(NamedTuple):
    """One answer of a model, and the tokens that it was asked with."""

    at: str
    model: str
    input: int
    cache_read: int
    cache_write: int
    output: int
    turn: int = 0
    version: str = ""  # of Siding, or of whichever program wrote it
    after_compaction: bool = False

    @property
    def prompt(self) -> int:
        """All tokens that were sent."""
        return self.input + self.cache_read + self.cache_write


class Turn(NamedTuple):
    """A prompt and all that came of it until the next one."""

    number: int
    id: str
    prompt: str
    at: str
    ended_at: str
    answer: str  # the last text
    failure: str  # of the model, "" for none

    @property
    def took_ms(self) -> int:
        """From the prompt to the last message."""
        return max(0, (moment(self.ended_at) or 0) - (moment(self.at) or 0))


def is_prompt(record: Record) -> bool:
    """Tell whether a person wrote a message."""
    hidden = record.get("isMeta") or record.get("isCompactSummary")
    return bool(record.get("type") == USER and not hidden and not is_tool_result(record))


def turns_of(records: Iterable[Record]) -> list[Turn]:
    """Return the turns."""
    turns: list[Turn] = []
    for record in records:
        at = text(record.get("timestamp"))
        if is_prompt(record):
            words = text_of(record)
            number = len(turns) + 1
            turns.append(Turn(number, text(record.get("promptId")), words, at, at, "", ""))
        elif turns and record.get("type") in (USER, ASSISTANT):
            turn = turns[-1]._replace(ended_at=at or turns[-1].ended_at)
            if record.get("isApiErrorMessage"):
                turn = turn._replace(failure=text_of(record))
            elif record.get("type") == ASSISTANT and text_of(record).strip():
                turn = turn._replace(answer=text_of(record))
            turns[-1] = turn
    return turns


def calls_of(records: Sequence[Record]) -> list[ToolCall]:
    """Return the calls with their results, in the order in which they were made."""
    calls: dict[str, ToolCall] = {}
    turn = 0
    for record in records:
        turn += is_prompt(record)
        at = text(record.get("timestamp"))
        for block in tool_uses(record):
            name = text(block.get("id"))
            calls[name] = ToolCall(name, text(block.get("name")), block.get("input"), at, turn=turn)
        for block in tool_results(record):
            call = calls.get(text(block.get("tool_use_id")))
            if call is not None:
                calls[call.id] = call._replace(
                    result=result_text(block.get("content"), _LONGEST_RESULT),
                    has_result=True,
                    is_error=block.get("is_error") is True,
                    ended_at=at,
                    details=record.get("toolUseResult"),
                )
    return list(calls.values())


def requests_of(records: Iterable[Record]) -> list[ModelRequest]:
    """Return the answers of models. An answer has several lines; the last has all its tokens."""
    found: dict[str, ModelRequest] = {}
    turn, compacted = 0, False
    for record in records:
        turn += is_prompt(record)
        compacted = compacted or is_boundary(record)
        answer = message_id(record)
        usage = mapping(message_of(record).get("usage"))
        if record.get("type") != ASSISTANT or answer is None or record.get("isApiErrorMessage"):
            continue
        if not usage:
            continue
        before = found.get(answer)
        request = ModelRequest(
            at=text(record.get("timestamp")) if before is None else before.at,
            model=text(message_of(record).get("model")),
            input=whole(usage.get("input_tokens")),
            cache_read=whole(usage.get("cache_read_input_tokens")),
            cache_write=whole(usage.get("cache_creation_input_tokens")),
            output=whole(usage.get("output_tokens")),
            turn=turn,
            version=text(record.get("version")),
            after_compaction=compacted if before is None else before.after_compaction,
        )
        found[answer], compacted = request, False
    return list(found.values())
