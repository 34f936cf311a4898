"""One look at permissions and links: who is asked, what stays known, and what counts as usual."""

import os
from collections.abc import Callable, Collection
from pathlib import Path
from types import SimpleNamespace

import pytest

from siding.ground.ids import Sha
from siding.record.snapshots import mode_look
from siding.record.snapshots.directory_scan import scan_tree
from siding.record.snapshots.mode_look import Looked, Memory, ModeLook, recall, remember
from siding.record.snapshots.modes import Bare, Modes, Usual
from siding.record.snapshots.store import TaskDirectory

from .world import World, write

TIP, STORED = Sha("12" * 20), Sha("34" * 20)
USUAL = Usual(0o644, 0o755, 0o755)


class Looking:
    """Ada's own checkout, with its index as that of a task, and a clock that is set by hand."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world, self.root = world, world.root
        self.task = TaskDirectory(path=world.root / ".git", ref="refs/tasks/x")
        self.began = int(os.stat(world.root / "a.txt").st_ctime)
        self.now = self.began + 100  # far behind all files: none counts as young
        monkeypatch.setattr(mode_look, "time", SimpleNamespace(time=lambda: self.now))

    def look(
        self,
        *,
        updated: Collection[bytes] = (),
        dropped: Collection[bytes] = (),
        usual: Usual | None = USUAL,
        bare: Bare | None = None,
        entered: Callable[[], object] | None = None,
    ) -> Looked:
        looking = ModeLook(self.task, os.fsencode(self.root), 20)
        looking.git_has_looked()
        if entered is not None:
            entered()
        found = looking.finish(
            scan_tree(os.fsencode(self.root)),
            updated=updated,
            dropped=dropped,
            usual=usual,
            bare=bare,
        )
        assert found is not None
        remember(self.task.modes, found.kept(TIP, STORED), looking.known)
        return found

    def know(self, **fields: object) -> Memory:
        """Let the memory of the last look be another one."""
        memory = recall(self.task.modes)
        assert memory is not None
        modes = {name: fields.pop(name) for name in Modes._fields if name in fields}
        memory = memory._replace(modes=memory.modes._replace(**modes))._replace(**fields)  # type: ignore[arg-type]
        remember(self.task.modes, memory, None)
        return memory

    def chmod(self, **modes: int) -> None:
        for name, mode in modes.items():
            (self.root / name).chmod(mode)

    def git_looks(self) -> None:
        self.world.user("add", "-A")

    def git_sees(self, *names: str) -> None:
        """Let git note the times of these files, even in the second in which it did it last."""
        for name in names:
            os.utime(self.root / name, (1, 1))
        self.world.user("update-index", "--refresh")


def others(found: Looked) -> tuple[set[bytes], set[bytes]]:
    """Files of somebody else, and those with links elsewhere."""
    return set(found.foreign), set(found.linked)


@pytest.fixture
def looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Looking:
    world = World(tmp_path / "world")
    world.root.chmod(0o755)
    for name in ("a.txt", "b", "c", "d", "dir/e"):
        write(world.root / name, name)
        (world.root / name).chmod(0o644)
    (world.root / "dir").chmod(0o755)
    world.commit({})
    return Looking(world, monkeypatch)


FULL = Memory(
    tip=TIP,
    since=5,
    checksum=b"\x01\xff",
    young=frozenset([b"y\xff"]),
    foreign=frozenset([b"f"]),
    linked=frozenset([b"l"]),
    modes=Modes(
        Usual(0o600, 0o700, 0o750),
        {b"a\xff": 0o640},
        {b"": 0o700},
        ((b"a", b"b"), (b"c", b"d")),
        Bare((b"e",), (b"o",), (b"u\n",)),
    ),
    stored=STORED,
)


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "modes"
    assert recall(path) is None
    plain = FULL._replace(modes=Modes(USUAL, {}, {}, (), None), stored=None)
    for memory in (FULL, plain, plain._replace(modes=plain.modes._replace(bare=Bare()))):
        remember(path, memory, None)
        assert recall(path) == memory


def test_what_says_nothing_new_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "modes"
    remember(path, FULL._replace(since=9), FULL)
    assert not path.exists()
    remember(path, FULL._replace(stored=None), FULL)
    assert path.exists()


def test_the_first_look_asks_every_file(looking: Looking) -> None:
    looking.chmod(b=0o600, c=0o755, d=0o700)
    looking.git_looks()
    bare = Bare((b"void",))
    found = looking.look(bare=bare)
    assert found.modes == Modes(USUAL, {b"b": 0o600, b"d": 0o700}, {}, (), bare)
    assert others(found) == (set(), set())
    assert found.young == set()
    assert found.since == looking.now - 1  # the clock of files may be a little behind
    assert found.checksum == (looking.root / ".git/index").read_bytes()[-20:]
    assert recall(looking.task.modes) == found.kept(TIP, STORED)


def test_who_is_not_asked_stays_as_known(looking: Looking) -> None:
    looking.look()
    known = looking.know(
        foreign=frozenset([b"a.txt"]),
        linked=frozenset([b"b"]),
        files={b"c": 0o600, b"dir/e": 0o640},
        links=((b"a.txt", b"d"),),
    )
    found = looking.look()
    assert found.kept(TIP, STORED)._replace(since=known.since) == known
    looking.world.user("rm", "-q", "--cached", "c")  # another index: its names are asked for
    found = looking.look()
    assert found.modes.files == {b"dir/e": 0o640}
    assert others(found) == ({b"a.txt"}, {b"b"})
    assert found.modes.links == ((b"a.txt", b"d"),)
    looking.world.user("rm", "-q", "--cached", "a.txt", "b", "dir/e")
    found = looking.look()
    assert found.modes.files == {}
    assert others(found) == (set(), set())
    assert found.modes.links == ()


def test_what_is_no_part_of_the_snapshot_is_forgotten(looking: Looking) -> None:
    looking.look()
    looking.know(
        foreign=frozenset([b"b", b"c"]),
        linked=frozenset([b"b", b"c"]),
        young=frozenset([b"b", b"d"]),
        files={b"b": 0o600, b"c": 0o600},
    )
    looking.chmod(b=0o640, d=0o640)
    found = looking.look(dropped=[b"b"])
    assert found.modes.files == {b"c": 0o600, b"d": 0o640}
    assert others(found) == ({b"c"}, {b"c"})


def test_below_what_is_recorded_anew_nothing_is_known(looking: Looking) -> None:
    looking.look()
    looking.know(files={b"dir/e": 0o600, b"c": 0o600})
    (looking.root / "dir/e").unlink()
    (looking.root / "dir").rmdir()
    write(looking.root / "dir", "a file")
    assert looking.look(updated=[b"dir"]).modes.files == {b"c": 0o600}


def test_only_who_may_have_changed_is_asked(looking: Looking) -> None:
    looking.look()
    looking.chmod(b=0o600, c=0o600, d=0o600)
    assert looking.look().modes.files == {}  # git has seen no change, and no file is young
    assert looking.look(updated=[b"b"]).modes.files == {b"b": 0o600}
    looking.know(young=frozenset([b"c"]))
    assert looking.look().modes.files == {b"b": 0o600, b"c": 0o600}
    looking.git_sees("d")
    looking.know(since=looking.began - 5)
    assert looking.look().modes.files == {b"b": 0o600, b"c": 0o600, b"d": 0o600}
    looking.chmod(b=0o644, c=0o644)
    looking.know(young=frozenset([b"c"]))
    assert looking.look(updated=[b"b"]).modes.files == {b"d": 0o600}


def test_a_time_of_the_look_itself_counts_as_later(looking: Looking) -> None:
    looking.look()
    looking.chmod(b=0o600)
    looking.git_sees("b")
    changed = int((looking.root / "b").stat().st_ctime)
    memory = looking.know(since=changed + 1)
    assert looking.look().modes.files == {}
    remember(looking.task.modes, memory._replace(since=changed), None)
    assert looking.look().modes.files == {b"b": 0o600}


def test_a_file_that_git_has_never_looked_at_is_asked(looking: Looking) -> None:
    looking.look()
    looking.chmod(b=0o600)
    sha = looking.world.user("rev-parse", ":b").decode().strip()
    looking.world.user("update-index", "--cacheinfo", f"100644,{sha},b")
    assert looking.look().modes.files == {b"b": 0o600}


def test_who_changed_at_the_time_of_a_look_is_young(looking: Looking) -> None:
    changed = int((looking.root / "b").stat().st_ctime)
    looking.now = changed + 1
    assert b"b" in looking.look().young
    looking.now = changed + 2
    (looking.task.modes).unlink()
    assert b"b" not in looking.look().young


def test_a_clock_that_was_set_back_makes_everybody_be_asked(looking: Looking) -> None:
    looking.look()
    looking.chmod(b=0o600)
    looking.now -= 1
    assert looking.look().modes.files == {b"b": 0o600}
    looking.chmod(c=0o600)
    assert looking.look().modes.files == {b"b": 0o600}  # the clock stood still: that is fine


def test_without_an_index_that_can_be_read_nothing_is_said(looking: Looking) -> None:
    for content in (None, b"", b"DIRC damaged"):
        (looking.root / ".git/index").unlink(missing_ok=True)
        if content is not None:
            (looking.root / ".git/index").write_bytes(content)
        with pytest.raises(AssertionError):
            looking.look()


def test_rights_of_somebody_else_are_not_lent(
    looking: Looking, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, group = os.lstat(looking.root / "b").st_uid, os.lstat(looking.root / "b").st_gid
    looking.chmod(b=0o4755, c=0o2755)
    for user, users, kept in (
        (me, group, {b"b": 0o4755, b"c": 0o2755}),
        (me + 1, group, {b"c": 0o2755}),
        (me, group + 1, {b"b": 0o4755}),
    ):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        monkeypatch.setattr(os, "getegid", lambda users=users: users)
        looking.task.modes.unlink(missing_ok=True)
        found = looking.look()
        assert found.modes.files == kept
        everything = {b"a.txt", b"b", b"c", b"d", b"dir/e"}
        assert found.foreign == (set() if user == me else everything)


def test_to_root_no_file_is_somebody_elses(
    looking: Looking, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() == 0:
        os.chown(looking.root / "b", 12345, -1)
    looking.chmod(b=0o4755)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    found = looking.look()
    assert found.foreign == set()
    assert b"b" not in found.modes.files


def link(looking: Looking, old: str, new: str) -> None:
    (looking.root / new).unlink(missing_ok=True)
    os.link(looking.root / old, looking.root / new)


def test_links_are_found_and_those_to_elsewhere(looking: Looking) -> None:
    link(looking, "d", "b")
    link(looking, "dir/e", "a.txt")
    os.link(looking.root / "c", looking.world.directory / "outside")
    os.link(looking.root / "d", looking.world.directory / "besides")
    looking.git_looks()
    found = looking.look()
    assert found.modes.links == ((b"a.txt", b"dir/e"), (b"b", b"d"))
    assert found.linked == {b"b", b"c", b"d"}


@pytest.mark.parametrize("torn", ["b", "d"])
def test_who_is_asked_is_asked_with_all_its_names(looking: Looking, torn: str) -> None:
    link(looking, "d", "b")
    looking.git_looks()
    assert looking.look().modes.links == ((b"b", b"d"),)
    (looking.root / torn).unlink()
    write(looking.root / torn, "its own")
    assert looking.look(updated=[torn.encode()]).modes.links == ()


@pytest.mark.parametrize("gone", ["b", "d"])
def test_a_name_that_goes_leaves_the_others(looking: Looking, gone: str) -> None:
    link(looking, "d", "b")
    link(looking, "d", "c")
    looking.git_looks()
    looking.look()
    others = tuple(name for name in (b"b", b"c", b"d") if name != gone.encode())
    found = looking.look(dropped=[gone.encode()])
    assert found.modes.links == (others,)
    assert found.linked == set(others)  # the name that was dropped is there all the same


def test_a_name_that_was_elsewhere_joins_its_file(looking: Looking) -> None:
    os.link(looking.root / "c", looking.root / "new")
    os.link(looking.root / "d", looking.world.directory / "outside")
    found = looking.look()
    assert found.modes.links == ()
    assert found.linked == {b"c", b"d"}
    looking.git_looks()
    found = looking.look(updated=[b"new"])
    assert found.modes.links == ((b"c", b"new"),)
    assert found.linked == {b"d"}


def test_a_directory_is_named_if_it_holds_something_of_the_snapshot(looking: Looking) -> None:
    for name in ("dir", "dirt", "void", "di"):
        (looking.root / name).mkdir(exist_ok=True)
        (looking.root / name).chmod(0o700)
    for name in ("dirt", "di"):
        write(looking.root / name / "x.skip", "ignored")
    (looking.root / ".git/info/exclude").write_text("*.skip\n.git\n")
    looking.root.chmod(0o700)
    found = looking.look().modes.directories
    assert {p: found[p] for p in found if not p.startswith(b".git")} == {
        b"": 0o700,
        b"dir": 0o700,
        b"void": 0o700,
    }
    again = looking.look().modes.directories  # nothing is another: its names are not asked for
    assert again == found
    (looking.root / "dirt").chmod(0o711)
    assert looking.look().modes.directories.keys() == found.keys()


@pytest.mark.parametrize("how", ["updated", "dropped"])
def test_a_directory_is_named_no_more_when_its_last_file_goes(looking: Looking, how: str) -> None:
    looking.chmod(dir=0o700)
    write(looking.root / "dir/x.skip", "ignored")
    assert looking.look().modes.directories[b"dir"] == 0o700

    def taken_out() -> None:
        looking.world.user("rm", "-q", "--cached", "dir/e")

    updated, dropped = ([b"dir/e"], []) if how == "updated" else ([], [b"dir/e"])
    found = looking.look(updated=updated, dropped=dropped, entered=taken_out)
    assert b"dir" not in found.modes.directories


def test_what_git_did_not_take_has_no_mode(looking: Looking) -> None:
    write(looking.root / "untracked", "x")
    looking.chmod(untracked=0o600)
    assert looking.look(updated=[b"untracked"]).modes.files == {}


def test_an_index_that_goes_away_meanwhile_is_known_by_nothing(looking: Looking) -> None:
    looking.look()
    found = looking.look(entered=(looking.root / ".git/index").unlink)
    assert found.checksum == b""


def test_the_usual_mode_is_that_of_most_and_the_smaller_of_two(looking: Looking) -> None:
    looking.chmod(**{"a.txt": 0o600, "b": 0o600, "c": 0o640, "d": 0o711, "dir": 0o700})
    assert looking.look(usual=None).modes.usual[:2] == (0o600, 0o711)
    looking.task.modes.unlink()
    looking.chmod(b=0o640, d=0o600)  # twice 600, twice 640, once 644
    assert looking.look(usual=None).modes.usual[:2] == (0o600, 0o700)
    looking.task.modes.unlink()
    looking.chmod(**{"a.txt": 0o640, "d": 0o640})
    usual = looking.look(usual=None).modes.usual
    assert usual[:2] == (0o640, 0o750)  # no program: who may read may run it
    looking.chmod(**{"a.txt": 0o644, "b": 0o644, "c": 0o644})
    assert looking.look(usual=None).modes.usual == usual  # as it was known
    assert looking.look().modes.usual == USUAL  # as the last snapshot says


def test_without_any_file_the_usual_modes_are_git_s(looking: Looking) -> None:
    looking.world.user("rm", "-q", "-r", ".")
    assert looking.look(usual=None).modes.usual[:2] == Usual()[:2]


def test_what_is_no_file_has_no_mode(looking: Looking) -> None:
    for name in ("b", "c", "d"):
        (looking.root / name).unlink()
    (looking.root / "b").symlink_to("a.txt")
    os.mkfifo(looking.root / "c", 0o600)
    found = looking.look()
    assert found.modes.files == {}
