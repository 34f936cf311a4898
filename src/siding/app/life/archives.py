"""The last, self-contained form of a closed task's workspace, and how it is laid out again.

An archive is a gzipped tar of the task's places in the trash: git's record of the workspace, the
records of a deleted task, files set aside by rollbacks, and of the workspace itself everything that
the task's newest snapshot does not give back byte for byte: ignored files, nested repositories,
empty directories, pipes, unusual permissions. Snapshot and archive together are the whole. Nothing
may be deleted before `write_archive` has read both back.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from siding.app.place.project import Project
from siding.errors import SidingError
from siding.files.durable import flush_dir, flush_file, make_dirs
from siding.git.objects import write_object
from siding.git.restoring.obstacles import blob_at
from siding.git.restoring.restore import plan_restoration, restore
from siding.git.restoring.staging import EXECUTABLE, SYMLINK, staged
from siding.git.restoring.task_index import expect
from siding.git.roots import recorded_root
from siding.git.snapshots.modes import Modes, Usual, modes_of
from siding.git.snapshots.patches import Change, diff_trees
from siding.git.snapshots.store import remove_tree
from siding.ids import TaskId
from siding.tasks.registry import Workspace

if TYPE_CHECKING:
    from tarfile import TarFile, TarInfo

_LEVEL = 3  # of gzip: three times as fast as the usual 6, a few per cent larger
_READ = 1 << 20
ARCHIVES = "archives"  # the directory of a project that holds them


class NotTheSame(SidingError):
    """What was read back is not what is on disk: nothing may be deleted."""

    code = "archive_differs"


class ArchiveEntry(NamedTuple):
    """Something to archive: where it is, and its name in the archive."""

    path: str
    name: str


def archive_of(project: Project, workspace: Workspace) -> Path:
    """Return where the archive of a removed workspace is, or will be."""
    assert workspace.trash is not None
    return project.layout.root / ARCHIVES / (Path(workspace.trash).name + ".tar.gz")


def places_in_trash(project: Project, task_id: TaskId) -> list[Path]:
    """Return everything in the trash that belongs to a task."""
    try:
        names = sorted(os.listdir(project.layout.trash_dir))
    except FileNotFoundError:
        return []
    mine = (name for name in names if name == task_id or name.startswith(f"{task_id}-"))
    return [project.layout.trash_dir / name for name in mine]


def write_archive(project: Project, workspace: Workspace) -> Path:
    """Write the archive of a removed workspace, and read it and the snapshot back. Durable.

    Raises NotTheSame when what was read is not what is there; then there is no archive.
    """
    target = archive_of(project, workspace)
    _write(target, list(_entries(project, workspace)), project, workspace.task_id)
    return target


def records_archive(project: Project, task_id: TaskId) -> Path:
    """Return where the archive of a deleted task without a workspace is, or will be."""
    return project.layout.root / ARCHIVES / f"{task_id}.tar.gz"


def write_records(project: Project, task_id: TaskId) -> Path:
    """Archive what a deleted task has in the trash, when it never had a workspace. Durable."""
    target = records_archive(project, task_id)
    entries = [
        ArchiveEntry(path=path, name=os.path.relpath(path, project.layout.trash_dir))
        for place in places_in_trash(project, task_id)
        for path in _walk(os.fspath(place))
    ]
    _write(target, entries, project, None)
    return target


def _write(
    target: Path, entries: list[ArchiveEntry], project: Project, task_id: TaskId | None
) -> None:
    """Write an archive and read it back, and with it the snapshots of the task."""
    import tarfile

    make_dirs(target.parent)
    temporary = target.with_name(target.name + ".tmp")
    try:
        with (
            temporary.open("wb") as file,
            tarfile.open(
                fileobj=file,
                mode="w:gz",
                compresslevel=_LEVEL,
                format=tarfile.PAX_FORMAT,
                errors="surrogateescape",
            ) as tar,
        ):
            for entry in entries:
                tar.add(entry.path, arcname=entry.name, recursive=False)
        flush_file(temporary)
        _read_back(temporary, entries)
        if task_id is not None:
            project.snapshots.verify(task_id, contents=True)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    temporary.rename(target)
    flush_dir(target.parent)


def lay_out(project: Project, workspace: Workspace, archive: Path, trash: Path) -> None:
    """Put a collected workspace back into the trash, whole; it appears there at once."""
    partial = project.layout.root / "restoring" / f"{workspace.task_id}.archive"
    remove_tree(partial)
    make_dirs(partial)
    # Directories are in the archive, with their permissions: till then they must be open.
    rebuild(project, workspace.task_id, partial / trash.name / "workspace", directories=False)
    _extract(archive, partial)
    make_dirs(trash.parent)
    for place in sorted(partial.iterdir(), key=lambda each: each == partial / trash.name):
        target = trash.parent / place.name
        if not os.path.lexists(target):
            place.rename(target)  # the workspace's own place comes last
    flush_dir(trash.parent)
    remove_tree(partial)


def lay_out_records(project: Project, task_id: TaskId, archive: Path) -> None:
    """Put the records of a deleted task without a workspace back into the trash, at once."""
    partial = project.layout.root / "restoring" / f"{task_id}.archive"
    remove_tree(partial)
    make_dirs(partial)
    _extract(archive, partial)
    make_dirs(project.layout.trash_dir)
    for place in sorted(partial.iterdir()):
        if not os.path.lexists(project.layout.trash_dir / place.name):
            place.rename(project.layout.trash_dir / place.name)
    flush_dir(project.layout.trash_dir)
    remove_tree(partial)


def task_name_in(archive: Path, task_id: TaskId) -> str:
    """Return the name that a task has in the archive of its records; empty when it has none."""
    import tarfile

    from siding.storage.codec import NotJson, parse_object

    try:
        with tarfile.open(archive, "r:gz", errors="surrogateescape") as tar:
            file = tar.extractfile(f"{task_id}/task/task.json")
            document = parse_object(file.read()) if file is not None else {}
    except (OSError, KeyError, tarfile.TarError, NotJson):
        return ""
    return str(document.get("name") or "")


def rebuild(project: Project, task_id: TaskId, path: Path, *, directories: bool = True) -> None:
    """Make a directory with what the task's newest snapshot holds, `directories` with their
    permissions."""
    store = project.snapshots
    tip = store.tip(task_id)
    if tip is None:
        raise SidingError(
            f"nothing of the workspace of task {task_id} is left",
            hint=f"`siding worktree add {task_id}` gives it a new one",
        )
    remove_tree(path)
    path.mkdir(mode=0o755, parents=True)
    empty = write_object(store.objects, "tree", b"", store.repository.object_format)
    modes = modes_of(store, tip)
    if modes is not None and not directories:
        open_ones = modes.usual._replace(directory=0o700)
        modes = modes._replace(usual=open_ones, directories={})
    plan = plan_restoration(diff_trees(store, empty, tip), modes=modes)
    root = recorded_root(path)
    staging = path.with_name(path.name + ".staging")
    with staged(store, root, plan.writes, staging, modes) as contents:
        restore(root, plan, contents)
    expect(store, task_id, plan.writes, keep_fds=())


def _entries(project: Project, workspace: Workspace) -> Iterator[ArchiveEntry]:
    """Yield what has to be in the archive."""
    assert workspace.trash is not None
    own = os.path.join(project.layout.root, workspace.trash, "workspace")
    held = _held(project, workspace.task_id)
    modes = _modes_held(project, workspace.task_id)
    object_format = project.snapshots.repository.object_format
    for place in places_in_trash(project, workspace.task_id):
        for path in _walk(os.fspath(place)):
            name = os.path.relpath(path, project.layout.trash_dir)
            if path.startswith(own + os.sep):
                below = os.fsencode(os.path.relpath(path, own))
                if _given_back(path, below, held.get(below), modes, object_format):
                    continue
            if not stat.S_ISSOCK(os.lstat(path).st_mode):  # nobody listens on it any more
                yield ArchiveEntry(path=path, name=name)


def _held(project: Project, task_id: TaskId) -> dict[bytes, Change]:
    """Return the files that the newest snapshot gives back."""
    store = project.snapshots
    tip = store.tip(task_id)
    if tip is None:
        return {}
    empty = write_object(store.objects, "tree", b"", store.repository.object_format)
    return {change.path: change for change in diff_trees(store, empty, tip)}


def _modes_held(project: Project, task_id: TaskId) -> Modes:
    """Return the permissions that the newest snapshot gives back."""
    tip = project.snapshots.tip(task_id)
    known = modes_of(project.snapshots, tip) if tip else None
    return known or Modes(usual=Usual(), files={}, directories={})


def _given_back(
    path: str, below: bytes, held: Change | None, modes: Modes, object_format: str
) -> bool:
    """Tell whether the snapshot makes exactly this file, permissions included."""
    if held is None:
        return False
    found = os.lstat(path)
    if not stat.S_ISLNK(found.st_mode):
        wanted = modes.of_file(below, executable=held.new_mode == EXECUTABLE)
        if held.new_mode == SYMLINK or stat.S_IMODE(found.st_mode) != wanted:
            return False
    return blob_at(os.fsencode(path), object_format, held.new_mode) == held.new_sha


def _walk(root: str) -> Iterator[str]:
    """Yield all that is below a directory, and it; directories before what is in them."""
    yield root
    waiting = [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                yield entry.path
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _read_back(archive: Path, entries: list[ArchiveEntry]) -> None:
    """Compare every member with what is on disk; raise NotTheSame at the first difference."""
    import tarfile

    expected = {entry.name: entry.path for entry in entries}
    with tarfile.open(archive, "r:gz", errors="surrogateescape") as tar:
        for member in tar:
            path = expected.pop(member.name, None)
            if path is None or not _same(tar, member, path):
                raise NotTheSame(
                    f"{member.name!r} in the archive is not what is on disk",
                    hint="nothing was deleted; something may be changing it",
                )
    if expected:
        raise NotTheSame(f"{min(expected)!r} is not in the archive", hint="nothing was deleted")


def _same(tar: "TarFile", member: "TarInfo", path: str) -> bool:
    found = os.lstat(path)
    if stat.S_IMODE(found.st_mode) != member.mode and not stat.S_ISLNK(found.st_mode):
        return False
    if member.issym():
        return stat.S_ISLNK(found.st_mode) and os.readlink(path) == member.linkname
    if member.isreg() or member.islnk():
        if not stat.S_ISREG(found.st_mode):
            return False
        source = tar.extractfile(member)
        assert source is not None
        with source, open(path, "rb") as present:
            while block := present.read(_READ):
                if source.read(len(block)) != block:
                    return False
            return not source.read(1)
    return member.isdir() == stat.S_ISDIR(found.st_mode)


def _extract(archive: Path, directory: Path) -> None:
    import tarfile

    with tarfile.open(archive, "r:gz", errors="surrogateescape") as tar:
        members = []
        for member in tar.getmembers():
            if member.name.startswith("/") or ".." in member.name.split("/"):
                raise SidingError(f"{str(archive)!r} names {member.name!r}, outside of itself")
            members.append(member)
        # It is ours, it was read back when it was written, and permissions must come back as
        # they were: no filter. (The attribute is unknown, and harmless, before 3.11.4.)
        tar.extraction_filter = lambda member, _path: member
        tar.extractall(directory, members)
