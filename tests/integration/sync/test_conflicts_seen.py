"""A sync that leaves conflicts says so wherever one looks, until they are resolved or undone."""

import pytest

from sandbox import Sandbox


@pytest.fixture
def conflict(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "login")
    sandbox.siding("run", "--no-tty", "--", "sh", "-c", "echo mine >a.txt")
    (sandbox.repo / "a.txt").write_text("theirs\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "theirs")
    sandbox.siding("sync", status=1)
    return sandbox


def seen(sandbox: Sandbox) -> dict[str, bool]:
    today = sandbox.siding("today").stdout
    return {
        "inbox": b"1 conflicting file to resolve" in sandbox.siding("inbox").stdout,
        "waits": b"waits for you" in today,
        "not ready": b"ready to apply" not in today,
        "status": b"main is merged, to be resolved: a.txt" in sandbox.siding("status").stdout,
        "prompt": b"!1" in sandbox.siding("status", "--short").stdout,
    }


def test_it_is_seen_everywhere(conflict: Sandbox) -> None:
    assert seen(conflict) == dict.fromkeys(seen(conflict), True)
    assert b"conflict markers left in a.txt" in conflict.siding("apply", status=1).stderr


@pytest.mark.parametrize("way", ["undo", "resolved"])
def test_it_is_gone_with_its_cause(conflict: Sandbox, way: str) -> None:
    if way == "undo":
        conflict.siding("undo")
    else:
        (conflict.workspace("login") / "a.txt").write_text("both\n")
        conflict.siding("checkpoint")
    assert seen(conflict) == dict.fromkeys(seen(conflict), False)
