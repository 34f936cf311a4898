"""The ``sandbox`` and ``limits`` sections of settings: who may ask for what.

Three files are read: the person's for everything (``config.yaml`` in Siding's home), the person's
for this project, and the repository's ``.siding/config.yaml``. What the person says later replaces
what they said before. What the repository says may only make a run narrower, unless the person
trusted exactly that with ``siding trust``: a repository is somebody else's word.
"""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

from siding.agents.table import OWN
from siding.ground.errors import UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.limits import Limits
from siding.record.place.project import Project
from siding.record.place.quantities import bytes_in, seconds_in
from siding.record.place.settings import is_default, parse_settings
from siding.sandbox.engines.values import Engine, GitAccess, Network
from siding.sandbox.homes import CACHES, PROFILES

_SANDBOX = ("mode", "profile", "engine", "room", "network", "hosts", "git", "read", "write")
_LIMITS = ("time", "output", "memory", "processes", "disk")


class SandboxMode(StrEnum):
    """Whether runs are sandboxed, and what happens where no engine works."""

    OFF = "off"
    ON = "on"  # where no engine works: a warning, and the run goes on
    REQUIRE = "require"  # where no engine works: nothing runs


class SandboxSettings(NamedTuple):
    """The settings of one file. None means that the file says nothing about it.

    Paths are as written in the file. Sizes are in bytes, `time_s` in seconds.
    """

    mode: SandboxMode | None = None
    profile: str | None = None
    network: Network | None = None
    hosts: tuple[str, ...] | None = None  # with `network: allow`
    git: GitAccess | None = None
    read: tuple[str, ...] | None = None
    write: tuple[str, ...] | None = None
    time_s: float | None = None
    output: int | None = None
    memory: int | None = None
    processes: int | None = None
    disk: int | None = None
    engine: Engine | None = None  # the only one that may be used
    room: int | None = None  # what all directories in memory may hold together

    @property
    def limits(self) -> Limits:
        return Limits(
            output=self.output, memory=self.memory, processes=self.processes, disk=self.disk
        )


_NARROWER: dict[str, tuple[str, ...]] = {  # from wide to narrow
    "mode": tuple(SandboxMode),
    "network": (Network.ON, Network.ALLOW, Network.LOOPBACK, Network.OFF),
    "git": (GitAccess.COMMIT, GitAccess.READ),
}
_WIDEST = SandboxSettings(mode=SandboxMode.OFF, network=Network.ON, git=GitAccess.COMMIT)


def asked_in(path: Path) -> SandboxSettings:
    """Return the settings in a file. Raises UsageError that names the file and the key."""
    try:
        raw = read_bytes(path, limit=1 << 20)
    except FileNotFoundError:
        return SandboxSettings()
    if is_default(raw) or not (b"sandbox" in raw or b"limits" in raw):
        return SandboxSettings()
    document = parse_settings(path, raw)
    sandbox = _section(document, path, "sandbox", _SANDBOX)
    limits = _section(document, path, "limits", _LIMITS)
    return SandboxSettings(
        mode=_word(sandbox, path, "mode", SandboxMode),
        profile=_profile(sandbox, path),
        engine=_engine(sandbox, path),
        network=_word(sandbox, path, "network", Network),
        hosts=_hosts(sandbox, path),
        git=_word(sandbox, path, "git", GitAccess),
        read=_paths(sandbox, path, "read"),
        write=_paths(sandbox, path, "write"),
        time_s=_seconds(limits, path),
        output=_size(limits, path, "output"),
        memory=_size(limits, path, "memory"),
        room=_size(sandbox, path, "room", "sandbox"),
        processes=_count(limits, path),
        disk=_size(limits, path, "disk"),
    )


def replaced(first: SandboxSettings, *later: SandboxSettings) -> SandboxSettings:
    """Return `first` with every value that a later one has."""
    result = first
    for each in later:
        said = {name: value for name, value in each._asdict().items() if value is not None}
        result = result._replace(**said)
    return result


def narrowed(own: SandboxSettings, theirs: SandboxSettings) -> SandboxSettings:
    """Return the person's settings, made narrower where the repository's are narrower.

    The repository cannot widen anything: its profiles and paths are ignored.
    """
    result: dict[str, Any] = {}
    for name, order in _NARROWER.items():
        one, other = getattr(own, name), getattr(theirs, name)
        widest = getattr(_WIDEST, name)
        if other is not None and order.index(other) > order.index(one or widest):
            result[name] = other
    if result.get("network") is Network.ALLOW:
        result["hosts"] = theirs.hosts  # fewer than all, whichever they are
    if own.engine is None and theirs.engine is not None:
        result["engine"] = theirs.engine
    for name in ("time_s", "output", "memory", "processes", "disk", "room"):
        one, other = getattr(own, name), getattr(theirs, name)
        if other is not None and (one is None or other < one):
            result[name] = other
    return own._replace(**result)


def loosens(own: SandboxSettings, theirs: SandboxSettings) -> list[str]:
    """Return the settings of the repository that count only if they are trusted, a line for
    each."""
    narrow = narrowed(own, theirs)
    return [
        f"{name}: {_shown(value)}"
        for name, value in theirs._asdict().items()
        if value is not None and value != getattr(narrow, name)
    ]


def digest(theirs: SandboxSettings) -> str:
    """Return the SHA-256 of these settings in hex, under which a person trusts exactly them."""
    said = theirs._asdict()
    for name in ("engine", "room"):  # what was trusted before there were these stays trusted
        if said[name] is None:
            del said[name]
    return sha256_hex(json.dumps(said, sort_keys=True).encode())


def _shown(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _section(
    document: Mapping[str, Any], path: Path, name: str, known: Iterable[str]
) -> Mapping[str, Any]:
    values = document.get(name)
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise _wrong(path, name, "a section", values)
    for key in values:
        if key not in known:
            raise UsageError(
                f"{name}.{key} in {str(path)!r} is no setting",
                hint=f"{name} has {', '.join(known)}",
            )
    return {f"{name}.{key}": value for key, value in values.items()}


def _word(values: Mapping[str, Any], path: Path, key: str, known: type[StrEnum]) -> Any:
    """Return one of a set of words. YAML 1.1 reads a bare ``on`` or ``off`` as a boolean."""
    name = f"sandbox.{key}"
    value = values.get(name)
    if value is None:
        return None
    word = {True: "on", False: "off"}.get(value) if isinstance(value, bool) else value
    if word not in list(known):
        raise _wrong(path, name, f"one of {', '.join(known)}", value)
    return known(word)


def _engine(values: Mapping[str, Any], path: Path) -> Engine | None:
    value = values.get("sandbox.engine")
    if value is not None and value != Engine.BWRAP:
        raise _wrong(path, "sandbox.engine", Engine.BWRAP.value, value)
    return None if value is None else Engine.BWRAP


def _profile(values: Mapping[str, Any], path: Path) -> str | None:
    value = values.get("sandbox.profile")
    if value is None:
        return None
    if value not in PROFILES:
        raise _wrong(path, "sandbox.profile", f"one of {', '.join(PROFILES)}", value)
    return str(value)


def _paths(values: Mapping[str, Any], path: Path, key: str) -> tuple[str, ...] | None:
    name = f"sandbox.{key}"
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise _wrong(path, name, "a list of paths", value)
    for each in value:
        if key == "read" and each in CACHES:
            continue
        if not each.startswith(("/", "~/")) and each != "~":
            wanted = "absolute paths, or ones that begin with ~/"
            if key == "read":
                wanted += f", or caches ({', '.join(CACHES)})"
            raise _wrong(path, name, wanted, each)
        if ".." in each.split("/") or "\0" in each:
            raise _wrong(path, name, "paths without `..`", each)
    return tuple(value)


def _hosts(values: Mapping[str, Any], path: Path) -> tuple[str, ...] | None:
    value = values.get("sandbox.hosts")
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise _wrong(path, "sandbox.hosts", "a list of hosts", value)
    return hosts_in(value, f"sandbox.hosts in {str(path)!r}")


def hosts_in(entries: Iterable[str], place: str) -> tuple[str, ...]:
    """Return the entries of a list of hosts, as they were written. Raises UsageError."""
    from siding.agents.places import GROUPS, expanded  # `ipaddress` takes 7 ms
    from siding.sandbox.wire.hosts import BadEntry, rule_of

    found = tuple(entries)
    for entry in found:
        for each in expanded((entry,)):
            try:
                rule_of(each)
            except BadEntry as error:
                raise UsageError(
                    f"{place}: {entry!r}: {error}",
                    hint="api.example.org, *.example.org:8443, 10.0.0.0/8, or one of "
                    + ", ".join(GROUPS),
                ) from None
    return found


def _size(values: Mapping[str, Any], path: Path, key: str, section: str = "limits") -> int | None:
    name = f"{section}.{key}"
    value = values.get(name)
    if value is None:
        return None
    size = bytes_in(str(value)) if not isinstance(value, bool) else None
    if size is None or size <= 0:
        raise _wrong(path, name, "a size such as 100MiB", value)
    return size


def _count(values: Mapping[str, Any], path: Path) -> int | None:
    value = values.get("limits.processes")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _wrong(path, "limits.processes", "a number from 1", value)
    return value


def _seconds(values: Mapping[str, Any], path: Path) -> float | None:
    value = values.get("limits.time")
    if value is None:
        return None
    seconds = seconds_in(str(value)) if not isinstance(value, bool) else None
    if seconds is None:
        raise _wrong(path, "limits.time", "a time such as 90, 90s, 5m or 1h30m", value)
    return seconds


def _wrong(path: Path, name: str, wanted: str, found: object) -> UsageError:
    return UsageError(f"{name} in {str(path)!r} should be {wanted}, and is {found!r}")


def expanded(path: str, home: Path) -> str:
    """Return a path of the settings as an absolute path, ``~`` replaced by `home`."""
    return os.path.normpath(f"{home}{path[1:]}" if path.startswith("~") else path)


def with_conversations(asked: SandboxSettings, project: Project, profile: str) -> SandboxSettings:
    """Return the settings of a run in which Siding's own agent keeps what is said.

    It may write to the conversations of its project, which lie in Siding's home, as the profiles
    of other agents let those write to theirs; of no other project.
    """
    if profile != OWN:
        return asked
    sessions = project.layout.root / "sessions"
    with suppress(OSError):
        sessions.mkdir(mode=0o700, exist_ok=True)
    return asked._replace(write=(*(asked.write or ()), str(sessions)))
