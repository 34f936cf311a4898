"""Which conversation is meant: the newest of this workspace, or the one that was named."""

from collections.abc import Sequence
from pathlib import Path

from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.reading.listing import first_prompt
from siding.agents.transcripts.reading.transcript import Transcript
from siding.agents.transcripts.session import live_records
from siding.assistant.opening import is_of
from siding.ground.errors import NotFound
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.place.selection import current_task_id
from siding.sessions.shelf import store_of

EMPTY_HINT = "`siding agent -p '…'` begins one; `siding session list` shows all"


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
        heads = transcript.chain()
        metadata = store.metadata(session, transcript)
        title = store.title(session, transcript)
        if title is None:
            title = first_prompt(transcript.records(heads[:20]))
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
