"""What is ended alone, and what is not."""

from pathlib import Path

import pytest

from siding.faces.tui.acts.beside import end_entry
from siding.faces.tui.selector.model import Entry, Kind
from siding.ground.errors import NotFound, SidingError, UsageError
from siding.record.place.wiring import open_app


@pytest.mark.parametrize("kind", [each for each in Kind if each is not Kind.WORKFLOW])
def test_what_is_part_of_something_is_ended_with_it(tmp_path: Path, kind: Kind) -> None:
    app = open_app(env={"SIDING_HOME": str(tmp_path)}, cwd=tmp_path)
    with pytest.raises(UsageError) as raised:
        end_entry(app, Entry("k", kind, "it"))
    assert raised.value.hint


def test_a_workflow_is_ended_by_its_run(tmp_path: Path) -> None:
    app = open_app(env={"SIDING_HOME": str(tmp_path)}, cwd=tmp_path)
    entry = Entry("k", Kind.WORKFLOW, "review", address="siding://gone-0000/~workflows/w1")
    with pytest.raises(SidingError) as raised:
        end_entry(app, entry)
    assert isinstance(raised.value, NotFound)
