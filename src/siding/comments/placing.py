"""Find the lines of comments in the present text of a task."""

from pathlib import Path

from siding.comments.anchor import found_again
from siding.comments.comment import Comment, Placed, Side
from siding.comments.store import LARGEST, Comments
from siding.ground.errors import SidingError
from siding.ground.files.regular import read_below
from siding.record.place.project import Project
from siding.record.place.task_workspace import known_workspace
from siding.record.recording.line_base import line_base
from siding.record.tasks.task import Task


class NotText(SidingError):
    """What is there has no lines that could be commented."""

    code = "not_text"


def placed(project: Project, task: Task, comments: Comments, comment: Comment) -> Placed:
    """Return a comment with the place of its lines in the present text, which is kept if the
    comments are written."""
    raw = present_text(project, task, comment.path, comment.side)
    kept = comments.text(comment.text_sha256)
    if raw is None or kept is None:
        return Placed(comment, None)
    try:
        old, new = lines_of(kept, comment.path), lines_of(raw, comment.path)
    except NotText:
        return Placed(comment, None)
    at = found_again(old, new, comment.first - 1, comment.size)
    if at is None:
        return Placed(comment, None)
    digest = comment.text_sha256 if kept == raw else comments.keep_text(raw)
    found = comment._replace(first=at + 1, last=at + comment.size, text_sha256=digest)
    return Placed(found, new)


def present_text(project: Project, task: Task, path: str, side: Side) -> bytes | None:
    """Return the text that a comment's lines are of: of the workspace, or of the base."""
    workspace = known_workspace(project, task)
    if side is Side.NEW:
        try:
            return read_below(Path(workspace.path), Path(path), LARGEST + 1)[0]
        except (OSError, SidingError):
            return None
    store = project.snapshots
    base = line_base(project, workspace).commit
    done = store.git.attempt(store.place(), ["cat-file", "blob", f"{base}:{path}"])
    return done.stdout if done.returncode == 0 else None


def lines_of(raw: bytes, path: str) -> list[str]:
    """Return the lines of a text, without their ends. Raises NotText for bytes and long texts."""
    if len(raw) > LARGEST:
        raise NotText(f"{path!r} is larger than {LARGEST >> 20} MiB, so it cannot be commented")
    if b"\0" in raw[:8192]:
        raise NotText(f"{path!r} is no text, so it has no lines")
    lines = raw.decode("utf-8", "surrogateescape").split("\n")
    return lines[:-1] if lines[-1] == "" else lines
