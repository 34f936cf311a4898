"""Each task has ports of its own."""

import socket
from pathlib import Path

from sandbox import Sandbox

TELL = ("run", "--", "sh", "-c", "echo $SIDING_PORT")


def port(sandbox: Sandbox, *words: str, env: dict[str, str] | None = None) -> int:
    """Return the port that a run of a task is told."""
    told = sandbox.siding(TELL[0], *words, *TELL[1:], env=env).stdout
    return int(told.strip() or b"0")


def test_a_task_keeps_its_ports_and_others_have_others(sandbox: Sandbox) -> None:
    ports = []
    for name in ("one", "two", "three"):
        sandbox.siding("task", "start", name)
        assert sandbox.json("status", "--format", "json")["port"] is None
        ports.append(port(sandbox))
        assert port(sandbox) == ports[-1]
    assert len({each // 10 for each in ports}) == 3
    assert port(sandbox, "-t", "one") == ports[0]
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    assert all(1024 < each < 65527 for each in ports)
    assert not any(first - 10 < each <= last for each in ports)
    shown = f"{ports[0]}-{ports[0] + 9}"
    assert shown in sandbox.siding("task", "show", "one").stdout.decode()
    assert shown in sandbox.siding("status", "-t", "one").stdout.decode()
    assert sandbox.json("task", "show", "one", "--format", "json")["port"] == ports[0]


def test_tasks_of_other_projects_have_other_ports(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    first = port(sandbox)
    owner = (sandbox.directory / "siding/ports" / str(first)).read_text()
    # Another project whose search begins at the same place is sent on.
    other = Sandbox(sandbox.directory / "other", files={"a": "1\n"})
    other.env["SIDING_HOME"] = sandbox.env["SIDING_HOME"]
    other.siding("task", "start", "two")
    second = port(other)
    assert second != first
    (sandbox.directory / "siding/ports" / str(second)).write_text(owner)
    third = port(other)
    assert third not in (first, second)
    assert port(other) == third


def test_a_block_with_a_port_in_use_is_not_given(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    first = port(sandbox)
    for path in (sandbox.directory / "siding/ports").glob("[0-9]*"):
        path.unlink()
    with socket.create_server(("127.0.0.1", first + 3)):
        assert port(sandbox) not in (0, first)


def test_the_ports_of_a_closed_task_are_given_again(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    first = port(sandbox)
    sandbox.siding("task", "close", "one", "--force")
    sandbox.siding("task", "start", "two")
    second = port(sandbox)
    ports = sandbox.directory / "siding/ports"
    # Have the search begin at the block of the closed task: whatever is free is taken first.
    ours = (ports / str(second)).read_bytes()
    (ports / str(second)).write_bytes((ports / str(first)).read_bytes())
    assert port(sandbox) == second
    assert (ports / str(second)).read_bytes() == ours


def test_a_variable_that_is_given_and_a_home_that_is_read_only(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    assert port(sandbox, "-e", "SIDING_PORT=7") == 7
    (sandbox.directory / "siding/ports").rename(sandbox.directory / "siding/elsewhere")
    (sandbox.directory / "siding/ports").write_text("in the way")
    assert port(sandbox, env={"SIDING_PORT": "5"}) == 0
