"""Read the user's git configuration; decide what of it is passed on and what is switched off.

The system's and the user's files are trusted, and are honoured where worktree files are
written or compared: line endings, ignore patterns, and filters such as Git LFS. The repository's
own file may have been written by an agent: it may choose data (line endings), never a program.
Filters and drivers it configures are emptied, unless the user's files name the very same command,
or a person has trusted exactly this one (`drivers.py`).
"""

import os
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.files.regular import read_small
from siding.ground.git.command import PROGRAM_KEYS, Git, Place, find_program, names_program
from siding.ground.git.discovery import RepositoryPaths
from siding.ground.git.status import copied_excludes
from siding.ground.namedtuples import NamedTuple
from siding.ground.process import capture

if TYPE_CHECKING:
    from siding.ground.git.drivers import Driver

# Settings that choose how bytes are written or compared; the repository's value wins, as in git.
_DATA_KEYS = ("core.autocrlf", "core.eol", "core.safecrlf", "core.checkroundtripencoding")
_CONVERTING_KEYS = ("core.autocrlf", "core.eol")
# What a filter that is the person's own needs of their environment, for example to download.
_FOR_FILTERS = ("SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "http_proxy", "https_proxy", "no_proxy")
_CONDITIONAL, _INCLUDE = "includeif.", "include"
_FROM_USER = (
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "XDG_CONFIG_HOME",
)


class UserSettings(NamedTuple):
    """``settings`` are for `Place.settings` wherever git touches files of a worktree.

    ``excludes`` is a copy of the ignore patterns that lie outside the worktree. ``converts``
    tells whether the configuration alone makes a checkout write other bytes than the blobs'.
    ``missing_filters`` are filters whose program is not installed; they are switched off.
    ``drivers`` are the filters and merge drivers that the repository's own configuration names;
    those that nobody trusted are switched off as well.
    """

    settings: tuple[str, ...]
    excludes: bytes
    converts: bool
    filters: frozenset[str]
    missing_filters: frozenset[str]
    drivers: "tuple[Driver, ...]" = ()

    @property
    def off(self) -> "tuple[Driver, ...]":
        """The repository's own filters and merge drivers that nobody trusted."""
        return tuple(each for each in self.drivers if not each.trusted)

    @property
    def off_filters(self) -> frozenset[str]:
        """The names of the repository's own filters that nobody trusted."""
        return frozenset(each.name for each in self.off if each.kind == "filter")

    @property
    def trusted_filters(self) -> frozenset[str]:
        """The names of the repository's own filters that a person trusted."""
        found = (each for each in self.drivers if each.trusted and each.kind == "filter")
        return frozenset(each.name for each in found)


def load_settings(
    git: Git,
    repository: RepositoryPaths,
    *,
    trusted: Collection[str] = (),
    checkout: Path | None = None,
) -> UserSettings:
    """Read the configuration: one process, which runs nothing of the repository's.

    `trusted` are the digests of the drivers that a person trusted. Filters among them run in
    `checkout`, the person's own (see `drivers.py`).
    """
    users, local = scoped_values(git, repository)
    values = users | local
    # What git would read as well, in another worktree or on another branch. It is rarely there.
    elsewhere: Mapping[str, str] = {}
    if any(key.startswith(_CONDITIONAL) for key in local):
        from siding.ground.git.drivers import conditional_values

        elsewhere = conditional_values(git, repository)
    named = [key for key in {**local, **elsewhere} if names_program(key)]
    drivers: list[Driver] = []
    if named:
        from siding.ground.git.drivers import own_drivers

        drivers = own_drivers(named, users, {**elsewhere, **local}, trusted)
    settings, present, missing = _program_settings(git, users, named, drivers)
    for each in drivers:
        if each.trusted and each.name not in missing:
            from siding.ground.git.drivers import running

            settings += running(each, repository.common_dir, checkout)
    for key in _DATA_KEYS:
        if key in users and key not in local:
            settings.append(f"{key}={users[key]}")
    attributes = _readable(_file(git, values.get("core.attributesfile"), "attributes"))
    ignore = _file(git, values.get("core.excludesfile"), "ignore")
    excludes = _readable(ignore)
    if attributes is not None:
        settings.append(f"core.attributesFile={attributes}")
    if excludes is not None:
        settings.append(f"core.excludesFile={excludes}")
    own = repository.common_dir / "info" / "exclude"
    return UserSettings(
        settings=tuple(settings),
        excludes=copied_excludes([own] if ignore is None else [ignore, own]),
        converts=attributes is not None or _converts(values),
        filters=frozenset(present),
        missing_filters=frozenset(missing),
        drivers=tuple(drivers),
    )


def scoped_values(git: Git, repository: RepositoryPaths) -> tuple[dict[str, str], dict[str, str]]:
    """Return (the system's and the user's values, the repository's), keys in lower case but for
    the names in them; of several values the last."""
    env = {k: git.environ[k] for k in ("PATH", "HOME", *_FROM_USER) if k in git.environ}
    env |= {"GIT_DIR": str(repository.git_dir), "LC_ALL": "C"}
    env["GIT_COMMON_DIR"] = str(repository.common_dir)
    argv = [git.program, "-C", str(repository.common_dir), "--no-pager", "config", "--list"]
    done = capture.run_captured([*argv, "--includes", "-z", "--show-scope"], env=env)
    fields = done.stdout.split(b"\0")
    users: dict[str, str] = {}
    local: dict[str, str] = {}
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, sign, value = entry.decode("utf-8", "surrogateescape").partition("\n")
        into = users if scope in (b"system", b"global") else local
        into[key] = value if sign else "true"
    return users, local


def settings_in(git: Git, user: UserSettings, git_dir: Path) -> tuple[str, ...]:
    """Return ``user.settings``, and switch off what the configuration of one worktree adds.

    git reads ``config.worktree`` there, which an agent may have written, beside the files that the
    settings were read from.
    """
    own = git_dir / "config.worktree"
    data = read_small(own)
    if data is None and not own.is_file():  # of a pipe nobody would see the end
        return user.settings
    words = ("filter", "merge", "diff", _INCLUDE)
    if data is not None and not any(word.encode() in data.lower() for word in words):
        return user.settings
    from siding.ground.git.drivers import switched_off

    return (*user.settings, *switched_off(git, own, user.settings))


def filter_environment(git: Git, user: UserSettings) -> dict[str, str]:
    """Return the variables that filters get beside those of git itself.

    A filter of the repository that a person trusted gets all that it would get of their own git.
    """
    if user.trusted_filters:
        own = git.environment(Place(git_dir=Path("/")))
        return {
            name: value
            for name, value in git.environ.items()
            if name not in own and not name.startswith("GIT_")
        }
    if not user.filters:
        return {}
    return {k: git.environ[k] for k in _FOR_FILTERS if k in git.environ}


def _program_settings(
    git: Git, users: Mapping[str, str], named: Collection[str], drivers: "Collection[Driver]"
) -> tuple[list[str], set[str], set[str]]:
    """Return settings for all drivers as the user's files have them, and empty for `named`, which
    others name; the filters that run then; and those whose program is not installed."""
    settings: list[str] = []
    own = {f"{each.kind}.{each.name}": each for each in drivers if each.trusted}
    programs = {key: users.get(key, "") for key in (*named, *users) if names_program(key)}
    for name, each in own.items():
        commands = dict(each.commands)
        # Not all keys: to git a filter with an empty `process` has no `clean` either.
        keys = {f"{name}.{key}": key for key in PROGRAM_KEYS[each.kind]}
        programs |= {whole: commands.get(keys[whole], "") for whole in programs.keys() & keys}
    filters = {key.rpartition(".")[0] for key in programs if key.startswith("filter.")}
    missing = {
        name
        for name in filters
        if any(_is_missing(git, v) for k, v in programs.items() if k.rpartition(".")[0] == name)
    }
    for key, value in programs.items():
        name = key.rpartition(".")[0]
        settings.append(f"{key}={'' if name in missing else value}")
    for name in filters:
        required = users.get(f"{name}.required", "false")
        settings.append(f"{name}.required={'false' if name in missing | own.keys() else required}")
    present = {
        name.removeprefix("filter.")
        for name in filters - missing
        if any(v for k, v in programs.items() if k.rpartition(".")[0] == name)
    }
    return settings, present, {name.removeprefix("filter.") for name in missing}


def _is_missing(git: Git, command: str) -> bool:
    """Tell whether the first word of a command names a program that is not there."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False  # a shell may understand it; git will say if not
    if not words or not words[0].replace("-", "").replace("_", "").isalnum():
        return False
    return find_program(words[0], git.environ) is None


def _converts(values: Mapping[str, str]) -> bool:
    return any(values.get(key, "").lower() not in ("", "false", "lf") for key in _CONVERTING_KEYS)


def _file(git: Git, configured: str | None, default: str) -> Path | None:
    """Return the file that the configuration names, or git's default for it; None for no path."""
    home = git.environ.get("HOME", "")
    if configured:
        text = configured.replace("~/", home + "/", 1) if configured[:2] == "~/" else configured
    else:
        above = git.environ.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
        text = f"{above}/git/{default}"
    path = Path(text)
    return path if path.is_absolute() else None


def _readable(path: Path | None) -> Path | None:
    return path if path is not None and os.access(path, os.R_OK) and path.is_file() else None
