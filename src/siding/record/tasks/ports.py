"""The ports of a task: a block of ten, the same as long as the task is there.

Two files say whose a block is: ``tasks/<id>/port`` of the task, and ``ports/<first port>`` of the
home, which is shared by all projects. The block counts if both agree; else another one is searched.
"""

import os

from siding.ground.errors import UnreadableFile
from siding.ground.files.regular import read_small
from siding.ground.ids import TaskId
from siding.ground.storage.layout import Home, ProjectLayout, TaskLayout

BLOCK = 10
_LONGEST = 400  # bytes of either file


def port_of(home: Home, project: ProjectLayout, task_id: TaskId) -> int:
    """Return the first port of a task's block; 0 if it has none.

    Raises UnreadableFile if one of its files is there and cannot be read.
    """
    layout = project.task(task_id)
    try:
        port = int(read_small(layout.port, _LONGEST) or b"0")
        owner = read_small(home.ports_dir / str(port), _LONGEST) if port > 0 else None
    except ValueError:
        return 0
    except OSError as error:
        raise UnreadableFile(
            layout.port,
            f"the ports of task {task_id} cannot be read ({error.filename}: {error.strerror})",
            hint="if it says so again, its disk fails; a run has no SIDING_PORT meanwhile",
        ) from error
    return port if owner == owner_text(layout) else 0


def ports_of(home: Home, project: ProjectLayout, task_id: TaskId) -> range:
    """Return the ports of a task; an empty range if it has none. Raises UnreadableFile."""
    first = port_of(home, project, task_id)
    return range(first, first + BLOCK if first else 0)


def owner_text(layout: TaskLayout) -> bytes:
    """Return what the file of a block says of its task: the task's directory in the home."""
    return os.fsencode(f"{layout.root.parents[1].name}/{layout.root.name}\n")
