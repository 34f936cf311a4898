"""A view as bubblewrap's arguments, as Landlock's rules, and the system call filter."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.ground.process.command import Command
from siding.ground.process.lookup import Program
from siding.sandbox.engines import bwrap, landlock
from siding.sandbox.engines.seccomp import MACHINES, Demand, compiled, rules
from siding.sandbox.engines.start import Sandboxed
from siding.sandbox.engines.values import BindMount, Engine, Kind, Launch, Network, View, is_within

VIEW = View(
    mounts=(
        BindMount(Kind.BLANK, "/home"),
        BindMount(Kind.EMPTY, "/tmp"),
        BindMount(Kind.COPY, "/home/a/.x"),
        BindMount(Kind.WRITE, "/home/a/ws"),
        BindMount(Kind.SHOW, "/home/a/ws/.git"),
        BindMount(Kind.WRITE, "/home/a/objects", "/q"),
    )
)
ALLOW = 0x7FFF0000


def launch(network: Network = Network.ON, *, nobody: bool = False) -> Launch:
    return Launch(
        engine=Engine.BWRAP,
        view=VIEW,
        network=network,
        seccomp=b"",
        setsid="/usr/bin/setsid",
        program="/usr/bin/bwrap",
        nobody=nobody,
    )


def argv(made: Launch, **more: object) -> str:
    given = {"cwd": "/home/a/ws", "status_fd": 7, "seccomp_fd": None, "copies": {}} | more
    return " ".join(bwrap.arguments(made, **given))  # type: ignore[arg-type]


def test_mounts_come_in_order_and_blank_ones_end_read_only() -> None:
    line = argv(launch(), copies={"/home/a/.x": 9})
    order = [
        line.index(part)
        for part in (
            "--ro-bind / /",
            "--tmpfs /home ",
            "--file 9 /home/a/.x",
            "--bind /home/a/ws /home/a/ws",
            "--ro-bind /home/a/ws/.git",
            "--bind /q /home/a/objects",
            "--remount-ro /home",
        )
    ]
    assert order == sorted(order)
    assert line.endswith("--json-status-fd 7 --")
    assert "--cap-drop ALL" in line
    assert "--die-with-parent" in line


def test_a_copy_that_is_gone_is_left_out() -> None:
    assert "--file" not in argv(launch())


def test_a_socket_that_is_gone_is_not_masked(tmp_path: Path) -> None:
    """It was there when the view was planned; bwrap cannot make a file where all is read-only."""
    there, gone = tmp_path / "there.sock", tmp_path / "gone.sock"
    there.touch()
    masks = tuple(BindMount(Kind.MASK, str(path)) for path in (there, gone))
    run = Sandboxed(launch()._replace(view=View(mounts=(*VIEW.mounts, *masks))))
    command = Command(argv=("true",), cwd=tmp_path, env={})
    try:
        line = " ".join(run.spawn_plan(command, Program("/bin/true"), tty=False).command.argv)
    finally:
        run.started()
        run.close()
    assert f"/dev/null {there}" in line
    assert str(gone) not in line


@pytest.mark.parametrize("network", Network)
def test_only_the_machines_own_network_is_shared(network: Network) -> None:
    assert ("--unshare-net" in argv(launch(network))) is (network is not Network.ON)


def test_root_is_nobody_inside_and_the_kernel_is_covered() -> None:
    line = argv(launch(nobody=True))
    assert "--uid 65534" in line
    assert "/proc/sys /proc/sys" in line
    assert "/proc/sys" not in argv(launch())


def test_an_agent_that_believes_root_alone_has_a_root_without_privileges() -> None:
    line = argv(launch(nobody=True)._replace(stays_root=True))
    assert "--cap-drop ALL --uid 0 --gid 0" in line
    assert "--uid" not in argv(launch()._replace(stays_root=True))


def simulate(code: bytes, machine: str, number: int, arguments: tuple[int, ...]) -> int:
    """Run a filter as the kernel does; return what it decides."""
    data = struct.pack("<IIQ6Q", number, MACHINES[machine].audit, 0, *arguments)
    steps = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
    at = accumulator = 0
    while True:
        kind, yes, no, value = steps[at]
        at += 1
        if kind == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif kind == 0x15:
            at += yes if accumulator == value else no
        elif kind == 0x45:
            at += yes if accumulator & value else no
        else:
            assert kind == 0x06
            return int(value)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("demand", [Demand(), Demand(True, True, True)])
@given(number=st.integers(0, 600), first=st.integers(0, 2**40), rest=st.integers(0, 0o40000000))
def test_the_filter_decides_as_its_rules(
    machine: str, demand: Demand, number: int, first: int, rest: int
) -> None:
    arguments = (first, rest, rest, rest, 0, 0)
    expected = ALLOW
    for rule in reversed(rules(demand)):
        low = [arguments[test.argument] & 0xFFFFFFFF for test in rule.tests]
        holds = all(
            bool(have & test.value) if test.bits else have == test.value
            for have, test in zip(low, rule.tests, strict=True)
        )
        if holds and MACHINES[machine].numbers.get(rule.call) == number:
            expected = 0x00050000 | rule.errno
    assert simulate(compiled(machine, demand), machine, number, arguments) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_what_must_be_refused_is(machine: str) -> None:
    numbers = MACHINES[machine].numbers
    code = compiled(machine, Demand(network_off=True, as_root=True, among_others=True))

    def refused(call: str, *arguments: int) -> bool:
        padded = (*arguments, *[0] * (6 - len(arguments)))
        return simulate(code, machine, numbers[call], padded) != ALLOW

    assert refused("ioctl", 0, 0x5412)
    assert not refused("ioctl", 0, 0x5401)
    assert refused("socket", 2, 1)
    assert refused("socket", 10, 2)
    assert refused("socket", 40, 1)
    assert not refused("socket", 1, 1)
    assert refused("fchmodat", 0, 0, 0o4755)
    assert not refused("fchmodat", 0, 0, 0o755)
    assert refused("openat", 0, 0, 0o101, 0o4755)
    assert not refused("openat", 0, 0, 0, 0o4755)
    leading_out = [family for family in range(64) if not refused("socket", family, 1)]
    assert leading_out == [1, 16, 38]
    assert refused("unshare", 0x12020000)
    assert refused("clone", 0x02000011)
    assert not refused("unshare", 0x10020000)
    assert not refused("clone", 0x11)
    assert refused("clone3")
    assert refused("fsetxattr", 3)
    assert refused("prlimit64", 1)
    assert not refused("prlimit64", 0)


def test_another_architecture_has_no_calls() -> None:
    code = compiled("x86_64", Demand())
    assert simulate(code, "x86_64", 0x40000000 | 16, (0, 0, 0, 0, 0, 0)) == 0x00050000 | 38
    foreign = struct.pack("=HBBI", 0x20, 0, 0, 4)
    assert code.startswith(foreign)
    assert compiled("sparc64", Demand()) == b""


TREE = {
    "/": ["etc", "home", "tmp", "usr"],
    "/home": ["a", "b"],
    "/home/a": ["ws", "objects", "secret"],
}


def test_landlock_allows_the_siblings_of_what_is_hidden() -> None:
    found = landlock.rules(
        VIEW,
        Network.OFF,
        version=7,
        listed=lambda path: TREE.get(path, []),
        is_directory=lambda _path: True,
    )
    allowed = dict(found.paths)
    assert {"/etc", "/usr"} <= set(allowed)
    assert not {"/", "/home", "/tmp", "/home/a", "/home/a/secret", "/home/b"} & set(allowed)
    assert allowed["/etc"] & landlock.WRITE_FILE == 0
    assert allowed["/home/a/ws"] & landlock.WRITE_FILE
    assert found.handled_net == landlock.NET_BIND_TCP | landlock.NET_CONNECT_TCP
    assert found.scoped == landlock.SCOPE_ABSTRACT | landlock.SCOPE_SIGNAL


@pytest.mark.parametrize("version", range(1, 8))
def test_no_right_is_asked_for_that_a_version_does_not_know(version: int) -> None:
    newest = {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
    found = landlock.rules(
        VIEW,
        Network.ON,
        version=version,
        listed=lambda path: TREE.get(path, []),
        is_directory=lambda path: path in TREE,
    )
    assert found.handled_fs < 1 << newest
    assert all(rights & ~found.handled_fs == 0 for _path, rights in found.paths)
    assert (found.scoped != 0) is (version >= 6)
    assert found.handled_net == 0


@given(st.lists(st.sampled_from(["/a", "/a/b", "/a/b/c", "/d", "/d/e"]), max_size=4))
def test_landlock_never_allows_what_holds_something_hidden(hidden: list[str]) -> None:
    tree = {"/": ["a", "d"], "/a": ["b", "x"], "/a/b": ["c"], "/d": ["e"]}
    view = View(mounts=tuple(BindMount(Kind.BLANK, path) for path in hidden))
    found = landlock.rules(
        view,
        Network.ON,
        version=5,
        listed=lambda path: tree.get(path, []),
        is_directory=lambda _path: True,
    )
    for path, _rights in found.paths:
        if not path.startswith("/dev"):
            assert not any(is_within(each, path) or is_within(path, each) for each in hidden)


def test_what_landlock_leaves_open_is_said() -> None:
    old = landlock.not_covered(1, filtered=False, network=Network.OFF)
    new = landlock.not_covered(7, filtered=True, network=Network.OFF)
    assert set(new) < set(old)
    assert any("UDP" in line for line in old)
