"""Permissions, links and empty directories of a snapshot: their text, and what differs."""

import pytest

from siding.ground.git.objects import Commit, commit_body, write_object
from siding.ground.ids import Sha
from siding.record.snapshots.mode_changes import (
    ModeChange,
    TreeState,
    bare_changes,
    link_changes,
    mode_changes,
    modes_of,
    parse,
    state_of,
)
from siding.record.snapshots.modes import (
    MOST,
    Bare,
    Modes,
    Usual,
    bare_directories,
    differ,
    named_in,
)
from siding.record.snapshots.patches import diff_trees

from .world import World

PLAIN = Modes(Usual(), {}, {})
FULL = Modes(
    usual=Usual(0o600, 0o700, 0o750),
    files={b"b": 0o640, b"a\n": 0o4755},
    directories={b"": 0o700, b"d": 0o555},
    links=((b"a", b"b c"), (b"x", b"y")),
    bare=Bare((b"empty", b"e2"), (b"other",), (b"unknown\n",)),
)
TEXT = """permissions

usual 600 700 750
d 700 ""
d 555 d
f 4755 "a\\n"
f 640 b
links
l 0 a
l 0 b c
l 1 x
l 1 y
bare
e empty
e e2
o other
u "unknown\\n\""""


def test_the_text_is_read_back() -> None:
    assert parse(FULL.text()) == FULL
    assert parse(PLAIN.text()) == PLAIN
    assert parse(PLAIN._replace(links=(), bare=Bare()).text()) == PLAIN._replace(
        links=(), bare=Bare()
    )
    assert parse(TEXT.replace('d 700 ""', "d 700 ")) is not None
    assert [line for line in FULL.text().split("\n") if not line.startswith("d 700")] == [
        line for line in TEXT.split("\n") if not line.startswith("d 700")
    ]


def test_what_is_no_such_text_or_of_a_newer_version() -> None:
    assert parse("something else\n\nusual 644 755 755") is None
    assert parse("permissions\n\nusual six") is None
    assert parse("permissions\n\nf 9 name") is None
    newer = "permissions\n\nusual 600 700 750 7777\nnew x\nl 0 early\ne early\nf 100644 a"
    assert parse(newer) == Modes(Usual(0o600, 0o700, 0o750), {b"a": 0o644}, {})
    assert parse(TEXT + "\nnew x") == parse(TEXT)


def test_what_is_not_listed_is_as_usual() -> None:
    assert Usual() == (0o644, 0o755, 0o755)
    assert FULL.of_file(b"b", executable=False) == 0o640
    assert FULL.of_file(b"c", executable=False) == 0o600
    assert FULL.of_file(b"c", executable=True) == 0o700
    assert FULL.of_directory(b"d") == 0o555
    assert FULL.of_directory(b"e") == 0o750


def test_a_snapshot_names_its_modes_in_its_message() -> None:
    sha = Sha("12" * 20)
    commit = Commit(tree=sha, parents=(), message=f"step 0001\n\nModes: {sha}\n")
    assert named_in(commit) == sha
    assert named_in(commit._replace(message=f"step\n\nNo Modes: {sha}\n")) is None


def test_which_modes_are_another_state() -> None:
    bare = Bare((b"e",), (b"o",), ())
    here = PLAIN._replace(links=(), bare=bare)
    assert not differ(here, here)
    assert differ(here, here._replace(files={b"a": 0o600}))
    assert differ(here, here._replace(links=((b"a", b"b"),)))
    assert not differ(here._replace(links=None), here)
    assert differ(here._replace(links=None), here._replace(links=((b"a", b"b"),)))
    assert differ(here, here._replace(bare=Bare((b"f",), (b"o",))))
    assert not differ(here, here._replace(bare=Bare((b"e",), (b"other",), (b"u",))))
    assert not differ(here._replace(bare=None), here)
    assert not differ(here._replace(bare=None), here._replace(bare=None))
    assert differ(here, here._replace(bare=None))


def test_directories_that_became_empty_or_full() -> None:
    old, new = (PLAIN._replace(bare=Bare(names, (b"x",))) for names in ((b"a", b"b"), (b"b", b"c")))
    assert bare_changes(old, new) == {b"a", b"c"}
    assert bare_changes(old, old) == set()
    for one, other in ((None, new), (old, None), (PLAIN, new), (old, PLAIN)):
        assert bare_changes(one, other) == set()


def test_files_that_are_linked_to_others_than_before() -> None:
    old = PLAIN._replace(links=((b"a", b"b", b"c"), (b"x", b"y")))
    new = PLAIN._replace(links=((b"a", b"b"), (b"d", b"e"), (b"x", b"y")))
    assert list(link_changes(old, new).items()) == [
        (b"a", (b"a", b"b")),
        (b"b", (b"a", b"b")),
        (b"c", ()),
        (b"d", (b"d", b"e")),
        (b"e", (b"d", b"e")),
    ]
    for one, other in ((None, new), (old, None), (PLAIN, new), (old, PLAIN)):
        assert link_changes(one, other) == {}


def test_directories_without_files_of_the_snapshot() -> None:
    found = bare_directories(
        [b"z", b"a"], [b"d/x", b"ignored", b"top", b"d/y"], [b"u"], directories={b"ignored", b"d"}
    )
    assert found == Bare((b"a", b"z"), (b"d",), (b"ignored", b"u"))
    assert Bare((b"a/b",), (b"c",), (b"d/e/f",)).may_have() == {
        b"a/b",
        b"a",
        b"c",
        b"d/e/f",
        b"d/e",
        b"d",
    }
    assert Bare((b"a",), (), (b"u",)).with_unknown([b"v", b"w"]) == Bare(
        (b"a",), (), (b"u", b"v", b"w")
    )
    many = [b"%d" % number for number in range(MOST)]
    assert bare_directories(many, [], [], directories=()) is not None
    assert bare_directories(many, [], [b"u"], directories=()) is None


@pytest.fixture
def trees(world: World) -> tuple[World, Sha, Sha]:
    """Two commits: `run` is executable in the second, `gone` is made `new`, `link` a link."""
    files = {"same": "1", "run": "1", "d/f": "1", "gone": "1", "old/f": "1", "link": "1"}
    first = world.commit(files)
    (world.root / "run").chmod(0o755)
    (world.root / "gone").unlink()
    (world.root / "old/f").unlink()
    (world.root / "link").unlink()
    (world.root / "link").symlink_to("x")
    return world, first, world.commit({"new": "1", "young/f": "1"})


def test_what_has_another_mode(trees: tuple[World, Sha, Sha]) -> None:
    world, first, second = trees
    store = world.store
    before = Modes(
        Usual(),
        {b"same": 0o600, b"gone": 0o600, b"link": 0o600, b"run": 0o640},
        {b"d": 0o700, b"old": 0o700, b"empty": 0o700},
    )
    after = Modes(
        Usual(), {b"new": 0o600, b"same": 0o640}, {b"young": 0o700, b"": 0o700, b"full": 0o700}
    )
    old, new = TreeState(first, before), TreeState(second, after)
    expected = [
        ModeChange(b"", 0o755, 0o700, is_directory=True),
        ModeChange(b"d", 0o700, 0o755, is_directory=True),
        ModeChange(b"run", 0o640, 0o755, is_directory=False),
        ModeChange(b"same", 0o600, 0o640, is_directory=False),
    ]
    assert mode_changes(store, old, new) == expected
    assert mode_changes(store, old, new, empty_before=[b"full"], empty_after=[b"empty"]) == [
        expected[0],
        expected[1],
        ModeChange(b"empty", 0o700, 0o755, is_directory=True),
        ModeChange(b"full", 0o755, 0o700, is_directory=True),
        *expected[2:],
    ]
    assert mode_changes(store, old, old) == []
    assert mode_changes(store, old._replace(modes=None), new) == []
    assert mode_changes(store, old, new._replace(modes=None)) == []
    changes = diff_trees(store, first, second)
    assert mode_changes(store, old, new, changes=changes) == expected
    (run,) = [each for each in changes if each.path == b"run"]
    back = run._replace(old_mode="100755", new_mode="100644")
    assert ModeChange(b"run", 0o640, 0o644, is_directory=False) in mode_changes(
        store, old, new, changes=[back]
    )


def test_other_usual_modes_are_a_change_of_all_that_is_there(
    trees: tuple[World, Sha, Sha],
) -> None:
    world, first, second = trees
    plain = TreeState(first, PLAIN._replace(files={b"same": 0o600}))
    strict = TreeState(second, Modes(Usual(0o600, 0o700, 0o755), {}, {}))
    found = mode_changes(world.store, plain, strict)
    assert {(each.path, each.before, each.after) for each in found} == {
        (b"run", 0o644, 0o700),
        (b"d/f", 0o644, 0o600),
        (b"a.txt", 0o644, 0o600),
        (b"src/b.txt", 0o644, 0o600),
        (b"src/deep/c.txt", 0o644, 0o600),
    }
    closed = TreeState(first, PLAIN._replace(usual=Usual(directory=0o700)))
    found = mode_changes(world.store, TreeState(first, PLAIN), closed)
    assert {each.path for each in found} == {b"src", b"src/deep", b"d", b"old"}
    assert all(each.is_directory for each in found)


def test_programs_have_a_usual_mode_of_their_own(trees: tuple[World, Sha, Sha]) -> None:
    world, _, second = trees
    old = TreeState(second, PLAIN)
    for usual, path in ((Usual(executable=0o700), b"run"), (Usual(file=0o600), b"same")):
        found = mode_changes(world.store, old, TreeState(second, PLAIN._replace(usual=usual)))
        assert path in {each.path for each in found}
        assert {(each.before, each.after) for each in found} == {
            (0o755, 0o700) if path == b"run" else (0o644, 0o600)
        }


@pytest.mark.parametrize(("mode", "usual"), [(0o640, 0o644), (0o601, 0o644), (0o740, 0o755)])
def test_a_mode_that_one_side_names_says_whether_it_is_a_program(
    world: World, mode: int, usual: int
) -> None:
    named = TreeState(world.head(), PLAIN._replace(files={b"f": mode}))
    plain = TreeState(world.head(), PLAIN)
    for old, new, change in ((named, plain, (mode, usual)), (plain, named, (usual, mode))):
        found = mode_changes(world.store, old, new, changes=())
        assert found == [ModeChange(b"f", *change, is_directory=False)]


def test_the_modes_of_a_snapshot(world: World) -> None:
    store, tree = world.store, Sha(world.user("rev-parse", "HEAD^{tree}").decode().strip())

    def commit(message: str) -> Sha:
        body = commit_body(Commit(tree=tree, parents=(), message=message), at=1)
        return write_object(store.objects, "commit", body, "sha1")

    snapshot = commit(f"step 0001\n\nModes: {commit(FULL.text())}\n")
    assert modes_of(store, snapshot) == FULL
    assert state_of(store, snapshot) == TreeState(snapshot, FULL)
    assert modes_of(store, world.head()) is None
    assert modes_of(store, commit(f"step\n\nModes: {world.head()}\n")) is None
