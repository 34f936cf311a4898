"""Repair a workspace whose index or reflog names objects that the repository does not have.

Earlier versions let a sandboxed run write both files, and could then fail to take its objects over.
After that ``git gc`` fails for the whole repository. Copies of both files are kept.
"""

import shutil
from pathlib import Path

from siding.ground.files.durable import flush_dir, make_dirs, write_and_rename
from siding.ground.git.discovery import read_settings
from siding.ground.git.index_check import BadIndex
from siding.ground.git.repository import Repository
from siding.record.quarantine.objects import absent
from siding.record.quarantine.place import (
    index_of_head,
    named_by,
    put_index,
    read_index,
    read_log_lines,
    state_of,
)


class Lacking:
    """The blobs of an index and the commits of a reflog that the repository lacks."""

    def __init__(self, repository: Repository, git_dir: Path) -> None:
        self.blobs: frozenset[str] = frozenset()
        self.commits: frozenset[str] = frozenset()
        settings = read_settings(repository.paths.common_dir / "config")
        if "extensions.partialclone" in settings or not git_dir.is_dir():
            return  # a partial clone lacks objects rightly: git fetches them when needed
        logged = {sha for line in read_log_lines(git_dir) for sha in named_by(line)}
        self.commits = absent(repository, logged, "commit")
        try:
            index = read_index(git_dir, repository.paths.hash_size // 2)
        except BadIndex:
            return  # missing, or in a form that only git reads: git reports what is wrong
        self.blobs = absent(repository, index.blobs, "blob")

    def __bool__(self) -> bool:
        return bool(self.blobs or self.commits)


def repair(repository: Repository, git_dir: Path, kept: Path) -> tuple[str, ...]:
    """Rewrite the index and the reflog so that they name only existing objects.

    Copies the old files to the directory `kept`. Returns sentences about what was done. Raises
    IndexLocked.
    """
    lacking = Lacking(repository, git_dir)
    done = []
    if lacking:
        make_dirs(kept)
    if lacking.blobs:
        shutil.copyfile(git_dir / "index", kept / "index")
        before = state_of(git_dir)
        put_index(before, index_of_head(repository, before))
        done.append("the index is that of the last commit again: it named files that are nowhere")
    if lacking.commits:
        log = git_dir / "logs" / "HEAD"
        shutil.copyfile(log, kept / "log-of-HEAD")
        lines = read_log_lines(git_dir)
        good = [line for line in lines if not lacking.commits.intersection(named_by(line))]
        made = log.with_name(f"siding-log-{state_of(git_dir).token}")
        write_and_rename(made, log, b"".join(good), mode=0o644)
        flush_dir(log.parent)
        left_out = len(lines) - len(good)
        done.append(f"{left_out} lines of HEAD's log name commits that are nowhere: left out")
    return tuple(done)
