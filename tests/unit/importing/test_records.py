"""What other task tools keep is read whatever is in it, and nothing that is whole is lost."""

import json
from contextlib import suppress
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.asking.decisions.record import DecisionState
from siding.importing.aide_records import (
    flow_from,
    is_flow,
    pending_from,
    phases_in,
    read_folder,
    record_from,
)
from siding.importing.board_records import reaches, read_board, task_from, worktrees_from
from siding.importing.record_fields import fitting_name, time_in
from siding.record.tasks.names import problem_with_name
from siding.record.tasks.task import TaskState, WorkspaceState

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
NUMBERS = st.integers(1, 6)
STATES = {
    "pending": TaskState.PENDING,
    "in_progress": TaskState.ACTIVE,
    "completed": TaskState.CLOSED,
}


def raw(value: object) -> bytes:
    return json.dumps(value).encode()


@st.composite
def boards(draw: st.DrawFn) -> dict[int, dict[str, Any]]:
    """Draw whole tasks by their ids, with blockers among them and outside."""
    return {
        number: {
            "id": number,
            "subject": draw(st.text(max_size=30)),
            "description": draw(st.text(max_size=30)),
            "status": draw(st.sampled_from(sorted(STATES))),
            "owner": draw(st.text(max_size=5)),
            "worktree": draw(st.sampled_from(["", "auth-refactor"])),
            "blockedBy": draw(st.lists(NUMBERS, max_size=3)),
            "blocks": draw(st.lists(NUMBERS, max_size=3)),
            "created_at": draw(st.floats(0, 2e9)),
        }
        for number in draw(st.sets(NUMBERS))
    }


def as_files(board: dict[int, dict[str, Any]]) -> dict[str, bytes]:
    return {f"task_{number}.json": raw(task) for number, task in board.items()}


@given(boards())
def test_every_whole_task_comes_with_what_it_says(board: dict[int, dict[str, Any]]) -> None:
    found = read_board(as_files(board), None, None)
    assert [each.id for each in found.tasks] == [str(number) for number in sorted(board)]
    for each in found.tasks:
        task = board[int(each.id)]
        assert each.subject == task["subject"]
        assert each.description == task["description"]
        assert each.status is STATES[task["status"]]
        assert problem_with_name(each.name) is None
        assert datetime.fromisoformat(each.created_at).timestamp() == pytest.approx(
            task["created_at"], abs=1
        )


@given(boards())
def test_no_task_waits_for_itself_and_every_wait_that_goes_is_named(
    board: dict[int, dict[str, Any]],
) -> None:
    found = read_board(as_files(board), None, None)
    waits = {each.id: each.blocked_by for each in found.tasks}
    for task_id, blockers in waits.items():
        assert set(blockers) <= set(waits)
        assert not any(reaches(waits, blocker, task_id) for blocker in blockers)
    written = {(number, each) for number, task in board.items() for each in task["blockedBy"]}
    written |= {
        (each, number) for number, task in board.items() for each in task["blocks"] if each in board
    }
    assert len(written) == sum(map(len, waits.values())) + len(found.problems)


@given(boards(), st.data())
def test_a_torn_file_costs_only_its_own_task(
    board: dict[int, dict[str, Any]], data: st.DataObject
) -> None:
    files = as_files({n: {**t, "blockedBy": [], "blocks": []} for n, t in board.items()})
    torn = data.draw(st.sampled_from([None, *sorted(files)]))
    if torn is None:
        return
    files[torn] = files[torn][: data.draw(st.integers(0, len(files[torn]) - 1))]
    found = read_board(files, None, None)
    assert {f"task_{each.id}.json" for each in found.tasks} == set(files) - {torn}
    (problem,) = found.problems
    assert problem.startswith(f".tasks/{torn}: ")


@given(st.dictionaries(st.text(max_size=9), ANYTHING.map(raw) | st.binary(), max_size=4))
def test_no_bytes_stop_the_reading(files: dict[str, bytes]) -> None:
    for content in [*files.values(), b"", b"\0" * 8]:
        found = read_board(files, content, content)
        assert len(found.tasks) + len(found.problems) >= len(files)
        folder = read_folder(
            {
                **{f"decisions/{name}.json": each for name, each in files.items()},
                "decisions/pending.json": content,
                "flow-status.json": content,
                "config.toml": content,
            }
        )
        assert len(folder.problems) + len(folder.tasks) + len(folder.decisions) >= 1


SHAPED = st.fixed_dictionaries(
    {},
    optional={
        name: ANYTHING | st.sampled_from(["pending", "active", "a", 1])
        for name in (
            "id",
            "subject",
            "status",
            "worktree",
            "blockedBy",
            "created_at",
            "name",
            "path",
        )
    },
)


@given(SHAPED, st.lists(SHAPED | ANYTHING, max_size=4))
def test_fields_of_any_type_are_read_or_refused(
    document: dict[str, Any], entries: list[object]
) -> None:
    with suppress(ValueError):
        assert problem_with_name(task_from(raw(document)).name) is None
    found, problems = worktrees_from(raw({"worktrees": entries}))
    names = {str(each.get("name")) for each in entries if isinstance(each, dict)}
    assert {each.name for each in found} <= names
    assert len(found) + len(problems) <= len(entries) or problems == ["it is not a JSON object"]


@given(st.text())
def test_a_name_always_fits(text: str) -> None:
    assert problem_with_name(fitting_name(text, "task 1")) is None


@given(ANYTHING)
def test_a_time_is_one_or_none(value: object) -> None:
    told = time_in({"at": value}, "at")
    assert told == "" or datetime.fromisoformat(told).tzinfo is not None


def test_the_files_of_a_board() -> None:
    tasks = {
        "task_10.json": raw({"id": 10, "subject": "ten", "status": "pending", "level": "high"}),
        "task_2.json": raw({"id": 2, "subject": "-two\n", "status": "completed"}),
        "task_2 copy.json": raw({"id": 2, "subject": "again", "status": "pending"}),
        "task_3.json": raw({"id": 3, "subject": "three", "status": "done"}),
        "task_1700_0001.json": raw({"id": "task_1700_0001", "subject": "s", "status": "pending"}),
    }
    entry = {"name": "ui", "path": "/x", "branch": "wt/ui", "task_id": 2, "status": "kept"}
    index = raw({"worktrees": [{**entry, "status": "active"}, entry, {"name": "x", "status": "?"}]})
    found = read_board(tasks, index, b'{"event": "worktree.keep"}\n\n{"event"')
    assert [each.id for each in found.tasks] == ["2", "10", "task_1700_0001"]
    assert found.tasks[0].name == "two"
    assert found.tasks[1].rest == {"level": "high"}
    (worktree,) = found.worktrees
    assert (worktree.task_id, worktree.status) == ("2", WorkspaceState.KEPT)
    assert found.events == 2
    assert [each.partition(":")[0] for each in found.problems] == [
        ".tasks/task_3.json",
        ".tasks/task_2 copy.json",
        ".worktrees/index.json",
    ]


QUESTION = {
    "task": "log in",
    "source": "task-now.md",
    "items": [
        {
            "id": 1,
            "title": "How?",
            "options": [
                {"value": "jwt", "label": "JWT", "score": 85.0},
                {"value": "s", "label": "S"},
            ],
            "recommend": "jwt",
        }
    ],
}
RECORD = {
    "input": QUESTION,
    "output": {"decisions": [{"id": 1, "chosen": "jwt", "note": "known"}]},
    "completed_at": "2025-01-15T10:35:00+08:00",
}
META = {"created_at": "2025-01-15T10:30:00+08:00", "session_id": "2025-01-15T10-30-00"}


def test_a_record_and_its_question_are_one_decision() -> None:
    session = META["session_id"]
    files = {
        "decisions/pending.json": raw({**QUESTION, "_meta": META}),
        f"decisions/{session}.json": raw(RECORD),
        "decisions/server.json": raw({"pid": 1}),
    }
    folder = read_folder(files)
    (decision,) = folder.decisions
    assert decision.state is DecisionState.ANSWERED
    assert decision.origin.created_at == META["created_at"]
    assert decision.answers[0].note == "known"
    assert folder.problems == ()
    files[f"decisions/{session}.json"] = b"{"
    torn = read_folder(files)
    assert torn.decisions == (), "an answered question is not asked again"
    assert len(torn.problems) == 1


def test_a_question_of_a_repository_claims_no_key_and_no_step() -> None:
    meta = {**META, "key": "gate:release", "key_named": True, "task_id": "t", "step_id": "0001"}
    origin = pending_from(raw({**QUESTION, "_meta": meta})).origin
    assert (origin.key, origin.key_named, origin.task_id, origin.step_id) == ("", False, "", "")
    told = record_from(raw({**RECORD, "_meta": meta, "via": "terminal"}), META["session_id"])
    assert (told.origin.key, told.via) == ("", "")


@pytest.mark.parametrize(
    "decisions",
    [[], [{"id": 2, "chosen": "jwt"}], [{"id": 1, "chosen": "none"}], [{"id": 1}]],
)
def test_a_record_must_answer_what_it_asks(decisions: list[object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        record_from(raw({**RECORD, "output": {"decisions": decisions}}), "2025-01-15T10-30-00")


ENTRY = {"timestamp": "2025-01-15T10:30:00+08:00", "action": "start", "phase": "impl", "step": 1}
FLOW = {
    "task_id": "2025-01-15T10-30-00",
    "current_phase": "impl",
    "current_step": 1,
    "started_at": "2025-01-15T10:30:00+08:00",
    "history": [{**ENTRY, "summary": "开始任务: log in", "git_commit": "a1b2c3d"}],
    "task_branch": "aide/001",
}


def test_the_phases_of_present_and_earlier_tasks() -> None:
    earlier = {**FLOW, "task_id": "2025-01-14T09-00-00"}
    folder = read_folder(
        {
            "flow-status.json": raw(FLOW),
            "logs/flow-status.2025-01-14T09-00-00.json": raw(earlier),
            "logs/2025-01-14T09-00-00-status.json": raw(earlier),
            "logs/flow-status.torn.json": raw(FLOW)[:30],
            "config.toml": b'[flow]\nphases = ["impl", "finish"]\n',
        }
    )
    assert [(each.name, each.is_current) for each in folder.tasks] == [
        ("log in", True),
        ("log in", False),
    ]
    status = folder.tasks[0].status
    assert status.phases == ("impl", "finish")
    assert status.history[0].git_commit == "a1b2c3d"
    assert status.rest == {"task_branch": "aide/001"}
    assert [each.partition(":")[0] for each in folder.problems] == [
        ".aide/logs/flow-status.torn.json"
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"history": []},
        {"history": [{**ENTRY, "summary": "s", "action": "jump"}]},
        {"history": [{**ENTRY, "summary": "s", "step": 0}]},
        {"task_id": "../../x"},
        {"task_id": ""},
        {"current_phase": ""},
        {"current_step": "many"},
    ],
)
def test_phases_that_make_no_sense_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        flow_from(raw({**FLOW, **change}), ())


def test_an_entry_that_makes_no_sense_is_named_by_its_number() -> None:
    good, bad = ({**ENTRY, "summary": "s", "action": each} for each in (ENTRY["action"], "jump"))
    for history, number in (([bad], 1), ([good, good, bad], 3)):
        with pytest.raises(
            ValueError, match=f"^entry {number} of `history`: unknown action 'jump'"
        ):
            flow_from(raw({**FLOW, "history": history}), ())
    with pytest.raises(ValueError, match=r"^entry 2 of `history` is in no phase or step"):
        flow_from(raw({**FLOW, "history": [good, {**good, "step": 0}]}), ())


def test_phases_that_the_history_does_not_know_do_not_count() -> None:
    assert flow_from(raw(FLOW), ("other",)).phases == ()
    assert phases_in(b"[decide]\nport = 1\n") == ()
    for wrong in (b"[flow", b"[flow]\nphases = 1\n", b'[flow]\nphases = ["a", "a"]\n', b"\xff"):
        with pytest.raises(ValueError, match=r"."):
            phases_in(wrong)


def test_which_files_have_phases() -> None:
    names = ["flow-status.json", "logs/flow-status.x.json", "logs/x-status.json"]
    assert all(map(is_flow, names))
    assert not any(map(is_flow, ["logs/x.json", "x/flow-status.json", "back-confirm-state.json"]))
