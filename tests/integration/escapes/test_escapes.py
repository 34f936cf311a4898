"""Ways out of a sandbox that were found in others, or follow from how it is built: all are shut.

Every attack must report one way or the other: one that is broken proves nothing.
"""

import pytest

from bwrap import bwrap_problem

from .world import HARMLESS, World, landlock_version, without_bwrap

NETWORK = {
    "reach_a_server",
    "reach_a_udp_server",
    "a_server_of_its_own",
    "reach_an_abstract_socket",
}
# What Landlock cannot see, and says so in the record.
LANDLOCK_OPEN = {"write_the_git_file", "replace_the_git_file", "reach_a_socket_by_name"}
HIDDEN_SOCKET = {"reach_a_hidden_socket"}


def through(told: dict[str, str]) -> set[str]:
    assert len(told) > 40
    assert not {name: how for name, how in told.items() if how.startswith("broken")}
    return {name for name, how in told.items() if how == "through"}


class TestBwrap:
    @pytest.fixture(autouse=True)
    def _works(self, world: World) -> None:
        if problem := bwrap_problem(tuple(world.prefix)):
            pytest.skip(problem)

    def test_nothing_gets_out(self, world: World) -> None:
        told = world.attacked("--sandbox", "--network", "off")
        assert world.last_step()["sandbox"]["engine"] == "bwrap"
        assert through(told) == set()

    def test_a_loopback_of_its_own_reaches_nobody(self, world: World) -> None:
        told = world.attacked("--sandbox", "--network", "loopback")
        assert through(told) == {"a_server_of_its_own"}

    def test_with_the_network_only_servers_are_reached(self, world: World) -> None:
        told = world.attacked("--sandbox")
        expected = {"reach_a_server", "reach_a_udp_server", "a_server_of_its_own"}
        if landlock_version() < 6:
            expected.add("reach_an_abstract_socket")
        if world.uid == 0:
            told.pop("raw_packets")
        assert through(told) - {"raw_packets"} == expected

    def test_what_cannot_be_reached_is_there(self, world: World) -> None:
        """The same attacks without a sandbox get through: they are no straw men."""
        told = world.attacked_in_the_open()
        assert set(HARMLESS) == {name for name, how in told.items() if how == "through"}


@pytest.mark.skipif(landlock_version() == 0, reason="this kernel has no Landlock")
class TestLandlock:
    def test_only_what_is_said_gets_out(self, world: World) -> None:
        told = world.attacked("--sandbox", "--network", "off", env=without_bwrap(world.root))
        sandbox = world.last_step()["sandbox"]
        assert sandbox["engine"] == "landlock"
        assert "bwrap" in sandbox["reason"]
        assert through(told) <= LANDLOCK_OPEN | HIDDEN_SOCKET
        said = " ".join(sandbox["not_covered"])
        assert ".git file" in said
        assert "sockets in the file system" in said

    def test_a_loopback_of_its_own_is_none(self, world: World) -> None:
        told = world.attacked("--sandbox", "--network", "loopback", env=without_bwrap(world.root))
        assert not NETWORK & through(told)
        assert world.last_step()["sandbox"]["network"] == "off"
