"""The folder ``.aide`` of a repository: questions to a person, and tasks in their phases.

    .aide/decisions/pending.json           the newest question, with `_meta`
    .aide/decisions/<session>.json         the record of an answered one
    .aide/flow-status.json                 the present task in its phases
    .aide/logs/flow-status.<id>.json       earlier ones; also <id>-status.json, of finished ones
    .aide/config.toml                      flow.phases: the names of the phases

The shapes are those of the data formats of aide (``agent-aide``). Siding's own documents have the
same fields and more.
"""

import tomllib
from collections.abc import Mapping

from siding.asking.decisions.answers import check_answers, document_of
from siding.asking.decisions.input_object import InvalidAnswer
from siding.asking.decisions.record import (
    Decision,
    Origin,
    decision_from_open,
    decision_from_record,
    is_session,
)
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object
from siding.importing.record_fields import fitting_name, time_in
from siding.record.phases.states import PhaseMove
from siding.record.phases.store import FlowStatus, status_from

PENDING = "pending.json"
NOT_RECORDS = ("server.json",)  # beside the records: the web server that runs
_LONGEST_ID = 100
_ACTIONS = frozenset(each.value for each in PhaseMove)


class AideTask(NamedTuple):
    """A task with its phases. `status.task_id` is the id that it has in aide."""

    name: str
    status: FlowStatus
    is_current: bool


class AideFolder(NamedTuple):
    """What could be read of the folder. `problems` name what could not, and why."""

    decisions: tuple[Decision, ...] = ()
    tasks: tuple[AideTask, ...] = ()
    problems: tuple[str, ...] = ()


def read_folder(files: Mapping[str, bytes]) -> AideFolder:
    """Return what is in these files of the folder; their names are relative to it.

    Never fails: what is damaged is named in `problems`, and the rest is taken.
    """
    decisions, problems = _decisions(
        {
            name.removeprefix("decisions/"): raw
            for name, raw in files.items()
            if name.startswith("decisions/") and name.endswith(".json")
        }
    )
    phases: tuple[str, ...] = ()
    if "config.toml" in files:
        try:
            phases = phases_in(files["config.toml"])
        except ValueError as error:
            problems.append(f".aide/config.toml: {error}")
    tasks: dict[str, AideTask] = {}
    for name in sorted(files, key=lambda each: (each != "flow-status.json", each)):
        if not is_flow(name):
            continue
        try:
            status = flow_from(files[name], phases)
        except ValueError as error:
            problems.append(f".aide/{name}: {error}")
            continue
        if status.task_id not in tasks:
            current = name == "flow-status.json"
            tasks[status.task_id] = AideTask(_name_of(status), status, current)
        elif tasks[status.task_id].status != status:
            there = f"there is another status of task {status.task_id!r}"
            problems.append(f".aide/{name}: {there}")
    return AideFolder(tuple(decisions), tuple(tasks.values()), tuple(problems))


def is_flow(name: str) -> bool:
    """Tell whether a file of the folder has the phases of a task."""
    folder, _, last = name.rpartition("/")
    if name == "flow-status.json":
        return True
    archived = last.startswith("flow-status.") or last.endswith("-status.json")
    return folder == "logs" and archived and last.endswith(".json")


def record_from(raw: bytes, session_id: str) -> Decision:
    """Return the closed decision in a record; raises ValueError with a reason.

    Every question of a record must be answered, with one of its options.
    """
    if not is_session(session_id):
        raise ValueError("its name cannot be the id of a decision")
    document = _object(raw)
    found = decision_from_record({**document, "_meta": None, "state": "answered"}, session_id)
    try:
        check_answers(found.request, document_of(found.request, found.answers))
    except InvalidAnswer as error:
        raise ValueError(error.message) from error
    return found._replace(
        completed_at=time_in(document, "completed_at"), via="", reason="", closed_in_step=""
    )


def pending_from(raw: bytes) -> Decision:
    """Return the question in ``pending.json``; raises ValueError with a reason."""
    found = decision_from_open(_object(raw))
    # Keys and steps are Siding's own: a file in a repository must not claim any.
    return found._replace(origin=Origin(found.session_id, found.origin.created_at))


def flow_from(raw: bytes, phases: tuple[str, ...]) -> FlowStatus:
    """Return the phases of a task; raises ValueError with a reason.

    `phases` are the configured names; they count only if every phase of the history is one of them.
    """
    document = _object(raw)
    status = status_from({**document, "task": "", "phases": []})
    if not 0 < len(status.task_id) <= _LONGEST_ID or not is_session(status.task_id):
        raise ValueError("`task_id` cannot be an id")
    if not status.history:
        raise ValueError("`history` is empty")
    for number, entry in enumerate(status.history, start=1):
        if entry.action not in _ACTIONS:
            raise ValueError(f"entry {number} of `history`: unknown action {entry.action[:40]!r}")
        if not entry.phase or entry.step < 1:
            raise ValueError(f"entry {number} of `history` is in no phase or step")
    if not status.current_phase or status.current_step < 1:
        raise ValueError("`current_phase` or `current_step` is missing")
    named = {status.current_phase, *(each.phase for each in status.history)}
    return status._replace(phases=phases if named <= set(phases) else ())


def phases_in(raw: bytes) -> tuple[str, ...]:
    """Return the names of the phases in ``config.toml``, () if it names none.

    Raises ValueError with a reason.
    """
    try:
        document = tomllib.loads(raw.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"it is not TOML: {error}") from error
    flow = document.get("flow")
    named = flow.get("phases") if isinstance(flow, dict) else None
    if named is None:
        return ()
    if not isinstance(named, list) or not all(isinstance(e, str) and e.strip() for e in named):
        raise ValueError("`flow.phases` is not a list of names")
    found = tuple(each.strip() for each in named)
    if len(set(found)) != len(found):
        raise ValueError("`flow.phases` has a name twice")
    return found


def _decisions(files: Mapping[str, bytes]) -> tuple[list[Decision], list[str]]:
    found: list[Decision] = []
    problems: list[str] = []
    for name in sorted(files):
        if name in (PENDING, *NOT_RECORDS) or "/" in name:
            continue
        try:
            found.append(record_from(files[name], name.removesuffix(".json")))
        except ValueError as error:
            problems.append(f".aide/decisions/{name}: {error}")
    if PENDING not in files:
        return found, problems
    try:
        pending = pending_from(files[PENDING])
    except ValueError as error:
        return found, [*problems, f".aide/decisions/{PENDING}: {error}"]
    # aide keeps the question after the answer; a damaged record must not open it again.
    if f"{pending.session_id}.json" not in files:
        found.append(pending)
    else:
        found = [_dated(each, pending) for each in found]
    return found, problems


def _dated(record: Decision, pending: Decision) -> Decision:
    """Give a record the time at which it was asked, which only the question says."""
    if record.session_id != pending.session_id:
        return record
    return record._replace(origin=pending.origin)


def _name_of(status: FlowStatus) -> str:
    """Return a name for the task: what its first entry says."""
    first = status.history[0].summary.partition("\n")[0]
    for colon in (":", "\uff1a"):  # "开始任务: …" is how the entry usually begins
        before, found, after = first.partition(colon)
        if found and before.strip() in ("开始任务", "开始任务准备"):
            first = after
    return fitting_name(first, f"aide {status.task_id}")


def _object(raw: bytes) -> dict[str, object]:
    try:
        return parse_object(raw)
    except NotJson as error:
        raise ValueError(str(error)) from error
