"""The ports of a task on a disk that fails."""

import errno
from pathlib import Path

import pytest

from siding.ground.errors import UnreadableFile
from siding.ground.ids import TaskId
from siding.ground.storage.layout import Home
from siding.record.tasks import ports


def test_ports_that_cannot_be_read_are_not_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, task_id = Home(tmp_path), TaskId("task2345")
    layout = home.project("p")
    assert ports.port_of(home, layout, task_id) == 0

    def failing(path: Path, _limit: int) -> bytes:
        raise OSError(errno.EIO, "Input/output error", str(path))

    monkeypatch.setattr(ports, "read_small", failing)
    with pytest.raises(UnreadableFile, match=r"task2345 cannot be read .*/port: Input/output"):
        ports.ports_of(home, layout, task_id)
