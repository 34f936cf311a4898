"""Find and read what other task tools keep in a directory. The files are only read."""

import os
from pathlib import Path

from siding.ground.errors import NotFound, UnreadableFile
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.importing.aide_records import AideFolder, is_flow, read_folder
from siding.importing.board_records import Board, read_board

TASKS, WORKTREES, AIDE = ".tasks", ".worktrees", ".aide"
LARGEST = 16 << 20  # bytes of one file
MOST_FILES = 20_000


class Source(NamedTuple):
    """What was found below `root`. `files` are the bytes of every file that was read, by name."""

    root: Path
    board: Board
    aide: AideFolder
    files: dict[str, bytes]
    problems: tuple[str, ...]


def read_source(place: Path) -> Source:
    """Return the board and the folder ``.aide`` in a directory, or in the parent of either.

    Raises NotFound if there is neither. A file that cannot be read is named in `problems`.
    """
    root = place.parent if place.name in (TASKS, WORKTREES, AIDE) else place
    if not any((root / each).is_dir() for each in (TASKS, WORKTREES, AIDE)):
        raise NotFound(
            f"there is nothing to import in {str(root)!r}",
            hint=f"a board has the directories {TASKS} and {WORKTREES}; aide has {AIDE}; the home "
            "of bar is not imported, but used as it is: SIDING_HOME=~/.bar",
        )
    files: dict[str, bytes] = {}
    unreadable: list[str] = []
    for name in _names(root):
        try:
            files[name] = read_bytes(root / name, limit=LARGEST)
        except FileNotFoundError:
            continue
        except (UnreadableFile, OSError) as error:
            reason = error.message if isinstance(error, UnreadableFile) else str(error)
            unreadable.append(f"{name}: {reason}")
    board = read_board(
        _below(files, TASKS),
        files.get(f"{WORKTREES}/index.json"),
        files.get(f"{WORKTREES}/events.jsonl"),
    )
    aide = read_folder(_below(files, AIDE))
    problems = (*unreadable, *board.problems, *aide.problems)
    return Source(root=root, board=board, aide=aide, files=files, problems=problems)


def _names(root: Path) -> list[str]:
    """Return the files that may belong to the records, as paths relative to the root."""
    found = [f"{TASKS}/{name}" for name in _listed(root / TASKS) if name.endswith(".json")]
    found += [f"{WORKTREES}/index.json", f"{WORKTREES}/events.jsonl"]
    decisions = _listed(root / AIDE / "decisions")
    found += [f"{AIDE}/decisions/{name}" for name in decisions if name.endswith(".json")]
    logs = [f"logs/{name}" for name in _listed(root / AIDE / "logs")]
    found += [f"{AIDE}/{name}" for name in ("flow-status.json", *logs) if is_flow(name)]
    return [*found, f"{AIDE}/config.toml"]


def _listed(directory: Path) -> list[str]:
    try:
        return sorted(os.listdir(directory))[:MOST_FILES]
    except OSError:
        return []


def _below(files: dict[str, bytes], folder: str) -> dict[str, bytes]:
    prefix = f"{folder}/"
    return {
        name.removeprefix(prefix): raw for name, raw in files.items() if name.startswith(prefix)
    }
