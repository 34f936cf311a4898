"""`siding projects`, and `--project`: every project is reached from everywhere."""

import shutil
from pathlib import Path

import pytest

from sandbox import Sandbox


@pytest.fixture
def two(sandbox: Sandbox, tmp_path: Path) -> Path:
    """The sandbox's project with a step, and the repository of a second one."""
    sandbox.siding("run", "--", "sh", "-c", "echo one >one")
    other = tmp_path / "other"
    sandbox.git("clone", "-q", str(sandbox.repo), str(other))
    sandbox.siding("run", "--", "sh", "-c", "echo two >two", cwd=other)
    return other


def rows(sandbox: Sandbox, cwd: Path) -> dict[str, tuple[str, bool]]:
    found = sandbox.json("projects", "--format", "json", cwd=cwd)
    return {Path(row["repository"]).name: (row["state"], row["here"]) for row in found}


def names(sandbox: Sandbox) -> dict[str, str]:
    found = sandbox.json("projects", "--format", "json", cwd=Path("/"))
    return {Path(row["repository"]).name: row["name"] for row in found}


def log(sandbox: Sandbox, *words: str, cwd: Path = Path("/")) -> bytes:
    return sandbox.siding(*words, cwd=cwd).stdout


def test_all_are_listed_and_the_one_around_is_marked(sandbox: Sandbox, two: Path) -> None:
    assert rows(sandbox, two) == {"repo": ("there", False), "other": ("there", True)}
    assert rows(sandbox, Path("/")) == {"repo": ("there", False), "other": ("there", False)}
    table = log(sandbox, "projects", cwd=two).decode().splitlines()
    assert table[1].startswith("*  other-")
    assert "1 open of 1" in table[1]


def test_none_yet(sandbox: Sandbox) -> None:
    assert b"no project yet" in sandbox.siding("projects").stderr


def test_a_project_is_named_before_or_after_the_verb(sandbox: Sandbox, two: Path) -> None:
    known = names(sandbox)
    for words in (
        ["--project", "other", "log"],
        ["log", "--project", known["other"]],
        ["log", f"--project={two}"],
    ):
        assert b"echo two" in log(sandbox, *words)
        assert b"echo two" in log(sandbox, *words, cwd=sandbox.repo)
    sandbox.siding("--project", "other", "run", "--", "touch", "three", cwd=sandbox.repo)
    assert b"touch three" in log(sandbox, "log", cwd=two)
    assert b"touch three" not in log(sandbox, "log", cwd=sandbox.repo)


def test_a_name_that_means_none_or_two_is_refused(sandbox: Sandbox, two: Path) -> None:
    twin = two.parent / "deeper" / "other"
    sandbox.git("clone", "-q", str(sandbox.repo), str(twin))
    sandbox.siding("init", cwd=twin)
    said = sandbox.siding("--project", "other", "log", status=1).stderr.decode()
    assert "'other' may be other-" in said
    assert b"there is no project" in sandbox.siding("--project", "nosuch", "log", status=1).stderr
    assert sandbox.siding("--project", str(twin), "task", "list").returncode == 0


def test_one_whose_repository_is_gone_can_be_read(sandbox: Sandbox, two: Path) -> None:
    shutil.rmtree(two)
    assert rows(sandbox, Path("/"))["other"] == ("gone", False)
    done = sandbox.siding("--project", "other", "log")
    assert b"echo two" in done.stdout
    assert b"is not at" in done.stderr
    shown = sandbox.siding("--project", "other", "show", "1").stdout
    assert b"two" in shown
    assert b"active" in sandbox.siding("--project", "other", "task", "list").stdout


def test_another_repository_at_its_path_is_not_taken_for_it(sandbox: Sandbox, two: Path) -> None:
    shutil.rmtree(two)
    two.mkdir()
    sandbox.git("init", "-q", cwd=two)
    sandbox.git("commit", "-q", "--allow-empty", "-m", "new", cwd=two)
    assert rows(sandbox, two)["other"] == ("another", False)
    old = names(sandbox)["other"]
    before = sandbox.git("for-each-ref", cwd=two)
    assert b"echo two" in sandbox.siding("--project", old, "log").stdout
    sandbox.siding("--project", old, "task", "start", "x", status=None)
    assert sandbox.git("for-each-ref", cwd=two) == before


def test_a_repository_that_moved_brings_its_project(sandbox: Sandbox, two: Path) -> None:
    two.rename(two.with_name("moved"))
    assert b"echo two" in log(sandbox, "log", cwd=two.with_name("moved"))
    assert rows(sandbox, two.with_name("moved"))["moved"] == ("there", True)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--", "true"),
        ("checkpoint",),
        ("rollback", "--base"),
        ("undo",),
        ("sync", "--dry-run"),
        ("apply",),
        ("diff",),
        ("pr",),
        ("task", "start", "more"),
        ("task", "close", "--force"),
    ],
    ids=lambda words: words[0],
)
def test_what_needs_a_repository_that_is_gone_says_so(
    sandbox: Sandbox, two: Path, words: tuple[str, ...]
) -> None:
    two.rename(two.with_name("elsewhere"))
    before = sandbox.siding("log", "--project", "other", cwd=Path("/")).stdout
    refused = sandbox.siding("--project", "other", *words, cwd=Path("/"), status=1).stderr.decode()
    assert "the repository of project other" in refused
    assert "is gone" in refused
    assert "git ended" not in refused
    assert sandbox.siding("log", "--project", "other", cwd=Path("/")).stdout == before
