"""Filters and merge drivers: which a configuration names, and which paths go through them.

Whoever can write ``.git/config`` chooses these programs, an agent without a sandbox among them. So
they are off until a person trusts exactly these commands: the digest of a driver is that of its
name and commands. A trusted filter runs where the person's own git would run it, in their checkout
and with their git directory, also for files of a workspace; in that directory if there is no
checkout. So a command such as ``./tools/clean`` never means a program that an agent has written
into its workspace.

Which path goes through which driver is said by its attributes, for which git is asked.
"""

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from shlex import quote

from siding.ground.files.regular import read_small
from siding.ground.git.command import PROGRAM_KEYS, Git, Place, names_program
from siding.ground.git.discovery import RepositoryPaths
from siding.ground.git.paths import parents
from siding.ground.hashing import sha256_hex
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.ground.process import capture

_OWN_KINDS = ("filter", "merge")  # a diff driver only shows; git stores nothing that it makes
_CONDITIONAL = "includeif."
_MOST_FILES = 100  # of the configuration that are read; more than that is no configuration
_ATTRIBUTES = b".gitattributes"
_AT_ONCE = 500  # paths on one command line


class Driver(NamedTuple):
    """A filter or merge driver with the commands that git would run, by git's own keys."""

    kind: str  # "filter", "merge"
    name: str
    commands: tuple[tuple[str, str], ...]
    required: bool
    trusted: bool = False

    @property
    def digest(self) -> str:
        """What trust is bound to: after any change of a command it is another one."""
        told = [self.kind, self.name, *self.commands, self.required]
        return sha256_hex(json.dumps(told).encode("ascii"))

    @property
    def words(self) -> str:
        """What people call it: ``filter 'git-crypt'``."""
        return f"{'merge driver' if self.kind == 'merge' else 'filter'} {self.name!r}"


def own_drivers(
    named: Collection[str],
    users: Mapping[str, str],
    local: Mapping[str, str],
    trusted: Collection[str],
) -> list[Driver]:
    """Return the drivers that git would run otherwise than the user's files alone say.

    `named` are the keys of programs in the repository's own configuration, `local` its values.
    """
    found = []
    for section, name in sorted({_parts(key) for key in named}):
        if section not in _OWN_KINDS:
            continue
        keys = [f"{section}.{name}.{each}" for each in PROGRAM_KEYS[section]]
        theirs = {key: users.get(key, "") for key in keys}
        ours = {key: local.get(key, theirs[key]) for key in keys}
        if ours == theirs:
            continue
        required = f"{section}.{name}.required"
        driver = Driver(
            kind=section,
            name=name,
            commands=tuple((key.rpartition(".")[2], ours[key]) for key in keys if ours[key]),
            required=_is_true(local.get(required, users.get(required, "false"))),
        )
        # `-c` cannot give a command to a name with a "=" in it.
        found.append(driver._replace(trusted=driver.digest in trusted and "=" not in name))
    return found


def running(driver: Driver, common_dir: Path, checkout: Path | None) -> list[str]:
    """Return the settings with which a trusted driver runs."""
    name = f"{driver.kind}.{driver.name}"
    if driver.kind != "filter":
        return [f"{name}.{key}={command}" for key, command in driver.commands]
    found = [
        f"{name}.{key}={_at_home(command, common_dir, checkout, expands=key != 'process')}"
        for key, command in driver.commands
    ]
    return [*found, f"{name}.required={'true' if driver.required else 'false'}"]


def never_without(drivers: Collection[Driver]) -> tuple[str, ...]:
    """Return settings with which git stores no file if a trusted filter fails.

    git stores it as it is where the filter is not required. Siding may call the filter with other
    variables than the person's shell, and clear text must not be the way out of that.
    """
    settings: list[str] = []
    for each in drivers:
        commands = dict(each.commands)
        if each.kind != "filter" or not each.trusted or not commands:
            continue
        if "process" not in commands:
            lacking = [key for key in ("clean", "smudge") if key not in commands]
            settings += [f"filter.{each.name}.{key}=cat" for key in lacking]
        settings.append(f"filter.{each.name}.required=true")
    return tuple(settings)


def conditional_values(git: Git, repository: RepositoryPaths) -> dict[str, str]:
    """Return all values in files that the repository's configuration includes on a condition.

    The condition may hold in another worktree, or on another branch, than the one that is asked.
    """
    first = ["--show-scope", "--includes"]
    waiting = [
        path
        for scope, origin, key, value in _listed_settings(git, repository, first, scoped=True)
        if scope in ("local", "worktree")
        for path in _included(git, repository, origin, key, value)
    ]
    values: dict[str, str] = {}
    seen: set[Path] = set()
    while waiting and len(seen) < _MOST_FILES:
        path = waiting.pop()
        if path in seen or not path.is_file():  # of a pipe nobody would see the end
            continue
        seen.add(path)
        for _scope, origin, key, value in _listed_settings(
            git, repository, ["-f", str(path), "--includes"], scoped=False
        ):
            values[key] = value
            waiting += _included(git, repository, origin, key, value)
    return values


def switched_off(git: Git, file: Path, settings: Sequence[str]) -> list[str]:
    """Return settings that switch off the programs that a file of configuration names.

    Those in `settings` count as they are there.
    """
    argv = [git.program, "--no-pager", "config", "-f", str(file), "--list", "--includes", "-z"]
    done = capture.run_captured(argv, env=_environment(git, GIT_DIR=str(file.parent)))
    keys = {
        entry.decode("utf-8", "surrogateescape").partition("\n")[0]
        for entry in done.stdout.split(b"\0")
    }
    known = [setting.partition("=")[0] for setting in settings]
    programs = sorted(key for key in keys if names_program(key) and key not in known)
    filters = {key.rpartition(".")[0] for key in programs if key.startswith("filter.")}
    return [*(f"{key}=" for key in programs), *(f"{name}.required=false" for name in filters)]


def _parts(key: str) -> tuple[str, str]:
    section, _, rest = key.partition(".")
    return section, rest.rpartition(".")[0]


def _is_true(value: str) -> bool:
    return value.lower() not in ("", "false", "no", "off", "0")


def _at_home(command: str, common_dir: Path, checkout: Path | None, *, expands: bool) -> str:
    """Return a command that runs in the person's checkout, with their git directory.

    git-crypt, for one, looks for its key in the git directory, and that of a workspace has none.
    """
    places = {"GIT_DIR": common_dir, "GIT_WORK_TREE": checkout}
    lines = [f"{name}={quote(str(path))}" for name, path in places.items() if path is not None]
    lines.append(f"cd {quote(str(checkout or common_dir))} || exit 1")
    begin = "; ".join(["unset GIT_INDEX_FILE", *lines, ""])
    return (begin.replace("%", "%%") if expands else begin) + command


def _environment(git: Git, **more: str) -> dict[str, str]:
    passed = {k: git.environ[k] for k in ("PATH", "HOME") if k in git.environ}
    return {**passed, "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1", **more}


def _listed_settings(
    git: Git, repository: RepositoryPaths, options: Sequence[str], *, scoped: bool
) -> Iterator[tuple[str, str, str, str]]:
    """Yield scope, origin, key and value of each setting that git lists."""
    common = str(repository.common_dir)
    env = _environment(git, GIT_DIR=str(repository.git_dir), GIT_COMMON_DIR=common)
    argv = [git.program, "-C", str(repository.common_dir), "--no-pager", "config"]
    done = capture.run_captured([*argv, *options, "--list", "--show-origin", "-z"], env=env)
    fields = [field.decode("utf-8", "surrogateescape") for field in done.stdout.split(b"\0")[:-1]]
    width = 3 if scoped else 2
    for at in range(0, len(fields) - width + 1, width):
        scope, origin, entry = fields[at : at + width] if scoped else ("", *fields[at : at + 2])
        key, sign, value = entry.partition("\n")
        yield scope, origin, key, value if sign else "true"


def _included(
    git: Git, repository: RepositoryPaths, origin: str, key: str, value: str
) -> list[Path]:
    """Return the file that an entry includes on a condition, if it is one."""
    if not (key.startswith(_CONDITIONAL) and key.endswith(".path")):
        return []
    if value.startswith("~/"):
        return [Path(git.environ.get("HOME", "/"), value[2:])]
    above = os.path.dirname(origin.removeprefix("file:"))
    return [Path(os.path.normpath(repository.common_dir / above / value))]


class PathClass(NamedTuple):
    """The files of a commit that go through one driver, and the patterns that say so."""

    kind: str  # "filter", "merge"
    name: str
    patterns: tuple[str, ...]
    files: int


def path_classes(
    git: Git, place: Place, commit: Sha, drivers: "Iterable[Driver]"
) -> list[PathClass]:
    """Return the files of a commit that go through these drivers; `place` has them on disk.

    A driver that no attribute names is left out.
    """
    wanted = list(drivers)
    if not wanted:
        return []
    listed = git.run(
        place, ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit], doing="listing files"
    )
    paths = listed.split(b"\0")[:-1]
    found = []
    for kind in dict.fromkeys(each.kind for each in wanted):
        values = list(_asked(git, place, paths, kind).values())
        lines = _lines_with(git, place, commit, kind)
        for name in (each.name for each in wanted if each.kind == kind):
            patterns = tuple(dict.fromkeys(p for p, words in lines if f"{kind}={name}" in words))
            files = values.count(name)
            if patterns or files:
                found.append(PathClass(kind, name, patterns, files))
    return found


def _lines_with(git: Git, place: Place, commit: Sha, kind: str) -> list[tuple[str, list[str]]]:
    """Return pattern and attributes of each line of an attributes file that names a driver."""
    pathspec = ":(glob)**/.gitattributes"
    done = git.attempt(
        place._replace(magic_pathspecs=True),
        ["grep", "-h", "-F", "-e", f"{kind}=", commit, "--", pathspec],
    )
    own = read_small((place.common_dir or place.git_dir) / "info" / "attributes") or b""
    lines = (done.stdout + b"\n" + own).decode("utf-8", "backslashreplace").split("\n")
    words = [line.split() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return [(each[0], each[1:]) for each in words]


def filters_in(
    git: Git, place: Place, tree: Sha, paths: Iterable[bytes], *, scratch: Path
) -> dict[bytes, str]:
    """Return the filters of the paths by the `.gitattributes` of a tree."""
    asked = list(paths)
    above = dict.fromkeys([b"", *(each for path in asked for each in parents(path))])
    files = [os.path.join(directory, _ATTRIBUTES) for directory in above]
    there = place._replace(index_file=scratch)
    try:
        entries = [entry for some in _batches(files) for entry in _listed(git, there, tree, some)]
        git.run(
            there,
            ["update-index", "--add", "-z", "--index-info"],
            doing="asking for filters",
            stdin=b"".join(entry + b"\0" for entry in entries),
        )
        return _asked(git, there, asked, "filter", cached=True)
    finally:
        scratch.unlink(missing_ok=True)


def filters_on_disk(git: Git, place: Place, paths: Iterable[bytes]) -> dict[bytes, str]:
    """Return the filters of the paths by the `.gitattributes` in a directory of files."""
    return _asked(git, place, list(paths), "filter")


def _listed(git: Git, place: Place, tree: Sha, paths: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the entries of files as `git update-index --index-info` reads them."""
    output = git.run(
        place,
        ["ls-tree", "-z", "--full-tree", tree, "--", *map(os.fsdecode, paths)],
        doing="looking for attributes",
    )
    for line in output.split(b"\0")[:-1]:
        if line.startswith(b"100"):  # git follows no link to attributes
            yield line


def _batches(paths: Sequence[bytes]) -> Iterator[list[bytes]]:
    waiting = iter(paths)
    while some := list(islice(waiting, _AT_ONCE)):
        yield some


def _asked(
    git: Git, place: Place, paths: Sequence[bytes], attribute: str, *, cached: bool = False
) -> dict[bytes, str]:
    output = git.run(
        place,
        ["check-attr", *(["--cached"] if cached else []), "-z", "--stdin", attribute],
        doing="asking for attributes",
        stdin=b"".join(path + b"\0" for path in paths),
    )
    fields = output.split(b"\0")
    found = zip(fields[0::3], fields[2::3], strict=False)
    return {path: value.decode("utf-8", "surrogateescape") for path, value in found}
