"""The caches of package managers in a sandbox: what is in them is there, and nothing is added.

Programs fail where they cannot write into their cache (npm at each package that is missing in it,
pip at each wheel that it builds). So a run gets a cache of its own, in which each file of the
person's is a link to the file itself, shown read-only. Small files are copied, because some are
written to in place. What the run adds is removed when it ends.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from shutil import copyfile

from siding.ground.namedtuples import NamedTuple
from siding.sandbox.engines.values import StagedCache

_SHOWN = "/run/siding/caches"  # where the person's own caches are, inside
_SMALL = 4096  # bytes
_LISTS = frozenset({"GOPATH"})  # of directories, of which the first one is meant


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
