"""A comment is written anew while it is a draft, and taken away whenever one wants."""

import pytest

from prepared import prepared
from siding.comments.comments import Wanted, add, delete, listed, resolve, reword, send_to_agent
from siding.ground.errors import NotFound, UsageError

from ..undo.desk import Desk


@pytest.fixture
def desk() -> Desk:
    """A task whose workspace holds hello.txt and src/a.py, and no step yet."""
    return Desk.at(prepared(Desk))


def said(desk: Desk) -> list[tuple[str, str]]:
    _task, found = listed(desk.project, desk.task.id)
    return [(each.comment.id, each.comment.said) for each in found]


def test_a_draft_is_written_anew_and_one_that_was_sent_is_not(desk: Desk) -> None:
    for text in ("one", "two"):
        add(desk.project, desk.task.id, Wanted("hello.txt", 1, 1), text)
    reword(desk.project, desk.task.id, "c1", "  other  ")
    assert said(desk) == [("c1", "other"), ("c2", "two")]
    for text in ("", " \n", "x" * 20_001):
        with pytest.raises(UsageError):
            reword(desk.project, desk.task.id, "c1", text)
    with pytest.raises(NotFound):
        reword(desk.project, desk.task.id, "c9", "x")
    send_to_agent(desk.project, desk.task.id, ["c1"])
    with pytest.raises(UsageError, match="c1 is sent"):
        reword(desk.project, desk.task.id, "c1", "again")
    assert said(desk) == [("c1", "other"), ("c2", "two")]


def test_one_that_was_taken_away_is_gone_and_its_id_is_not_given_again(desk: Desk) -> None:
    for text in ("one", "two", "three"):
        add(desk.project, desk.task.id, Wanted("hello.txt", 1, 1), text)
    resolve(desk.project, desk.task.id, ["c3"])
    with pytest.raises(NotFound):
        delete(desk.project, desk.task.id, ["c2", "c9"])
    assert len(said(desk)) == 3
    delete(desk.project, desk.task.id, ["c2", "c3"])
    assert said(desk) == [("c1", "one")]
    with pytest.raises(NotFound):
        delete(desk.project, desk.task.id, ["c2"])
    _task, placed = add(desk.project, desk.task.id, Wanted("hello.txt", 1, 1), "four")
    assert placed.comment.id == "c4"
