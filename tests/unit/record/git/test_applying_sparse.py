"""Which paths a sparse checkout leaves out is asked of git, for what comes and for what goes."""

from pathlib import Path

from siding.ground.git.command import Place
from siding.ground.ids import Sha
from siding.record.moving.move import changed_paths
from siding.record.moving.sparse import is_sparse, left_out

from .world import World, write


def place_of(world: World) -> Place:
    return Place(git_dir=world.paths.common_dir, common_dir=world.paths.common_dir)


def outside(world: World, tmp_path: Path) -> set[bytes]:
    """Move `shown/a` and `hidden/a` to `b` and change `top`; return what of that is left out."""
    for name in ("shown/a", "hidden/a", "top"):
        write(world.root / name, f"{name}\n")
    old = world.commit({})
    for name in ("shown", "hidden"):
        (world.root / name / "a").rename(world.root / name / "b")
    new = world.commit({"top": "changed\n"})
    world.user("sparse-checkout", "set", "--cone", "shown")
    changes = changed_paths(world.repository, place_of(world), Sha(old), Sha(new))
    assert {c.path for c in changes} >= {b"hidden/a", b"hidden/b", b"shown/a", b"shown/b", b"top"}
    found = left_out(world.repository, place_of(world), changes, tmp_path / "scratch")
    assert left_out(world.repository, place_of(world), [], tmp_path / "scratch") == set()
    assert not list((tmp_path / "scratch").glob("*"))
    return found


def test_both_sides_of_what_is_outside_are_left_out(world: World, tmp_path: Path) -> None:
    assert outside(world, tmp_path) == {b"hidden/a", b"hidden/b"}
    assert is_sparse(world.repository, place_of(world))


def test_a_checkout_that_is_not_sparse_any_more_leaves_nothing_out(
    world: World, tmp_path: Path
) -> None:
    assert not is_sparse(world.repository, place_of(world))
    outside(world, tmp_path)
    world.user("sparse-checkout", "disable")
    assert not is_sparse(world.repository, place_of(world))
    world.user("sparse-checkout", "set", "--cone", "shown")
    assert is_sparse(world.repository, place_of(world))
    (world.root / ".git/info/sparse-checkout").unlink()
    assert not is_sparse(world.repository, place_of(world))
