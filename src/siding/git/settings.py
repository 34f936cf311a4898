"""Read the user's git configuration; decide what of it is passed on and what is switched off.

The system's and the user's files are trusted, and are honoured where worktree files are
written or compared: line endings, ignore patterns, and filters such as Git LFS. The repository's
own file may have been written by an agent: it may choose data (line endings), never a program.
Filters and drivers it configures are emptied, unless the user's files name the very same command.
"""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from siding.git.command import Git, find_program
from siding.git.discovery import RepositoryPaths
from siding.git.excludes import copied
from siding.namedtuples import NamedTuple
from siding.process import capture

_PROGRAM_KEYS = {
    "filter": ("clean", "smudge", "process"),
    "diff": ("command", "textconv"),
    "merge": ("driver",),
}
# Settings that choose how bytes are written or compared; the repository's value wins, as in git.
_DATA_KEYS = ("core.autocrlf", "core.eol", "core.safecrlf", "core.checkroundtripencoding")
_CONVERTING_KEYS = ("core.autocrlf", "core.eol")
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
    """

    settings: tuple[str, ...]
    excludes: bytes
    converts: bool
    filters: frozenset[str]
    missing_filters: frozenset[str]


def load_settings(git: Git, repository: RepositoryPaths) -> UserSettings:
    """Read the configuration: one process, which runs nothing of the repository's."""
    users, local = scoped_values(git, repository)
    values = users | local
    settings, present, missing = _program_settings(git, users, local)
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
        excludes=copied([own] if ignore is None else [ignore, own]),
        converts=attributes is not None or _converts(values),
        filters=frozenset(present),
        missing_filters=frozenset(missing),
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


def _program_settings(
    git: Git, users: Mapping[str, str], local: Mapping[str, str]
) -> tuple[list[str], set[str], set[str]]:
    settings: list[str] = []
    programs = {key: users.get(key, "") for key in (*local, *users) if _names_program(key)}
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
        required = users.get(f"{name}.required", "false") if name not in missing else "false"
        settings.append(f"{name}.required={required}")
    present = {
        name.removeprefix("filter.")
        for name in filters - missing
        if any(v for k, v in programs.items() if k.rpartition(".")[0] == name)
    }
    return settings, present, {name.removeprefix("filter.") for name in missing}


def _names_program(key: str) -> bool:
    section, _, rest = key.partition(".")
    return "." in rest and rest.rpartition(".")[2] in _PROGRAM_KEYS.get(section, ())


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
