"""Control groups of runs, in a tree of files as cgroup v2 has it.

Ordinary files take what the kernel's take, but enforce nothing, and none appears in a new
directory: the tests put them there where a group reads or writes one.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from bwrap import needs_bwrap
from siding.ground.process.limits import Limits
from siding.ground.process.side import RunSandbox
from siding.sandbox.engines.cgroup import Delegation, RunGroup, find_delegation, make_group
from siding.sandbox.engines.probe import find_engine
from siding.sandbox.engines.start import Sandboxed
from siding.sandbox.engines.values import BindMount, Kind, Network, View
from unit.ground.process.world import Place

FILES = ("cgroup.procs", "memory.max", "memory.swap.max", "pids.max")


def mounted(root: Path) -> str:
    return f"25 1 0:20 / / rw - ext4 /dev/x rw\n30 25 0:26 / {root} rw shared:4 - cgroup2 c rw\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """/user/app/term, where /user/app is delegated with controllers, as systemd makes it."""
    (tmp_path / "user/app/term").mkdir(parents=True)
    for below, controllers in (("", "cpu"), ("user", "cpu"), ("user/app", "memory pids")):
        (tmp_path / below / "cgroup.subtree_control").write_text(controllers + "\n")
        (tmp_path / below / "cgroup.procs").write_text("")
    (tmp_path / "user/app/term/cgroup.subtree_control").write_text("\n")
    return tmp_path


OWN = "0::/user/app/term\n"


def no_mark(_directory: Path) -> bool:
    return False


def test_the_nearest_group_with_controllers_above_ours(tree: Path) -> None:
    assert find_delegation(mounted(tree), OWN, 1000, no_mark) == Delegation(tree / "user/app")


def test_root_uses_only_what_was_delegated(tree: Path) -> None:
    refused = find_delegation(mounted(tree), OWN, 0, no_mark)
    assert refused.place is None
    assert "root" in refused.reason
    found = find_delegation(mounted(tree), OWN, 0, lambda directory: directory.name == "user")
    assert found.place == tree / "user/app"


def test_one_controller_is_not_enough(tree: Path) -> None:
    (tree / "user/app/cgroup.subtree_control").write_text("memory\n")
    refused = find_delegation(mounted(tree), OWN, 1000, no_mark)
    assert refused.place is None
    assert "controllers" in refused.reason


@pytest.mark.parametrize("own", ["4:memory:/x\n", "0::/../other\n", ""])
def test_a_process_that_is_not_in_the_tree(tree: Path, own: str) -> None:
    assert "no tree" in find_delegation(mounted(tree), own, 1000, no_mark).reason


def test_a_part_of_the_tree_that_is_mounted_elsewhere(tree: Path) -> None:
    mounts = f"30 25 0:26 /user/app {tree / 'user/app'} rw - cgroup2 c rw\n"
    assert find_delegation(mounts, OWN, 1000, no_mark).place == tree / "user/app"
    assert find_delegation(mounts, "0::/user\n", 1000, no_mark).place is None


def test_what_cannot_be_written_was_not_delegated(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_a: False)  # root may write everything
    refused = find_delegation(mounted(tree), OWN, 1000, no_mark)
    assert refused.place is None
    assert "writable" in refused.reason


@pytest.mark.parametrize(
    ("name", "text"), [("memory.max", "1048576\n"), ("cpu.max", "50000 100000\n")]
)
def test_a_group_with_a_limit_of_its_own_is_not_left(tree: Path, name: str, text: str) -> None:
    (tree / "user/app/term" / name).write_text(text)
    refused = find_delegation(mounted(tree), OWN, 1000, no_mark)
    assert refused.place is None
    assert name in refused.reason


def test_a_limit_that_the_place_has_as_well_is_none_to_stay_for(tree: Path) -> None:
    (tree / "user/app/memory.max").write_text("1048576\n")
    for name, text in (("memory.max", "max\n"), ("cpu.max", "max 100000\n"), ("cpuset.cpus", "\n")):
        (tree / "user/app/term" / name).write_text(text)
    assert find_delegation(mounted(tree), OWN, 1000, no_mark).place == tree / "user/app"


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new group has its files, as the kernel makes them."""
    real = Path.mkdir

    def mkdir(path: Path, *words: Any, **more: Any) -> None:
        real(path, *words, **more)
        for name in FILES if path.name.startswith("siding-") else ():
            (path / name).write_text("")

    monkeypatch.setattr(Path, "mkdir", mkdir)


@pytest.mark.usefixtures("filled")
class TestGroup:
    def group(self, tree: Path, limits: Limits) -> RunGroup:
        group = make_group(limits, Delegation(tree / "user/app"))
        assert group is not None
        return group

    def test_it_has_the_limits_and_takes_the_process(self, tree: Path) -> None:
        group = self.group(tree, Limits(memory=1 << 20, processes=10))
        assert group.path.parent == tree / "user/app"
        said = {name: (group.path / name).read_text() for name in FILES}
        assert said["memory.max"] == str(1 << 20)
        assert said["memory.swap.max"] == "0"
        assert int(said["pids.max"]) > 10
        group.enter()
        assert (group.path / "cgroup.procs").read_text() == "0"
        group.close()

    @pytest.mark.parametrize(("theirs", "most"), [("70\n", 70), ("9999\n", 322), ("max\n", 322)])
    def test_the_limit_on_processes_of_the_group_that_is_left_goes_on(
        self, tree: Path, theirs: str, most: int
    ) -> None:
        (tree / "user/app/term/pids.max").write_text(theirs)
        place = find_delegation(mounted(tree), OWN, 1000, no_mark)
        group = make_group(Limits(processes=10), place)
        assert group is not None
        assert int((group.path / "pids.max").read_text()) == most
        group.close()

    def test_only_what_is_limited_is_set(self, tree: Path) -> None:
        group = self.group(tree, Limits(processes=3))
        assert (group.path / "memory.max").read_text() == ""
        group.close()

    @pytest.mark.parametrize(
        ("files", "what", "words"),
        [
            ({"memory.events": "oom 1\noom_kill 1\n"}, "memory", "4096 bytes"),
            ({"pids.events": "max 1\n"}, "processes", "98 processes and threads"),
            ({"pids.events": "max 1\n", "pids.peak": "98\n"}, "processes", "may have 3"),
        ],
    )
    def test_what_the_kernel_refused_is_a_breach(
        self, tree: Path, files: dict[str, str], what: str, words: str
    ) -> None:
        group = self.group(tree, Limits(memory=4096, processes=3))
        for name in files:
            (group.path / name).write_text("low 7\noom 0\noom_kill 0\nmax 0\n")
        assert group.breach() is None
        for name, text in files.items():
            (group.path / name).write_text(text)
        found = group.breach()
        assert found is not None
        assert found.what == what
        assert words in found.sentence
        assert "kernel" in found.sentence
        group.close()

    @pytest.mark.parametrize(
        "files",
        [
            {"memory.events": "oom 0\noom_kill 1\n"},
            {"memory.events": "oom 1\noom_kill 0\n"},
            {"pids.events": "max 1\n", "pids.peak": "97\n"},
        ],
    )
    def test_what_was_refused_for_the_sake_of_others_is_none(
        self, tree: Path, files: dict[str, str]
    ) -> None:
        group = self.group(tree, Limits(memory=4096, processes=3))
        for name, text in files.items():
            (group.path / name).write_text(text)
        assert group.breach() is None
        group.close()


def test_without_a_place_or_a_limit_there_is_no_group(tree: Path) -> None:
    assert make_group(Limits(memory=1), Delegation(None, "none")) is None
    assert make_group(Limits(output=1, disk=1), Delegation(tree / "user/app")) is None


def test_a_group_that_cannot_have_limits_is_not_left_behind(tree: Path) -> None:
    assert make_group(Limits(memory=1), Delegation(tree / "user/app")) is None
    assert not list((tree / "user/app").glob("siding-*"))


def test_groups_of_processes_that_are_gone_are_removed(tree: Path) -> None:
    gone, here = (tree / "user/app" / f"siding-{pid}-aa" for pid in (1 << 30, os.getpid()))
    gone.mkdir()
    here.mkdir()
    make_group(Limits(memory=1), Delegation(tree / "user/app"))
    assert not gone.exists()
    assert here.exists()


@needs_bwrap
@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(("killed", "status"), [("0", 3), ("1", 125)])
def test_a_run_enters_its_group_and_ends_by_what_the_kernel_did(
    tree: Path, place: Place, killed: str, status: int
) -> None:
    limits = Limits(memory=1 << 30)
    group = make_group(limits, Delegation(tree / "user/app"))
    assert group is not None
    (group.path / "memory.events").write_text(f"oom {killed}\noom_kill {killed}\n")
    # Wherever the tests lie: a sandbox has a /dev and a /tmp of its own.
    mounts = (BindMount(kind=Kind.WRITE, path=os.path.realpath(place.folder)),)
    launch = find_engine(dict(os.environ)).launch(View(mounts=mounts), Network.ON)
    sandboxed = Sandboxed(launch, group)
    outcome = place.run(
        "sh", "-c", "exit 3", sandbox=RunSandbox(limits=limits, sandboxed=sandboxed)
    ).outcome
    sandboxed.close()
    assert (group.path / "cgroup.procs").read_text() == "0"
    assert outcome.exit_code == status
    assert ("kernel" in (outcome.reason or "")) is (killed == "1")
