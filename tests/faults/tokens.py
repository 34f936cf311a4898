"""Whether the bytes that a writer saved are still there, and whether the act has said where.

A token is found
  - at the writer's own path;
  - in any other file whose path the act has printed, or a directory above it: a place in the trash,
    or a name beside. A directory that every project has, such as the trash itself, is no place;
  - in the snapshot of a step of the task: `siding log` lists it, undo and rollback bring it back.
Bytes that are somewhere on the disk, and no word says where, are lost.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from .arena import Command, run
from .commands import answer
from .product import must

_ENDS = r"(?=/?(?:[\s,;:)'\"]|\.\s|\.?$))"  # what may follow a path that is printed


def lost(case: Path, path: Path, root: Path, token: str, told: str) -> str | None:
    """Say in what way a token is lost; None where it is found. `told` is what the act printed."""
    files = list(_files_with(case, token.encode()))
    if path in files:
        return None
    told = told.replace("~/", f"{case}/")
    if any(_is_named(case, root, file, told) for file in files):
        return None
    if any(_holds(case, commit, token) for commit in _commits(case, told)):
        return None
    if files:
        names = ", ".join(str(file.relative_to(case)) for file in files)
        return f"only in {names}, of which no word was said"
    return "nowhere"


def _files_with(case: Path, token: bytes) -> Iterator[Path]:
    for folder, folders, names in os.walk(case):
        if folder.endswith(".git"):
            folders[:] = [each for each in folders if each != "objects"]
        for name in names:
            file = Path(folder, name)
            if file.is_file() and not file.is_symlink() and token in file.read_bytes():
                yield file


def _is_named(case: Path, root: Path, file: Path, told: str) -> bool:
    common = {root, *root.parents}
    common |= {
        shared for each in case.glob("home/projects/*/*") for shared in (each, *each.parents)
    }
    for place in (file, *file.parents):
        if place in common:
            return False
        texts = [str(place)]
        texts += [
            str(place.relative_to(base)) for base in (root, case) if place.is_relative_to(base)
        ]
        printed = "|".join(map(re.escape, texts))
        if re.search(rf"(?<![\w./-])(?:{printed}){_ENDS}", told, re.MULTILINE):
            return True
    return False


def _commits(case: Path, told: str) -> list[str]:
    """The snapshots of all steps; of git alone its stash, if it said that there is one."""
    if not (case / "home").exists():
        return ["refs/stash"] if "Saved working directory" in told else []
    steps = answer(case, "log", "-t", "T", "--limit", "0", "--format", "json")
    return [step["snapshot"] for step in steps if step["snapshot"]]


def _holds(case: Path, commit: str, token: str) -> bool:
    stores = [*case.glob("home/projects/*/snapshots.git"), case / "repo/.git"]
    store = stores[0] if commit != "refs/stash" else stores[-1]
    env = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(case / "repo/.git/objects")}
    must(case, Command(argv=("git", "cat-file", "-e", commit), env=env, cwd=str(store)))
    asked = ("git", "grep", "-q", "-a", "-F", token, commit)
    return run(case, Command(argv=asked, env=env, cwd=str(store))).status == 0
