"""Give a repository objects that it lacks."""

import os
from pathlib import Path

from siding.ground.files.durable import flush, flush_dir, make_dirs, write_all
from siding.ground.git.command import Place
from siding.ground.git.repository import Repository


def give_pack(repository: Repository, pack: Path, *, doing: str, strict: bool = False) -> None:
    """Copy a pack into the repository, durably. Safe to repeat after an interruption.

    The pack's index is made beside `pack`, in a directory of ours, and renamed into the repository:
    `git index-pack` writes it slowly under its final name, and half an index makes every git
    command complain. A pack without an index is ignored by git. git computes each object's id from
    its content. `strict` refuses objects that `git fsck` would report, and those that refer to
    missing objects. Raises CommandFailed, which names `doing`.
    """
    index = pack.with_suffix(".idx.new")
    index.unlink(missing_ok=True)
    repository.git.run(
        Place(git_dir=repository.paths.common_dir),
        ["index-pack", *(["--strict"] if strict else []), "-o", str(index), str(pack)],
        doing=doing,
    )
    target = repository.paths.objects / "pack"
    make_dirs(target)
    name = f"pack-{os.urandom(20).hex()}"
    for source, suffix in ((pack, ".pack"), (index, ".idx")):
        partial = target / f"tmp_{name}{suffix}"  # git prunes files of this name
        try:
            _copy(source, partial)
            partial.rename(target / f"{name}{suffix}")
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    index.unlink()
    flush_dir(target)


def _copy(source: Path, target: Path) -> None:
    fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    try:
        with source.open("rb") as file:
            while block := file.read(1 << 20):
                write_all(fd, block)
        flush(fd)
    finally:
        os.close(fd)
