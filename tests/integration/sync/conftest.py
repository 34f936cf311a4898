"""A desk whose base branch moves on."""

import pytest

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
def desk(sandbox: Sandbox) -> Desk:
    """The same in a directory of pytest's."""
    return desk_with_lines(sandbox)
