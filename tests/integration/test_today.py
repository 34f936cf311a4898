"""`siding` alone: the day over all projects on one screen, each entry with its command."""

import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from integration.test_many_runs import UNTIL_GO, living, wait_until
from sandbox import SIDING, Sandbox
from siding.faces.cli.feed import shares
from terminal import Terminal

SECTIONS = ("waits", "runs", "broke", "ready")


@pytest.fixture
def other(sandbox: Sandbox) -> Path:
    """A second repository beside the first one, with a project in the same home."""
    path = sandbox.directory / "other"
    shutil.copytree(sandbox.repo, path, symlinks=True)
    sandbox.siding("task", "start", "away", cwd=path)
    return path


def day(sandbox: Sandbox) -> dict[str, Any]:
    return sandbox.json("--format", "json")  # type: ignore[no-any-return]


def marks(sandbox: Sandbox) -> dict[str, list[tuple[str, str]]]:
    found = day(sandbox)
    return {each: [(line["mark"], line["task"]) for line in found[each]] for each in SECTIONS}


def type_it(sandbox: Sandbox, line: dict[str, Any], *, cwd: Path | None = None) -> bytes:
    """Type the command of an entry, as it is printed."""
    program, *words = shlex.split(line["command"])
    assert program == "siding"
    done = sandbox.siding(*words, cwd=cwd)
    return done.stdout + done.stderr


def test_everything_of_all_projects_is_there_with_its_command(
    sandbox: Sandbox, other: Path
) -> None:
    sandbox.siding("run", "--", "sh", "-c", "echo 1 >a", cwd=other)
    sandbox.siding("task", "start", "broken")
    sandbox.siding("run", "--", "sh", "-c", "echo 1 >b; false", status=1)
    sandbox.siding("task", "start", "lives")
    items = '[{"id": 1, "title": "Which?", "kind": "text"}]'
    question = f'{{"task": "q", "source": "plan.md", "items": {items}}}'
    sandbox.siding("decide", question, "--no-wait")
    talks = f"echo hello there; touch began; {UNTIL_GO}"
    with living(sandbox, "--no-tty", "--", "sh", "-c", talks):
        wait_until(sandbox, "began")
        assert marks(sandbox) == {
            "waits": [("decision", "")],
            "runs": [("r1", "lives")],
            "broke": [("failed", "broken")],
            "ready": [("+1", "broken"), ("+1", "away")],
        }
        found = day(sandbox)
        assert found["runs"][0]["what"].endswith("· hello there")
        assert found["runs"][0]["project"] == "repo"
        assert b"hello there" in type_it(sandbox, _without(found["runs"][0], "--follow"))
        assert b"exit" in type_it(sandbox, found["broke"][0])
        away = found["ready"][1]
        assert (away["project"], away["files"], away["additions"]) == ("other", 1, 1)
        assert b"away \xc2\xb7 step 0002" in type_it(sandbox, away), "from another repository"
        (sandbox.workspace() / "go").touch()
    assert (other / "a").exists()
    text = sandbox.siding().stdout.decode()
    assert "waits for you\n" in text
    assert "siding decide answer" in text
    assert "running" not in text


def _without(line: dict[str, Any], word: str) -> dict[str, Any]:
    return {**line, "command": line["command"].replace(f" {word}", "")}


def test_what_was_cut_off_is_broken_until_its_command_settles_it(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "shop")
    with living(sandbox, "--", "sh", "-c", f"echo 1 >began; {UNTIL_GO}") as host:
        wait_until(sandbox, "began")
        host.kill()
        host.wait()
        assert marks(sandbox)["broke"] == [("cut off", "shop")]
        assert not marks(sandbox)["ready"]
        type_it(sandbox, day(sandbox)["broke"][0])
        assert marks(sandbox)["ready"] == [("+1", "shop")]


def test_what_was_applied_or_changed_back_is_not_ready(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "shop")
    sandbox.siding("run", "--", "sh", "-c", "echo 1 >a")
    sandbox.siding("run", "--", "rm", "a")
    assert not marks(sandbox)["ready"]
    sandbox.siding("run", "--", "sh", "-c", "echo 1 >b")
    assert marks(sandbox)["ready"] == [("+3", "shop")]
    sandbox.siding("apply", "--no-close")
    assert not marks(sandbox)["ready"]


def test_a_project_whose_repository_is_gone_is_a_line(sandbox: Sandbox, other: Path) -> None:
    sandbox.siding("task", "start", "shop", "--no-workspace")
    shutil.rmtree(other)
    done = sandbox.siding()
    assert b"all quiet" in done.stderr
    assert b"project other-" in done.stderr
    assert len(day(sandbox)["problems"]) == 1


def test_where_nothing_began_it_says_how_to(sandbox: Sandbox, tmp_path: Path) -> None:
    text = sandbox.siding().stdout.decode()
    assert "siding run -- claude" in text
    assert "siding --help" in text
    assert sandbox.siding(cwd=tmp_path).stdout.decode() == text, "no repository is no error"
    assert not (sandbox.directory / "siding/projects").exists()


def test_it_fits_on_the_terminal_and_cuts_no_command(sandbox: Sandbox) -> None:
    for number in range(12):
        sandbox.siding("task", "start", f"task number {number}")
        sandbox.siding("run", "--", "sh", "-c", "echo a long command >a; true " + "x" * 80)
    sandbox.siding("run", "--", "false", status=1)
    commands = {line["command"] for line in day(sandbox)["ready"]}
    for rows, columns in ((12, 70), (15, 120), (50, 100)):
        shown = Terminal(
            [*SIDING, "--color", "never", "today"],
            cwd=sandbox.repo,
            env=sandbox.env,
            rows=rows,
            columns=columns,
        )
        assert shown.finish() == 0
        lines = shown.seen.decode().replace("\r", "").splitlines()
        assert len(lines) < rows
        assert max(map(len, lines)) <= columns
        found = [line for line in lines if "siding apply" in line]
        assert found
        assert all(line.strip().endswith(tuple(commands)) for line in found)
        assert ("more: siding task list" in shown.seen.decode()) == (len(found) < len(commands))
    assert len(found) == len(commands), "where there is room all are shown"


def test_the_room_is_shared_fairly() -> None:
    assert shares([2, 9], None) == [2, 9]
    assert shares([2, 9], 6) == [2, 4]
    assert shares([9, 9, 1], 9) == [4, 4, 1]
    assert shares([5, 5], 0) == [1, 1]


def test_runs_of_all_projects(sandbox: Sandbox, other: Path) -> None:
    sandbox.siding("task", "start", "here")
    with living(sandbox, "--", "sh", "-c", f"touch began; {UNTIL_GO}"):
        wait_until(sandbox, "began")
        assert sandbox.json("runs", "--format", "json", cwd=other) == []
        (row,) = sandbox.json("runs", "--all", "--format", "json", cwd=other)
        assert (row["project"], row["task_name"]) == ("repo", "here")
        done = sandbox.siding("runs", "--all", cwd=sandbox.directory)
        assert b"repo" in done.stdout
        (sandbox.workspace() / "go").touch()


def test_projects_of_one_name_are_told_apart(
    sandbox: Sandbox,
) -> None:
    """Also if one of them is gone: its name would be ambiguous all the same."""
    same = sandbox.directory / "below" / "repo"
    gone = sandbox.directory / "gone" / "repo"
    for path in (same, gone):
        shutil.copytree(sandbox.repo, path, symlinks=True)
    sandbox.siding("task", "start", "gone", cwd=gone)
    shutil.rmtree(gone)
    for number, path in enumerate((same, sandbox.repo, same), start=1):
        sandbox.siding("task", "start", f"t{number}", cwd=path)
        sandbox.siding("run", "--", "sh", "-c", "echo 1 >a; false", status=1, cwd=path)
    found = sandbox.json("--format", "json", cwd=sandbox.directory)["broke"]
    assert [line["task"] for line in found] == ["t3", "t2", "t1"], "what broke last is first"
    for line in found:
        assert line["project"].startswith("repo-")
        assert b"exit" in type_it(sandbox, line, cwd=sandbox.directory)
