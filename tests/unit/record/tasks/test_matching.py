"""Which tasks a person means by what was typed."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.record.tasks.matching import Known, meant
from siding.record.tasks.task import Task, task_from


def task(task_id: str, name: str, other_id: str = "") -> Task:
    imported = {"imported": {"from": "board", "id": other_id}} if other_id else {}
    return task_from({"id": task_id, "name": name, "status": "active", "metadata": imported})


BOARD = [
    Known(task("k3v9x2ab", "Fix the Parser")),
    Known(task("m7q2w8cd", "parse faster"), worktree="lexer"),
    Known(task("a1b2c3d4", "Speed up the lexer")),
    Known(task("9zyx8wvu", "fix the parser and the lexer", other_id="7")),
    Known(task("7aaaaaaa", "seven")),
]


@pytest.mark.parametrize(
    ("named", "ids"),
    [
        pytest.param("Fix the Parser", ["k3v9x2ab"], id="the name as it is"),
        pytest.param("7", ["9zyx8wvu"], id="the id in another tool, not the beginning of one"),
        pytest.param("7a", ["7aaaaaaa"], id="the beginning of an id"),
        pytest.param("lexer", ["m7q2w8cd"], id="the name of a workspace, not a word of a name"),
        pytest.param("fix the parser", ["k3v9x2ab"], id="the whole name, whatever the case"),
        pytest.param("SEVEN", ["7aaaaaaa"], id="in capitals"),
        pytest.param("faster", ["m7q2w8cd"], id="a word"),
        pytest.param("the lex", ["a1b2c3d4", "9zyx8wvu"], id="two words"),
        pytest.param("pars", ["k3v9x2ab", "m7q2w8cd", "9zyx8wvu"], id="the beginning of a word"),
        pytest.param("exer", ["a1b2c3d4", "9zyx8wvu"], id="any part"),
        pytest.param("eve", ["7aaaaaaa"], id="any part, of one"),
        pytest.param("compiler", [], id="none"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_what_fits_best_counts(named: str, ids: list[str]) -> None:
    assert [each.id for each in meant(named, BOARD)] == ids


NAMES = st.lists(
    st.text(string.ascii_letters + " -_é", min_size=1, max_size=12),
    min_size=1,
    max_size=6,
    unique=True,
)


@given(NAMES, st.data())
def test_a_whole_name_means_its_task_alone(names: list[str], data: st.DataObject) -> None:
    board = [Known(task(f"{number:08d}", name)) for number, name in enumerate(names)]
    wanted = data.draw(st.sampled_from(names))
    assert [each.name for each in meant(wanted, board)] == [wanted]


@given(NAMES, st.text(string.ascii_letters + " é", min_size=1, max_size=4))
def test_a_part_means_only_tasks_that_have_it_and_some_if_any_has(
    names: list[str], part: str
) -> None:
    board = [Known(task(f"{number:08d}", name)) for number, name in enumerate(names)]
    found = {each.name for each in meant(part, board)}
    having = {name for name in names if part.casefold() in name.casefold()}
    assert found <= having
    assert bool(found) == bool(having)


def test_an_id_of_another_tool_may_be_a_number_on_disk() -> None:
    numbered = task("k3v9x2ab", "x")._replace(metadata={"imported": {"id": 3}})
    assert meant("3", [Known(numbered)]) == [numbered]
