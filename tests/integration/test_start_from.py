"""`siding task start --from`: branches, commits, pull requests, other tasks and their steps."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from integration.undo.desk import on_disk
from sandbox import Sandbox


@pytest.fixture
def box(sandbox: Sandbox) -> Sandbox:
    """A repository whose main went on after `feature` left it, with a remote of both."""
    remote = sandbox.directory / "ada" / "app.git"
    remote.parent.mkdir()
    sandbox.git("init", "-q", "--bare", "-b", "main", str(remote))
    sandbox.git("remote", "add", "origin", str(remote))
    sandbox.git("switch", "-qc", "feature")
    (sandbox.repo / "feature.txt").write_text("one\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "the feature")
    sandbox.git("push", "-q", "origin", "feature", "main", "feature:refs/pull/12/head")
    sandbox.git("switch", "-q", "main")
    (sandbox.repo / "main.txt").write_text("went on\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "main went on")
    return sandbox


def started(box: Sandbox, *words: str) -> dict[str, Any]:
    found = box.json("task", "start", *words, "--format", "json")
    assert isinstance(found, dict)
    return found


def refused(box: Sandbox, *words: str, status: int = 2) -> str:
    return box.siding("task", "start", *words, status=status).stderr.decode()


def stat(box: Sandbox, *words: str) -> list[str]:
    return box.siding("diff", "--stat", *words).stdout.decode().splitlines()


def source(box: Sandbox) -> Path:
    """Start a task and leave commits, staged, unstaged, untracked and ignored files in it."""
    box.siding("task", "start", "source")
    script = """
        printf 'ignored\\n' >.gitignore; echo i >ignored
        echo committed >c; git add c .gitignore; git commit -qm committed
        echo staged >s; git add s; echo more >>s; printf '\\000\\377\\r\\n' >bytes
        chmod 600 hello.txt; printf '#!/bin/sh\\n' >run; chmod 755 run; ln -s nowhere link
        rm src/a.py
    """
    box.siding("run", "-t", "source", "--", "sh", "-c", script)
    return box.workspace("source")


def said(box: Sandbox, root: Path) -> list[str]:
    return [
        box.git("status", "--porcelain", cwd=root),
        box.git("diff", "--cached", cwd=root),
        box.git("rev-parse", "HEAD", cwd=root),
        box.git("ls-files", "-s", cwd=root),
    ]


@pytest.mark.parametrize("name", ["feature", "origin/feature", "branch:feature", "feature~0"])
def test_what_a_branch_has_belongs_to_the_task(box: Sandbox, name: str) -> None:
    found = started(box, "new", "--from", name)
    root = Path(found["workspace"])
    assert (root / "feature.txt").read_text() == "one\n"
    assert not (root / "main.txt").exists()
    assert box.git("rev-parse", "HEAD", cwd=root) == box.git("rev-parse", "feature")
    assert box.git("symbolic-ref", "--short", "HEAD", cwd=root) == found["branch"]
    assert box.git("status", "--porcelain", cwd=root) == ""
    task = box.json("task", "show", "new", "--format", "json")
    assert task["base_ref"] == "main"
    assert task["base_commit"] == box.git("merge-base", "main", "feature")
    kind = "commit" if "~" in name else "branch"
    assert task["start"]["from"] == {
        "kind": kind,
        "name": name.removeprefix("branch:"),
        "commit": box.git("rev-parse", "feature"),
    }
    assert stat(box)[0].split()[-1] == "feature.txt"
    box.siding("run", "--", "sh", "-c", "echo two >>feature.txt")
    box.siding("apply")
    assert (box.repo / "feature.txt").read_text() == "one\ntwo\n"
    assert box.git("log", "--format=%s", "-3").splitlines()[1:] == ["the feature", "main went on"]


def test_base_and_from_together(box: Sandbox) -> None:
    found = started(box, "new", "--from", "feature", "--base", "feature")
    task = box.json("task", "show", "--format", "json")
    assert (task["base_ref"], task["base_commit"]) == ("feature", box.git("rev-parse", "feature"))
    assert box.steps() == [], "it starts at its base"
    assert found["start"]["from"]["name"] == "feature"


@pytest.mark.parametrize(
    "name", ["#12", "pr/12", "https://github.com/Ada/app/pull/12", "http://x/ada/app/pull/12/files"]
)
def test_a_pull_request_is_fetched(box: Sandbox, name: str) -> None:
    head = box.git("rev-parse", "feature")
    for ref in ("refs/heads/feature", "refs/remotes/origin/feature"):
        box.git("update-ref", "-d", ref)
    box.git("reflog", "expire", "--expire=now", "--all")
    box.git("gc", "-q", "--prune=now")
    found = started(box, "new", "--from", name)
    assert box.git("rev-parse", "HEAD", cwd=Path(found["workspace"])) == head
    assert found["start"]["from"] == {"kind": "pull request", "name": "12", "commit": head}
    assert box.git("for-each-ref", "refs/siding/pull") == ""
    assert not (box.repo / ".git" / "FETCH_HEAD").exists()
    box.git("gc", "-q", "--prune=now")
    closed = box.json("task", "close", "--format", "json")
    assert closed["branch"]["why"] == "nothing on it but what it started from"
    box.git("reflog", "expire", "--expire=now", "--all")
    box.git("gc", "-q", "--prune=now")
    box.siding("gc")
    box.siding("task", "reopen", "new")
    assert box.git("rev-parse", found["branch"]) == head
    assert (box.workspace("new") / "feature.txt").read_text() == "one\n"


def test_a_pull_request_that_is_not_there(box: Sandbox) -> None:
    box.siding("init")
    assert "gave no pull request #13" in refused(box, "new", "--from", "#13", status=1)
    url = "https://github.com/somebody/else/pull/12"
    assert "no remote of this repository is somebody/else" in refused(
        box, "new", "--from", url, status=1
    )
    assert box.json("task", "list", "--format", "json") == []


def test_the_state_of_a_task_comes_whole(box: Sandbox) -> None:
    root = source(box)
    wanted, git = on_disk(root, whole=True), said(box, root)
    del wanted[b"ignored"]
    found = started(box, "copy", "--from", "source")
    new = Path(found["workspace"])
    assert {k: v for k, v in on_disk(new, whole=True).items() if k != b".git"} == {
        k: v for k, v in wanted.items() if k != b".git"
    }
    assert said(box, new) == git
    assert box.git("symbolic-ref", "--short", "HEAD", cwd=new) == found["branch"]
    assert stat(box, "-t", "copy") == stat(box, "-t", "source")
    (step,) = box.steps("copy")
    assert (step["kind"], step["origin"]) == ("checkpoint", "from")
    origin = found["start"]["from"]
    assert (origin["kind"], origin["name"], origin["step"]) == ("task", "source", "0001")
    assert origin["task"] == box.json("task", "show", "source", "--format", "json")["id"]
    assert said(box, root) == git, "the source is as it was"
    assert "whole" in box.siding("verify", "copy").stdout.decode()


def test_the_present_state_is_recorded_first(box: Sandbox) -> None:
    root = source(box)
    (root / "by hand").write_text("1")
    new = Path(started(box, "copy", "--from", "source")["workspace"])
    assert (new / "by hand").read_text() == "1"
    assert [each["kind"] for each in box.steps("source")] == ["run", "checkpoint"]


def test_a_step_and_the_base_of_a_task(box: Sandbox) -> None:
    root = source(box)
    git = said(box, root)
    box.siding("run", "-t", "source", "--", "sh", "-c", "git add -A; git commit -qm 2; rm bytes")
    assert said(box, Path(started(box, "first", "--from", "source@1")["workspace"])) == git
    last = Path(started(box, "last", "--from", "task:source@last")["workspace"])
    assert not (last / "bytes").exists()
    base = started(box, "base", "--from", "source@base")
    assert box.git("rev-parse", "HEAD", cwd=Path(base["workspace"])) == box.git("rev-parse", "main")
    assert base["start"]["from"]["step"] == "base"
    assert box.steps("base") == []


def test_commits_that_only_the_store_has_are_given_back(box: Sandbox) -> None:
    root = source(box)
    git = said(box, root)
    box.git("reset", "-q", "--hard", "main", cwd=root)
    box.siding("checkpoint", "-t", "source", "-m", "back")
    box.git("reflog", "expire", "--expire=now", "--all")
    box.git("gc", "-q", "--prune=now")
    assert said(box, Path(started(box, "copy", "--from", "source@1")["workspace"])) == git
    box.git("fsck", "--connectivity-only")


def test_a_closed_task_and_a_going_back(box: Sandbox) -> None:
    root = source(box)
    git = said(box, root)
    box.siding("task", "close", "source", "--force")
    new = Path(started(box, "copy", "--from", "source")["workspace"])
    assert said(box, new) == git
    box.siding("rollback", "-t", "copy", "--base")
    assert box.git("status", "--porcelain", cwd=new) == ""
    assert box.git("rev-parse", "HEAD", cwd=new) == box.git("rev-parse", "main")
    box.siding("undo", "-t", "copy")
    assert said(box, new) == git


def test_what_was_gone_back_from_is_not_published(box: Sandbox) -> None:
    box.siding("task", "start", "source")
    box.siding("run", "--", "sh", "-c", "echo ok >ok; git add ok; git commit -qm fine")
    box.siding("run", "--", "sh", "-c", "echo key >key; git add key; git commit -qm 'a secret'")
    box.siding("rollback", "--step", "1", "--files")
    found = started(box, "copy", "--from", "source")
    root = Path(found["workspace"])
    assert box.git("log", "--format=%s", "-2", cwd=root).splitlines() == ["fine", "main went on"]
    assert any("gone back from" in note for note in found["notes"])
    assert not (root / "key").exists()
    assert box.git("status", "--porcelain", cwd=root) == ""


def test_a_merge_under_way_is_not_taken_along(box: Sandbox) -> None:
    box.siding("task", "start", "source")
    script = "echo mine >feature.txt; git add -A; git commit -qm mine; git merge -q feature"
    box.siding("run", "--", "sh", "-c", script, status=None)
    found = started(box, "copy", "--from", "source")
    root = Path(found["workspace"])
    assert (root / "feature.txt").read_bytes() == (
        box.workspace("source") / "feature.txt"
    ).read_bytes()
    assert b"<<<<<<<" in (root / "feature.txt").read_bytes()
    assert box.git("status", "--porcelain", cwd=root) == "M feature.txt"
    assert found["notes"] == [
        "a merge under way is not taken along: the files are as they were, uncommitted"
    ]


def test_a_busy_task_gives_its_last_recorded_state(box: Sandbox) -> None:
    import subprocess

    from sandbox import SIDING

    source(box)
    root = box.workspace("source")
    ready = box.directory / "ready"
    script = f"echo half >half; touch {ready}; sleep 60"
    busy = subprocess.Popen(
        [*SIDING, "run", "-t", "source", "--", "sh", "-c", script],
        cwd=box.repo,
        env=box.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not ready.exists():
            assert busy.poll() is None
        found = started(box, "copy", "--from", "source")
    finally:
        busy.terminate()
        busy.wait()
    assert (root / "half").exists()
    assert not (Path(found["workspace"]) / "half").exists()
    assert "busy" in found["notes"][0]


def test_a_state_that_is_not_whole_is_refused(box: Sandbox) -> None:
    source(box)
    box.siding("run", "-t", "source", "--", "sh", "-c", "rm bytes s c run link")
    store = box.project / "snapshots.git" / "objects"
    kept = box.directory / "objects"
    store.rename(kept)
    shutil.copytree(kept, store)
    for pack in (store / "pack").glob("*"):
        pack.chmod(0o600)
        pack.unlink()
    text = refused(box, "copy", "--from", "source@1", status=1)
    assert "the snapshot of task source, step 0001 is lost or not whole" in text
    assert [each["name"] for each in box.json("task", "list", "--format", "json")] == ["source"]


def test_names_that_say_nothing_or_too_much(box: Sandbox) -> None:
    box.siding("task", "start", "feature", "--no-switch")
    text = refused(box, "new", "--from", "feature")
    assert "branch:feature or task:feature" in text
    started(box, "by branch", "--from", "branch:feature")
    assert box.json("task", "show", "by branch", "--format", "json")["start"]["from"]["kind"] == (
        "branch"
    )
    started(box, "by task", "--from", "task:feature")
    text = refused(box, "new", "--from", "nothing", status=1)
    assert "is no branch, tag, commit, pull request or task" in text
    assert "has no step '77'" in refused(box, "new", "--from", "feature@77", status=1)
    assert "no branch 'nothing'" in refused(box, "new", "--from", "branch:nothing", status=1)
    assert "no task 'nothing'" in refused(box, "new", "--from", "task:nothing", status=1)
    box.git("branch", "-D", "feature")
    box.git("update-ref", "refs/remotes/origin/other", "main")
    assert "did you mean 'origin/other'" in refused(box, "new", "--from", "other", status=1)
    assert "--carry" in refused(box, "new", "--from", "main", "--carry")
    assert "--no-workspace" in refused(box, "new", "--from", "main", "--no-workspace")


def test_histories_without_a_common_commit(box: Sandbox) -> None:
    box.git("checkout", "-q", "--orphan", "alien")
    box.git("commit", "-qm", "alien")
    box.git("switch", "-q", "main")
    assert "no commit in common" in refused(box, "new", "--from", "alien")
    started(box, "new", "--from", "alien", "--base", "alien")


def test_line_endings_are_gits(box: Sandbox) -> None:
    """Files that are the same in base and start do not show as changed."""
    box.git("config", "core.autocrlf", "true")
    root = Path(started(box, "new", "--from", "feature")["workspace"])
    assert (root / "feature.txt").read_bytes() == b"one\r\n"
    assert (root / "hello.txt").read_bytes() == b"hello\r\n"
    assert [line.split()[-1] for line in stat(box)[:-1]] == ["feature.txt"]


def test_hooks_run_in_what_it_starts_from(box: Sandbox) -> None:
    box.siding("init")
    config = box.project / "config.yaml"
    text = config.read_text() if config.exists() else ""
    config.write_text(text + "\nhooks:\n  post_create: [cat s >seen]\n")
    box.siding("task", "start", "plain")
    source(box)
    root = Path(started(box, "copy", "--from", "source")["workspace"])
    assert (root / "seen").read_text() == "staged\nmore\n"


def test_a_task_that_only_started_closes_without_force(box: Sandbox) -> None:
    source(box)
    started(box, "copy", "--from", "source")
    box.siding("task", "close", "copy")
    started(box, "other", "--from", "source")
    box.siding("run", "-t", "other", "--", "touch", "new")
    box.siding("task", "close", "other", status=1)


def test_it_is_shown(box: Sandbox) -> None:
    text = box.siding("task", "start", "new", "--from", "feature").stderr.decode()
    assert f"from      branch feature at {box.git('rev-parse', 'feature')[:10]}" in text
    shown = box.siding("task", "show", "new").stdout.decode()
    assert "from               branch feature at " in shown
    os.truncate(box.repo / "main.txt", 0)
    text = box.siding("task", "start", "two", "--from", "feature").stderr.decode()
    assert "left out" not in text, "--carry would not take it along"


def test_the_base_of_a_synced_task(box: Sandbox) -> None:
    """What a sync brought in is not shown as the new task's, and before it not counted."""
    first = box.git("rev-parse", "main")
    source(box)
    (box.repo / "later.txt").write_text("on main\n")
    box.git("add", "-A")
    box.git("commit", "-qm", "later")
    box.siding("sync", "-t", "source")
    started(box, "after", "--from", "source")
    started(box, "before", "--from", "source@1")
    assert stat(box, "-t", "after") == stat(box, "-t", "source")
    bases = [
        box.json("task", "show", name, "--format", "json")["base_commit"]
        for name in ("after", "before")
    ]
    assert bases == [box.git("rev-parse", "main"), first]
    assert not any("later.txt" in line for line in stat(box, "-t", "before"))
    box.siding("apply", "-t", "after")
    assert (box.repo / "c").read_text() == "committed\n"
