"""A desk whose base branch moves on."""

import pytest

from prepared import prepared
from sandbox import Sandbox

from ..undo.desk import Desk

LINES = "".join(f"line {number}\n" for number in range(1, 10))


def desk_with_lines(sandbox: Sandbox) -> Desk:
    """Return a task that began at a commit with `text` of nine lines, `old` and `gone`."""
    for name, content in (("text", LINES), ("old", "old\n"), ("gone", "gone\n")):
        (sandbox.repo / name).write_text(content)
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "lines")
    return Desk(sandbox)


@pytest.fixture
def desk() -> Desk:
    """The same, put back for each test."""
    return Desk.at(prepared(desk_with_lines))
