"""Keep a task's private index right around a restoration, and find ignored files.

The index decides what the next capture records: a path in it is recorded whatever the ignore rules
say; a path that is not in it may be ignored. So the files that a restoration will write are entered
into the index before they are written. Files that it leaves on disk as ignored are removed from the
index afterwards.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from siding.ground.git.command import Place, output_of
from siding.ground.git.roots import WorktreeRoot
from siding.ground.git.status import ARGUMENTS, EntryKind, parse
from siding.ground.ids import Sha, TaskId
from siding.record.snapshots.patches import Change
from siding.record.snapshots.scratch import scratch
from siding.record.snapshots.store import SnapshotStore, TaskDirectory


def expect(
    store: SnapshotStore, task_id: TaskId, writes: Sequence[Change], *, keep_fds: Sequence[int]
) -> None:
    """Enter the files that will be written into the index, so that the next capture records
    them."""
    _update(store, task_id, [_line(c.new_mode, c.new_sha, c.path) for c in writes], keep_fds)


def let_go(
    store: SnapshotStore, task_id: TaskId, paths: Sequence[bytes], *, keep_fds: Sequence[int]
) -> None:
    """Remove paths from the task's index, so that captures ignore them again."""
    zeros = Sha("0" * store.repository.hash_size)
    _update(store, task_id, [_line("0", zeros, path) for path in paths], keep_fds)


def ignored_now(store: SnapshotStore, task_id: TaskId, root: WorktreeRoot) -> list[bytes]:
    """Return the ignored paths that no snapshot holds. A wholly ignored directory is one path."""
    task = store.task(task_id)
    place = _looking(store, task, root.path)
    done = store.git.attempt(place, [*ARGUMENTS, "--ignored=matching", "--ignore-submodules=dirty"])
    output = output_of(done, doing="looking for ignored files")
    return sorted(
        entry.path.rstrip(b"/") for entry in parse(output) if entry.kind is EntryKind.IGNORED
    )


def ignored_among(
    store: SnapshotStore, task_id: TaskId, root: Path, paths: Sequence[bytes]
) -> set[bytes]:
    """Return those of the paths that git ignores and that the last snapshot does not hold."""
    return _ask(store, _looking(store, store.task(task_id), root), paths, even_recorded=False)


def ignored_there(
    store: SnapshotStore,
    task_id: TaskId,
    root: WorktreeRoot,
    tree: Sha,
    changes: Sequence[Change],
    *,
    place: Path,
) -> set[bytes]:
    """Return the paths that `changes` deletes and that the ignore rules of `tree` ignore.

    The rules are the `.gitignore` files of `tree` and the person's own. If these differ from the
    worktree's, they are written into the directory `place`, which is removed afterwards.
    """
    asked = [c.path for c in changes if c.new_mode == "000000" and c.old_mode != "160000"]
    if not asked:
        return set()
    task = store.task(task_id)
    if not any(c.path.rpartition(b"/")[2] == b".gitignore" for c in changes):
        return _ask(store, _looking(store, task, root.path), asked)
    with scratch(place) as rules:
        _lay_out_rules(store, tree, rules)
        return _ask(store, _looking(store, task, rules), asked)


def _ask(
    store: SnapshotStore, place: Place, paths: Sequence[bytes], *, even_recorded: bool = True
) -> set[bytes]:
    # "./" keeps a name that starts with ":" from being read as a pathspec's magic.
    done = store.git.attempt(
        place,
        ["check-ignore", *(["--no-index"] if even_recorded else []), "-z", "--stdin"],
        stdin=b"".join(b"./" + path + b"\0" for path in paths),
        env={"GIT_LITERAL_PATHSPECS": "0"},
    )
    if done.returncode != 1:  # 1: none of them
        output_of(done, doing="asking what is ignored there")
    return {path.removeprefix(b"./") for path in done.stdout.split(b"\0")[:-1]}


def _lay_out_rules(store: SnapshotStore, tree: Sha, directory: Path) -> None:
    """Write only the `.gitignore` files of a tree into the directory."""
    listed = store.git.run(
        store.place(), ["ls-tree", "-r", "-z", tree], doing="looking for ignore rules"
    )
    rules: list[tuple[bytes, bytes]] = []  # (path, id)
    for line in listed.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, _kind, sha = about.split(b" ")
        if path.rpartition(b"/")[2] == b".gitignore" and mode.startswith(b"100"):
            rules.append((path, sha))
    if not rules:
        return
    output = store.git.run(
        store.place(),
        ["cat-file", "--batch"],
        doing="reading ignore rules",
        stdin=b"".join(sha + b"\n" for _, sha in rules),
    )
    for path, _sha in rules:
        header, _, output = output.partition(b"\n")
        size = int(header.split(b" ")[2])
        target = directory / os.fsdecode(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(output[:size])
        output = output[size + 1 :]


def _looking(store: SnapshotStore, task: TaskDirectory, work_tree: Path) -> Place:
    place = store.place(task, work_tree=work_tree)
    return place._replace(settings=(*place.settings, f"core.excludesFile={task.excludes}"))


def _line(mode: str, sha: Sha, path: bytes) -> bytes:
    return f"{mode} {sha}\t".encode("ascii") + path


def _update(
    store: SnapshotStore, task_id: TaskId, lines: Sequence[bytes], keep_fds: Sequence[int]
) -> None:
    if not lines:
        return
    store.git.run(
        store.place(store.task(task_id), locks=True),
        ["update-index", "-z", "--index-info"],
        doing="preparing the index of the task",
        stdin=b"\0".join(lines) + b"\0",
        keep_fds=keep_fds,
    )
