"""Give comments to an agent by its hooks, once: on the disk before it is told, proven afterwards.

A comment that waits is a draft. As its agent's turn ends, or with the agent's next prompt, it is
marked as handed, and only then told. The proof that the model was given it is the mark in the
agent's transcript. Without the mark, whoever was to tell it was killed before: it waits again.
"""

import mmap
import os
from collections.abc import Iterable
from pathlib import Path

from siding.comments.comment import Comment, State, as_prompt
from siding.comments.placing import placed
from siding.comments.store import Comments
from siding.ground.errors import SidingError
from siding.ground.files.regular import open_regular
from siding.record.place.project import Project
from siding.record.tasks.task import Task

_MARK = "siding:"


def hand(project: Project, task: Task, run: str, transcript: str) -> str:
    """Return the prompt with the comments that wait for a run, marked as handed; "" for none.

    What was handed before is looked for in the transcript first. Raises LockBusy, DamagedFile.
    """
    layout = project.task_layout(task.id)
    if not any(each.waits_for == run for each in Comments.read(layout).all):
        return ""
    with Comments.changing(layout) as comments:
        _prove(project, comments, run, transcript)
        chosen = [each for each in comments.all if each.waits_for == run]
        if not chosen:
            return ""
        mark = _MARK + project.app.random_bytes(6).hex()
        shown = [placed(project, task, comments, each) for each in chosen]
        comments.put(each.comment._replace(handed=mark) for each in shown)
        return as_prompt(shown, mark)


def prove(project: Project, task: Task, run: str, transcript: str) -> None:
    """Say that comments were sent to a run, if they were handed and its transcript has them.

    The others wait as before. Raises LockBusy, DamagedFile.
    """
    layout = project.task_layout(task.id)
    if any(each.waits_for == run and each.handed for each in Comments.read(layout).all):
        with Comments.changing(layout) as comments:
            _prove(project, comments, run, transcript)


def _prove(project: Project, comments: Comments, run: str, transcript: str) -> None:
    handed = [each for each in comments.all if each.waits_for == run and each.handed]
    known = {mark: _has(transcript, mark) for mark in {each.handed for each in handed}}
    comments.put(
        sent(each, run, project.app.now()) if known[each.handed] else each._replace(handed="")
        for each in handed
    )


def sent(comment: Comment, run: str, at: str) -> Comment:
    """Return a comment as it is when an agent was told; `run` is "" if a person tells it."""
    return comment._replace(
        state=State.SENT, sent_at=at, sent_to=run, resolved_at="", waits_for="", handed=""
    )


def waiting(comments: Iterable[Comment], run: str) -> list[Comment]:
    """Return comments as they are while they wait for a run; handed ones as they are."""
    return [
        each
        if each.waits_for == run and each.handed
        else each._replace(state=State.DRAFT, resolved_at="", waits_for=run, handed="")
        for each in comments
    ]


def _has(transcript: str, mark: str) -> bool:
    """Tell whether a transcript has a mark; one that cannot be read has not."""
    if not transcript:
        return False
    try:
        fd = open_regular(Path(transcript))
    except (OSError, SidingError):
        return False
    try:
        with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as content:
            return content.rfind(mark.encode()) >= 0
    except (OSError, ValueError):  # it is empty
        return False
    finally:
        os.close(fd)
