"""The content of a changed file as it is in the workspace, if that is what a patch leads to."""

from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.files.regular import read_below
from siding.ground.hashing import new_digest
from siding.record.place.project import Project
from siding.record.place.task_workspace import workspace_of
from siding.record.recording.recorded_patches import FilePart
from siding.record.tasks.task import Task

_SHA1 = 40  # hexadecimal digits


def content_now(project: Project, task: Task, part: FilePart, limit: int) -> str | None:
    """Return the content of a file's new side, decoded as rows of a patch are.

    A state that was only looked at is in no store. None if the file is not as the patch says.
    """
    workspace = workspace_of(project, task)
    if workspace is None or not part.new_blob:
        return None
    try:
        raw = read_below(Path(workspace.path), Path(part.path), limit + 1)[0]
    except (OSError, SidingError, ValueError):
        return None
    digest = new_digest("sha1" if len(part.new_blob) == _SHA1 else "sha256", len(raw))
    digest.update(b"blob %d\0" % len(raw) + raw)
    named = digest.hexdigest() == part.new_blob
    return raw.decode("utf-8", "backslashreplace") if named else None
