"""Look decisions up: by id, by the beginning of one, by key, the newest, or all."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from siding.asking.decisions.record import Decision, DecisionState
from siding.asking.decisions.store import DecisionStore, order
from siding.asking.kinds import GateKeys, is_over
from siding.asking.origin import QuotedSource, calling_task, read_source, root_of
from siding.asking.views import DecisionView, ItemView, view_of
from siding.ground.errors import NotFound, SidingError, UnreadableFile, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.errors import DamagedFile
from siding.record.place.project import Project


def list_decisions(
    project: Project, *, closed: bool = False, limit: int = 0
) -> tuple[list[DecisionView], list[str]]:
    """Return the decisions, oldest first, and a sentence for each one that cannot be read.

    Closed decisions are included if `closed` is set. With a `limit` above 0, only that many of the
    newest are returned.
    """
    store = decision_store(project)
    waiting = store.open_ids()
    ids = [*store.closed_ids(), *waiting] if closed else waiting
    found: list[DecisionView] = []
    gates = GateKeys(project)
    problems = [each.sentence for each in damaged_decisions(project, closed=closed)]
    for session_id in ids[-limit:] if limit > 0 else ids:
        try:
            decision = store.load(session_id)
            if decision.state is DecisionState.OPEN and is_over(project, decision):
                if not closed:
                    continue
                decision = store.load(session_id)
            found.append(view(project, decision, gates))
        except DamagedFile:
            continue  # already in `problems`
        except UnreadableFile as error:
            problems.append(error.message)
        except NotFound:
            continue  # `clean` removed it after the ids were listed
    found.sort(key=lambda each: (each.created_at, each.session_id))
    return found, problems


def open_questions(project: Project, task_id: str) -> list[Decision]:
    """Return the questions of a task that wait for an answer, oldest first.

    Those that cannot be read are left out; `siding inbox` names them.
    """
    store = decision_store(project)
    found = []
    for session_id in store.open_ids():
        with suppress(SidingError):
            decision = store.load(session_id)
            if decision.origin.task_id == task_id and not is_over(project, decision):
                found.append(decision)
    return found


class DamagedDecision(NamedTuple):
    """A question or a record that cannot be read.

    `session_id` is "pending" if the damaged file is the copy of the newest question.
    """

    session_id: str
    file: str
    problem: str

    @property
    def sentence(self) -> str:
        return (
            f"decision {self.session_id}: {self.problem}; `siding doctor` moves the file aside "
            "unchanged, then the question can be asked again"
        )

    def as_record(self) -> dict[str, Any]:
        """Return the JSON object that is printed in place of the decision."""
        return {**self._asdict(), "state": "damaged"}


def damaged_decisions(project: Project, *, closed: bool = False) -> list[DamagedDecision]:
    """Return the open questions that cannot be read; with `closed`, closed decisions as well."""
    return [
        DamagedDecision(session_id=session_id, file=str(error.path), problem=error.message)
        for session_id, error in decision_store(project).damaged(closed=closed)
    ]


def get(project: Project, session_id: str) -> DecisionView:
    """Return the decision with this id, which must be complete; raise NotFound or DamagedFile."""
    return view(project, decision_store(project).load(session_id))


def find(project: Project, named: str | None) -> DecisionView:
    """Return the decision with this id or unique beginning of an id; for None, the newest one.

    The id may be that of the inbox, or an address: ``PROJECT/decision/TASK/DECISION``. If the
    caller is in a task, the newest one is that of the task. Raises NotFound, and UsageError for an
    ambiguous beginning.
    """
    store = decision_store(project)
    if named is not None:
        return view(project, store.load(_resolve(store, id_in(project, named))))
    task_id = calling_task(project)
    if task_id:
        for session_id in sorted([*store.closed_ids(), *store.open_ids()], key=order)[::-1]:
            try:
                decision = store.load(session_id)
            except (NotFound, UnreadableFile):
                continue
            if decision.origin.task_id == task_id:
                return view(project, decision)
    newest = store.newest()
    if newest is None:
        raise NotFound(
            "no question was put yet", hint="`siding decide '<json>'` puts one; see --help"
        )
    return view(project, newest)


def id_in(project: Project, named: str) -> str:
    """Return the decision's own id of one as the inbox has it, or of an address; others as they
    are. Raises NotFound for one of another project."""
    parts = named.removeprefix("siding://").split("/")
    name = project.layout.root.name
    if len(parts) > 1 and parts[0] != name:
        raise NotFound(
            f"{named!r} is of the project {parts[0]!r}, and this is {name!r}",
            hint="`siding projects` says where it is; answer it there, or with `siding -C DIR`",
        )
    return parts[-1]


def with_key(project: Project, key: str) -> DecisionView | None:
    """Return the decision that has this key; None if there is none."""
    found = decision_store(project).with_key(key)
    return None if found is None else view(project, found)


def source_of(project: Project, decision: DecisionView, item: ItemView) -> QuotedSource | None:
    """Return the source lines that an item names, or None if it names none.

    They are read now, from the task's workspace or the checkout.
    """
    if item.location is None:
        return None
    root = root_of(project, decision.task_id)
    where = item.location
    return read_source(root, where.file, where.start, where.end)


def view(project: Project, decision: Decision, gates: GateKeys | None = None) -> DecisionView:
    gate = (gates or GateKeys(project)).phase_of(decision.origin)
    return view_of(decision, gate=gate)


def decision_store(project: Project) -> DecisionStore:
    return DecisionStore(project.layout.decisions_dir)


def _resolve(store: DecisionStore, named: str) -> str:
    ids: Sequence[str] = [*store.closed_ids(), *store.open_ids()]
    if named in ids:
        return named
    found = [each for each in ids if named and each.startswith(named)]
    if len(found) > 1:
        raise UsageError(
            f"{named!r} could be any of several decisions: {', '.join(found[-8:])}",
            hint="use the whole id",
        )
    return found[0] if found else named
