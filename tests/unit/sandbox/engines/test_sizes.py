"""What directories in memory may hold together, and each of them."""

from siding.sandbox.engines.bwrap import sizes
from siding.sandbox.engines.values import BindMount, Engine, Kind, Launch, Network, View


def launch(*paths: str) -> Launch:
    view = View(mounts=tuple(BindMount(kind=Kind.EMPTY, path=each) for each in paths))
    return Launch(
        engine=Engine.BWRAP, view=view, network=Network.ON, seccomp=b"", setsid="/bin/setsid"
    )


def test_the_sum_is_what_was_asked_for_and_none_has_more_than_the_limit_of_memory() -> None:
    asked = launch("/tmp", "/run", "/home/ada", "/repo/.git/logs/refs/heads")
    assert sizes(asked) == {}
    found = sizes(asked._replace(rooms=22 << 20))
    assert set(found) == {"/tmp", "/run", "/home/ada", "/repo/.git/logs/refs/heads", "/dev/shm"}
    assert sum(found.values()) == 22 << 20
    assert found["/tmp"] > found["/home/ada"] > found["/dev/shm"] > found["/run"]
    assert max(sizes(asked._replace(rooms=22 << 20, room=1 << 20)).values()) == 1 << 20
