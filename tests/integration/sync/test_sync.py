"""The moved base comes in, and everything else stays as it was."""

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from siding.applying.apply import ApplyRequest, Conflicting, Mode, apply
from siding.applying.git.merging import UnrelatedHistories
from siding.applying.resolve import abort, resolve
from siding.ground.errors import UsageError
from siding.ground.git.errors import UnknownRevision
from siding.record.recording.difference import Difference, difference
from siding.record.restoring.refusal import Refusal
from siding.syncing.new_head import CannotRebase
from siding.syncing.sync import CannotSync, How, Synced, SyncRequest, preview, sync

from ..undo.desk import Desk
from ..undo.parts import Parts, parts_of

COMMIT = "git add -A; git commit -qm"


def bring(desk: Desk, **more: object) -> Synced:
    request = SyncRequest(task=desk.task.id)._replace(**more)  # type: ignore[arg-type]
    return sync(desk.project, request)


def main(desk: Desk, script: str, message: str = "theirs") -> str:
    """Somebody works on the base branch; return its new commit."""
    person(desk, f"{script}; git add -A; git commit -q --allow-empty -m '{message}'")
    return desk.sandbox.git("rev-parse", "HEAD")


def person(desk: Desk, script: str) -> None:
    """Run a script in the person's own checkout."""
    box = desk.sandbox
    subprocess.run(["sh", "-ec", script], cwd=box.repo, env=box.env, check=True)


def changed(desk: Desk) -> list[tuple[str, bytes]]:
    """Return what `siding diff` shows: the task's own change."""
    with difference(desk.project, desk.task.id, at=None, start=None, end=None) as found:
        assert isinstance(found, Difference)
        return [(each.status, each.path) for each in found.stat().per_file]


def there_and_back(desk: Desk, act: Callable[[], Synced]) -> tuple[Synced, Parts]:
    """Sync, take it back and do it again; every part has to be the same each time."""
    before = parts_of(desk)
    done = act()
    after = parts_of(desk)
    desk.undo()
    assert parts_of(desk).differs(before) == []
    desk.redo()
    assert parts_of(desk).differs(after) == []
    return done, after


def test_a_task_without_commits_goes_on_from_the_branch(desk: Desk) -> None:
    desk.shell("sed -i 's/line 1$/mine/' text; echo new >new; rm gone; chmod 600 old")
    target = main(desk, "sed -i 's/line 9$/theirs/' text; echo more >more; chmod +x old")
    own = changed(desk)
    done, after = there_and_back(desk, lambda: bring(desk))
    assert done.plan.head.how is How.FAST_FORWARD
    assert (after.head, after.commit, after.tip) == (desk.branch, target, target)
    text = desk.read("text")
    assert text.startswith(b"mine\nline 2\n")
    assert text.endswith(b"line 8\ntheirs\n")
    assert (desk.read("new"), desk.read("more")) == (b"new\n", b"more\n")
    assert not (desk.root / "gone").exists()
    assert stat.S_IMODE(os.stat(desk.root / "old").st_mode) == 0o700
    status = desk.git("status", "--porcelain").splitlines()
    assert [line.strip() for line in status] == ["D gone", "M text", "?? new"]
    assert changed(desk) == own
    desk.rollback(1)  # to before it: the base goes back, too
    assert changed(desk) == own
    desk.rollback(None)
    assert changed(desk) == []


def test_commits_are_merged_and_what_is_uncommitted_stays_so(desk: Desk) -> None:
    desk.shell(f"sed -i 's/line 1$/mine/' text; {COMMIT} one; sed -i 's/line 3$/not yet/' text")
    head = desk.git("rev-parse", "HEAD")
    target = main(desk, "sed -i 's/line 9$/theirs/' text")
    done, after = there_and_back(desk, lambda: bring(desk))
    assert done.plan.head.how is How.MERGE
    assert desk.git("rev-parse", "HEAD^1", "HEAD^2").split() == [head, target]
    merge, who = desk.git("log", "-1", "--format=%s%n%an").splitlines()
    assert merge == f"Merge branch 'main' into {desk.branch}"
    assert who == desk.git("log", "-1", "--format=%an", target)
    assert after.tip == after.commit
    assert desk.git("status", "--porcelain") == "M text"
    assert "not yet" not in desk.git("show", "HEAD:text")
    assert changed(desk) == [("M", b"text")]
    assert bring(desk).restored is None  # it has all of it


def test_commits_are_repeated_on_the_branch(desk: Desk) -> None:
    desk.shell(
        f"sed -i 's/line 1$/mine/' text; {COMMIT} one; echo 2 >two; {COMMIT} two; echo 3 >three"
    )
    target = main(desk, "sed -i 's/line 9$/theirs/' text")
    done, after = there_and_back(desk, lambda: bring(desk, rebase=True))
    assert (done.plan.head.how, done.plan.head.repeated) == (How.REBASE, 2)
    assert desk.git("log", "--format=%s", f"{target}..").splitlines() == ["two", "one"]
    assert desk.git("merge-base", "HEAD", target) == target
    assert desk.git("status", "--porcelain") == "?? three"
    assert after.tip == after.commit


@pytest.mark.parametrize("mode", [Mode.COMMIT, Mode.MERGE, Mode.SQUASH])
def test_applied_after_it(desk: Desk, mode: Mode) -> None:
    desk.shell(
        f"sed -i 's/line 1$/mine/' text; {COMMIT} one; echo 2 >two; {COMMIT} two; echo 3 >three"
    )
    main(desk, "sed -i 's/line 9$/theirs/' text")
    bring(desk)
    main(desk, "echo later >later", "later")
    done = apply(desk.project, ApplyRequest(task=desk.task.id, mode=mode))
    subjects = [commit.subject for commit in done.plan.commits]
    changes = {(change.path, change.status) for change in done.plan.changes}
    assert changes == {(b"text", "M"), (b"two", "A"), (b"three", "A")}
    if mode is Mode.COMMIT:
        assert subjects == ["one", "two", "work"]
    assert (desk.sandbox.repo / "text").read_text().splitlines()[::8] == ["mine", "theirs"]


def test_commits_in_conflict_leave_an_unfinished_merge(desk: Desk) -> None:
    desk.shell(f"sed -i 's/line 5$/mine/' text; {COMMIT} one; echo 3 >three")
    head = desk.git("rev-parse", "HEAD")
    target = main(desk, "sed -i 's/line 5$/theirs/' text; echo more >more")
    done, after = there_and_back(desk, lambda: bring(desk))
    assert [each.path for each in done.plan.conflicts] == [b"text"]
    assert after.commit == head
    assert after.unfinished["MERGE_HEAD"] == target.encode() + b"\n"
    assert b"<<<<<<< task work\nmine\n=======\ntheirs\n>>>>>>> main\n" in desk.read("text")
    assert desk.git("status", "--porcelain").splitlines() == ["A  more", "UU text", "?? three"]
    with pytest.raises(CannotSync, match="git merge"):
        bring(desk)
    desk.shell("sed -i '/^[<=>]\\{7\\}/d; /^theirs$/d; s/^mine$/both/' text; git add text")
    desk.shell("git commit -q --no-edit")
    assert desk.git("log", "-1", "--format=%s %p").split()[-2:] == [head[:7], target[:7]]
    assert changed(desk) == [("M", b"text"), ("A", b"three")]
    done_ = apply(desk.project, ApplyRequest(task=desk.task.id))
    assert not done_.plan.conflicts
    assert "both" in (desk.sandbox.repo / "text").read_text()


def test_an_unfinished_merge_is_applied_as_it_is(desk: Desk) -> None:
    desk.shell(f"sed -i 's/line 5$/mine/' text; {COMMIT} one")
    main(desk, "sed -i 's/line 5$/theirs/' text")
    bring(desk)
    desk.shell("sed -i '/^[<=>]\\{7\\}/d; /^theirs$/d; s/^mine$/both/' text")
    done = apply(desk.project, ApplyRequest(task=desk.task.id))
    assert [(c.path, c.status) for c in done.plan.changes] == [(b"text", "M")]
    assert "both" in (desk.sandbox.repo / "text").read_text()


def test_uncommitted_lines_in_conflict(desk: Desk) -> None:
    desk.shell("sed -i 's/line 5$/mine/' text")
    target = main(desk, "sed -i 's/line 5$/theirs/' text")
    done, after = there_and_back(desk, lambda: bring(desk))
    assert [each.path for each in done.plan.conflicts] == [b"text"]
    assert (after.commit, after.unfinished) == (target, {})
    assert b"<<<<<<< main\ntheirs\n=======\nmine\n>>>>>>> task work\n" in desk.read("text")
    assert desk.git("status", "--porcelain") == "UU text"
    assert bring(desk).restored is None
    main(desk, "echo more >more")
    with pytest.raises(CannotSync, match="not resolved"):
        bring(desk)
    desk.shell("sed -i '/^[<=>]\\{7\\}/d; /^theirs$/d; s/^mine$/both/' text; git add text")
    assert changed(desk) == [("M", b"text")]
    assert apply(desk.project, ApplyRequest(task=desk.task.id)).step is not None


def test_what_is_staged_and_not_touched_stays_staged(desk: Desk) -> None:
    desk.shell("echo a >a; git add a; echo b >>a; echo later >later; git add -N later")
    desk.git("update-index", "--assume-unchanged", "old")
    before = parts_of(desk)
    main(desk, "sed -i 's/line 5$/theirs/' text")
    bring(desk)
    after = parts_of(desk)
    assert after.flags == before.flags
    assert set(before.staged) - set(after.staged) == {s for s in before.staged if "text" in s}
    assert desk.git("show", ":a") == "a"


def test_a_file_that_the_branch_has_not_any_more(desk: Desk) -> None:
    desk.shell("echo mine >>old")
    main(desk, "git rm -q old gone")
    done = bring(desk)
    assert [(each.path, each.kind) for each in done.plan.conflicts] == [(b"old", "modify/delete")]
    assert desk.read("old") == b"old\nmine\n"
    assert not (desk.root / "gone").exists()


def test_an_ignored_file_in_the_way_is_moved_only_on_request(desk: Desk) -> None:
    desk.shell("echo built >.gitignore; echo mine >built")
    before = parts_of(desk)
    main(desk, "echo theirs >built; git add -f built")
    with pytest.raises(Refusal, match="built"):
        bring(desk)
    assert parts_of(desk).differs(before) == []
    bring(desk, force=True)
    assert desk.read("built") == b"theirs\n"
    assert any(name.endswith(b"/built") for name in desk.trash())
    desk.undo()
    assert desk.read("built") == b"mine\n"


def test_line_endings_and_links_arrive_as_a_checkout_writes_them(desk: Desk) -> None:
    main(desk, "printf '* text=auto\\n*.win eol=crlf\\n' >.gitattributes; printf 'a\\nb\\n' >x.win")
    main(desk, "ln -s text link; printf '#!/bin/sh\\n' >tool; chmod +x tool")
    bring(desk)
    assert desk.read("x.win") == b"a\r\nb\r\n"
    assert os.readlink(desk.root / "link") == "text"
    assert os.access(desk.root / "tool", os.X_OK)
    assert desk.git("status", "--porcelain") == ""
    assert changed(desk) == []


def test_a_sparse_checkout_stays_sparse(desk: Desk) -> None:
    main(desk, "mkdir in out; echo 1 >in/a; echo 1 >out/b")
    bring(desk)
    desk.git("sparse-checkout", "set", "--cone", "in")
    desk.checkpoint()
    main(desk, "echo 2 >in/a; echo 2 >out/b; echo 3 >out/c")
    there_and_back(desk, lambda: bring(desk))
    assert desk.read("in/a") == b"2\n"
    assert not (desk.root / "out").exists()
    assert desk.git("status", "--porcelain") == ""


def test_what_is_refused_changes_nothing(desk: Desk) -> None:
    desk.shell(f"echo 1 >>text; {COMMIT} one")
    before = parts_of(desk)

    def refused(error: type[Exception], match: str, **more: object) -> None:
        with pytest.raises(error, match=match):
            bring(desk, **more)
        assert parts_of(desk).differs(before) == []

    main(desk, "echo 2 >>text")
    refused(UnknownRevision, "no branch 'nowhere'", onto="nowhere")
    refused(UnknownRevision, "no branch '--all'", onto="--all")
    refused(UsageError, "own branch", onto=desk.branch)
    refused(CannotRebase, "disagree about text", rebase=True)
    desk.git("update-ref", "refs/remotes/origin/x", "HEAD")
    refused(CannotRebase, "1 of the task's commits were pushed", rebase=True)
    tree = desk.git("rev-parse", "HEAD^{tree}")
    beyond = desk.git("commit-tree", "-p", "HEAD", "-m", "pushed, then reset", tree)
    desk.git("update-ref", "refs/remotes/origin/x", beyond)
    refused(CannotRebase, "1 of the task's commits were pushed", rebase=True)
    desk.git("branch", "other-root", desk.git("commit-tree", "-m", "x", tree))
    refused(UnrelatedHistories, "no commit in common", onto="other-root")
    desk.git("switch", "-q", "-c", "agents/own")
    before = parts_of(desk)
    refused(CannotSync, "not on the task's branch")


def test_a_detached_head_moves_alone(desk: Desk) -> None:
    desk.git("switch", "-q", "--detach")
    tip = desk.git("rev-parse", "HEAD")
    target = main(desk, "echo 2 >>text")
    _, after = there_and_back(desk, lambda: bring(desk))
    assert (after.head, after.commit, after.tip) == (None, target, tip)


def test_a_preview_says_it_and_leaves_no_trace(desk: Desk) -> None:
    desk.shell(f"sed -i 's/line 5$/mine/' text; {COMMIT} one")
    main(desk, "sed -i 's/line 5$/theirs/' text", "a change of line 5")
    before, objects = parts_of(desk), desk.git("count-objects")
    with preview(desk.project, SyncRequest(task=desk.task.id)) as (_task, plan):
        assert plan.coming.commits == 1
        assert [commit.subject for commit in plan.coming.newest] == ["a change of line 5"]
        assert [each.path for each in plan.conflicts] == [b"text"]
    assert parts_of(desk).differs(before) == []
    assert desk.git("count-objects") == objects
    assert len(desk.steps()) == 1


def test_submodules_stay_where_they_are(desk: Desk, tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    person(desk, f"git init -q '{lib}'; cd '{lib}'; git commit -q --allow-empty -m 1")
    allow = "git -c protocol.file.allow=always"
    main(desk, f"{allow} submodule --quiet add '{lib}' lib")
    done = bring(desk)
    assert done.submodules == ("lib",)
    assert "lib" in desk.git("ls-files")
    assert desk.git("status", "--porcelain") in ("", "D lib")


def test_a_lost_registry_does_not_bring_the_old_base_back(desk: Desk) -> None:
    desk.shell("sed -i 's/line 1$/mine/' text")
    main(desk, "echo more >more")
    bring(desk)
    (desk.project.layout.root / "worktrees.json").unlink()
    assert changed(Desk.again(desk)) == [("M", b"text")]


def test_given_up_by_apply(desk: Desk) -> None:
    desk.shell(f"sed -i 's/line 5$/mine/' text; {COMMIT} one")
    before = parts_of(desk)
    main(desk, "sed -i 's/line 5$/theirs/' text")
    bring(desk)
    abort(desk.project, desk.task.id)
    assert parts_of(desk).differs(before) == []
    assert changed(desk) == [("M", b"text")]


def test_one_that_was_cut_off_does_not_count(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the branch has must not be taken for the task's removal of it."""
    desk.shell("sed -i 's/line 1$/mine/' text")
    main(desk, "echo more >more")

    def dies(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("siding.record.restoring.act.restore", dies)
        with pytest.raises(KeyboardInterrupt):
            bring(desk)
    again = Desk.again(desk)
    again.checkpoint()
    assert [step.status for step in again.steps()][1] == "interrupted"
    apply(again.project, ApplyRequest(task=desk.task.id))
    assert (desk.sandbox.repo / "more").read_text() == "more\n"


@pytest.mark.parametrize("script", ["git merge --abort", "git reset -q --hard"])
def test_a_merge_that_git_gave_up_is_no_removal_of_it(desk: Desk, script: str) -> None:
    desk.shell(f"sed -i 's/line 5$/mine/' text; {COMMIT} one; echo 2 >two")
    main(desk, "sed -i 's/line 9$/theirs/' text; echo more >more", "before")
    desk.shell("true")
    main(desk, "sed -i 's/line 5$/theirs/' text", "in conflict")
    bring(desk)
    desk.shell(f"{script}; echo 2 >two")
    assert changed(desk) == [("M", b"text"), ("A", b"two")]
    main(desk, "sed -i 's/theirs$/line 5/' text; sed -i 's/line 5$/line 5/' text", "no conflict")
    person(desk, "sed -i '5s/.*/line 5/; 9s/.*/theirs/' text; git commit -qam plain")
    apply(desk.project, ApplyRequest(task=desk.task.id))
    assert (desk.sandbox.repo / "more").read_text() == "more\n"
    assert "mine" in (desk.sandbox.repo / "text").read_text()


def test_a_sync_that_was_reset_is_no_removal_of_it(desk: Desk) -> None:
    desk.shell(f"sed -i 's/line 1$/mine/' text; {COMMIT} one")
    main(desk, "echo more >more")
    bring(desk)
    desk.shell("git reset -q --hard HEAD~")
    assert changed(desk) == [("M", b"text")]
    apply(desk.project, ApplyRequest(task=desk.task.id))
    assert (desk.sandbox.repo / "more").read_text() == "more\n"


def test_a_resolution_that_git_took_out_is_no_removal_of_it(desk: Desk) -> None:
    desk.shell(f"sed -i 's/line 5$/mine/' text; {COMMIT} one")
    main(desk, "sed -i 's/line 5$/theirs/' text; echo more >more")
    resolve(desk.project, ApplyRequest(task=desk.task.id))
    desk.shell("git reset -q --hard; git clean -qfd")
    with pytest.raises(Conflicting):
        apply(desk.project, ApplyRequest(task=desk.task.id))
    person(desk, "sed -i '5s/.*/line 5/' text; git commit -qam plain")
    apply(desk.project, ApplyRequest(task=desk.task.id))
    assert (desk.sandbox.repo / "more").read_text() == "more\n"
