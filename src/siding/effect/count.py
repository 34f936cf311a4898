"""Count an effect: copy the workspace, try the command, keep what it changed, remove the copy.

One command of a project is tried at a time: a lock is held meanwhile. Whoever comes for one that
another process tries waits for that and takes what it found. So a copy that is there while nobody
has the lock was left by a process that died, and the next who has the lock removes it.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from siding.agents.edits import Edit, as_records, from_records
from siding.asking.decisions.record import DecisionChanged, DecisionState
from siding.asking.kinds import is_over
from siding.asking.lookup import decision_store
from siding.effect.computed import computed
from siding.effect.copying import TooLarge, copy_workspace, look, open_up
from siding.effect.difference import difference
from siding.effect.effect import Effect, EffectState
from siding.effect.reach import Reach, reach_of
from siding.effect.store import FOUND, effect_of, forget, forget_removed, keep, not_found
from siding.effect.trial import Ran, Trial, hidden_in, run_trial, why_no_sandbox
from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.guard.in_force import environment_for, ground_of, place_for, policy_in
from siding.record.place.project import Project
from siding.record.snapshots.store import remove_tree
from siding.record.tasks.registry import Workspace

_LOOK_S = 0.2  # between looks whether the question is still open
_TURN = "effects"
_GIT = "not shown: what git records (branches, index); its hooks did not run"


class Asked(NamedTuple):
    """A command that a person is asked about, as it is: with what secrets it has.

    Or a tool that changes files: `line` is its name and its files, for people to read.
    """

    session: str
    line: str
    cwd: Path
    edits: tuple[Edit, ...] = ()
    is_edit: bool = False

    def as_record(self) -> dict[str, Any]:
        """Return it as a JSON object, without the question's name."""
        told = {"line": self.line, "cwd": str(self.cwd), "is_edit": self.is_edit}
        return {**told, "edits": as_records(self.edits)}

    @classmethod
    def from_record(cls, session: str, told: Mapping[str, Any]) -> "Asked":
        """Return what was written as a JSON object."""
        edits, is_edit = from_records(told.get("edits")), told.get("is_edit") is True
        return cls(session, text(told.get("line")), Path(text(told.get("cwd"))), edits, is_edit)


class NotWanted(Exception):
    """The question was answered, or nobody waits for its answer any more."""


def reach_in(project: Project, workspace: Workspace, asked: Asked) -> Reach:
    """Return whether a command may be tried: by what the guard knows of it, and by the machine."""
    env = project.app.env
    place = place_for(
        ground_of(project),
        cwd=asked.cwd,
        workspace=Path(workspace.path),
        policy=policy_in(ground_of(project)).policy,
    )
    known = {name: value for name, value in environment_for(env).items() if value is not None}
    found = reach_of(asked.line, place, known, hidden_in(project, workspace))
    if found.why_not:
        return found
    if found.uses_git and Path(workspace.git_dir) == project.paths.common_dir:
        return Reach(why_not="git is not tried in a checkout, only in a worktree of its own")
    return found._replace(why_not=why_no_sandbox(project))


def count(
    project: Project,
    asked: Asked,
    workspace: Workspace,
    pending: Effect,
    is_left: Callable[[], bool] = lambda: False,
) -> Effect | None:
    """Try a command, and keep its effect; None if nobody wants to know it any more.

    `pending` is the effect without what is counted here. `is_left` tells that whoever has begun
    this is gone. Call it in the main thread.
    """
    wanted = Wanted(project, asked.session, is_left)
    try:
        with _turn(project, asked.session), _room(project) as room, wanted.watched():
            wanted.check()
            present = effect_of(project, asked.session)
            if present is not None and present.state in FOUND:
                return present  # another process has counted it while we waited
            keep(project, asked.session, pending)
            effect, patch = _counted(project, asked, workspace, pending, room, wanted)
            wanted.check()
            keep(project, asked.session, effect, patch)
    except NotWanted:
        forget(project, asked.session)
        return None
    project.events.emit(DecisionChanged(decision_store(project).load(asked.session), "effect"))
    return effect_of(project, asked.session)


def _counted(
    project: Project,
    asked: Asked,
    workspace: Workspace,
    pending: Effect,
    room: Path,
    wanted: "Wanted",
) -> tuple[Effect, str]:
    if asked.is_edit:
        return computed(project, workspace, pending, asked.edits, room)
    reach = reach_in(project, workspace, asked)
    if reach.why_not:
        return not_tried(pending, project.redaction.text(reach.why_not)), ""
    copy, scratch = room / "copy", room / "scratch"
    for made in (copy, scratch):
        made.mkdir(mode=0o700)
    try:
        copied = copy_workspace(project, workspace, copy)
        wanted.check()
        for each in copied.left_out:
            name = os.fsdecode(each.path)
            if reach.may_change(f"{os.path.realpath(workspace.path)}/{name}"):
                why = project.redaction.text(f"{name} has {each.much}, too many to copy")
                return not_tried(pending, why), ""
        before = look(copy)
        trial = Trial(
            line=asked.line,
            cwd=asked.cwd,
            env=dict(project.app.env),
            copy=copy,
            copied=copied,
            scratch=scratch,
            uses_git=reach.uses_git,
        )
        ran = run_trial(project, workspace, trial)
        wanted.check()
        open_up(copy)
        env = project.app.env
        found = difference(Path(workspace.path), copy, copied.seen, before, scratch, env)
    except TooLarge as error:
        return not_tried(pending, error.message), ""
    except (SidingError, OSError) as error:
        said = error.message if isinstance(error, SidingError) else str(error)
        return not_tried(pending, project.redaction.text(f"it could not be tried: {said}")), ""
    left_out = tuple(os.fsdecode(each.path) for each in copied.left_out)
    named = project.redaction.names([each.path for each in found.touched])
    touched = tuple(
        each._replace(path=path) for each, path in zip(found.touched, named, strict=True)
    )
    notes = [*reach.notes, *([_GIT] if reach.uses_git else []), *filter(None, [found.cut])]
    notes += [f"seen read-only, too large to be copied: {each}" for each in left_out]
    effect = pending._replace(
        state=EffectState.TRIED,
        why=project.redaction.text(_why(ran)),
        touched=touched,
        files=found.added + found.changed + found.deleted,
        added=found.added,
        changed=found.changed,
        deleted=found.deleted,
        additions=sum(each.additions for each in touched),
        deletions=sum(each.deletions for each in touched),
        at_least=found.at_least or bool(ran.cut),
        places=project.redaction.names(found.places),
        notes=project.redaction.names(notes),
        exit_code=ran.exit_code,
        counted_from=copied.seen.digest,
        counted_at=project.app.now(),
        left_out=left_out,
    )
    return effect, project.redaction.text(found.patch)


def _why(ran: Ran) -> str:
    """Say in what the trial may differ from what the command would do."""
    if ran.cut:
        return f"{ran.cut}: it would do more"
    if ran.exit_code:
        last = ran.said.splitlines()[-1] if ran.said else ""
        told = f": {last}" if last else ""
        return f"it ended with exit status {ran.exit_code} there{told}"
    return ""


def not_tried(pending: Effect, why: str) -> Effect:
    """Return an effect that is not known, and why."""
    return pending._replace(state=not_found(pending), why=why)


class Wanted:
    """Whether somebody still wants to know. A command that nobody asks about any more is ended."""

    def __init__(self, project: Project, session: str, is_left: Callable[[], bool]) -> None:
        self._project = project
        self._session = session
        self._is_left = is_left
        self._over = threading.Event()
        self._done = threading.Event()

    def check(self) -> None:
        """Raise NotWanted if the question is closed."""
        if self._over.is_set() or not self._is_open():
            raise NotWanted

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look at the question from time to time; end the command when it is closed."""
        before = signal.signal(signal.SIGTERM, lambda *_: self._over.set())
        watch = threading.Thread(target=self._watch, daemon=True)
        watch.start()
        try:
            yield
        finally:
            self._done.set()
            watch.join()
            signal.signal(signal.SIGTERM, before)

    def _watch(self) -> None:
        while not self._done.wait(_LOOK_S):
            if self._is_left() or not self._is_open():
                self._over.set()
                # While the command runs, what runs it takes this as the wish to end it.
                os.kill(os.getpid(), signal.SIGTERM)
                return

    def _is_open(self) -> bool:
        try:
            decision = decision_store(self._project).load(self._session)
            return decision.state is DecisionState.OPEN and not is_over(self._project, decision)
        except (SidingError, OSError):
            return False


@contextmanager
def _turn(project: Project, session: str) -> Iterator[None]:
    """Hold the lock of whoever tries a command of this project."""
    make_dirs(project.layout.locks_dir)
    holder = Holder(pid=project.app.pid, since=project.app.now(), what=f"trying {session}")
    with FileLock(project.layout.lock(_TURN)).acquire(timeout_s=None, holder=holder):
        yield


@contextmanager
def _room(project: Project) -> Iterator[Path]:
    """Yield a directory for a copy; it is removed after the block. The caller has the turn."""
    _sweep(project)
    room = project.layout.trials_dir / project.app.random_bytes(6).hex()
    make_dirs(room)
    try:
        yield room
    finally:
        _sweep(project)


def swept(project: Project) -> bool:
    """Remove what dead processes left; False if somebody tries a command just now."""
    if not project.layout.effects_dir.exists():
        return True
    with suppress(LockBusy), FileLock(project.layout.lock(_TURN)).acquire(timeout_s=0):
        _sweep(project)
        return True
    return False


def _sweep(project: Project) -> None:
    """Remove all copies, and effects of decisions that are gone. The caller has the turn."""
    forget_removed(project)
    remove_tree(project.layout.trials_dir)


def workspace_of(project: Project, task_id: str) -> Workspace | None:
    """Return the workspace of a task; None if it has none."""
    return project.registry.of_task(TaskId(task_id)) if task_id else None
