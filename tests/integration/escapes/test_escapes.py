"""Ways out of a sandbox that were found in others, or follow from how it is built.

Each attempt comes out as the table says, with both engines, as root and as an ordinary user; and
outside all is as before.
"""

import json
import os
import re
from collections.abc import Collection
from pathlib import Path

import pytest

from bwrap import bwrap_problem

from .table import FAMILIES, LEFT, OPEN, ROWS, VANISHES
from .world import INSIDE, World, landlock_version, without_bwrap

DOCS = (Path(__file__).parents[3] / "docs/reference/sandbox.md").read_text(encoding="utf-8")
SERVERS = {
    "reach_a_server",
    "reach_a_server_while_sending",
    "reach_a_server_by_many_ways",
    "reach_a_server_by_the_newer_protocol",
    "reach_a_udp_server",
    "a_server_of_its_own",
    "look_up_a_name",
}
NETWORK = SERVERS | {"reach_an_abstract_socket", "raw_packets", "raw_messages"}
NEEDS_LUCK = {
    "reach_a_service_of_the_machine",  # whether one is there
    "reach_a_server_while_sending",  # whether the machine is set up for it
    "reach_a_server_by_many_ways",
    "reach_a_server_by_the_newer_protocol",
    "look_up_a_name",
    "raw_packets",
    "raw_messages",
}
# Linux 6.6 brought fchmodat2.
NEEDS_LUCK |= {
    name
    for name in ("set_a_file_setuid_by_the_newest_call",)
    if [int(each) for each in os.uname().release.split("-")[0].split(".")[:2]] < [6, 6]
}


def through(told: dict[str, str], left_out: Collection[str] = ()) -> set[str]:
    assert told.keys() == ROWS.keys() - set(left_out)
    assert not {name: how for name, how in told.items() if how.startswith("broken")}
    return {name for name, how in told.items() if how == "through"}


def compare(
    engine: str,
    told: dict[str, str],
    *,
    as_root: bool,
    more: Collection[str] = (),
    left_out: Collection[str] = (),
) -> None:
    """What gets through is what the table says; what vanishes may also fail."""
    came = through(told, left_out)
    tried = (row for name, row in ROWS.items() if name not in left_out)
    expected = {row.name: row.expected(engine, as_root=as_root) for row in tried}
    may = {name for name, how in expected.items() if how is OPEN} | set(more)
    works = {name for name, how in expected.items() if how is VANISHES}
    assert came - may - works == set()
    assert may - came - NEEDS_LUCK == set(), "the table says more than gets through"


def test_each_attempt_has_a_row_and_each_row_an_attempt() -> None:
    for family, rows in FAMILIES.items():
        source = (INSIDE / f"{family}.py").read_text(encoding="utf-8")
        assert re.findall(r"^def ([a-z]\w*)", source, re.MULTILINE) == [row.name for row in rows]
    assert len(ROWS) == sum(map(len, FAMILIES.values()))


def test_what_is_open_is_named() -> None:
    rows = [row for row in ROWS.values() if OPEN in (row.bwrap, row.landlock)]
    assert not [row.name for row in rows if not row.said]
    assert not [row.name for row in rows if row.bwrap is OPEN and row.said not in DOCS]


class TestBwrap:
    @pytest.fixture(autouse=True)
    def _works(self, world: World) -> None:
        if problem := bwrap_problem(tuple(world.prefix)):
            pytest.skip(problem)

    def test_nothing_gets_out(self, world: World) -> None:
        told = world.attacked("--sandbox", "--network", "off")
        assert world.last_step()["sandbox"]["engine"] == "bwrap"
        compare("bwrap", told, as_root=world.uid == 0)

    def test_a_loopback_of_its_own_reaches_nobody(self, world: World) -> None:
        told = world.attacked("--sandbox", "--network", "loopback")
        assert through(told) & NETWORK == {"a_server_of_its_own"}

    def test_with_the_network_only_servers_are_reached(self, world: World) -> None:
        told = world.attacked("--sandbox")
        abstract = set() if landlock_version() >= 6 else {"reach_an_abstract_socket"}
        luck = through(told) & {"any_other_family"}  # whether this kernel has one
        compare("bwrap", told, as_root=world.uid == 0, more=SERVERS | abstract | luck)

    def test_nothing_is_left(self, world: World) -> None:
        assert world.left_by("--sandbox") == set()

    def test_what_cannot_be_reached_is_there(self, world: World) -> None:
        """The same attempts without a sandbox get through: they are no straw men."""
        who = "root" if world.uid == 0 else "user"
        harmless = {name for name, row in ROWS.items() if who in row.harmless}
        told = world.attacked_in_the_open(sorted(harmless))
        came = {name for name, how in told.items() if how == "through"}
        assert harmless - came - NEEDS_LUCK == set()


@pytest.mark.skipif(landlock_version() == 0, reason="this kernel has no Landlock")
class TestLandlock:
    @pytest.fixture
    def newer(self) -> set[str]:
        """What this kernel's Landlock does not stop yet: a test would do harm with it."""
        return {row.name for row in ROWS.values() if row.since > landlock_version()}

    def test_what_an_older_kernel_does_not_stop_is_said(
        self, world: World, newer: set[str]
    ) -> None:
        words = {3: "truncate", 6: "abstract sockets outside can be reached, processes"}
        world.siding(
            "-q", "run", "-t", "attacked", "--sandbox", "--", "true", env=without_bwrap(world.root)
        )
        said = " ".join(world.last_step()["sandbox"]["not_covered"])
        assert {ROWS[name].since for name in newer} == {
            since for since, word in words.items() if word in said
        }

    def test_only_what_is_said_gets_out(self, world: World, newer: set[str]) -> None:
        env = without_bwrap(world.root)
        told = world.attacked("--sandbox", "--network", "off", env=env, left_out=newer)
        sandbox = world.last_step()["sandbox"]
        assert sandbox["engine"] == "landlock"
        assert "bwrap" in sandbox["reason"]
        compare("landlock", told, as_root=world.uid == 0, left_out=newer)
        said = " ".join((*sandbox["not_covered"], DOCS))
        for name in through(told, newer):
            assert ROWS[name].landlock is not OPEN or ROWS[name].said in said, name

    def test_a_loopback_of_its_own_is_none(self, world: World, newer: set[str]) -> None:
        env = without_bwrap(world.root)
        told = world.attacked("--sandbox", "--network", "loopback", env=env, left_out=newer)
        assert not NETWORK & through(told, newer)
        assert world.last_step()["sandbox"]["network"] == "off"

    def test_what_is_left_is_listed(self, world: World) -> None:
        left = world.left_by("--sandbox", env=without_bwrap(world.root))
        assert left == set(LEFT)
        assert json.loads(world.listed)
