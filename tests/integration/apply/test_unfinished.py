"""git is in the middle of something, in the person's checkout or in the workspace: it is said, and
nothing moves until it is finished."""

import subprocess
from collections.abc import Callable

import pytest

from .conftest import Stage


def attempt(stage: Stage, *arguments: str) -> None:
    """Run git in the person's checkout, where it may well end with a conflict."""
    subprocess.run(
        ["git", *arguments], cwd=stage.repo, env=stage.box.env, capture_output=True, check=False
    )


def edit(stage: Stage, text: str) -> None:
    (stage.repo / "src/a.py").write_text(text)


def other_branch(stage: Stage) -> None:
    """Leave a branch `other` that disagrees with main about a file the task does not touch."""
    stage.git("switch", "-q", "-c", "other")
    edit(stage, "a = 'other'\n")
    stage.git("commit", "-qam", "other")
    stage.git("switch", "-q", "main")
    edit(stage, "a = 'main'\n")
    stage.git("commit", "-qam", "main")


def stash_pop(stage: Stage) -> None:
    edit(stage, "a = 'stashed'\n")
    stage.git("stash")
    edit(stage, "a = 'main'\n")
    stage.git("commit", "-qam", "main")
    attempt(stage, "stash", "pop")


def checkout_merge(stage: Stage) -> None:
    other_branch(stage)
    stage.git("switch", "-q", "other")
    edit(stage, "a = 'mine'\n")
    attempt(stage, "checkout", "-m", "main")


def apply_3way(stage: Stage) -> None:
    other_branch(stage)
    patch = stage.git("diff", "main~", "other") + "\n"
    (stage.box.directory / "p").write_text(patch)
    attempt(stage, "apply", "-3", str(stage.box.directory / "p"))


def merge(stage: Stage) -> None:
    other_branch(stage)
    attempt(stage, "merge", "other")


def pick(stage: Stage) -> None:
    other_branch(stage)
    attempt(stage, "cherry-pick", "other")


def revert(stage: Stage) -> None:
    other_branch(stage)
    edit(stage, "a = 'later'\n")
    stage.git("commit", "-qam", "later")
    attempt(stage, "revert", "--no-edit", "HEAD~")


def am(stage: Stage) -> None:
    other_branch(stage)
    (stage.box.directory / "p").write_text(stage.git("format-patch", "--stdout", "main..other"))
    attempt(stage, "am", "-3", str(stage.box.directory / "p"))


def rebase(stage: Stage) -> None:
    other_branch(stage)
    attempt(stage, "rebase", "other")


def rebase_apply(stage: Stage) -> None:
    other_branch(stage)
    attempt(stage, "rebase", "--apply", "other")


def between_picks(stage: Stage) -> None:
    """The first of two picks was committed by hand, the second is still to come."""
    other_branch(stage)
    stage.git("switch", "-q", "other")
    stage.git("commit", "-q", "--allow-empty", "-m", "second")
    stage.git("switch", "-q", "main")
    attempt(stage, "cherry-pick", "main..other")
    edit(stage, "a = 'both'\n")
    stage.git("commit", "-qam", "resolved")


def bisect(stage: Stage) -> None:
    stage.git("bisect", "start")


def unmerged(stage: Stage) -> None:
    """Leave nothing but the versions of a conflict in the index, as the others do."""
    sha = stage.git("rev-parse", "HEAD:src/a.py")
    stages = "".join(f"100644 {sha} {number}\tsrc/a.py\n" for number in (1, 2, 3))
    stages = f"0 {'0' * 40}\tsrc/a.py\n" + stages
    subprocess.run(
        ["git", "update-index", "--index-info"],
        cwd=stage.repo,
        env=stage.box.env,
        check=True,
        input=stages.encode(),
    )


CONFLICTS = "conflicts that are not resolved (src/a.py)"
CASES: list[tuple[Callable[[Stage], None], str]] = [
    (stash_pop, CONFLICTS),
    (checkout_merge, CONFLICTS),
    (apply_3way, CONFLICTS),
    (merge, "`git merge` is under way"),
    (pick, "`git cherry-pick` is under way"),
    (revert, "`git revert` is under way"),
    (am, "`git am` is under way"),
    (rebase, "rebase"),
    (rebase_apply, "rebase"),
    (between_picks, "`git cherry-pick` is under way"),
    (bisect, "`git bisect` is under way"),
]


@pytest.mark.parametrize(("begin", "says"), CASES, ids=[case[0].__name__ for case in CASES])
def test_nothing_moves_before_it_is_finished(
    stage: Stage, begin: Callable[[Stage], None], says: str
) -> None:
    stage.agent("echo agent >>hello.txt; echo n >n.txt")
    begin(stage)
    before = stage.everything()
    for mode in ("commit", "patch"):
        said = stage.apply("--mode", mode, "--no-close", status=1)
        assert says in said
        assert "hint:" in said
        assert stage.everything() == before


@pytest.mark.parametrize("mode", ["squash", "merge", "rebase"])
def test_it_holds_for_every_mode_and_the_task_goes_on(stage: Stage, mode: str) -> None:
    stage.agent("echo agent >>hello.txt; git commit -qam agent; echo n >n.txt")
    stash_pop(stage)
    before = stage.everything()
    assert CONFLICTS in stage.apply("--mode", mode, "--no-close", status=1)
    assert stage.everything() == before
    stage.agent("true")
    edit(stage, "a = 'both'\n")
    stage.git("add", "src/a.py")  # as the hint says
    stage.apply("--mode", mode)
    assert stage.show("n.txt") == "n\n"
    assert stage.status() == ["M  src/a.py"]


@pytest.mark.parametrize("mode", ["commit", "patch"])
def test_an_apply_is_not_taken_back_over_it_either(stage: Stage, mode: str) -> None:
    stage.agent("echo agent >>hello.txt; echo n >n.txt")
    stage.apply("--no-close", "--mode", mode)
    for word in ("undo", "redo"):
        unmerged(stage)
        before = stage.everything()
        done = stage.box.siding(word, "-t", stage.task, status=1)
        assert CONFLICTS.encode() in done.stderr
        assert stage.everything() == before
        stage.git("reset", "-q", "src/a.py")
        stage.box.siding(word, "-t", stage.task)


def test_what_git_could_not_write_is_taken_back_and_said(stage: Stage) -> None:
    """A filter of the person's that fails when git writes the file."""
    stage.agent("echo '*.big filter=big' >.gitattributes; echo agent >>hello.txt; echo b >b.big")
    for key, value in (("clean", "cat"), ("smudge", "false"), ("required", "true")):
        stage.git("config", "--global", f"filter.big.{key}", value)
    before = stage.everything()
    said = stage.apply("--no-close", status=1)
    assert "could not be changed" in said
    assert "hint: nothing was changed" in said
    assert stage.everything() == before
    stage.git("config", "--global", "filter.big.smudge", "cat")
    stage.apply()
    assert stage.show("b.big") == "b\n"


def test_conflict_markers_in_the_workspace_are_not_applied(stage: Stage) -> None:
    stage.agent(
        "git switch -q -c other; echo other >hello.txt; git commit -qam other; git switch -q -;"
        " echo one >hello.txt; git commit -qam one; git merge other || true"
    )
    before = stage.everything()
    said = stage.apply(status=1)
    assert "`git merge` is under way in the workspace" in said
    assert "hello.txt" in said
    assert stage.everything() == before
    done = stage.box.siding("phase", "start", "impl", "begin", "-t", stage.task, status=1)
    assert b"`git merge` is under way" in done.stderr
    stage.agent("echo both >hello.txt")
    assert "its files go in as they are now" in stage.apply("--dry-run")
    stage.apply()
    assert stage.show("hello.txt") == "both\n"
