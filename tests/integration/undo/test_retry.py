"""`siding retry`: back to before a step and its command again, which is one act."""

from pathlib import Path

import pytest

from sandbox import Sandbox
from warm import put_program

from .desk import Desk
from .parts import parts_of


@pytest.fixture
def worked(desk: Desk) -> Desk:
    desk.shell("echo 1 >one; git add -A; git commit -qm one")
    desk.shell("cp one two; date +%N >>two; git add two")
    desk.shell("echo 3 >three")
    return desk


def siding(desk: Desk, *words: str, status: int = 0) -> str:
    verb, *rest = words
    done = desk.sandbox.siding(verb, "-t", desk.task.id, *rest, status=status)
    return (done.stdout + done.stderr).decode()


def test_the_step_is_done_again_from_where_it_began(worked: Desk) -> None:
    before = parts_of(worked)
    said = siding(worked, "retry", "2")
    assert "leaving behind 0002 run" in said
    assert "leaving behind 0003 run sh -c 'echo 3 >three'" in said
    now = parts_of(worked)
    assert b"three" not in now.files
    assert now.files[b"two"][1].startswith(b"1\n")
    assert now.files[b"two"] != before.files[b"two"]
    assert now.commit == before.commit
    assert worked.steps()[-1].retries == "0002"


def test_one_undo_takes_both_back_and_one_redo_does_both(worked: Desk) -> None:
    before = parts_of(worked)
    siding(worked, "retry", "1", "--", "sh", "-c", "echo else >else; git add -A")
    after = parts_of(worked)
    worked.undo()
    assert parts_of(worked).differs(before) == []
    worked.redo()
    assert parts_of(worked).differs(after) == []
    worked.undo()
    worked.undo()
    assert b"three" not in parts_of(worked).files


def test_a_retry_that_changes_nothing_leaves_the_way_back_to_be_undone(worked: Desk) -> None:
    before = parts_of(worked)
    siding(worked, "retry", "--", "true")
    assert "passed over" in siding(worked, "undo")
    assert parts_of(worked).differs(before) == []


def test_without_a_number_it_is_the_newest_run_on_the_line(worked: Desk) -> None:
    worked.rollback(2)
    siding(worked, "retry")
    assert worked.steps()[-1].retries == "0002"
    siding(worked, "retry", "--", "false", status=1)
    assert worked.steps()[-1].status == "failed"


def test_where_the_workspace_is_there_already_nothing_goes_back(worked: Desk) -> None:
    worked.undo()
    count = len(worked.steps())
    siding(worked, "retry", "3")
    assert [step.kind for step in worked.steps()[count:]] == ["run"]
    worked.undo()
    assert b"three" not in parts_of(worked).files


def test_a_dry_run_says_what_and_does_nothing(worked: Desk) -> None:
    before, count = parts_of(worked), len(worked.steps())
    said = siding(worked, "retry", "-n", "2")
    assert "from before step 0002: sh -c 'cp one two" in said
    assert parts_of(worked).differs(before) == []
    assert len(worked.steps()) == count


def test_options_of_the_run_are_those_it_had(desk: Desk) -> None:
    siding(
        desk,
        "run",
        "--cwd",
        "src",
        "-e",
        "WORD=x",
        "--timeout",
        "9s",
        "--",
        "sh",
        "-c",
        'echo "$WORD" >here',
    )
    siding(desk, "retry")
    found = desk.steps()[-1].as_run
    assert found is not None
    assert (found.cwd, dict(found.env), found.timeout_s) == ("src", {"WORD": "x"}, 9.0)
    assert desk.read("src/here") == b"x\n"
    siding(desk, "retry", "--", "sh", "-c", 'echo "$WORD$WORD" >here')
    assert desk.read("src/here") == b"xx\n"


def test_another_command_stays_in_the_sandbox(desk: Desk) -> None:
    siding(desk, "run", "--sandbox", "--", "sh", "-c", "echo 1 >a")
    siding(desk, "retry", "--", "sh", "-c", "echo 2 >a")
    found = desk.steps()[-1].as_run
    assert found is not None
    assert found.sandbox is not None
    assert found.sandbox.engine is not None


def test_a_secret_is_not_made_up(desk: Desk) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    siding(desk, "run", "-e", f"GITHUB_TOKEN={token}", "--", "sh", "-c", "echo 1 >a")
    said = siding(desk, "retry", status=2)
    assert "was not recorded" in said
    assert "siding retry 1 -- COMMAND" in said
    assert len(desk.steps()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["2"], "step 0002 is no run (checkpoint)"),
        (["9"], "has no step"),
        (["1", "2"], "retry takes one step"),
        (["x"], "is not a step"),
    ],
)
def test_what_cannot_be_done_again_is_refused(desk: Desk, words: list[str], said: str) -> None:
    desk.shell("echo 1 >a")
    desk.write("b", "2")
    desk.checkpoint()
    before = parts_of(desk)
    done = desk.sandbox.siding("retry", "-t", desk.task.id, *words, status=None)
    assert done.returncode in (1, 2)
    assert said in done.stderr.decode()
    assert parts_of(desk).differs(before) == []


def test_a_task_without_a_run(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "T")
    assert b"no run of task 'T' is on its line" in sandbox.siding("retry", status=1).stderr


def test_a_checkpoint_can_be_replaced_by_a_run(desk: Desk) -> None:
    desk.shell("echo 1 >a")
    desk.write("b", "2")
    desk.checkpoint()
    siding(desk, "retry", "2", "--", "sh", "-c", "echo run >b")
    assert desk.read("b") == b"run\n"
    desk.undo()
    assert desk.read("b") == b"2"


REPORTS = """
find . -type f -not -path ./.git | sort | xargs sha1sum >"$SEEN/$(ls "$SEEN" | wc -l)"
echo "$SIDING_RUN_ID" >>attempts
siding checkpoint -q --run "$SIDING_RUN_ID"
echo "$SIDING_RUN_ID" >>"after a turn"
siding checkpoint -q --run "$SIDING_RUN_ID"
"""


@pytest.mark.parametrize(
    "between",
    [
        ["retry"],
        ["undo", "undo", "undo", "redo"],
        ["rollback --base"],
        ["retry", "undo", "redo", "retry"],
        ["run -- touch other", "undo"],
        ["apply --no-close"],
    ],
    ids=", ".join,
)
def test_each_attempt_of_a_run_with_turns_begins_where_the_first_one_did(
    desk: Desk, tmp_path: Path, between: list[str]
) -> None:
    put_program(tmp_path / "bin")
    (tmp_path / "seen").mkdir()
    desk.sandbox.env["PATH"] = f"{tmp_path / 'bin'}:{desk.sandbox.env['PATH']}"
    desk.sandbox.env["SEEN"] = str(tmp_path / "seen")
    desk.shell("echo 1 >one")
    desk.shell("echo 2 >two")
    desk.undo()  # what the first attempt begins after is no step of the line
    siding(desk, "run", "--", "sh", "-c", REPORTS)
    attempt = desk.steps()[-1].id
    for command in between:
        siding(desk, *command.split())
    siding(desk, "retry", attempt)
    siding(desk, "retry")
    first, *again = [path.read_text() for path in sorted((tmp_path / "seen").iterdir())]
    assert "./one" in first
    assert set(again) == {first}
    assert len(again) == 2 + between.count("retry")
