"""The asks of a project: the entries of the inbox, each with its kind, its address and its row."""

from siding.asking.kinds import run_of_approval
from siding.asking.lookup import damaged_decisions, list_decisions
from siding.asking.views import DecisionView, InboxEntry, Waits, decision_entry, entry, identity
from siding.feed.addresses import ASKS, WORKFLOWS, Address, is_chat_id
from siding.feed.model import Ask, AskKind
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.guard.hooks import repository_hooks
from siding.record.place.project import Project

_KINDS = {
    Waits.DECISION.value: AskKind.QUESTION,
    Waits.POLICY.value: AskKind.BLOCKED,
    Waits.FAILED.value: AskKind.FAILURE,
    Waits.CUT_OFF.value: AskKind.FAILURE,
    Waits.CONFLICT.value: AskKind.CONFLICT,
    Waits.HOOKS.value: AskKind.HOOKS,
    Waits.AGENT.value: AskKind.AGENT,
    Waits.WORKFLOW.value: AskKind.WORKFLOW,
    Waits.CHAT.value: AskKind.CHAT,
}


class Question(NamedTuple):
    """A decision that is open, or one that is damaged, as an entry and a kind."""

    entry: InboxEntry
    kind: AskKind


def ask_of(found: InboxEntry, row: str, kind: AskKind | None = None) -> Ask:
    """Return the ask of an entry; `row` is the key of the row that it is of."""
    return Ask(
        id=identity(found),
        kind=kind or _KINDS[found.kind],
        entry=found,
        row=row,
        address=str(_address(found)),
    )


def questions(project: Project) -> tuple[list[Question], list[str]]:
    """Return the decisions that are open, and sentences about those that cannot be read.

    The names of their tasks are not filled in.
    """
    if not project.layout.decisions_dir.is_dir():
        return [], []
    found, problems = list_decisions(project)
    damaged = [
        entry(
            project,
            kind=Waits.DECISION,
            title=f"decision {each.session_id} is damaged: {each.file}",
            detail=each.problem,
            since="",
            command="siding doctor",
            page="",
            session_id=each.session_id,
        )
        for each in damaged_decisions(project)
    ]
    asked = [Question(decision_entry(project, each), _kind(each)) for each in found]
    return [*(Question(each, AskKind.QUESTION) for each in damaged), *asked], problems


def untrusted_hooks(project: Project) -> InboxEntry | None:
    """Return the entry of hooks of the repository that the person has not answered yet.

    Raises UsageError for a file that cannot be read.
    """
    found = repository_hooks(project)
    if not found.hooks or found.trusted:
        return None
    return entry(
        project,
        kind=Waits.HOOKS,
        title="hooks of the repository are not allowed yet",
        detail="; ".join(command for commands in found.hooks.values() for command in commands),
        since="",
        command="siding trust --show",
        page="",
    )


def _kind(decision: DecisionView) -> AskKind:
    if decision.gate:
        return AskKind.GATE
    return AskKind.PERMISSION if run_of_approval(decision) else AskKind.QUESTION


def _address(found: InboxEntry) -> Address:
    project = found.project_dir.rpartition("/")[2]
    if found.session_id:
        return Address(project, ASKS, found.session_id)
    if found.kind == Waits.WORKFLOW:
        return Address(project, WORKFLOWS, found.page.rpartition("/")[2])
    if is_chat_id(found.step_id):
        return Address(project, TaskId(found.task_id), found.step_id)
    # A step has a page of its own; an act that was cut off and an agent have that of their task.
    _, has_step, step = found.page.partition("/steps/")
    return Address(project, TaskId(found.task_id), step if has_step else "")
