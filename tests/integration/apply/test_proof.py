"""`siding apply --if COMMAND`: the result is checked before anything is applied."""

import json
from pathlib import Path

import pytest

from .conftest import Stage


def test_what_holds_is_applied_and_the_step_says_so(stage: Stage) -> None:
    stage.agent("echo good >good.txt; git add -A; git commit -qm good; echo more >more.txt")
    stage.apply("--if", "test -f good.txt && test -f more.txt", "--no-close")
    assert {"good.txt", "more.txt"} <= set(stage.files())
    step = stage.box.steps(stage.task)[-1]
    assert step["proven_by"] == "test -f good.txt && test -f more.txt"
    shown = stage.box.siding("show", "-t", stage.task).stdout.decode()
    assert "`test -f good.txt && test -f more.txt` held" in shown


def test_what_does_not_hold_changes_nothing(stage: Stage) -> None:
    stage.agent("echo bad >bad.txt")
    before = stage.everything()
    said = stage.apply("--if", "echo looked; ! test -f bad.txt", status=1)
    assert "looked" in said
    assert "ended with 1 on the result; nothing" in said.replace("\n  hint: ", "; ")
    assert stage.everything() == before
    assert not stage.box.steps(stage.task)[-1].get("proven_by")


def test_the_result_is_the_merge_and_not_the_workspace(stage: Stage) -> None:
    stage.agent("echo ours >ours.txt")
    (stage.box.repo / "theirs.txt").write_text("theirs\n")
    stage.git("add", "-A")
    stage.git("commit", "-qm", "theirs")
    (stage.box.repo / "uncommitted.txt").write_text("mine\n")
    stage.apply("--if", "test -f ours.txt -a -f theirs.txt -a ! -e uncommitted.txt")
    assert {"ours.txt", "theirs.txt"} <= set(stage.files())


@pytest.mark.parametrize(
    "command",
    [
        "git log -1 --format=%s",
        'test -f "$SIDING_WORKSPACE/ignored.log"',
        "echo junk >junk; rm -rf *; git status",
        'test -z "$(cat)"',
    ],
)
def test_a_command_has_a_checkout_of_its_own(stage: Stage, command: str) -> None:
    stage.agent("echo '*.log' >.gitignore; echo x >ignored.log; echo one >one.txt")
    stage.apply("--if", command, "--no-close")
    assert "one.txt" in stage.files()
    assert "junk" not in stage.files()
    assert (stage.workspace / "one.txt").exists()


def test_a_result_that_changed_meanwhile_is_not_applied(stage: Stage) -> None:
    stage.agent("echo one >one.txt")
    before = stage.git("rev-parse", "main")
    said = stage.apply("--if", 'echo two >"$SIDING_WORKSPACE/two.txt"', status=1)
    assert "changed while" in said
    assert stage.git("rev-parse", "main") == before
    stage.apply("--if", "test -f two.txt")


def test_other_work_goes_on_while_it_runs(stage: Stage) -> None:
    stage.agent("echo one >one.txt")
    siding = stage.box.siding("path", stage.task).stdout  # the command line works here
    assert siding
    inside = f"cd {stage.box.repo} && siding log -t {stage.task} -n 1 && siding checkpoint -t"
    stage.apply("--if", f"{inside} {stage.task} -m meanwhile", "--no-close")
    messages = [step.get("message") for step in stage.box.steps(stage.task)]
    assert "meanwhile" in messages


def test_json_stays_alone_on_standard_output(stage: Stage) -> None:
    stage.agent("echo one >one.txt")
    done = stage.box.siding("apply", "-t", stage.task, "--json", "--if", "echo noise")
    assert json.loads(done.stdout)["step"]["proven_by"] == "echo noise"
    assert b"noise" in done.stderr


@pytest.mark.parametrize("other", [["-n"], ["--resolve"], ["--abort"]])
def test_it_goes_with_an_apply_only(stage: Stage, other: list[str]) -> None:
    assert "--if goes with an apply" in stage.apply("--if", "true", *other, status=2)


def test_a_patch_is_checked_as_well(stage: Stage) -> None:
    stage.agent("echo one >one.txt")
    assert "ended with 3" in stage.apply("--mode", "patch", "--if", "exit 3", status=1)
    assert not (stage.box.repo / "one.txt").exists()
    stage.apply("--mode", "patch", "--if", "test -f one.txt")
    assert Path(stage.box.repo, "one.txt").read_text() == "one\n"
