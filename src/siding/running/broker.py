"""The broker of a run, as its host sees it: where its socket is, and how it is started."""

import fcntl
import os
import sys
from collections.abc import Callable
from pathlib import Path

from siding.ground.ids import TaskId
from siding.ground.process.broker.door import Door
from siding.ground.process.broker.place import make_place, remove_place
from siding.ground.process.capture import Running, start
from siding.record.acts.skeleton import Work
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.reports import RequestsReport
from siding.record.ledger.run_details import RunDetail
from siding.record.place.project import Project
from siding.record.recording.recorder import Recorder
from siding.record.runs.run import Run

OpensDoor = Callable[[], Door | None]


def with_requests(recorder: Recorder, intent: Intent, draft: Draft) -> Draft:
    """Return the draft with a report on what the run asked, if it asked anything."""
    if not os.path.exists(recorder.layout.artifact(intent.stem, "requests")):
        return draft
    from siding.record.runs.requests import counted  # few runs ask anything

    assert isinstance(draft.detail, RunDetail)
    found = counted(recorder.layout, intent.stem)
    report = None if found is None else RequestsReport(*found)
    return draft._replace(detail=draft.detail._replace(requests=report))


def place_of_broker(work: Work) -> str:
    """Make the directory of the socket, which goes with the act; return the socket's path.

    "" if there can be none: the run does without.
    """
    app = work.project.app
    try:
        place = str(make_place(app.env, app.random_bytes))
    except OSError:
        return ""
    work.resources.callback(remove_place, place)
    return place


def door_of(
    project: Project, task_id: TaskId, run: Run, act: str, screen: int | None = None
) -> OpensDoor:
    """Return what opens the door of a run to its broker.

    The record of its requests is named by the act's id `act`; "" for none. On the descriptor
    `screen` the broker says that a person is waited for; None: nobody would read it.
    """
    app = project.app

    def start_broker(listening: int, lifeline: int) -> Running:
        words = [
            "-C",
            str(project.paths.root),
            "-q",
            "__broker",
            "--task",
            task_id,
            "--run",
            run.id,
        ]
        ends = ["--act", act, "--listening", str(listening), "--lifeline", str(lifeline)]
        # Its own standard error is read by us; so what is ours comes along under another number.
        said = () if screen is None else (fcntl.fcntl(screen, fcntl.F_DUPFD_CLOEXEC, 3),)
        try:
            return _started([*words, *ends], listening, lifeline, said)
        finally:
            for each in said:
                os.close(each)

    def _started(words: list[str], listening: int, lifeline: int, said: tuple[int, ...]) -> Running:
        words = [*words, *(word for each in said for word in ("--screen", str(each)))]
        return start(
            # With -m, Python looks for the package in the directory first: it must be one of ours.
            [sys.executable, "-m", "siding", *words],
            env={**app.env, "SIDING_HOME": str(app.home.root)},
            cwd=project.layout.root,
            keep_fds=(listening, lifeline, *said),
        )

    def opened() -> Door | None:
        if not run.broker:
            return None
        try:
            return Door(Path(run.broker), start_broker)
        except OSError:
            return None  # /tmp is full, say: the run goes on without

    return opened
