"""What lies in the workspace's git directory is recorded with each snapshot, as git has it."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.ground.git.objects import Commit, loose_path
from siding.ground.git.refs import write_ref
from siding.ground.ids import Sha
from siding.record.snapshots.capture import Capture
from siding.record.snapshots.git_details import (
    GitDetails,
    GitDetailsStore,
    IndexEntry,
    commits_named_in,
    parse,
)
from siding.record.snapshots.git_state import GitState, state_in, state_of

from .world import TASK, World, write

ONE, TWO = Sha("1" * 40), Sha("ab" * 20)
SHAS = st.sampled_from([Sha("1" * 40), Sha("ab" * 20)])
PATHS = st.binary(min_size=1, max_size=6).filter(lambda path: b"\0" not in path)
ENTRIES = st.builds(
    IndexEntry,
    path=PATHS,
    stage=st.integers(0, 3),
    mode=st.sampled_from(["100644", "100755", "120000", "160000", "000000"]),
    sha=SHAS,
    flags=st.sampled_from(["", "a", "i", "s", "ais"]),
)
NAMED = st.dictionaries(st.text(min_size=1, max_size=5).filter(str.isprintable), SHAS)
DETAILS = st.builds(
    GitDetails,
    entries=st.none() | st.frozensets(ENTRIES, max_size=4).map(lambda s: tuple(sorted(s))),
    files=NAMED,
    documents=NAMED,
)
STATES = st.builds(
    GitState,
    head=st.none() | SHAS,
    branch=st.none() | st.sampled_from(["main", "siding/ä", 'a"b', "(x)"]),
    tip=st.none() | SHAS,
    details=st.none() | SHAS,
)


@given(DETAILS)
def test_details_are_read_back_as_written(details: GitDetails) -> None:
    assert parse(details.text()) == details
    assert details.is_plain == (details == GitDetails())


@given(STATES)
def test_a_state_is_read_back_from_a_snapshots_message(state: GitState) -> None:
    head = f"\nHead: {state.head}" if state.head else ""
    message = f"run 0001\n\nTask: x{head}\nReflog: 12{state.trailers()}"
    assert state_in(Commit(Sha("0" * 40), (), message)) == state


def test_each_part_alone_is_something_to_record() -> None:
    entry = IndexEntry(b"a", 0, "100644", ONE)
    assert GitDetails().is_plain
    assert not GitDetails(entries=(entry,)).is_plain
    assert not GitDetails(entries=None).is_plain
    assert not GitDetails(files={"MERGE_HEAD": ONE}).is_plain
    assert not GitDetails(documents={"flow.json": ONE}).is_plain


def test_the_contents_that_the_index_names() -> None:
    modes = ("100644", "100755", "120000", "160000", "000000", "040000", "100644")
    shas = [Sha(f"{number}" * 40) for number in range(1, 8)]
    entries = [
        IndexEntry(b"f", 0, mode, sha, "i" if sha == shas[-1] else "a")
        for mode, sha in zip(modes, shas, strict=True)
    ]
    assert GitDetails(entries=tuple(entries)).staged == set(shas[:3])
    assert GitDetails(entries=None).staged == set()


def test_what_a_message_says_of_head_and_the_tip() -> None:
    zeros = "0" * 40
    for tip, said in ((ONE, ""), (TWO, f"\nTip: {TWO}"), (None, f"\nTip: {zeros}")):
        assert GitState(ONE, "main", tip, None).trailers() == f"\nBranch: main{said}"
    assert GitState(None, None, None, TWO).trailers() == f"\nBranch: (detached)\nGit: {TWO}"


def test_a_snapshot_that_says_less_is_taken_as_on_the_branch() -> None:
    def taken(message: str) -> GitState:
        return state_of(Commit(Sha(""), (), message), base=ONE, branch="siding/x")

    assert taken("run 0001") == GitState(ONE, "siding/x", ONE, None)
    assert taken(f"run 0001\n\nHead: {TWO}") == GitState(TWO, "siding/x", TWO, None)
    assert taken(f"run 0001\n\nHead: {TWO}\nBranch: b") == GitState(TWO, "b", TWO, None)


def test_a_snapshot_of_before_says_nothing() -> None:
    assert state_in(Commit(Sha("0" * 40), (), "run 0001\n\nHead: " + "1" * 40)) is None
    assert parse("permissions\n\nusual 644") is None
    entry = f"entry 100644 {ONE} 0 - a"
    assert parse(f"git state\n\n{entry}\nno index\n{entry}") == GitDetails(entries=None)


def test_ids_are_found_among_words() -> None:
    first, second = "12" * 20, "ab" * 20
    text = f"{second}\tbranch 'x' of y\npick {first[:7]} z\n{first} {'0' * 40}\n"
    assert commits_named_in(text.encode()) == [first, second]


@pytest.fixture
def task(world: World) -> World:
    world.commit({"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "run.sh": "#!/bin/sh\n"})
    world.start()
    return world


def git(task: World, *words: str, check: bool = True, stdin: bytes = b"") -> str:
    return task.user(*words, cwd=task.worktree, check=check, stdin=stdin).decode().strip()


def taken(task: World) -> Capture:
    """Take a snapshot; a file is changed first, so that there is something to record."""
    write(task.worktree / "changes", str(task.step))
    return task.capture()


def state(task: World, capture: Capture) -> GitState:
    found = state_in(task.store.read_commit(capture.snapshot))
    assert found is not None
    return found


def details(task: World, capture: Capture) -> GitDetails:
    named = state(task, capture).details
    assert named is not None
    found = parse(task.store.read_commit(named).message)
    assert found is not None
    return found


def index(task: World) -> set[tuple[str, str, int, bytes]]:
    """The index as git lists it: mode, id, stage, path."""
    lines = task.user("ls-files", "--stage", "-z", cwd=task.worktree).split(b"\0")[:-1]
    found = set()
    for line in lines:
        head, _, path = line.partition(b"\t")
        mode, sha, stage = head.decode().split(" ")
        found.add((mode, sha, int(stage), path))
    return found


def rebuilt(task: World, capture: Capture) -> set[tuple[str, str, int, bytes]]:
    """The index as the snapshot tells it: HEAD's tree, and what differs."""
    lines = task.user("ls-tree", "-r", "-z", "HEAD", cwd=task.worktree).split(b"\0")[:-1]
    found = set()
    entries = details(task, capture).entries
    assert entries is not None
    different = {entry.path for entry in entries}
    for line in lines:
        head, _, path = line.partition(b"\t")
        mode, _kind, sha = head.decode().split(" ")
        if path not in different:
            found.add((mode, sha, 0, path))
    return found | {(e.mode, e.sha, e.stage, e.path) for e in entries if e.mode != "000000"}


def survives(task: World, capture: Capture) -> None:
    """Everything that the snapshot names is in the store itself, or reachable from the base."""
    base = task.store.base(TASK)
    alone = task.store.place(alternates=())
    named = details(task, capture)
    wanted = [*named.files.values()]
    wanted += [e.sha for e in named.entries or () if e.mode[:2] in ("10", "12") and not e.flags]
    in_base = task.user("rev-list", "--objects", base).decode()
    missing = [s for s in wanted if s not in in_base and s not in task.store.present([s])]
    assert missing == []
    kept = task.store.git.run(
        alone._replace(alternates=(task.store.repository.objects,)),
        ["rev-list", "--objects", capture.snapshot],
        doing="listing",
    ).decode()
    assert all(sha in kept for sha in wanted)


def test_a_plain_state_is_only_a_line(task: World) -> None:
    found = state(task, taken(task))
    assert found == GitState(
        task.head(task.worktree), "siding/task", task.head(task.worktree), None
    )


def test_what_is_staged_removed_and_flagged(task: World) -> None:
    write(task.worktree / "a.txt", "staged\n")
    write(task.worktree / "new/ä", "new\n")
    (task.worktree / "link").symlink_to("a.txt")
    (task.worktree / "run.sh").chmod(0o755)
    git(task, "add", "a.txt", "new", "link", "run.sh")
    write(task.worktree / "a.txt", "and more\n")
    git(task, "rm", "-q", "--cached", "b.txt")
    git(task, "update-index", "--assume-unchanged", "c.txt")
    write(task.worktree / "later", "x\n")
    git(task, "add", "-N", "later")
    capture = taken(task)
    assert rebuilt(task, capture) == index(task)
    flags = {entry.path: entry.flags for entry in details(task, capture).entries or ()}
    assert (flags[b"c.txt"], flags[b"later"], flags[b"a.txt"]) == ("a", "i", "")
    survives(task, capture)


def test_a_conflict_with_its_sides_and_what_git_keeps_of_it(task: World) -> None:
    git(task, "switch", "-qc", "other")
    write(task.worktree / "a.txt", "theirs\n")
    git(task, "commit", "-qam", "theirs")
    theirs = git(task, "rev-parse", "HEAD")
    git(task, "switch", "-q", "siding/task")
    write(task.worktree / "a.txt", "ours\n")
    git(task, "commit", "-qam", "ours")
    git(task, "merge", "other", check=False)
    capture = taken(task)
    assert rebuilt(task, capture) == index(task)
    found = details(task, capture)
    assert {entry.stage for entry in found.entries or ()} == {1, 2, 3}
    assert {"MERGE_HEAD", "MERGE_MSG"} <= found.files.keys()
    survives(task, capture)
    named = state(task, capture).details
    assert named is not None
    assert theirs in task.store.read_commit(named).parents


@pytest.mark.parametrize("command", ["rebase", "cherry-pick", "bisect"])
def test_unfinished_business_is_kept_file_by_file(task: World, command: str) -> None:
    git(task, "branch", "start")
    for number in range(3):
        write(task.worktree / "a.txt", f"{number}\n")
        git(task, "commit", "-qam", f"c{number}")
    if command == "bisect":
        git(task, "bisect", "start", "HEAD", "start")
    else:
        git(task, "switch", "-qc", "aside", "start")
        write(task.worktree / "a.txt", "aside\n")
        git(task, "commit", "-qam", "aside")
        git(task, command, "siding/task", check=False)
    capture = taken(task)
    files = details(task, capture).files
    assert files
    for name, sha in files.items():
        held = task.store.git.run(task.store.place(), ["cat-file", "blob", sha], doing="reading")
        assert held == (task.git_dir / name).read_bytes(), name
    there = set()
    for top in ("rebase-merge", "rebase-apply", "sequencer", "refs/bisect"):
        for directory, _, names in os.walk(task.git_dir / top):
            there |= {os.path.relpath(os.path.join(directory, n), task.git_dir) for n in names}
    assert there <= files.keys()
    survives(task, capture)


def test_where_head_and_the_tasks_branch_are(task: World) -> None:
    base = task.head(task.worktree)
    git(task, "switch", "-qc", "agents/own")
    write(task.worktree / "a.txt", "x\n")
    git(task, "commit", "-qam", "elsewhere")
    found = state(task, taken(task))
    assert found == GitState(task.head(task.worktree), "agents/own", base, None)
    git(task, "switch", "-q", "--detach")
    git(task, "branch", "-qD", "siding/task")
    found = state(task, taken(task))
    assert (found.branch, found.tip) == (None, None)
    git(task, "switch", "-q", "--orphan", "unborn")
    found = state(task, taken(task))
    assert (found.head, found.branch) == (None, "unborn")


def test_a_state_that_did_not_change_is_not_looked_at_again(
    task: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(task.worktree / "a.txt", "staged\n")
    git(task, "add", "a.txt")
    first = taken(task)
    named = state(task, first).details

    def no_process(*_arguments: object) -> None:
        raise AssertionError("it was looked at again")

    with monkeypatch.context() as patched:
        patched.setattr(GitDetailsStore, "entries", no_process)
        assert state(task, taken(task)).details == named
    git(task, "add", "changes")
    assert state(task, taken(task)).details != named


def test_a_change_of_the_index_alone_is_a_snapshot(task: World) -> None:
    write(task.worktree / "a.txt", "staged\n")
    before = task.capture()
    git(task, "add", "a.txt")
    staged = task.capture()
    assert (staged.tree, staged.changes) == (before.tree, ())
    assert staged.snapshot != before.snapshot
    assert details(task, staged).entries
    git(task, "reset", "-q", "--hard")
    write(task.worktree / "a.txt", "staged\n")
    assert state(task, task.capture()).details is None


@pytest.mark.parametrize(
    "command",
    [
        ("switch", "-qc", "b"),
        ("switch", "-q", "--detach"),
        ("commit", "-q", "--allow-empty", "-mx"),
    ],
)
def test_another_head_alone_is_a_snapshot(task: World, command: tuple[str, ...]) -> None:
    before = task.capture()
    git(task, *command)
    assert task.capture().snapshot != before.snapshot


def test_an_index_that_git_only_refreshed_is_no_snapshot(task: World) -> None:
    write(task.worktree / "a.txt", "staged\n")
    git(task, "add", "a.txt")
    before = task.capture()
    for path in ("a.txt", "b.txt", "c.txt"):
        os.utime(task.worktree / path, (1, 1))
    git(task, "update-index", "-q", "--refresh")
    assert task.capture().snapshot == before.snapshot


def test_the_tasks_documents_belong_to_its_state(task: World) -> None:
    first = task.capture()
    task.documents = {"flow-status.json": b"{}", "flow-status.x.json": b"1"}
    second = task.capture()
    found = details(task, second)
    assert second.snapshot != first.snapshot
    assert found.documents.keys() == task.documents.keys()
    assert task.store.read_blob(found.documents["flow-status.json"], 10) == b"{}"
    assert task.capture().snapshot == second.snapshot
    task.documents = {}
    assert state(task, task.capture()).details is None


def test_a_look_whose_snapshot_failed_is_made_again(task: World) -> None:
    """Its commit is named by nothing and may have been collected since."""
    write(task.worktree / "a.txt", "staged\n")
    git(task, "add", "a.txt")
    first = taken(task)
    named = state(task, first).details
    assert named is not None
    write_ref(task.store.root, task.store.task(TASK).ref, first.parent)
    loose_path(task.store.objects, named).unlink()
    again = taken(task)
    assert details(task, again) is not None
    survives(task, again)


def test_an_index_that_is_gone_or_damaged_costs_no_snapshot(task: World) -> None:
    index_file = task.git_dir / "index"
    index_file.unlink()
    assert details(task, taken(task)).entries is None
    index_file.write_bytes(b"DIRC damaged")
    capture = taken(task)
    assert state(task, capture).details is None
    assert capture.coverage.notes == (
        "what is staged, or a git command that is under way, could not be recorded",
    )


def test_the_users_git_directory_is_left_as_it_is(task: World) -> None:
    write(task.worktree / "a.txt", "staged\n")
    git(task, "add", "a.txt")

    def everything() -> dict[str, bytes]:
        return {
            str(path): path.read_bytes()
            for path in Path(task.root / ".git").rglob("*")
            if path.is_file()
        }

    before = everything()
    taken(task)
    assert everything() == before
