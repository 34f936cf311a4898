"""Find the repository that a directory belongs to, without starting git.

git's own search reads the whole configuration of what it finds. This one reads only names and three
settings, so it is safe in a directory that an agent has written.
"""

import itertools
import os
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.git.errors import NotARepository
from siding.ground.namedtuples import NamedTuple

_HASH_SIZES = {"sha1": 40, "sha256": 64}
_TRUE = ("true", "yes", "on", "1")
_LARGEST_INDEX = 256 << 20
_LOOKED_AT = 1_000  # files of an index


class RepositoryPaths(NamedTuple):
    """Where a repository is.

    ``root`` names the project: the directory whose `.git` leads here, or the git directory of a
    repository without a main worktree. ``common_dir`` holds objects, refs and configuration;
    ``git_dir`` is the same for the main worktree and ``<common_dir>/worktrees/<id>`` for a linked
    one. ``worktree`` is the root of the worktree that the search started in, None in none.
    ``main_worktree`` is that of the main one, None in a bare repository; it is not ``root`` where
    `core.worktree` says so.
    """

    root: Path
    git_dir: Path
    common_dir: Path
    worktree: Path | None
    main_worktree: Path | None
    object_format: str
    ref_format: str

    @property
    def objects(self) -> Path:
        return self.common_dir / "objects"

    @property
    def name(self) -> str:
        """What a person calls the repository; not `.bare` or `.git` where worktrees are around."""
        hidden = self.bare and self.root.name in (".bare", ".git")
        return (self.root.parent if hidden else self.root).name

    @property
    def linked(self) -> bool:
        """Whether the search started in a worktree other than the main one."""
        return self.git_dir != self.common_dir

    @property
    def bare(self) -> bool:
        """Whether there is no main worktree. Linked ones there may be."""
        return self.main_worktree is None

    @property
    def hash_size(self) -> int:
        """The number of hex digits of an object id, 40 or 64. Half of it is the number of bytes."""
        return _HASH_SIZES[self.object_format]


def find_repository(start: Path) -> RepositoryPaths:
    """Return the repository that holds `start` (a directory or a file).

    Raises NotARepository if no directory above is one, or if a `.git` file points at none.
    """
    place = Path(os.path.realpath(start))
    for directory in (place, *place.parents):
        entry = directory / ".git"
        if is_git_directory(entry):
            return _from_git_directory(entry, directory)
        if (target := read_git_file(entry)) is not None:
            if not is_git_directory(target):
                raise NotARepository(
                    f"{str(entry)!r} points at {str(target)!r}, which is not a git directory",
                    hint="if the repository was moved, run `git worktree repair` in it",
                )
            return _from_git_directory(Path(os.path.realpath(target)), directory)
        if is_git_directory(directory):
            return _from_inside(directory)
    raise NotARepository(
        f"{str(start)!r} is not in a git repository",
        hint="go to a project, or make one with `git init` and a first commit",
    )


def linked_roots(common_dir: Path) -> list[Path]:
    """Return the roots of the linked worktrees of a repository, also of those that are gone."""
    try:
        names = os.listdir(common_dir / "worktrees")
    except OSError:
        return []
    found = []
    for name in names:
        data = read_small(common_dir / "worktrees" / name / "gitdir", 8192)
        if data is not None and data.strip():
            # Of git's setting `worktree.useRelativePaths` the path begins at this file.
            place = common_dir / "worktrees" / name / os.fsdecode(data.rstrip(b"\r\n"))
            found.append(Path(os.path.normpath(place)).parent)
    return found


def is_git_directory(path: Path) -> bool:
    """Tell whether the directory has what git demands of one: HEAD, objects and refs."""
    head = path / "HEAD"
    if not (head.is_symlink() or head.is_file()):
        return False
    common = common_directory(path)
    return (common / "objects").is_dir() and (common / "refs").is_dir()


def common_directory(git_dir: Path) -> Path:
    """Return the directory that holds what all worktrees share."""
    named = read_small(git_dir / "commondir", 8192)
    if named is None or not named.strip():
        return git_dir
    return Path(os.path.realpath(git_dir / os.fsdecode(named.rstrip(b"\r\n"))))


def read_git_file(path: Path) -> Path | None:
    """Return the directory that a `.git` file points at, None when it is no such file."""
    data = read_small(path, 8192)
    if data is None or not data.startswith(b"gitdir: "):
        return None
    return path.parent / os.fsdecode(data.removeprefix(b"gitdir: ").rstrip(b"\r\n"))


def is_linked(worktree: Path, git_dir: Path) -> bool:
    """Tell whether a worktree's `.git` file and git's record of the worktree name each other."""
    recorded = read_small(git_dir / "gitdir", 8192)
    if recorded is None or not names_record(worktree, git_dir):
        return False
    return is_same(git_dir / os.fsdecode(recorded.rstrip(b"\r\n")), worktree / ".git")


def names_record(worktree: Path, git_dir: Path) -> bool:
    """Tell whether a worktree's `.git` file names this record, whether it is there or not."""
    named = read_git_file(worktree / ".git")
    return named is not None and is_same(named, git_dir)


def is_same(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to the same place. Most are spelled alike: that needs no look."""
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def read_settings(config: Path) -> dict[str, str]:
    """Return the settings of a git configuration file as ``section.key -> value``.

    Sections with a subsection, and includes, are left out. Use it only for simple settings such as
    `core.bare` and `extensions.*`; anything else must be asked of git.
    """
    data = read_small(config, 4 << 20) or b""
    found: dict[str, str] = {}
    section = ""
    for line in data.decode("utf-8", "surrogateescape").splitlines():
        text = line.strip()
        if text.startswith("["):
            header, _, text = text[1:].partition("]")
            section = "" if '"' in header or "." in header else header.strip().lower()
            text = text.strip()
        if not section or not text or text[0] in "#;":
            continue
        key, sign, value = text.partition("=")
        value = value.split("#")[0].split(";")[0].strip().strip('"')
        found[f"{section}.{key.strip().lower()}"] = value if sign else "true"
    return found


def is_set(settings: dict[str, str], key: str) -> bool:
    """Tell whether a setting that `read_settings` returned is true."""
    return settings.get(key, "").lower() in _TRUE


def _from_git_directory(git_dir: Path, worktree: Path) -> RepositoryPaths:
    common = common_directory(git_dir)
    settings = read_settings(common / "config")
    if git_dir != common:
        root, main = _main_worktree(common, settings, None)
        return _paths(root, git_dir, common, worktree, main, settings)
    root, main = _main_worktree(common, settings, worktree)
    return _paths(root, git_dir, common, main, main, settings)


def _from_inside(git_dir: Path) -> RepositoryPaths:
    """Return the repository if the search started in a git directory: a bare one, or a `.git`."""
    common = common_directory(git_dir)
    settings = read_settings(common / "config")
    root, main = _main_worktree(common, settings, None)
    return _paths(root, common, common, main, main, settings)


def _main_worktree(
    common: Path, settings: dict[str, str], place: Path | None
) -> tuple[Path, Path | None]:
    """Return what names the project, and the main worktree or None.

    `place` is the directory whose `.git` led here; None if the search led here another way.
    """
    if is_set(settings, "extensions.worktreeconfig"):
        # `git sparse-checkout` moves both settings there, as they are not those of linked ones.
        settings = settings | read_settings(common / "config.worktree")
    if place is None and common.name == ".git":
        place = common.parent
    if is_set(settings, "core.bare") and not _has_files(place, common):
        return common, None
    if "core.worktree" not in settings:
        return place or common, place
    main = Path(os.path.realpath(common / settings["core.worktree"]))
    if place is None and _leads_to(main, common):  # of a submodule
        place = main
    return place or common, main if main.is_dir() else None


def _has_files(place: Path | None, common: Path) -> bool:
    """Tell whether files of the main worktree's index are in a directory.

    Then `core.bare` was set by mistake: some tools write it into the configuration that all
    worktrees share. In a layout with a bare `.git` all worktrees are linked ones. Where a normal
    repository was made one, the index of before is there, and none of its files.
    """
    data = None if place is None else read_small(common / "index", _LARGEST_INDEX)
    if place is None or not data:
        return False
    from siding.ground.git.index_file import read_times

    found = read_times(data, 20) or read_times(data, 32)
    if found is None:
        return True  # not read here; git writes an index only where there are files
    names = itertools.islice(found, _LOOKED_AT)
    return any(os.path.lexists(os.path.join(os.fsencode(place), name)) for name in names)


def _leads_to(place: Path, common: Path) -> bool:
    """Tell whether the `.git` of a directory is this git directory or names it."""
    entry = place / ".git"
    return os.path.realpath(read_git_file(entry) or entry) == os.path.realpath(common)


def _paths(
    root: Path,
    git_dir: Path,
    common: Path,
    worktree: Path | None,
    main: Path | None,
    settings: dict[str, str],
) -> RepositoryPaths:
    object_format = settings.get("extensions.objectformat", "sha1").lower()
    if object_format not in _HASH_SIZES:
        raise NotARepository(
            f"{str(root)!r} keeps its objects as {object_format!r}, which Siding does not know",
            hint="upgrade Siding",
        )
    return RepositoryPaths(
        root=root,
        git_dir=git_dir,
        common_dir=common,
        worktree=worktree,
        main_worktree=main,
        object_format=object_format,
        ref_format=settings.get("extensions.refstorage", "files").lower(),
    )
