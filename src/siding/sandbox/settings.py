"""The ``sandbox`` and ``limits`` sections of settings, and the command line: who may ask for what.

Three files are read: the person's for everything (``config.yaml`` in Siding's home), the person's
for this project, and the repository's ``.siding/config.yaml``. What the person says later replaces
what they said before, and their command line all of it. What the repository says may only make a
run narrower, unless the person trusted exactly that with ``siding trust`` (`trust_sandbox`, by its
digest): a repository is somebody else's word.
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
from siding.record.place.trust import SANDBOXES, add, trust_json, trusted_sandboxes
from siding.sandbox.engines.values import Engine, GitAccess, Network
from siding.sandbox.homes import CACHES, PROFILES
from siding.sandbox.request import SandboxRequest

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


class AskedByRepository(NamedTuple):
    """The repository's sandbox settings. `lines` are those that would widen a run."""

    asked: SandboxSettings
    lines: tuple[str, ...]
    trusted: bool


def widening(project: Project) -> AskedByRepository | None:
    """Return the repository's sandbox settings if some need to be trusted by the person, else
    None."""
    theirs = repository_asks(project)
    own = replaced(asked_in(project.app.home.config_path), asked_in(project.layout.config_yaml))
    lines = loosens(own, theirs)
    if not lines:
        return None
    trusted = digest(theirs) in trusted_sandboxes(trust_json(project))
    return AskedByRepository(asked=theirs, lines=tuple(lines), trusted=trusted)


def trust_sandbox(project: Project, found: AskedByRepository) -> None:
    """Let the repository's sandbox settings count exactly as they were found."""
    add(project, SANDBOXES, digest(found.asked), {"asks": list(found.lines)})


def asked_of(project: Project, request: SandboxRequest) -> tuple[SandboxSettings, tuple[str, ...]]:
    """Return the settings with the command line applied, and notes on settings that do not
    count."""
    own = replaced(
        asked_in(project.app.home.config_path),
        asked_in(project.layout.config_yaml),
    )
    _check_that_it_counts(own)
    notes: tuple[str, ...] = ()
    theirs = repository_asks(project)
    if theirs != SandboxSettings():
        if digest(theirs) in trusted_sandboxes(trust_json(project)):
            own = replaced(own, theirs)
        else:
            if loosens(own, theirs):
                notes = (
                    "sandbox settings of the repository that widen do not count; "
                    "`siding trust` shows and allows them",
                )
            own = narrowed(own, theirs)
    required = own.mode is SandboxMode.REQUIRE
    if request.sandbox is False and required:
        raise UsageError(
            "a sandbox is required here, and --no-sandbox asks for none",
            hint="the settings say `sandbox: {mode: require}`",
        )
    if request.sandbox is not None and not required:
        mode = SandboxMode.REQUIRE if request.sandbox else SandboxMode.OFF
        own = own._replace(mode=mode)
    return _with_paths(project, _overlaid(own, request), request), notes


def _check_that_it_counts(own: SandboxSettings) -> None:
    """Raise UsageError for sandbox settings without `sandbox.mode`: they would have no effect."""
    names = ("profile", "engine", "network", "hosts", "git", "read", "write")
    about = {name: getattr(own, name) for name in names}
    said = [name for name, value in about.items() if value is not None]
    if own.mode is None and said:
        raise UsageError(
            f"the settings have sandbox.{said[0]}, and no sandbox.mode: it would mean nothing",
            hint="add `mode: on` or `mode: require`, or `mode: off` to have it for --sandbox only",
        )


def repository_asks(project: Project) -> SandboxSettings:
    """Return what the repository's own settings ask for."""
    main = project.paths.main_worktree
    return SandboxSettings() if main is None else asked_in(main / ".siding" / "config.yaml")


def _with_paths(
    project: Project, asked: SandboxSettings, request: SandboxRequest
) -> SandboxSettings:
    """Return the settings with what the command line lets a run read and write."""
    if request.read:
        read = (_path_of(project, "read", each) for each in request.read)
        asked = asked._replace(read=(*(asked.read or ()), *read))
    if request.write:
        write = (_path_of(project, "write", each) for each in request.write)
        asked = asked._replace(write=(*(asked.write or ()), *write))
    return asked


def _path_of(project: Project, name: str, typed: str) -> str:
    """Return a path that a sandbox is to show, as an absolute one. Raises UsageError."""
    if name == "read" and typed in CACHES:
        return typed
    app = project.app
    home = Path(app.env.get("HOME") or "/nonexistent")
    path = expanded(typed, home) if typed.startswith("~") else os.path.join(app.cwd, typed)
    path = os.path.normpath(path)
    if not os.path.exists(path):
        raise UsageError(f"--{name} {typed!r}: there is no {path!r}")
    # What holds one of these has the agent's settings and Siding's own record in it.
    held = (os.path.realpath(home), os.path.realpath(app.home.root))
    real = os.path.realpath(path)
    if name == "write" and any(Path(each).is_relative_to(real) for each in held):
        raise UsageError(
            f"--write {typed!r} would open your whole home, or Siding's, to the command",
            hint="name a directory below it, or --no-sandbox to run without one",
        )
    return path


def _overlaid(asked: SandboxSettings, request: SandboxRequest) -> SandboxSettings:
    demands = request.profile == Engine.BWRAP
    if request.profile is not None and request.profile not in PROFILES and not demands:
        raise UsageError(
            f"there is no profile {request.profile!r}",
            hint=f"--sandbox=PROFILE with one of {', '.join(PROFILES)}, --sandbox=bwrap to run "
            "with bwrap or not at all, or --sandbox -- COMMAND",
        )
    said = SandboxSettings(
        profile=None if demands else request.profile,
        engine=Engine.BWRAP if demands else None,
        network=None if request.network is None else Network(request.network),
        output=request.output,
        memory=request.memory,
        processes=request.processes,
        disk=request.disk,
    )
    if request.hosts:
        more = hosts_in(request.hosts, "--allow-host")
        said = said._replace(
            network=said.network or Network.ALLOW, hosts=(*(asked.hosts or ()), *more)
        )
        if said.network is not Network.ALLOW:
            raise UsageError(f"--allow-host is of --network allow, not of --network {said.network}")
    return replaced(asked, said)
