"""Hard links: what a snapshot says of them, and that going back links the same files again."""

import os
import tempfile
from itertools import count
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from siding.record.files.links import with_links
from siding.record.files.plan import plan_restoration
from siding.record.files.restore import restore
from siding.record.files.staging import staged
from siding.record.snapshots.capture import Capture
from siding.record.snapshots.mode_changes import modes_of, parse
from siding.record.snapshots.modes import Modes, Usual
from siding.record.snapshots.patches import diff_trees

from .world import World, on_disk

_NAMES = ("a", "b", "c", "d/e", "d/f")
_NUMBERS = count()
# Which content each name has, or that it is a link to the name that many before it, or missing.
_LAYOUTS = st.lists(
    st.one_of(
        st.none(),
        st.tuples(st.just("new"), st.sampled_from(["one", "two"])),
        st.tuples(st.just("link"), st.integers(1, 4)),
    ),
    min_size=len(_NAMES),
    max_size=len(_NAMES),
)


def lay(root: Path, layout: list[tuple[str, str | int] | None]) -> None:
    """Make the files anew, as the layout says."""
    for name, what in zip(_NAMES, layout, strict=True):
        path = root / name
        path.unlink(missing_ok=True)
        path.parent.mkdir(exist_ok=True)
        if what is None:
            continue
        kind, value = what
        older = _NAMES.index(name) - value if isinstance(value, int) else -1
        if kind == "link" and older >= 0 and (root / _NAMES[older]).exists():
            os.link(root / _NAMES[older], path)
        else:
            path.write_text(f"{value}\n", encoding="utf-8")


def groups(root: Path) -> tuple[tuple[bytes, ...], ...]:
    """Return which of the names are the same file."""
    files: dict[int, list[bytes]] = {}
    for name in sorted(_NAMES):
        if (root / name).exists():
            files.setdefault((root / name).stat().st_ino, []).append(name.encode())
    return tuple(sorted(tuple(group) for group in files.values() if len(group) > 1))


def links(taken: Capture) -> tuple[tuple[bytes, ...], ...] | None:
    assert taken.modes is not None
    return taken.modes.links


def go(world: World, here: Capture, there: Capture) -> None:
    assert here.modes is not None
    plan = plan_restoration(
        diff_trees(world.store, here.tree, there.snapshot),
        modes=modes_of(world.store, there.snapshot),
    )
    plan = with_links(world.store, plan, here.modes.links or (), there.snapshot, ())
    place = world.directory / f"staging{next(_NUMBERS)}"
    with staged(world.store, world.where, plan, place) as contents:
        restore(world.where, plan, contents)


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(first=_LAYOUTS, second=_LAYOUTS)
def test_going_back_links_the_same_files(
    tmp_path: Path,
    first: list[tuple[str, str | int] | None],
    second: list[tuple[str, str | int] | None],
) -> None:
    world = World(Path(tempfile.mkdtemp(dir=tmp_path)) / "w")
    world.commit({})
    world.start()
    root = world.worktree
    lay(root, first)
    before = world.capture()
    was, files = groups(root), on_disk(root)
    assert links(before) == was
    lay(root, second)
    after = world.capture()
    assert links(after) == groups(root)
    assert links(world.capture()) == groups(root)
    go(world, after, before)
    assert groups(root) == was
    assert on_disk(root) == files
    assert links(world.capture()) == was
    world.close()


def test_a_link_to_a_file_elsewhere_is_named_and_not_written_through(task: World) -> None:
    root, outside = task.worktree, task.directory / "outside"
    outside.write_text("one\n", encoding="utf-8")
    os.link(outside, root / "linked")
    first = task.capture()
    assert first.coverage.linked == (b"linked",)
    assert first.coverage.complete
    outside.write_text("two\n", encoding="utf-8")  # through the link, in the workspace too
    second = task.capture()
    go(task, second, first)
    assert (root / "linked").read_text(encoding="utf-8") == "one\n"
    assert outside.read_text(encoding="utf-8") == "two\n"
    assert task.capture().coverage.linked == ()


def test_a_link_that_was_ignored_joins_its_group(task: World) -> None:
    root = task.worktree
    (root / ".gitignore").write_text("*.skip\n", encoding="utf-8")
    (root / "seen").write_text("x\n", encoding="utf-8")
    os.link(root / "seen", root / "also.skip")
    first = task.capture()
    assert (links(first), first.coverage.linked) == ((), (b"seen",))
    (root / ".gitignore").write_text("", encoding="utf-8")
    second = task.capture()
    assert (links(second), second.coverage.linked) == (((b"also.skip", b"seen"),), ())


def test_links_that_nobody_recorded_stay(task: World) -> None:
    """A snapshot of before says nothing of links: going there tears none apart."""
    modes = Modes(Usual(), {}, {})
    read = parse(modes.text())
    assert read is not None
    assert read.links is None
    assert parse(modes._replace(links=((b"a", b'b\n"'),)).text()) == modes._replace(
        links=((b"a", b'b\n"'),)
    )
    root = task.worktree
    os.link(root / "a.txt", root / "b.txt")
    taken = task.capture()
    plan = plan_restoration([], modes=modes)
    assert with_links(task.store, plan, links(taken) or (), taken.snapshot, ()) == plan
