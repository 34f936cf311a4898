"""What of the home is in a sandbox: the profile of a run, a home of its own, its package caches.

bwrap mounts an empty home with a few places of the real one in it. Landlock has no mounts: there
the real home is closed but for these places. A program that makes a directory in its home, as most
agents do when they start, would fail. So ``HOME`` names a directory of the run's own in which links
lead to these places; what else is written there is gone with the run.

Programs fail, too, where they cannot write into their cache (npm at each package that is missing in
it, pip at each wheel that it builds). So a run gets a cache of its own, in which each file of the
person's is a link to the file itself, shown read-only. Small files are copied, because some are
written to in place. What the run adds is removed when it ends.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import copyfile

from siding.agents.places import PLACES, AgentPlaces
from siding.agents.table import BY_PROGRAM
from siding.ground.files.durable import make_dirs
from siding.ground.namedtuples import NamedTuple
from siding.sandbox.engines.values import Kind, StagedCache, View, is_within

AUTO = "auto"  # the agent's own profile when the command is one, else `workspace`
WORKSPACE = "workspace"  # nothing of the home but programs and git's settings
PROFILES = (AUTO, WORKSPACE, *PLACES.agents)
_LARGEST_COPY = 64 << 20  # bytes; of what an agent rewrites as a whole
_XDG = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
_SHOWN = "/run/siding/caches"  # where the person's own caches are, inside
_SMALL = 4096  # bytes
_LISTS = frozenset({"GOPATH"})  # of directories, of which the first one is meant


def profile_in_force(asked: str | None, program: str) -> str:
    """Return the profile of a run: the one that is asked for, else the one of its program."""
    if asked is not None and asked != AUTO:
        return asked
    agent = BY_PROGRAM.get(program)
    return agent.name if agent is not None and agent.name in PROFILES else WORKSPACE


def places_in(profile: str) -> AgentPlaces | None:
    """Return the places of the agent that the profile belongs to, None if it is no agent's."""
    return PLACES.of(profile)


def stays_root(program: str) -> bool:
    """Tell whether a program's root is uid 0 in a sandbox as well; without any privileges."""
    agent = BY_PROGRAM.get(program)
    return agent is not None and agent.stays_root


def make_room_for_sessions(home: Path, agent: AgentPlaces | None) -> None:
    """Create the directories in which an agent keeps its conversations.

    A directory that does not exist outside cannot be mounted, and what the agent wrote would be
    lost with the sandbox.
    """
    if agent is None or not home.is_dir():
        return
    for name in agent.sessions:
        if not os.path.lexists(home / name):
            with suppress(OSError):  # a read-only home: the run goes on, its conversation is lost
                (home / name).mkdir(mode=0o700, parents=True)


def lay_out(
    private: Path, view: View, homes: Sequence[str], env: Mapping[str, str]
) -> dict[str, str]:
    """Make what stands for /tmp and for the home; return the variables that name them.

    `private` is a directory of the run alone, `homes` are the person's, theirs first.
    """
    temporary, home = private / "t", private / "h"
    make_dirs(temporary)
    if not homes:
        return {"TMPDIR": str(temporary)}
    make_dirs(home)
    _furnish(home, view, homes[0])
    return {"TMPDIR": str(temporary), "HOME": str(home), **_renamed(home, env, homes[0])}


def _furnish(directory: Path, view: View, home: str) -> None:
    """Make in `directory` what a view has below the person's `home`: links, and private copies."""
    linked: list[str] = []
    for mount in view.mounts:  # parents come first
        inside = mount.path != home and is_within(mount.path, home)
        if not inside or any(is_within(mount.path, each) for each in linked):
            continue
        place = directory / os.path.relpath(mount.path, home)
        with suppress(OSError):  # as little as can be: the command says what it lacks
            if mount.kind in (Kind.EMPTY, Kind.BLANK):
                place.mkdir(parents=True, exist_ok=True)
            elif mount.kind is Kind.COPY:
                place.parent.mkdir(parents=True, exist_ok=True)
                _copy(mount.origin, place)
            elif mount.kind is not Kind.MASK:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(mount.origin)
                linked.append(mount.path)


def _renamed(directory: Path, env: Mapping[str, str], home: str) -> dict[str, str]:
    """Return the variables that name directories of the person's home, as those of this one."""
    values = {name: os.path.realpath(env[name]) for name in _XDG if env.get(name)}
    return {
        name: str(directory / os.path.relpath(value, home))
        for name, value in values.items()
        if is_within(value, home)
    }


def _copy(source: str, place: Path) -> None:
    if os.path.isfile(source) and os.path.getsize(source) <= _LARGEST_COPY:
        copyfile(source, place)
        place.chmod(0o600)


class PackageCache(NamedTuple):
    """One program's cache. Nothing secret lies in these directories, only beside them.

    `variables` say that it is elsewhere, each with what lies below the directory it names; else it
    is at `usual` below the home. The files of the `copied` directories are written to in place.
    """

    usual: str
    variables: tuple[tuple[str, str], ...] = ()
    copied: tuple[str, ...] = ()
    env: Mapping[str, str] = {}


CACHES: Mapping[str, PackageCache] = {
    "pip": PackageCache(".cache/pip", (("PIP_CACHE_DIR", ""), ("XDG_CACHE_HOME", "pip"))),
    "uv": PackageCache(
        ".cache/uv",
        (("UV_CACHE_DIR", ""), ("XDG_CACHE_HOME", "uv")),
        env={"UV_LINK_MODE": "copy"},  # a hard link would be one of our links
    ),
    "npm": PackageCache(
        ".npm/_cacache",
        (("npm_config_cache", "_cacache"), ("NPM_CONFIG_CACHE", "_cacache")),
        copied=("index-v5",),
    ),
    # The index is written to in place. Programs that were installed lie beside it.
    "cargo": PackageCache(".cargo/registry", (("CARGO_HOME", "registry"),), copied=("index",)),
    # What was downloaded, and not what was unpacked: Go embeds no file that is a link.
    "go": PackageCache(
        "go/pkg/mod/cache/download",
        (("GOMODCACHE", "cache/download"), ("GOPATH", "pkg/mod/cache/download")),
    ),
    "maven": PackageCache(".m2/repository"),
}


def staged(names: Iterable[str], env: Mapping[str, str], directory: Path) -> list[StagedCache]:
    """Make a run's own of each named cache that is there, in `directory`."""
    found = []
    for name in dict.fromkeys(names):
        place = _place(CACHES[name], env)
        if place and os.path.isdir(place):
            shown = f"{_SHOWN}/{name}"
            _stage(place, directory / name, shown, CACHES[name].copied)
            source = os.path.realpath(place)
            found.append(
                StagedCache(path=place, staged=str(directory / name), shown=shown, source=source)
            )
    return found


def env_of(names: Iterable[str]) -> dict[str, str]:
    """Return the variables with which the programs of these caches get along."""
    return {key: value for name in names for key, value in CACHES[name].env.items()}


def _place(cache: PackageCache, env: Mapping[str, str]) -> str:
    for variable, below in cache.variables:
        value = env.get(variable, "")
        named = value.split(os.pathsep)[0] if variable in _LISTS else value
        if os.path.isabs(named):
            return os.path.normpath(os.path.join(named, below))
    home = env.get("HOME", "")
    return os.path.join(home, cache.usual) if home else ""


def _stage(source: str, target: Path, shown: str, copied: tuple[str, ...]) -> None:
    """Fill a directory with links and copies. `copied`: the paths below `source` that are copied
    whole; "" is `source` itself."""
    target.mkdir(mode=0o700, parents=True)
    is_copied = "" in copied
    with os.scandir(source) as entries:
        for each in entries:
            there = target / each.name
            try:
                if each.is_symlink():
                    there.symlink_to(os.readlink(each.path))
                elif each.is_dir():
                    whole = ("",) if is_copied or each.name in copied else ()
                    _stage(each.path, there, f"{shown}/{each.name}", whole)
                elif not each.is_file():
                    continue
                elif is_copied or each.stat().st_size <= _SMALL:
                    copyfile(each.path, there)
                else:
                    there.symlink_to(f"{shown}/{each.name}")
            except OSError:
                continue  # it cannot be read, or is gone: the program fetches it again
