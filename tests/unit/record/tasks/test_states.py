"""The state tables: every move they have, and that every other one changes nothing."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
