"""Archive the workspace of a closed task, delete its trash, and restore the workspace.

An archive is a gzipped tar of the task's directories in the trash: git's record of the workspace,
the records of a deleted task, files that rollbacks moved away, and everything in the workspace that
the newest snapshot cannot restore byte for byte: ignored files, nested repositories, empty
directories, pipes, unusual permissions. Snapshot and archive together restore everything. Nothing
may be deleted before `write_archive` has read both of them back; `collect` deletes it then.
"""

import errno
import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.errors import SidingError
from siding.ground.files.durable import flush_dir, flush_file, flush_tree, make_dirs, move_aside
from siding.ground.git.objects import write_object
from siding.ground.git.paths import EXECUTABLE, SYMLINK
from siding.ground.git.roots import recorded_root
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object
from siding.record.files.displaced import blob_at
from siding.record.files.index_entries import expect
from siding.record.files.plan import plan_restoration
from siding.record.files.restore import restore
from siding.record.files.staging import staged
from siding.record.place.events import WorkspaceChanged
from siding.record.place.project import Project
from siding.record.recording.freed import freed_record
from siding.record.snapshots.mode_changes import modes_of
from siding.record.snapshots.modes import Modes, Usual
from siding.record.snapshots.patches import Change, diff_trees
from siding.record.snapshots.store import remove_tree
from siding.record.snapshots.store_upkeep import verify_snapshots
from siding.record.tasks.registry import Workspace

if TYPE_CHECKING:
    from tarfile import TarFile, TarInfo

_LEVEL = 3  # gzip level: three times as fast as the default 6, and a few per cent larger
_READ = 1 << 20
ARCHIVES = "archives"  # the directory of a project that holds them
COLLECT = "collect"


class NotTheSame(SidingError):
    """The archive does not match the files on disk, so nothing may be deleted."""

    code = "archive_differs"


class CannotBeArchived(SidingError):
    """Something in the trash of a task cannot be read, so the task stays there as it is."""

    code = "cannot_be_archived"


class ArchiveEntry(NamedTuple):
    """One file to archive: its path on disk, and its name in the archive."""

    path: str
    name: str


def archive_of(project: Project, workspace: Workspace) -> Path:
    """Return the path of the archive of a removed workspace, which may not exist yet."""
    assert workspace.trash is not None
    return project.layout.root / ARCHIVES / (Path(workspace.trash).name + ".tar.gz")


def places_in_trash(project: Project, task_id: TaskId) -> list[Path]:
    """Return the paths in the trash that belong to a task."""
    try:
        names = sorted(os.listdir(project.layout.trash_dir))
    except FileNotFoundError:
        return []
    mine = (name for name in names if name == task_id or name.startswith(f"{task_id}-"))
    return [project.layout.trash_dir / name for name in mine]


def write_archive(project: Project, workspace: Workspace) -> Path:
    """Write the archive of a removed workspace durably, and read it and the snapshot back.

    Returns the path of the archive. Raises NotTheSame if the archive differs from the files on
    disk; then no archive is left.
    """
    target = archive_of(project, workspace)
    with _naming_what_cannot_be_read(project, workspace.task_id):
        _write(target, list(_entries(project, workspace)), project, workspace.task_id)
    return target


def records_archive(project: Project, task_id: TaskId) -> Path:
    """Return the path of the archive of a deleted task without a workspace, existing or not."""
    return project.layout.root / ARCHIVES / f"{task_id}.tar.gz"


def write_records(project: Project, task_id: TaskId) -> Path:
    """Write the archive of a deleted task that never had a workspace; return its path. Durable."""
    target = records_archive(project, task_id)
    with _naming_what_cannot_be_read(project, task_id):
        entries = [
            ArchiveEntry(path=path, name=os.path.relpath(path, project.layout.trash_dir))
            for place in places_in_trash(project, task_id)
            for path in _walk(os.fspath(place))
        ]
        _write(target, entries, project, None)
    return target


@contextmanager
def _naming_what_cannot_be_read(project: Project, task_id: TaskId) -> Iterator[None]:
    """Raise CannotBeArchived for a file in the trash that may not be read, or lies too deep."""
    try:
        yield
    except OSError as error:
        path = os.fsdecode(error.filename or "")
        trash = os.fspath(project.layout.trash_dir) + os.sep
        if error.errno not in (errno.EACCES, errno.ENAMETOOLONG) or not path.startswith(trash):
            raise
        if error.errno == errno.ENAMETOOLONG:
            top = os.sep.join(path.split(os.sep)[: trash.count(os.sep) + 3])
            raise CannotBeArchived(
                f"what is in {top!r} lies so deep that the system does not open it by its path",
                hint=f"it stays in the trash as it is; `rm -rf {shlex.quote(top)}` deletes that "
                f"directory with all in it, or `siding task reopen {task_id}` brings it back; the "
                "next `siding gc` frees the rest",
            ) from error
        raise CannotBeArchived(
            f"{path!r} may not be read by you",
            hint=f"it stays in the trash as it is; `chmod -R u+rX {shlex.quote(path)}` lets it be "
            f"read, `rm -rf` deletes it, or `siding task reopen {task_id}` brings it back; the "
            "next `siding gc` frees the rest",
        ) from error


def _write(
    target: Path, entries: list[ArchiveEntry], project: Project, task_id: TaskId | None
) -> None:
    """Write an archive, and read it and the snapshots of the task back.

    The archive gets its final name last, so that a file with this name is always complete.
    """
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
            freed = freed_record(project).of_task(task_id)
            verify_snapshots(project.snapshots, task_id, freed=freed, contents=True)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    temporary.rename(target)
    flush_dir(target.parent)


def lay_out(project: Project, workspace: Workspace, archive: Path, trash: Path) -> None:
    """Restore the trash of a task from its archive and its newest snapshot.

    Everything is made in another directory and then renamed, so the workspace appears complete.
    """
    partial = project.layout.root / "restoring" / f"{workspace.task_id}.archive"
    remove_tree(partial)
    make_dirs(partial)
    # The archive sets the permissions of directories. Until then they must be writable, so that
    # files can be made in them.
    rebuild(project, workspace.task_id, partial / trash.name / "workspace", directories=False)
    _extract(archive, partial)
    flush_tree(partial)  # the archive goes when the workspace is back
    make_dirs(trash.parent)
    for place in sorted(partial.iterdir(), key=lambda each: each == partial / trash.name):
        target = trash.parent / place.name
        if not os.path.lexists(target):
            place.rename(target)  # the directory of the workspace is renamed last
    flush_dir(trash.parent)
    remove_tree(partial)


def lay_out_records(project: Project, task_id: TaskId, archive: Path) -> None:
    """Restore the records of a deleted task without a workspace from its archive to the trash."""
    partial = project.layout.root / "restoring" / f"{task_id}.archive"
    remove_tree(partial)
    make_dirs(partial)
    _extract(archive, partial)
    flush_tree(partial)
    make_dirs(project.layout.trash_dir)
    for place in sorted(partial.iterdir()):
        if not os.path.lexists(project.layout.trash_dir / place.name):
            place.rename(project.layout.trash_dir / place.name)
    flush_dir(project.layout.trash_dir)
    remove_tree(partial)


def task_name_in(archive: Path, task_id: TaskId) -> str:
    """Return the name of the task in an archive of records; "" if it cannot be read."""
    import tarfile

    try:
        with tarfile.open(archive, "r:gz", errors="surrogateescape") as tar:
            file = tar.extractfile(f"{task_id}/task/task.json")
            document = parse_object(file.read()) if file is not None else {}
    except (OSError, KeyError, tarfile.TarError, NotJson):
        return ""
    return str(document.get("name") or "")


def member_of(archive: Path, name: str) -> bytes:
    """Return the content of one file in an archive; raise OSError if it cannot be read."""
    import tarfile

    try:
        with tarfile.open(archive, "r:gz", errors="surrogateescape") as tar:
            file = tar.extractfile(name)
            return b"" if file is None else file.read()
    except (KeyError, tarfile.TarError) as error:
        raise OSError(f"{str(archive)!r} cannot be read: {error}") from error


def rebuild(project: Project, task_id: TaskId, path: Path, *, directories: bool = True) -> None:
    """Make the directory `path` from the task's newest snapshot.

    With `directories`, recorded permissions of directories are set as well. Raises SidingError if
    the task has no snapshot.
    """
    store = project.snapshots
    tip = store.tip(task_id)
    if tip is None:
        raise SidingError(
            f"the workspace of task {task_id} cannot be restored: no snapshot of it is left",
            hint=f"`siding worktree add {task_id}` makes a new one from the base",
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
    remove_tree(staging)
    with staged(store, root, plan, staging) as contents:
        restore(root, plan, contents)
    expect(store, task_id, plan.writes, keep_fds=())


def _entries(project: Project, workspace: Workspace) -> Iterator[ArchiveEntry]:
    """Yield what the archive must contain: all that the newest snapshot does not restore."""
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
            # tar cannot hold sockets, and no process listens on these any more.
            if not stat.S_ISSOCK(os.lstat(path).st_mode):
                yield ArchiveEntry(path=path, name=name)


def _held(project: Project, task_id: TaskId) -> dict[bytes, Change]:
    """Return the files that the newest snapshot restores, by path."""
    store = project.snapshots
    tip = store.tip(task_id)
    if tip is None:
        return {}
    empty = write_object(store.objects, "tree", b"", store.repository.object_format)
    return {change.path: change for change in diff_trees(store, empty, tip)}


def _modes_held(project: Project, task_id: TaskId) -> Modes:
    """Return the permissions that the newest snapshot restores."""
    tip = project.snapshots.tip(task_id)
    known = modes_of(project.snapshots, tip) if tip else None
    return known or Modes(usual=Usual(), files={}, directories={})


def _given_back(
    path: str, below: bytes, held: Change | None, modes: Modes, object_format: str
) -> bool:
    """Tell whether the snapshot restores exactly this file, with its permissions."""
    if held is None:
        return False
    found = os.lstat(path)
    if not stat.S_ISLNK(found.st_mode):
        wanted = modes.of_file(below, executable=held.new_mode == EXECUTABLE)
        if held.new_mode == SYMLINK or stat.S_IMODE(found.st_mode) != wanted:
            return False
    return blob_at(os.fsencode(path), object_format, held.new_mode) == held.new_sha


def _walk(root: str) -> Iterator[str]:
    """Yield a directory and everything below it; a directory comes before its entries."""
    yield root
    waiting = [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                yield entry.path
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _read_back(archive: Path, entries: list[ArchiveEntry]) -> None:
    """Compare every member with the file on disk; raise NotTheSame at the first difference."""
    import tarfile

    expected = {entry.name: entry.path for entry in entries}
    with tarfile.open(archive, "r:gz", errors="surrogateescape") as tar:
        for member in tar:
            path = expected.pop(member.name, None)
            if path is None or not _same(tar, member, path):
                raise NotTheSame(
                    f"{member.name!r} in the archive is not what is on disk",
                    hint="nothing was deleted; another program may be changing this file",
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
        # The archive is our own and its names were checked above. A filter of tarfile would change
        # permissions, so none is used. (Python before 3.11.4 ignores this attribute.)
        tar.extraction_filter = lambda member, _path: member
        tar.extractall(directory, members)


def collect(project: Project, workspace: Workspace) -> Workspace:
    """Archive a removed workspace and delete it from the trash; return its new entry.

    The caller holds the task's lock. Before anything is deleted, the registry gets the name of the
    archive and the intent to delete.
    """
    archive = workspace.rest.get("archive")
    if not archive:
        archive = os.path.relpath(write_archive(project, workspace), project.layout.root)
    going = workspace._replace(
        intent={"op": COLLECT, "at": project.app.now(), "pid": project.app.pid},
        rest={**workspace.rest, "archive": archive},
    )
    _put(project, going)
    return finish_collection(project, going)


def collect_records(project: Project, task_id: TaskId) -> Path:
    """Archive and delete the trash of a deleted task without a workspace; return the archive.

    The caller holds the lock of the deleted task. Each directory leaves the trash by one rename
    before it is deleted, so after a crash the task is complete in the archive, the trash, or both.
    """
    archive = write_records(project, task_id)
    going = project.layout.root / "restoring" / f"{task_id}.freed"
    make_dirs(going.parent)
    for place in places_in_trash(project, task_id):
        remove_tree(going)
        move_aside(place, going)
    remove_tree(going)
    project.events.emit(WorkspaceChanged(task_id, "collected"))
    return archive


def finish_collection(project: Project, going: Workspace) -> Workspace:
    """Finish a deletion, and return the new entry. Safe to repeat after a crash at any point."""
    for place in places_in_trash(project, going.task_id):
        _delete(place)
    done = going._replace(intent=None)
    _put(project, done)
    project.events.emit(WorkspaceChanged(going.task_id, "collected", {"name": going.name}))
    return done


def _delete(place: Path) -> None:
    """Delete a directory tree without following links.

    Directories without write permission are made writable first, else their files would stay.
    """
    import shutil

    for parent, _directories, _files in os.walk(place):
        if not os.access(parent, os.R_OK | os.W_OK | os.X_OK):
            os.chmod(parent, 0o700)
    shutil.rmtree(place)


def _put(project: Project, workspace: Workspace) -> None:
    with project.changing(f"freeing the workspace of task {workspace.task_id}"):
        project.registry.put(workspace)
