"""Comments that an agent is given by its hooks: once, on the disk before, proven afterwards."""

import json
import os
from pathlib import Path

import pytest

from integration.undo.desk import Desk
from prepared import prepared
from siding.comments.comment import Comment, Side, State
from siding.comments.comments import Wanted, add, delete, listed, reword, send_to_agent
from siding.comments.handing import hand, prove, waiting
from siding.comments.store import Comments
from siding.ground.errors import UsageError

RUN = "r7"


@pytest.fixture
def desk() -> Desk:
    desk = Desk.at(prepared(Desk))
    desk.write("a.txt", "one\ntwo\nthree\n")
    for line in (1, 3):
        add(desk.project, desk.task.id, Wanted("a.txt", line, line, Side.NEW), f"line {line}")
    with Comments.changing(desk.project.task_layout(desk.task.id)) as comments:
        comments.put(waiting(comments.all[:1], RUN))
    return desk


def kept(desk: Desk) -> list[Comment]:
    return Comments.read(desk.project.task_layout(desk.task.id)).all


def given(desk: Desk, transcript: Path) -> str:
    return hand(desk.project, desk.task, RUN, str(transcript))


def test_it_is_handed_once_and_sent_when_the_transcript_has_it(desk: Desk, tmp_path: Path) -> None:
    transcript = tmp_path / "talk.jsonl"
    assert hand(desk.project, desk.task, "r8", "") == ""
    prompt = given(desk, transcript)
    assert "Requested change: line 1" in prompt
    assert "line 3" not in prompt
    assert kept(desk)[0].handed in prompt  # before anybody is told
    assert kept(desk)[0].state is State.DRAFT
    transcript.write_text(json.dumps({"text": prompt}) + "\n")
    assert given(desk, transcript) == ""
    found = kept(desk)[0]
    assert (found.state, found.sent_to, found.waits_for, found.handed) == ("sent", RUN, "", "")
    assert given(desk, transcript) == ""


def test_what_was_cut_off_before_it_was_told_is_handed_again(desk: Desk, tmp_path: Path) -> None:
    transcript = tmp_path / "talk.jsonl"
    first = given(desk, transcript)  # and whoever was to tell it is killed
    for content in (b"", b"{}\n"):
        transcript.write_bytes(content)
        second = given(desk, transcript)
        assert "Requested change: line 1" in second
        assert second != first
        assert kept(desk)[0].handed not in first
    transcript.write_text(second)
    prove(desk.project, desk.task, RUN, str(transcript))
    assert kept(desk)[0].state is State.SENT


def test_what_a_run_did_not_get_is_a_draft_again_when_it_has_ended(desk: Desk) -> None:
    given(desk, Path("/nowhere"))
    with pytest.raises(UsageError, match="given to an agent"):
        reword(desk.project, desk.task.id, "c1", "else")
    found = listed(desk.project, desk.task.id)[1][0]
    assert (found.shown_state, found.comment.handed) == ("draft", "")
    sent = send_to_agent(desk.project, desk.task.id, [])
    assert [each.id for each in sent.comments] == ["c1", "c2"]
    assert {each.state for each in kept(desk)} == {State.SENT}
    assert {each.waits_for for each in kept(desk)} == {""}


def test_a_transcript_that_is_none_proves_nothing(desk: Desk, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path, Path("/dev/zero")):
        assert given(desk, place)
        assert given(desk, place)
    delete(desk.project, desk.task.id, ["c1"])
    assert given(desk, pipe) == ""


def test_nothing_is_done_where_it_is_only_shown(desk: Desk) -> None:
    before = kept(desk)
    shown = send_to_agent(desk.project, desk.task.id, [], only_show=True)
    assert (shown.way, shown.run) == ("by-you", None)
    assert "Requested change: line 3" in shown.prompt
    assert kept(desk) == before
