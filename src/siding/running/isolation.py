"""Detect what changed outside the workspace during a run.

`Watch` takes a fingerprint before the command starts: the repository's HEAD, index, refs, stash,
configuration and hooks, the other worktrees, the start-up files of the person's home, and Siding's
records that no run may touch. After the command it takes another one and asks git once which files
of the person's checkout changed. The differences that Siding's own commands do not explain are
reported in the step and on the screen. The report cannot say who made a change: the command, a
process it left running, or the person. So what people do is a note, and only what they rarely do is
an alarm (`outside_changes`).
"""

import json
import os
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from siding.agents.start_up_files import START_UP_DIRECTORIES, START_UP_FILES
from siding.ground.files.regular import read_small
from siding.ground.git.command import Place
from siding.ground.git.paths import quote_path
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.reports import ALARM, NOTE, IsolationReport, OutsideChange
from siding.record.place.event_log import IsolationChanged
from siding.record.place.project_places import id_file
from siding.record.place.trust import TRAPS, trust_json
from siding.record.place.wiring import outside_home
from siding.record.snapshots import fingerprint
from siding.record.snapshots.fingerprint import (
    Fingerprint,
    Mark,
    OwnGitDir,
    RefChange,
    mark_of,
    take_own,
)
from siding.record.snapshots.history_look import (
    ObjectsMark,
    damage,
    lost_entries,
    take_objects,
    take_reflogs,
)

if TYPE_CHECKING:
    from siding.record.recording.recorder import Recorder
    from siding.record.snapshots.checkout_changes import CheckoutLook
    from siding.sandbox.engines.values import Launch

# Looking at the person's checkout takes about 2 ms per 1,000 files. So it is done only after a run
# that took at least 20 times as long, and always up to 2,000 files (about 4 ms).
LOOK_MS_PER_FILE = 0.0022
LOOK_AT_MOST = 0.05  # of the run's own time
ALWAYS_LOOKED_AT = 2_000  # files
_NEWEST_SNAPSHOT = "the task's newest snapshot"
_SEEN = "which traps somebody has seen"
_SETTLED_S = 0.1  # after which git has removed a pack behind its index, or made the index of one
MOST_NAMED = 20  # paths that an event names one by one
LARGEST = 1 << 20  # bytes; of a larger start-up file the marks are compared, not the content
MOST = 500  # start-up files of one directory
_DEPTH = 2  # systemd's `default.target.wants/x.service`


class _Moment(NamedTuple):
    repository: Fingerprint
    own: OwnGitDir
    ours: Mapping[str, Mark | None]
    seen: Mark | None  # the traps that a person has seen
    home: Mapping[str, Mark]
    objects: ObjectsMark
    workspaces: Mapping[str, Mark | None]
    devices: Mapping[str, Mark | None]
    snapshot: str | None


class Watch:
    """Compares the state outside the workspace before and after one run.

    Create it right before the command starts, call `ended` right after, then `isolation` once.
    """

    def __init__(
        self, recorder: "Recorder", intent: Path | None = None, launch: "Launch | None" = None
    ) -> None:
        self._launch = launch
        self._project = recorder.project
        self._workspace = recorder.workspace
        self._recorder = recorder
        # The times of files come from the file system's clock, which may differ from ours (network
        # file systems). The intent and the lock were written just now: their times are its "now".
        layout = recorder.layout
        self._intent = intent
        self._since_ns = max(_changed_ns(layout.lock), 0 if intent is None else _changed_ns(intent))
        newest = recorder.ledger.last()
        self._newest = 0 if newest is None else newest.number
        self._since = self._project.app.now()
        self._before = self._moment()
        self._after = self._before
        self._reflogs = take_reflogs(self._project.paths.common_dir, self._logs())
        self._damaged: list[OutsideChange] = []
        self._look: CheckoutLook | None = None
        self._looked = False

    def ended(self, took_ms: int) -> None:
        """Take the second fingerprint, and start git's look at the checkout in the background.

        `took_ms` is how long the command ran, in milliseconds.
        """
        self._after = self._moment()
        self._damaged = self._damage()
        if self._damaged:
            from siding.running.outside_changes import say
        for each in self._damaged:  # at once: the workspace may not be recordable without them
            self._project.app.warn(f"outside the workspace: {say(each)}")
        self._look = self._start_looking(took_ms)

    def isolation(self) -> IsolationReport:
        """Return what changed outside. Call it once, after `ended`: it closes the fingerprints.

        The caller holds the task's lock.
        """
        changes = [each for each in self._changes() if not self._was_recorded(each)]
        changes += self._files()
        for moment in (self._before, self._after):
            moment.repository.close()
        for reflog in self._reflogs:
            reflog.close()
        kept = self._kept(changes) if changes else []
        files = "looked at" if self._looked else "not looked at"
        if kept:
            self._project.events.emit(IsolationChanged(self._workspace, kept))
        return IsolationReport(changes=tuple(kept), files=files)

    def _kept(self, changes: list[OutsideChange]) -> list[OutsideChange]:
        """Return the changes that are reported, each with its weight."""
        from siding.running.outside_changes import Began, without_ours

        began = Began(self._since_ns, self._since)
        kept = without_ours(self._project, self._workspace, changes, began)
        return [self._weighed(each) for each in kept]

    def _weighed(self, change: OutsideChange) -> OutsideChange:
        from siding.running.outside_changes import cleared, weighed

        found = weighed(self._workspace, change)
        if self._launch is None or found.weight == NOTE:
            return found
        return cleared(self._project, self._workspace, self._launch, found)

    def _was_recorded(self, change: OutsideChange) -> bool:
        """Tell whether other commands changed the task's records: they recorded steps meanwhile."""
        ledger = str(self._recorder.layout.ledger_jsonl)
        if change.what != "record" or change.how == "removed":
            return False
        if change.name not in (ledger, _NEWEST_SNAPSHOT) or not self._recorder.anchor.agrees():
            return False
        newest = self._recorder.ledger.last()
        count = 0 if newest is None else newest.number - self._newest
        recorded = self._recorder.ledger.tail(count) if count > 0 else []
        if change.name == ledger:
            return bool(recorded)
        return any(step.snapshot == self._after.snapshot for step in recorded)

    def _moment(self) -> _Moment:
        project = self._project
        trust = trust_json(project)
        without_traps, seen = _trust_marks(trust)
        return _Moment(
            repository=fingerprint.take(project.paths.common_dir),
            own=take_own(Path(self._workspace.git_dir)),
            ours={
                **{str(path): mark_of(path) for path in self._records()},
                str(trust): without_traps,
            },
            seen=seen,
            home=take_home(project.app.env),
            objects=take_objects(project.paths.objects),
            workspaces=dict(_directories(project.layout.workspaces_dir)),
            devices=dict(_paired(project.app.home.devices_dir)),
            snapshot=self._recorder.snapshots.tip(),
        )

    def _records(self) -> Iterator[Path]:
        """Yield the files of Siding and of the policy that only a person's command may change."""
        project, layout = self._project, self._recorder.layout
        yield from (layout.ledger_jsonl, layout.root / "allowed.json")
        if self._intent is not None:
            yield self._intent
        root = project.layout.root
        yield from (root / "config.yaml", root / "project.json")
        yield from (project.app.home.root / "config.yaml", project.app.home.root / "policy.yaml")
        yield id_file(project.paths)
        main = project.paths.main_worktree
        if main is not None:
            yield from (main / ".siding" / "config.yaml", main / project.settings.policy_path)
        yield Path(self._workspace.path) / ".git"

    # -- what is different ------------------------------------------------------------------

    def _changes(self) -> Iterator[OutsideChange]:
        before, after = self._before, self._after
        yield from _head(before.repository, after.repository)
        yield from self._history()
        yield from _own_git_dir(before, after, self._workspace.branch)
        for ref in fingerprint.changed_refs(before.repository, after.repository):
            yield _ref(ref)
        yield from self._index()
        for key in fingerprint.changed_settings(before.repository.config, after.repository.config):
            yield OutsideChange(what="config", name=key, how="changed")
        for what, old, new in (
            ("hook", before.repository.hooks, after.repository.hooks),
            ("git", before.repository.steering, after.repository.steering),
            ("worktree", before.repository.worktrees, after.repository.worktrees),
            ("workspace", before.workspaces, after.workspaces),
            ("device", before.devices, after.devices),
            ("home", before.home, after.home),
            ("record", before.ours, after.ours),
        ):
            for name, how in fingerprint.changed_marks(old, new):
                yield OutsideChange(what=what, name=name, how=how)
        if before.snapshot != after.snapshot:
            yield OutsideChange(what="record", name=_NEWEST_SNAPSHOT, how="changed")
        if before.seen != after.seen:
            yield OutsideChange(what="record", name=_SEEN, how="changed", weight=NOTE)

    def _history(self) -> Iterator[OutsideChange]:
        """Yield damage to the repository's objects, and what its reflogs lost."""
        yield from self._damaged
        now = self._project.app.clock.now().timestamp()
        for name, mark in zip(self._logs(), self._reflogs, strict=False):
            lost = lost_entries(mark, now=now)
            is_branch = name.startswith("refs/")
            if lost and not (is_branch and not fingerprint.has_ref(self._after.repository, name)):
                how = "is gone" if lost < 0 else f"has lost entries ({lost})"
                yield OutsideChange(what="reflog", name=name, how=how)

    def _damage(self) -> list[OutsideChange]:
        objects = self._project.paths.objects
        before, after = self._before.objects, self._after.objects
        if before == after:
            return []
        if after.lone - before.lone:
            time.sleep(_SETTLED_S)
            after = after.both(take_objects(objects))
        found = damage(before, after, self._objects_are_missing)
        return [OutsideChange(what="objects", name=name, how=how) for name, how in found]

    def _logs(self) -> tuple[str, ...]:
        """Return the names of the reflogs that are looked at: of HEAD, and of its branch then."""
        head = (self._before.repository.head or b"").strip()
        if not head.startswith(b"ref: "):
            return ("HEAD",)
        return ("HEAD", os.fsdecode(head.removeprefix(b"ref: ")))

    def _objects_are_missing(self) -> bool:
        """Tell whether a commit that a ref has names, before and after, cannot be read."""
        project = self._project
        tips = fingerprint.values(self._after.repository)
        shas = {
            sha
            for name, sha in fingerprint.values(self._before.repository).items()
            if tips.get(name) == sha
        }
        if not shas:
            return False
        done = project.git.attempt(
            Place(git_dir=project.paths.common_dir),
            ["cat-file", "--batch-check=%(objectname)"],
            stdin="".join(f"{sha}\n" for sha in sorted(shas)).encode("ascii", "replace"),
        )
        return b" missing\n" in done.stdout

    def _index(self) -> Iterator[OutsideChange]:
        paths = fingerprint.changed_index(
            self._before.repository,
            self._after.repository,
            self._project.paths.hash_size // 2,
        )
        if paths is None:
            yield OutsideChange(
                what="index", name="the index of your checkout", how="rewritten", weight=NOTE
            )
        elif paths:
            yield OutsideChange(what="index", name=_named(paths), how="staged otherwise")

    def _start_looking(self, took_ms: int) -> "CheckoutLook | None":
        from siding.record.snapshots import checkout_changes

        project = self._project
        main, wish = project.paths.main_worktree, project.settings.isolation_files
        if main is None or wish == "never":
            return None
        index = project.paths.common_dir / "index"
        count = checkout_changes.tracked_count(index)
        if count is None:
            return None
        cheap = count <= ALWAYS_LOOKED_AT or count * LOOK_MS_PER_FILE <= took_ms * LOOK_AT_MOST
        if not cheap and wish != "always":
            return None
        return checkout_changes.start(
            project.snapshots,
            project.snapshots.task(self._workspace.task_id),
            root=main,
            index=index,
            since_ns=self._since_ns,
        )

    def _files(self) -> Iterator[OutsideChange]:
        from siding.record.snapshots import checkout_changes

        found = None if self._look is None else checkout_changes.finish(self._look)
        self._looked = found is not None
        root = self._project.paths.main_worktree
        paths = [] if root is None else outside_home(self._project.app, root, found or ())
        if paths:
            yield OutsideChange(what="files", name=_named(paths), how="changed")


def _head(before: Fingerprint, after: Fingerprint) -> Iterator[OutsideChange]:
    if before.head != after.head:
        yield OutsideChange(
            what="head",
            name="HEAD",
            how="changed",
            before=_text(before.head),
            after=_text(after.head),
        )


def _own_git_dir(before: _Moment, after: _Moment, branch: str) -> Iterator[OutsideChange]:
    """Yield changes of the workspace's git directory that redirect the next git command there.

    It would commit to a branch of another task or the person, or run a program.
    """
    old, new = before.own, after.own
    if old.head != new.head and new.branch not in (None, branch):
        # A branch that the run created is only a note: commits there move nobody else's branch.
        made = not fingerprint.has_ref(before.repository, f"refs/heads/{new.branch}")
        yield OutsideChange(
            what="own",
            name="HEAD",
            how=f"is on branch {new.branch!r} now, which is not this task's: commits go there",
            weight=NOTE if made else ALARM,
        )
    for name, how in fingerprint.changed_marks(old.steering, new.steering):
        yield OutsideChange(what="own", name=name, how=f"{how}: git goes by it")
    if new.commands and new.commands != old.commands:
        yield OutsideChange(
            what="own", name="an unfinished rebase", how="will run a command (exec)"
        )
    elif new.todo is not None and old.todo is None:
        yield OutsideChange(what="own", name="a rebase", how="is unfinished", weight=NOTE)


def _ref(ref: RefChange) -> OutsideChange:
    how = "made" if ref.before is None else "removed" if ref.after is None else "moved"
    made = NOTE if how == "made" else ALARM
    for prefix, what, weight in (
        ("refs/heads/", "branch", made),
        ("refs/tags/", "tag", made),
        ("refs/remotes/", "remote branch", NOTE),
        ("refs/stash", "stash", ALARM),
        ("refs/replace/", "replacement", ALARM),  # git shows another object in the place of one
        ("refs/", "ref", made),
    ):
        if ref.name.startswith(prefix):
            name = ref.name.removeprefix(prefix) or ref.name
            return OutsideChange(
                what=what, name=name, how=how, weight=weight, before=ref.before, after=ref.after
            )
    return OutsideChange(what="ref", name=ref.name, how=how, before=ref.before, after=ref.after)


def _directories(parent: Path) -> Iterator[tuple[str, Mark]]:
    """Yield the names in a directory with their inode numbers: changes inside do not count."""
    try:
        with os.scandir(parent) as entries:
            for entry in entries:
                yield entry.name, (0, entry.inode(), 0, 0)
    except OSError:
        return


def _paired(directory: Path) -> Iterator[tuple[str, Mark]]:
    """Yield the ids of the paired devices. Their files change with each use, and cannot get
    another key: the id is the key's."""
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in names:
        if name.endswith(".json") and name != "offer.json":
            yield name.removesuffix(".json"), (0, 0, 0, 0)


def _changed_ns(path: Path) -> int:
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        return 0


def _named(paths: list[bytes]) -> str:
    shown = ", ".join(quote_path(path) for path in paths[:MOST_NAMED])
    more = len(paths) - MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _trust_marks(path: Path) -> tuple[Mark | None, Mark | None]:
    """Return a mark of what a person has trusted, and one of the traps that they have seen.

    Seeing a trap is an everyday thing beside a run, and lets nothing of the repository run.
    """
    raw = read_small(path)
    if raw is None:
        return mark_of(path), None
    try:
        document = json.loads(raw)
        traps = document.pop(TRAPS, None)
    except (ValueError, AttributeError, TypeError):
        return mark_of(path), None
    rest = {name: value for name, value in document.items() if name != "version" and value}
    marks = [hash(json.dumps(each, sort_keys=True)) for each in (rest, traps or None)]
    return ((0, 0, 0, marks[0]) if rest else None), ((0, 0, 0, marks[1]) if traps else None)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "backslashreplace").strip()


def take_home(env: Mapping[str, str]) -> dict[str, Mark]:
    """Return a mark of each start-up file that is there, by its path."""
    home = env.get("HOME", "")
    if not os.path.isabs(home):
        return {}
    return {path: mark for path in _paths(home, env) if (mark := _content_mark(path)) is not None}


def _paths(home: str, env: Mapping[str, str]) -> Iterator[str]:
    config = env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")

    def placed(name: str) -> str:
        inside = name.removeprefix(".config/")
        return os.path.join(home if inside == name else config, inside)

    zsh = env.get("ZDOTDIR", "")
    for name in START_UP_FILES:
        yield placed(name)
        if zsh and name.startswith(".z"):
            yield os.path.join(zsh, name)
    for name in START_UP_DIRECTORIES:
        yield from _below(placed(name), _DEPTH)


def _below(directory: str, depth: int) -> Iterator[str]:
    try:
        names = sorted(os.listdir(directory))[:MOST]
    except OSError:
        return
    for name in names:
        path = os.path.join(directory, name)
        if depth > 1 and os.path.isdir(path) and not os.path.islink(path):
            yield from _below(path, depth - 1)
        else:
            yield path


def _content_mark(path: str) -> Mark | None:
    """Return numbers that differ when a file's content does; None if it does not exist.

    Links are followed: such files are often links into a directory that a person keeps elsewhere.
    A backup that sets links or times is no change.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return mark_of(Path(path))
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            return mark_of(Path(path))
        content = os.read(descriptor, LARGEST + 1)
        return (found.st_mode, 0, len(content), hash(content))
    except OSError:
        return None
    finally:
        os.close(descriptor)
