"""The isolation check: no false alarm, whatever people and Siding itself do side by side."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bwrap import needs_bwrap
from sandbox import SIDING, Sandbox

WORK = "echo {0} >{0}.txt; git add -A; git commit -qm {0}; sleep 0.3; git commit -q --amend -m {0}"


def changes(step: dict[str, Any], weight: str = "alarm") -> list[dict[str, Any]]:
    return [each for each in step["isolation"]["changes"] if each["weight"] == weight]


def noted(step: dict[str, Any]) -> list[dict[str, Any]]:
    return changes(step, "note")


def start(sandbox: Sandbox, *words: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*SIDING, "-q", *words], cwd=sandbox.repo, env=sandbox.env, stdin=subprocess.DEVNULL
    )


def test_eight_tasks_at_once_are_no_alarm(sandbox: Sandbox) -> None:
    names = [f"t{number}" for number in range(8)]
    for name in names:
        sandbox.siding("task", "start", name, "--no-switch")
    sandbox.siding("task", "start", "ready")
    sandbox.siding("run", "-t", "ready", "--", "sh", "-c", "echo done >done.txt")
    at_work = [start(sandbox, "run", "-t", n, "--", "sh", "-c", WORK.format(n)) for n in names]
    sandbox.siding("task", "start", "another", "--no-switch")
    sandbox.siding("task", "close", "another", "--force")
    sandbox.siding("apply", "-t", "ready", "--no-close")
    assert [each.wait(60) for each in at_work] == [0] * 8
    assert (sandbox.repo / "done.txt").exists()
    for name in names:
        (step,) = sandbox.steps(name)
        assert step["isolation"] == {"changes": [], "files": "looked at"}


def test_what_is_done_to_a_task_at_rest_is_noted(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "victim", "--no-switch")
    sandbox.siding("task", "start", "one")
    victim = sandbox.workspace("victim")
    branch = sandbox.json("task", "show", "victim", "--format", "json")["branch"]
    script = f"git -C {victim} commit -q --allow-empty -m x; git -C {victim} switch -qc y"
    sandbox.siding("run", "--", "sh", "-c", script)
    (step,) = sandbox.steps()
    found = {(each["what"], each["name"], each["how"]) for each in noted(step)}
    assert ("branch", branch, "moved") in found
    assert (
        "worktree",
        sandbox.json("task", "show", "victim", "--format", "json")["id"],
        "changed",
    ) in found


def test_a_workspace_that_is_swapped_is_an_alarm(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "victim", "--no-switch")
    sandbox.siding("task", "start", "one")
    victim = sandbox.workspace("victim")
    sandbox.siding("run", "--", "sh", "-c", f"mv {victim} {victim}.away; mkdir {victim}")
    (step,) = sandbox.steps()
    assert ("workspace", victim.name, "changed") in {
        (each["what"], each["name"], each["how"]) for each in changes(step)
    }


@pytest.mark.parametrize("pack", [False, True])
def test_refs_are_told_apart_from_how_they_are_kept(sandbox: Sandbox, pack: bool) -> None:
    sandbox.git("branch", "stays")
    sandbox.git("branch", "goes")
    sandbox.git("tag", "v1")
    sandbox.siding("task", "start", "one")
    packing = "git pack-refs --all; " if pack else ""
    sandbox.siding(
        "run",
        "--",
        "sh",
        "-c",
        f"git commit -q --allow-empty -m x; git branch -qD goes; git tag -f v1; {packing}true",
    )
    (step,) = sandbox.steps()
    assert {(each["what"], each["name"], each["how"]) for each in noted(step)} == {
        ("branch", "goes", "removed"),
        ("tag", "v1", "moved"),
    }


def test_an_edit_of_the_checkout_is_seen_wherever_it_is(sandbox: Sandbox) -> None:
    """A tracked file, a new one, a removed one, one in a directory that git does not know."""
    (sandbox.repo / "notes").mkdir()
    (sandbox.repo / "notes" / "old.md").write_text("old")
    (sandbox.repo / "dirty.txt").write_text("dirty since before")
    (sandbox.repo / ".gitignore").write_text("*.log\n")
    sandbox.siding("task", "start", "one")
    repo = sandbox.repo
    script = (
        f"echo 2 >{repo}/hello.txt; rm {repo}/src/a.py; echo more >>{repo}/notes/old.md; "
        f"echo new >{repo}/notes/new.md; echo log >{repo}/x.log; "
        f"touch -d 2001-01-01 {repo}/hello.txt"
    )
    sandbox.siding("run", "--", "sh", "-c", script)
    (step,) = sandbox.steps()
    (found,) = noted(step)
    assert found["what"] == "files"
    assert set(found["name"].split(", ")) == {
        "hello.txt",
        "notes/new.md",
        "notes/old.md",
        "src/a.py",
    }


def test_a_look_is_left_out_where_it_is_switched_off(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    (sandbox.project / "config.yaml").write_text("isolation:\n  files: never\n")
    sandbox.siding("run", "--", "sh", "-c", f"echo 2 >{sandbox.repo}/hello.txt")
    (step,) = sandbox.steps()
    assert step["isolation"] == {"changes": [], "files": "not looked at"}


def test_a_new_index_that_holds_the_same_is_no_change(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    script = f"touch {sandbox.repo}/hello.txt; git -C {sandbox.repo} update-index --refresh"
    sandbox.siding("run", "--", "sh", "-c", script)
    (step,) = sandbox.steps()
    assert [each["what"] for each in noted(step)] in ([], ["files"])


def test_our_own_records_are_watched(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    ledger = sandbox.project / "tasks" / sandbox.workspace().name / "ledger.jsonl"
    sandbox.siding("run", "--", "true")
    sandbox.siding("run", "--", "sh", "-c", f"touch {ledger}; echo >>{sandbox.workspace()}/.git")
    step = sandbox.steps()[-1]
    assert {each["name"] for each in changes(step)} == {
        str(ledger),
        str(sandbox.workspace() / ".git"),
    }


def test_odd_things_in_the_git_directory_neither_stop_nor_hang_it(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    git = sandbox.repo / ".git"
    script = (
        f"mkfifo {git}/refs/heads/pipe; ln -s / {git}/refs/heads/loop; ln -s loop {git}/hooks/x; "
        f"mkfifo {git}/info/attributes; rm -f {git}/ORIG_HEAD; mkdir {git}/shallow"
    )
    sandbox.siding("run", "--", "sh", "-c", script)
    (step,) = sandbox.steps()
    found = {(each["what"], each["name"]) for each in step["isolation"]["changes"]}
    assert found == {
        ("branch", "pipe"),
        ("branch", "loop"),
        ("hook", "x"),
        ("git", "info/attributes"),
        ("git", "shallow"),
    }


def test_looking_at_the_checkout_runs_nothing_of_its(sandbox: Sandbox) -> None:
    """Filters, monitors and attributes of the checkout itself: only plain git sets them off."""
    fired = sandbox.directory / "fired"
    evil = f"touch {fired}; cat"
    sandbox.siding("task", "start", "one")
    for key in ("filter.evil.clean", "filter.evil.process", "core.fsmonitor", "diff.evil.command"):
        sandbox.git("config", key, evil)
    (sandbox.repo / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil\n")
    (sandbox.repo / ".gitattributes").write_text("* filter=evil diff=evil\n")
    sandbox.siding("run", "--", "sh", "-c", f"echo 2 >{sandbox.repo}/hello.txt")
    (step,) = sandbox.steps()
    assert step["isolation"]["files"] == "looked at"
    assert [each["name"] for each in noted(step)] == ["hello.txt"]
    assert not fired.exists()
    subprocess.run(
        ["git", "status"], cwd=sandbox.repo, env=sandbox.env, capture_output=True, check=False
    )
    assert fired.exists(), "the trap is none"


def test_a_task_that_works_longer_than_this_run_is_no_alarm(sandbox: Sandbox) -> None:
    """The other run began before this one and ends after it; it commits in between."""
    for name in ("slow", "quick"):
        sandbox.siding("task", "start", name, "--no-switch")
    flags = sandbox.directory
    script = (
        f"touch {flags}/up; until test -e {flags}/go; do sleep 0.02; done; "
        f"git commit -q --allow-empty -m x; touch {flags}/made; "
        f"until test -e {flags}/end; do sleep 0.02; done"
    )
    slow = start(sandbox, "run", "-t", "slow", "--", "sh", "-c", script)
    quick = (
        f"until test -e {flags}/up; do sleep 0.02; done; touch {flags}/go; "
        f"until test -e {flags}/made; do sleep 0.02; done"
    )
    sandbox.siding("run", "-t", "quick", "--", "sh", "-c", quick)
    (flags / "end").touch()
    assert slow.wait(60) == 0
    for name in ("slow", "quick"):
        assert sandbox.steps(name)[0]["isolation"]["changes"] == []


def test_a_run_without_a_step_is_watched_as_well(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    script = f"echo 2 >{sandbox.repo}/hello.txt; git config user.name Eve"
    done = sandbox.siding("run", "--no-record", "--", "sh", "-c", script)
    assert b"changed meanwhile: your checkout: hello.txt changed" in done.stderr
    assert b"user.name changed" in done.stderr
    assert b"isolation.changed" in sandbox.siding("worktree", "events").stdout
    quiet = sandbox.siding("run", "--no-record", "--", "true")
    assert b"outside" not in quiet.stderr


# -- beside people --------------------------------------------------------------------------------


@contextmanager
def beside(sandbox: Sandbox, *options: str) -> Iterator[None]:
    """Do what is in the block while a run lives in the task."""
    there = sandbox.workspace("one")
    script = "touch up; until test -e go; do sleep 0.05; done"
    run = start(sandbox, "run", "-t", "one", *options, "--", "sh", "-c", script)
    end = time.monotonic() + 60
    while not (there / "up").exists():
        assert time.monotonic() < end, "the run did not begin"
        assert run.poll() is None
        time.sleep(0.02)
    try:
        yield
    finally:
        (there / "go").touch()
        assert run.wait(60) == 0
        for name in ("up", "go"):
            (there / name).unlink()


def a_day(sandbox: Sandbox) -> None:
    """Two people's edits, commits, switches, stashes and fetches, an editor, and git's own care."""
    repo, bare = sandbox.repo, sandbox.directory / "remote.git"
    other = sandbox.directory / "other"
    sandbox.git("clone", "-q", str(bare), str(other))
    (other / "theirs.txt").write_text("theirs\n")
    sandbox.git("add", "-A", cwd=other)
    sandbox.git("commit", "-qm", "theirs", cwd=other)
    sandbox.git("tag", "v1", cwd=other)
    sandbox.git("push", "-q", "--tags", "origin", "main", cwd=other)
    (repo / "hello.txt").write_text("edited\n")
    for name in (".idea/workspace.xml", ".vscode/settings.json"):
        (repo / name).parent.mkdir()
        (repo / name).write_text("{}\n")
    sandbox.git("stash", "-q")
    sandbox.git("fetch", "-q", "--prune", "origin")
    sandbox.git("merge", "-q", "--ff-only", "origin/main")
    sandbox.git("stash", "pop", "-q")
    sandbox.git("switch", "-q", "-c", "mine", "--track", "origin/main")
    sandbox.git("config", "branch.mine.vscode-merge-base", "origin/main")
    sandbox.git("commit", "-qam", "mine")
    sandbox.git("commit", "-q", "--amend", "-m", "mine, better")
    (repo / "src" / "a.py").write_text("a = 2\n")
    sandbox.git("add", "src/a.py")
    sandbox.git("reset", "-q", "--hard", "HEAD~1")
    sandbox.git("reset", "-q", "--hard", "HEAD@{1}")
    second = sandbox.directory / "second"
    sandbox.git("worktree", "add", "-q", str(second), "-b", "second", "main")
    (second / "hello.txt").write_text("second\n")
    sandbox.git("commit", "-qam", "second", cwd=second)
    sandbox.git("worktree", "remove", str(second))
    sandbox.git("rebase", "-q", "main")
    sandbox.git("switch", "-q", "main")
    sandbox.git("merge", "-q", "mine")
    sandbox.git("push", "-q", "-u", "origin", "main")
    sandbox.git("branch", "-D", "mine", "second")
    sandbox.git("branch", "-q", "--track", "next", "origin/main")
    with (repo / ".git" / "info" / "exclude").open("a") as exclude:
        exclude.write(".idea\n")
    (repo / "hello.txt").write_text("stashed, and dropped\n")
    sandbox.git("stash", "-q")
    sandbox.git("stash", "clear")
    sandbox.git("repack", "-adq")
    sandbox.git("gc", "-q")
    sandbox.git("pack-refs", "--all")


@pytest.fixture
def shared(sandbox: Sandbox) -> Sandbox:
    """A repository with a remote, and a task."""
    bare = sandbox.directory / "remote.git"
    sandbox.git("init", "-q", "--bare", "-b", "main", str(bare))
    sandbox.git("remote", "add", "origin", str(bare))
    sandbox.git("push", "-q", "-u", "origin", "main")
    sandbox.siding("task", "start", "one")
    return sandbox


def test_a_day_of_ordinary_work_beside_a_run_is_no_alarm(shared: Sandbox) -> None:
    with beside(shared):
        a_day(shared)
    (step,) = shared.steps()
    assert changes(step) == []
    kinds = {each["what"] for each in noted(step)}
    assert {"branch", "remote branch", "tag", "files", "config", "git"} <= kinds
    said = shared.siding("show").stdout.decode()
    assert "meanwhile your checkout: " in said
    assert "outside " not in said
    assert "(outside!)" not in shared.siding("log").stdout.decode()


def test_seeing_traps_and_working_in_other_tasks_is_no_alarm(shared: Sandbox) -> None:
    shared.siding("task", "start", "two", "--no-switch")
    shared.siding("run", "-t", "two", "--", "sh", "-c", "echo x >.envrc")
    with beside(shared):
        shared.siding("trust", "-t", "two")
        by_hand = shared.workspace("two")
        (by_hand / "hello.txt").write_text("by hand\n")
        shared.git("commit", "-qam", "by hand", cwd=by_hand)
        shared.siding("apply", "-t", "two")
    (step,) = shared.steps("one")
    assert changes(step) == []
    assert "which traps somebody has seen" in {each["name"] for each in noted(step)}


UNITS = "mkdir -p ~/.config/systemd/user/default.target.wants; cd ~/.config/systemd/user; "
HOME_FAMILIES = {
    "a shell": "echo x >>~/.bashrc",
    "a login": "echo x >~/.profile",
    "zsh": "echo x >~/.zshenv",
    "fish": "mkdir -p ~/.config/fish/conf.d; echo x >~/.config/fish/conf.d/x.fish",
    "keys": "mkdir -p ~/.ssh; echo ssh-ed25519 AAAA >>~/.ssh/authorized_keys",
    "ssh": "mkdir -p ~/.ssh; echo 'Match exec x' >>~/.ssh/config",
    "git": "git config --global core.pager x",
    "git elsewhere": "mkdir -p ~/.config/git; echo x >~/.config/git/config",
    "a service": UNITS + "echo x >x.service",
    "an enabled service": UNITS + "ln -s ../x.service default.target.wants/x.service",
    "launchd": "mkdir -p ~/Library/LaunchAgents; echo x >~/Library/LaunchAgents/x.plist",
    "the desktop": "mkdir -p ~/.config/autostart; echo x >~/.config/autostart/x.desktop",
}
GIT = "d=$(git rev-parse --git-common-dir); chmod -R u+w $d/objects; "
GIT_FAMILIES = {
    "hook": "echo x >$d/hooks/pre-commit",
    "config": "git config core.fsmonitor x",
    "git": "echo '* filter=x' >$d/info/attributes",
    "reflog": "git reflog expire --expire=now --all",
    "workspace": "mv $OTHER $OTHER.away; mkdir $OTHER",
    "replacement": "git update-ref refs/replace/$(git rev-parse HEAD) HEAD~1",
}


def test_what_starts_by_itself_in_the_home_is_an_alarm(sandbox: Sandbox) -> None:
    (Path(sandbox.env["HOME"]) / ".bashrc").write_text("# mine\n")
    sandbox.siding("task", "start", "one")
    for script in (*HOME_FAMILIES.values(), "true"):
        sandbox.siding("run", "--", "sh", "-c", script)
    *steps, last = sandbox.steps()
    assert changes(last) == []
    for family, step in zip(HOME_FAMILIES, steps, strict=True):
        found = [(each["what"], each["name"]) for each in changes(step)]
        assert [what for what, _name in found] == ["home"], (family, found)
        assert found[0][1].startswith(sandbox.env["HOME"]), (family, found)
    log = sandbox.siding("log").stdout.decode()
    assert log.count("(outside!)") == len(HOME_FAMILIES)


def test_what_programs_do_to_a_repository_is_an_alarm(sandbox: Sandbox) -> None:
    sandbox.git("commit", "-q", "--allow-empty", "-m", "second")
    sandbox.siding("task", "start", "other", "--no-switch")
    sandbox.siding("task", "start", "one")
    env = {"OTHER": str(sandbox.workspace("other"))}
    for script in GIT_FAMILIES.values():
        sandbox.siding("run", "--", "sh", "-c", GIT + script, env=env)
    for family, step in zip(GIT_FAMILIES, sandbox.steps("one"), strict=True):
        assert {each["what"] for each in changes(step)} == {family}, (family, step["isolation"])


def test_a_pack_without_its_index_is_an_alarm(sandbox: Sandbox) -> None:
    """Of a pack that no step needs; the other one is told at once, before nothing is recordable."""
    objects = sandbox.repo / ".git" / "objects"
    (sandbox.directory / "x").write_text("x")
    blob = sandbox.git("hash-object", "-w", str(sandbox.directory / "x"))
    script = f"echo {blob} | git pack-objects -q {objects}/pack/pack"
    subprocess.run(["sh", "-c", script], cwd=sandbox.repo, env=sandbox.env, check=True)
    sandbox.siding("task", "start", "one")
    sandbox.siding("run", "--", "sh", "-c", GIT + "rm -f $d/objects/pack/*.idx")
    (found,) = changes(sandbox.steps()[-1])
    assert found["what"] == "objects"
    assert found["name"].startswith("the index of pack-")
    shutil.rmtree(objects / "pack")
    sandbox.git("gc", "-q")
    taken = sandbox.directory / "taken"
    taken.mkdir()
    script = GIT + f"mv $d/objects/pack/*.idx {taken}"
    done = sandbox.siding("run", "--", "sh", "-c", script, status=1)
    assert b"warning: outside the workspace: the repository: the index of pack-" in done.stderr
    for index in taken.iterdir():
        shutil.move(index, objects / "pack" / index.name)
    sandbox.siding("run", "--", "true")


def test_an_object_that_a_branch_needs_is_missed(sandbox: Sandbox) -> None:
    """A directory of loose objects that is taken away, as nothing of git's does."""
    objects = sandbox.repo / ".git" / "objects"
    for number in range(500):
        tree = sandbox.git("rev-parse", "HEAD^{tree}")
        commit = sandbox.git("commit-tree", "-m", str(number), tree)
        if len(list((objects / commit[:2]).iterdir())) == 1:
            break
    sandbox.git("branch", "old", commit)
    sandbox.siding("task", "start", "one")
    sandbox.siding("run", "--", "sh", "-c", GIT + f"rm -r $d/objects/{commit[:2]}")
    (found,) = changes(sandbox.steps()[-1])
    assert (found["what"], found["name"]) == ("objects", "objects of branches")
    sandbox.git("update-ref", "-d", "refs/heads/old")
    sandbox.siding("run", "--", "sh", "-c", "git prune --expire=now && git gc -q")
    assert changes(sandbox.steps()[-1]) == []


def test_a_start_up_file_that_is_written_as_it_was_is_none(sandbox: Sandbox) -> None:
    home = Path(sandbox.env["HOME"])
    (home / "dotfiles").mkdir()
    (home / "dotfiles" / "bashrc").write_text("# mine\n")
    (home / ".bashrc").symlink_to("dotfiles/bashrc")
    sandbox.siding("task", "start", "one")
    script = "cat ~/.bashrc >new; cat new >~/.bashrc; touch ~/.bashrc; ln ~/dotfiles/bashrc ~/copy"
    sandbox.siding("run", "--", "sh", "-c", script)
    assert changes(sandbox.steps()[-1]) == []
    sandbox.siding("run", "--", "sh", "-c", "echo more >>~/dotfiles/bashrc")
    (found,) = changes(sandbox.steps()[-1])
    assert found["name"] == str(home / ".bashrc")


@needs_bwrap
def test_a_sandboxed_run_is_never_blamed(shared: Sandbox) -> None:
    with beside(shared, "--sandbox"):
        a_day(shared)
        (Path(shared.env["HOME"]) / ".bashrc").write_text("# somebody else\n")
        shared.git("config", "core.pager", "cat")
        (shared.repo / ".git" / "hooks" / "pre-push").write_text("#!/bin/sh\n")
        (shared.project / "config.yaml").write_text("# edited\n")
    (step,) = shared.steps()
    assert changes(step) == []
    assert {"home", "hook", "config", "record"} <= {each["what"] for each in noted(step)}


@needs_bwrap
def test_a_sandboxed_run_is_blamed_for_what_it_may_write(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    config = Path(sandbox.env["HOME"]) / ".config" / "autostart"
    config.mkdir(parents=True)
    script = f"echo x >{config}/x.desktop"
    sandbox.siding("run", "--sandbox", "--write", str(config), "--", "sh", "-c", script)
    (found,) = changes(sandbox.steps()[-1])
    assert found["name"] == str(config / "x.desktop")
