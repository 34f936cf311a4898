"""A damaged status of the phases is no dead end."""

from sandbox import Sandbox


def test_starting_again_keeps_the_damaged_status(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "x")
    sandbox.siding("-q", "phase", "start", "impl", "begin")
    refused = sandbox.siding("phase", "start", "impl", "more", status=None)
    assert refused.returncode != 0
    assert b"--again" in refused.stderr
    (status,) = sandbox.project.glob("tasks/*/flow-status.json")
    status.write_bytes(b"[]")
    for command in (
        ("phase", "status"),
        ("phase", "next-step", "x"),
        ("phase", "start", "impl", "x"),
    ):
        refused = sandbox.siding(*command, status=1)
        assert b"phase start PHASE SUMMARY --again" in refused.stderr
    assert status.read_bytes() == b"[]"
    assert [each["kind"] for each in sandbox.steps()] == ["phase"]  # a refusal is no step
    sandbox.siding("phase", "start", "impl", "anew", "--again")
    assert [each.read_bytes() for each in status.parent.glob("*.damaged-*")] == [b"[]"]
    assert b"impl" in sandbox.siding("phase", "status").stdout
    assert sandbox.siding("doctor").stdout == b"everything agrees\n"


def test_a_damaged_earlier_pass_stops_no_new_one(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "x")
    sandbox.siding("-q", "phase", "start", "impl", "begin")
    sandbox.siding("-q", "phase", "start", "impl", "again", "--again")
    (earlier,) = sandbox.project.glob("tasks/*/flow-status.*.json")
    earlier.write_bytes(b"{")
    sandbox.siding("-q", "phase", "start", "impl", "third", "--again")
