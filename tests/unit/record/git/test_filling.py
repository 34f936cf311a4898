"""A workspace whose files cannot be written: what git said, and what helps where it is known."""

import pytest

from integration.undo.desk import Desk
from siding.ground.errors import SidingError
from siding.tasks.start import start_task


@pytest.mark.parametrize("partial", [False, True])
def test_only_of_a_partial_clone_it_is_said_that_its_files_may_come_yet(
    desk: Desk, partial: bool
) -> None:
    sha = desk.sandbox.git("rev-parse", "HEAD:hello.txt").strip()
    objects = desk.sandbox.repo / ".git/objects"
    (objects / sha[:2] / sha[2:]).unlink()
    if partial:
        desk.sandbox.git("config", "core.repositoryFormatVersion", "1")
        desk.sandbox.git("config", "extensions.partialClone", "origin")
    with pytest.raises(SidingError) as caught:
        start_task(Desk.again(desk).project, name="another", base=None)
    assert ("partial clone" in (caught.value.hint or "")) == partial
    assert sha in str(caught.value)
