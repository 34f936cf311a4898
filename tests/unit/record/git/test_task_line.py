"""The line of a task's snapshots: which there are, what each is for, which trees it needs."""

from itertools import count
from pathlib import Path

import pytest

from siding.ground.git import refs
from siding.ground.ids import TaskId
from siding.record.snapshots.task_line import (
    StoredSnapshot,
    StoreElsewhere,
    TaskLine,
    base_snapshot,
    base_snapshots,
    lineage,
    read_line,
    step_snapshots,
)

from .lines import Line
from .world import World

_NUMBERS = count()


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A repository that no test changes."""
    world = World(tmp_path_factory.mktemp("line") / "world")
    world.commit({"a.txt": "one\n"})
    world.commit({"a.txt": "two\n"})
    return world


@pytest.fixture
def line(user: World) -> Line:
    return Line(user, TaskId(f"task{next(_NUMBERS)}"))


def test_a_task_without_a_snapshot_has_none_of_anything(line: Line) -> None:
    store, task_id = line.store, line.task_id
    assert lineage(store, task_id) == base_snapshots(store, task_id) == []
    assert step_snapshots(store, task_id) == []
    assert base_snapshot(store, task_id) is None
    assert read_line(store, task_id) == TaskLine(line.base, {}, (), frozenset())


def test_the_snapshots_are_those_by_first_parent_and_not_the_base(line: Line) -> None:
    aside = line.commit("the agent's", line.base)
    first = line.snapshot("base")
    second = line.snapshot("run 0001", aside)
    assert lineage(line.store, line.task_id) == [second, first]
    assert set(read_line(line.store, line.task_id).commits) == {second, first, aside}


def test_what_a_snapshot_was_taken_for(line: Line) -> None:
    base = line.snapshot("base\n\nTask: x")
    assert base_snapshot(line.store, line.task_id) == base
    converted = line.snapshot("base base")
    first = line.snapshot("run 0001\n\nTask: x 7")
    for message in ("run", "run 1a", "run \u0663", "base bases", "run0004", "sync"):
        line.snapshot(message)
    last = line.snapshot("step before 0012")
    assert base_snapshots(line.store, line.task_id) == [converted, base]
    assert base_snapshot(line.store, line.task_id) == converted
    assert step_snapshots(line.store, line.task_id) == [(last, 12), (first, 1)]


def test_each_snapshot_has_its_tree_and_that_of_what_was_staged(line: Line) -> None:
    files, staged, other = line.tree("files"), line.tree("staged"), line.tree("other")
    details = line.commit("git state", tree=staged)
    modes = line.commit("permissions", tree=other)
    first = line.snapshot("base")
    second = line.snapshot(
        f"run 0001\n\nTask: x\nGit: {details}\nModes: {modes}\n", details, modes, tree=files
    )
    found = read_line(line.store, line.task_id)
    assert found.base == line.base
    assert list(found.snapshots.values()) == [
        StoredSnapshot(second, files, staged),
        StoredSnapshot(first, line.base_tree, None),
    ]
    assert list(found.snapshots) == [second, first]
    assert found.others == frozenset()
    assert found.kept([]) == {files, staged, line.base_tree}
    assert found.kept([second]) == {line.base_tree}
    assert found.freed([second]) == {files, staged}
    assert found.freed([first]) == {line.base_tree}
    assert found.freed([]) == set()


def test_what_another_snapshot_needs_is_not_freed(line: Line) -> None:
    shared = line.tree("shared")
    line.snapshot("base")
    first, second = (line.snapshot(f"run {n}", tree=shared) for n in (1, 2))
    found = read_line(line.store, line.task_id)
    assert found.freed([first]) == found.freed([second]) == set()
    assert found.freed([first, second]) == {shared}


def test_the_agents_commits_keep_their_trees(line: Line) -> None:
    tree, deeper = line.tree("agent"), line.tree("deeper")
    below = line.commit("one", line.base, tree=deeper)
    commit = line.commit("two", below, tree=tree)
    taken = line.snapshot("run 0001", commit)
    found = read_line(line.store, line.task_id)
    assert found.others == {tree, deeper}
    assert found.kept([taken]) == {tree, deeper}


def test_a_tree_that_a_commit_of_the_agents_has_too_stays(line: Line) -> None:
    tree = line.tree("both")
    commit = line.commit("the agent's", line.base, tree=tree)
    taken = line.snapshot("run 0001", commit, tree=tree)
    assert read_line(line.store, line.task_id).freed([taken]) == set()


def test_what_a_sync_brought_in_stays_but_not_what_says_its_permissions(line: Line) -> None:
    files, own = line.tree("synced"), line.tree("of the permissions")
    first = line.snapshot("base")
    modes = line.commit("permissions", tree=own)
    synced = line.commit(f"sync\n\nModes: {modes}\n", first, modes, tree=files)
    line.snapshot("run 0001", synced)
    assert read_line(line.store, line.task_id).others == {files}


def test_what_an_agents_commit_says_of_permissions_is_not_believed(line: Line) -> None:
    """Its message is anybody's: else it could name a commit of its own, whose files would go."""
    files, own = line.tree("agent"), line.tree("named")
    first = line.snapshot("base")
    named = line.commit("mine", tree=own)
    message = f"mine\n\nModes: {named}\n"
    for parents in ((line.base, named), (), (named,), (first, line.commit("x", named))):
        line.snapshot("run", line.commit(message, *parents, tree=files))
    assert {files, own} <= read_line(line.store, line.task_id).others


def test_a_line_that_does_not_reach_the_base_ends_where_it_ends(line: Line) -> None:
    """As that of a task whose older snapshots were cut off."""
    alone = line.commit("run 0001", tree=line.tree("alone"))
    refs.write_ref(line.store.root, line.store.task(line.task_id).ref, alone)
    found = read_line(line.store, line.task_id)
    assert list(found.snapshots) == [alone]
    assert found.commits == (alone,)


def test_a_named_commit_that_is_no_parent_is_not_of_the_task(line: Line) -> None:
    details = line.commit("git state", tree=line.tree("staged"))
    line.snapshot(f"run 0001\n\nGit: {details}\n", tree=line.tree("files"))
    found = read_line(line.store, line.task_id)
    assert [each.details for each in found.snapshots.values()] == [None]
    assert details not in found.commits


def test_the_store_with_other_objects_writes_and_reads_there(line: Line, tmp_path: Path) -> None:
    other = StoreElsewhere(line.store, tmp_path / "objects")
    (tmp_path / "objects/pack").mkdir(parents=True)
    place = other.place(alternates=())
    written = line.store.git.run(place, ["hash-object", "-w", "--stdin"], doing="x", stdin=b"new")
    sha = written.decode().strip()
    assert other.present([sha]) == {sha}
    assert other.read_blob(sha, 10) == b"new"
    assert line.store.present([sha]) == set()
    assert (other.root, other.repository) == (line.store.root, line.store.repository)
