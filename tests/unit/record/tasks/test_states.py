"""The state tables: every move they have, and that every other one changes nothing."""

import itertools
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.faces.cli.table import GROUPS
from siding.ground.errors import IllegalTransition
from siding.record.tasks.moves import (
    TASK_MOVES,
    WORKSPACE_MOVES,
    TaskMove,
    WorkspaceMove,
    move_task,
    move_workspace,
)
from siding.record.tasks.task import TaskState, WorkspaceState

TASK_PAIRS = list(itertools.product(TaskState, TaskMove))
WORKSPACE_PAIRS = list(itertools.product(WorkspaceState, WorkspaceMove))


@pytest.mark.parametrize(("state", "move"), TASK_PAIRS)
def test_tasks_move_as_the_table_says(state: TaskState, move: TaskMove) -> None:
    if move in TASK_MOVES[state]:
        assert move_task(state, move) is TASK_MOVES[state][move]
    else:
        with pytest.raises(IllegalTransition) as caught:
            move_task(state, move)
        assert state.value in caught.value.message
        assert caught.value.hint


@pytest.mark.parametrize(("state", "move"), WORKSPACE_PAIRS)
def test_workspaces_move_as_the_table_says(state: WorkspaceState, move: WorkspaceMove) -> None:
    if move in WORKSPACE_MOVES[state]:
        assert move_workspace(state, move) is WORKSPACE_MOVES[state][move]
    else:
        with pytest.raises(IllegalTransition):
            move_workspace(state, move)


def test_every_state_is_in_its_table() -> None:
    assert set(TASK_MOVES) == set(TaskState)
    assert set(WORKSPACE_MOVES) == set(WorkspaceState)


@given(st.lists(st.sampled_from(WorkspaceMove)))
def test_a_workspace_never_leaves_its_states(moves: list[WorkspaceMove]) -> None:
    state = WorkspaceState.ABSENT
    for move in moves:
        try:
            after = move_workspace(state, move)
        except IllegalTransition:
            continue
        assert after is not state
        state = after
    assert (state is WorkspaceState.ABSENT) == (not any(m is WorkspaceMove.CREATE for m in moves))


def test_a_move_that_is_not_possible_names_the_commands_that_are() -> None:
    with pytest.raises(IllegalTransition, match="a workspace that is removed cannot be kept") as no:
        move_workspace(WorkspaceState.REMOVED, WorkspaceMove.KEEP)
    assert no.value.hint == "possible now: `siding task reopen`"
    with pytest.raises(IllegalTransition, match="a task that is closed cannot be started") as no:
        move_task(TaskState.CLOSED, TaskMove.START)
    assert no.value.hint == "possible now: `siding task reopen`"


@pytest.mark.parametrize("state", [*TaskState, *WorkspaceState])
@pytest.mark.parametrize("move", [*TaskMove, *WorkspaceMove])
def test_each_command_that_is_named_is_one(state: StrEnum, move: StrEnum) -> None:
    try:
        if isinstance(state, TaskState) and isinstance(move, TaskMove):
            move_task(state, move)
        elif isinstance(state, WorkspaceState) and isinstance(move, WorkspaceMove):
            move_workspace(state, move)
    except IllegalTransition as error:
        for words in (error.hint or "").split("`")[1::2]:
            group, verb = words.removeprefix("siding ").split()
            assert verb in GROUPS[group][1]
