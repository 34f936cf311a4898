"""Writes a small home with this version, as `home-v<N>.tar.gz` beside this file.

    python tests/golden/make_home.py

Run it when a format changed, with a new number; what an older version wrote is never written again.
In the archive stand `repo` (the user's repository) and `home`; the directory they were made in is
called @CASE@ wherever a text file names it, so that they open anywhere (`opened`).
"""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from siding.ground.storage.layout import project_dir_name

VERSION = 1
HERE = Path(__file__).parent
PLACE = b"@CASE@"


def archive(version: int) -> Path:
    return HERE / f"home-v{version}.tar.gz"


def environment(case: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(case),
        "TZ": "UTC",
        "SIDING_HOME": str(case / "home"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C.UTF-8",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
    }


def call(case: Path, *argv: str) -> None:
    subprocess.run(
        argv,
        cwd=case / "repo",
        env=environment(case),
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )


def siding(case: Path, *words: str) -> None:
    call(case, sys.executable, "-m", "siding", "-q", *words)


def write_home(case: Path) -> None:
    """Every kind of record: an open task, a closed one, a planned one, and one that was removed."""
    repo = case / "repo"
    repo.mkdir()
    (repo / "file").write_text("one\n", encoding="utf-8")
    (repo / ".siding").mkdir()
    (repo / ".siding/config.yaml").write_text("hooks:\n  post_create: ['true']\n", "utf-8")
    call(case, "git", "init", "-q", "-b", "main", "--template=")
    call(case, "git", "add", "-A")
    call(case, "git", "commit", "-q", "-m", "first")
    siding(case, "init")
    siding(case, "trust")
    siding(case, "task", "start", "planned", "--no-workspace", "--no-switch")
    siding(case, "task", "start", "closed")
    siding(case, "run", "--", "sh", "-c", "echo closed > closed")
    siding(case, "task", "close", "--force")
    siding(case, "task", "start", "kept")
    siding(case, "task", "close", "--keep")
    siding(case, "task", "start", "open")
    siding(case, "task", "update", "--owner", "ada", "-m", "what for", "--tags", "a,b")
    siding(
        case, "run", "--", "sh", "-c", "echo out; echo err >&2; echo two >> file; echo new > new"
    )
    siding(case, "run", "--tty", "--", "sh", "-c", "echo terminal; printf 'a\\000b' > binary")
    siding(case, "checkpoint", "-m", "a mark")


def pack(case: Path, target: Path) -> None:
    place = os.fsencode(case)
    with tarfile.open(target, "w:gz") as tar:
        for path in sorted(case.rglob("*")):
            if path.name.endswith(".sample") or path.is_socket():
                continue
            info = tar.gettarinfo(path, str(path.relative_to(case)))
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            if not path.is_file() or path.is_symlink():
                tar.addfile(info)
                continue
            data = path.read_bytes().replace(place, PLACE)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def opened(version: int, case: Path) -> None:
    """Unpacks a golden home into the empty directory `case`, as if it had been made there."""
    with tarfile.open(archive(version)) as tar:
        # As the filter of that name; Python before 3.11.4 has none, and needs none.
        tar.extraction_filter = lambda member, _path: member
        tar.extractall(case)
    for path in case.rglob("*"):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            if PLACE in data:
                path.write_bytes(data.replace(PLACE, os.fsencode(case)))
    (project,) = (case / "home/projects").iterdir()
    renamed = project.with_name(project_dir_name((case / "repo").resolve()))
    project.rename(renamed)
    _rename_within(case, project.name, renamed.name)


def _rename_within(case: Path, old: str, new: str) -> None:
    """The directory's name holds a hash of the repository's path: it moves along with it."""
    for path in case.rglob("*"):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            if old.encode() in data:
                path.write_bytes(data.replace(old.encode(), new.encode()))


def main(arguments: Sequence[str]) -> int:
    target = Path(arguments[0]) if arguments else archive(VERSION)
    if target.exists():
        print(f"{target} is there already: older homes are kept as they are", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="siding-golden-") as directory:
        case = Path(directory).resolve()
        write_home(case)
        pack(case, target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
