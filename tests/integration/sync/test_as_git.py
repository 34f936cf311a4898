"""A sync comes to what `git merge` and `git rebase` come to, conflicts with all their sides too."""

import os
import re
import subprocess
from pathlib import Path

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from sandbox import Sandbox
from scratch import scratch
from siding.syncing.new_head import CannotRebase
from siding.syncing.sync import SyncRequest, sync

from ..undo.desk import Desk
from .conftest import desk_with_lines

EDITS = st.lists(
    st.sampled_from(
        [
            "sed -i 's/line 1$/NAME one/' text",
            "sed -i 's/line 5$/NAME five/' text",
            "sed -i 's/line 5$/the same/' text",
            "sed -i 's/line 9$/NAME nine/' text",
            "rm -f text",
            "test ! -e text || mv text moved-NAME",
            "echo NAME >added",
            "mkdir -p dir; echo NAME >dir/NAME",
            "rm -rf dir; echo file >dir",
            "chmod +x old",
            "rm -f old; ln -s text old",
            "echo more >>gone",
        ]
    ),
    max_size=3,
    unique=True,
)


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(mine=EDITS, more=EDITS, theirs=EDITS, rebase=st.booleans())
def test_it_comes_to_what_git_comes_to(
    mine: list[str], more: list[str], theirs: list[str], rebase: bool
) -> None:
    with scratch("siding-sync-") as directory:
        desk = desk_with_lines(Sandbox(Path(directory)))
        for name, edits in (("mine", mine), ("more", more)):
            work(desk, desk.root, name, edits)
        work(desk, desk.sandbox.repo, "theirs", theirs)
        clone = as_git(desk, rebase=rebase)
        try:
            sync(desk.project, SyncRequest(task=desk.task.id, rebase=rebase))
        except CannotRebase:
            event("cannot rebase")
            assert conflicts(desk, clone)
            return
        event("in conflict" if conflicts(desk, desk.root) else "clean")
        assert looks(desk, desk.root) == looks(desk, clone)


def work(desk: Desk, cwd: Path, name: str, edits: list[str]) -> None:
    """Make a commit of these edits; one that is not possible any more does nothing."""
    run(desk, cwd, "exec 2>/dev/null; " + "; ".join([*edits, "true"]).replace("NAME", name))
    run(desk, cwd, f"git add -A; git commit -q --allow-empty -m {name}")


def as_git(desk: Desk, *, rebase: bool) -> Path:
    """Let git do it in a clone, as the workspace is; return where."""
    clone = desk.sandbox.repo.parent / "by-git"
    box = desk.sandbox
    box.git("clone", "-q", "--no-local", str(box.repo), str(clone))
    run(desk, clone, f"git switch -qC work {desk.git('rev-parse', 'HEAD')}")
    word = "rebase -q" if rebase else "merge -q --no-edit"
    run(desk, clone, f"git {word} origin/main >/dev/null 2>&1 || true")
    return clone


def looks(desk: Desk, root: Path) -> tuple[str, list[str], list[str]]:
    """Return the tree of HEAD, the index with its stages, and the files that are not conflicts."""
    git = desk.sandbox.git
    in_conflict = {line.partition("\t")[2] for line in conflicts(desk, root)}
    entries = [line.split(maxsplit=3) for line in git("ls-files", "--stage", cwd=root).splitlines()]
    status = git("status", "--porcelain", cwd=root).splitlines()
    return (
        git("rev-parse", "HEAD^{tree}", cwd=root),
        sorted(
            f"{mode} {stage} {same(name)} {same(git('cat-file', 'blob', sha, cwd=root))}"
            for mode, sha, stage, name in entries
        ),
        sorted(same(line) for line in status if line.split(maxsplit=1)[1] not in in_conflict),
    )


def same(text: str) -> str:
    """Take the names of the sides out, which are ours."""
    return re.sub(r"(?m)^([<>]{7,} ).*$", r"\1a side", re.sub(r"~\S+", "~side", text))


def conflicts(desk: Desk, root: Path) -> list[str]:
    return desk.sandbox.git("ls-files", "--unmerged", cwd=root).splitlines()


def run(desk: Desk, cwd: Path, script: str) -> None:
    subprocess.run(
        ["sh", "-c", script], cwd=cwd, env={**os.environ, **desk.sandbox.env}, check=True
    )
