"""An apply's line says what was applied, where readers of any tool's ledger look for it."""

import json

import pytest

from .conftest import Stage

WORK = "echo agent >>hello.txt; printf '1\\n2\\n' >new.txt; git rm -q run.sh || rm run.sh"


def last(stage: Stage) -> dict[str, object]:
    return stage.box.steps(stage.task)[-1]


def numbers(stage: Stage, old: object, new: object) -> dict[str, object]:
    raw = stage.git("diff", "--numstat", "--no-renames", str(old), str(new)).splitlines()
    rows = [line.split("\t") for line in raw]
    return {
        "files": len(rows),
        "additions": sum(int(row[0]) for row in rows),
        "deletions": sum(int(row[1]) for row in rows),
        "file_list": sorted(row[2] for row in rows),
    }


@pytest.mark.parametrize("mode", ["commit", "squash", "merge", "rebase"])
@pytest.mark.parametrize("moved", [False, True])
def test_the_figures_are_those_of_the_target(stage: Stage, mode: str, moved: bool) -> None:
    stage.agent(f"{WORK}; git add -A; git commit -qm own; echo more >>new.txt")
    if moved:
        (stage.repo / "theirs.txt").write_text("theirs\n")
        stage.git("add", "theirs.txt")
        stage.git("commit", "-qm", "theirs", "theirs.txt")
    stage.apply("--mode", mode, "--no-close")
    step = last(stage)
    wanted = numbers(stage, step["target_before"], step["commit_sha"])
    assert wanted["files"] == 3
    assert step["diff_stat"] == wanted
    assert step["snapshot"] == step["parent"]
    shown = stage.box.siding("show", "last", "-t", stage.task).stdout.decode()
    assert f"3 files +{wanted['additions']} -{wanted['deletions']}" in shown
    assert f"branch    main, from {str(step['target_before'])[:12]}" in shown
    assert f"commit    {str(step['commit_sha'])[:12]}" in shown
    logged = stage.box.siding("log", "-t", stage.task).stdout.decode().splitlines()[-1]
    assert f"3 +{wanted['additions']} -{wanted['deletions']}" in logged
    for word in ("undo", "redo"):
        stage.box.siding(word, "-t", stage.task)
        step = last(stage)
        assert step["diff_stat"] == numbers(stage, step["target_before"], step["commit_sha"])


def test_without_a_commit_they_are_those_of_the_files(stage: Stage) -> None:
    stage.agent(WORK)
    stage.apply("--mode", "patch", "--no-close")
    stat = last(stage)["diff_stat"]
    assert isinstance(stat, dict)
    assert (stat["files"], sorted(stat["file_list"])) == (3, ["hello.txt", "new.txt", "run.sh"])


def test_lines_of_before_are_read_by_what_was_applied(stage: Stage) -> None:
    stage.agent(WORK)
    stage.apply("--no-close")
    ledger = stage.box.project / "tasks" / stage.task / "ledger.jsonl"
    *before, line = ledger.read_text().splitlines()
    old = {**json.loads(line)}
    wanted = old["diff_stat"]
    old["diff_stat"] = {"files": 0, "additions": 0, "deletions": 0, "file_list": []}
    ledger.write_text("\n".join([*before, json.dumps(old)]) + "\n")
    shown = stage.box.siding("show", "last", "-t", stage.task).stdout.decode()
    assert f"3 files +{wanted['additions']} -{wanted['deletions']}" in shown
    assert "new.txt" in shown
