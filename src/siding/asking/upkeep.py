"""Set damaged decisions aside, and move old ones to the trash."""

from datetime import datetime

from siding.asking.decisions.record import Decision
from siding.asking.lookup import decision_store
from siding.asking.origin import holding_decisions
from siding.ground.files.durable import make_dirs
from siding.record.place.project import Project


def set_damaged_aside(project: Project, session_id: str) -> str:
    """Rename the damaged file of a decision, with its bytes unchanged.

    Returns a phrase about the new name and about the state of the question.
    """
    store = decision_store(project)
    with holding_decisions(project, "setting a damaged decision aside"):
        kept = [
            (store.set_aside(error), error)
            for each, error in store.damaged(closed=True)
            if each == session_id
        ]
    if not kept:
        return "somebody else mended it"
    path, _error = kept[0]
    done = f"kept as {path.name}"
    if session_id in store.open_ids():
        return f"{done}; the question is open again"
    # Without the copy in the pending slot nothing is lost: the question has a file of its own.
    return done if session_id == "pending" else f"{done}; the question can be asked again"


def clean(project: Project, *, keep: int, before: str | None = None) -> list[str]:
    """Move all closed decisions but the newest `keep` to the trash; return the moved ids.

    With `before`, an ISO 8601 time, only decisions that were closed before it are moved. The newest
    decision always stays, because readers of ``pending.json`` look for its record.
    """
    store = decision_store(project)
    trash = project.layout.trash_dir / f"decisions-{project.app.random_bytes(6).hex()}"
    moved = []
    with holding_decisions(project, "cleaning decisions up"):
        newest = store.newest()
        ids = [each for each in store.closed_ids() if newest is None or each != newest.session_id]
        for session_id in ids[: max(0, len(ids) - keep)] if keep else ids:
            if before is not None and not _closed_before(store.load(session_id), before):
                continue
            make_dirs(trash)
            store.remove(session_id, trash)
            moved.append(session_id)
    return moved


def _closed_before(decision: Decision, before: str) -> bool:
    try:
        return datetime.fromisoformat(decision.completed_at) < datetime.fromisoformat(before)
    except (ValueError, TypeError):
        return False
