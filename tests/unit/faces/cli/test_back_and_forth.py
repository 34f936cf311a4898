"""What `undo` and `redo` say, and print for programs."""

import pytest

from integration.undo.desk import Desk
from unit.faces.cli.in_process import CommandLine


@pytest.fixture
def gone_back(desk: Desk) -> Desk:
    """A task that went back to its base after one run."""
    desk.shell("echo more >>hello.txt")
    desk.rollback(None)
    return desk


def test_nothing_to_undo_names_another_way_back(desk: Desk, siding: CommandLine) -> None:
    desk.shell("true")
    said = siding("undo", status=1)
    assert "nothing to undo in task 'work'" in said.err
    assert "siding rollback --step N" in said.err
    assert "nothing to redo in task 'work'" in siding("redo", status=1).err


def test_a_run_is_taken_back_and_what_changed_nothing_is_named(
    desk: Desk, siding: CommandLine
) -> None:
    desk.shell("echo more >>hello.txt")
    desk.shell("cat hello.txt")
    assert siding("undo").err == (
        "siding: passed over step 0002 (sh -c 'cat hello.txt'): it changed nothing\n"
        "siding: work · step 0003 · undid step 0001 (sh -c 'echo more >>hello.txt') "
        "· 1 file +0 -1\n"
    )


def test_each_names_the_step_it_is_about(gone_back: Desk, siding: CommandLine) -> None:
    said = siding("undo")
    assert (said.out, said.err) == (
        "",
        "siding: work · step 0003 · undid step 0002 · 1 file +1 -0\n",
    )
    assert gone_back.read("hello.txt") == b"hello\nmore\n"
    assert "step 0004 · did step 0002 again" in siding("redo").err
    assert gone_back.read("hello.txt") == b"hello\n"


def test_the_step_for_programs(gone_back: Desk, siding: CommandLine) -> None:
    undone = siding.json("undo", "--json")
    assert (undone["step_id"], undone["kind"], undone["undoes"]) == ("0003", "rollback", "0002")
    redone = siding.json("redo", "--json")
    assert (redone["step_id"], redone["redoes"]) == ("0004", "0002")


def test_a_change_by_hand_is_recorded_first_and_needs_consent(
    gone_back: Desk, siding: CommandLine
) -> None:
    gone_back.write("hello.txt", "by hand\n")
    refused = siding("undo", status=1)
    assert "--force" in refused.err
    assert gone_back.read("hello.txt") == b"by hand\n"
    assert gone_back.steps()[-1].kind == "checkpoint"
    assert "undid step 0002" in siding("undo", "--force").err


def test_quiet_prints_no_note_and_does_it(gone_back: Desk, siding: CommandLine) -> None:
    said = siding("-q", "undo")
    assert (said.out, said.err) == ("", "")
    assert gone_back.read("hello.txt") == b"hello\nmore\n"


def test_a_closed_task_is_opened_again(desk: Desk, siding: CommandLine) -> None:
    desk.close()
    said = siding("undo").err
    assert f"opened task {desk.task.id} · work again" in said
    assert str(desk.root) in said
    assert desk.root.is_dir()
