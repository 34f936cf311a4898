"""Decide where a path leads, by what it resolves to and not by how it is spelled."""

import fnmatch
import os
import posixpath
from collections.abc import Callable, Iterator
from enum import StrEnum

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.fields import ANY, NUMBER, ONE, UNKNOWN
from siding.shellguard.known_files import (
    SECRET_DIRECTORIES,
    SECRET_NAMES,
    is_secret_path,
    steers,
)
from siding.shellguard.names import names, ordered


class Zone(StrEnum):
    """The kind of place a path is."""

    INSIDE = "inside the workspace"
    REPOSITORY = "git's own files"
    STEERING = "what steers agents and tools"
    TEMPORARY = "a temporary file"
    HARMLESS = "a harmless device"
    WORKSPACE = "the workspace itself or what holds it"
    STATE = "Siding's own files"
    HOME = "the home directory"
    SYSTEM = "the system"
    DEVICE = "a device"
    KERNEL = "the kernel's files"
    OUTSIDE = "outside the workspace"
    UNKNOWN = "known only when it runs"


MOST_NAMES = 1000


class Entry(NamedTuple):
    """A directory, or a link of any kind, in a directory."""

    name: str
    is_link: bool


def entries(path: str) -> tuple[Entry, ...]:
    """Return the directories and links in a directory, at most MOST_NAMES; none if it is no
    directory or may not be read."""
    try:
        with os.scandir(path) as found:
            return tuple(_some(found))
    except (OSError, ValueError):
        return ()


def _some(found: "Iterator[os.DirEntry[str]]") -> Iterator[Entry]:
    left = MOST_NAMES
    for each in found:
        is_link = each.is_symlink()
        if is_link or each.is_dir():
            yield Entry(name=each.name, is_link=is_link)
            left -= 1
        if not left:
            return


class JudgingPlace(NamedTuple):
    """The directories a command is judged against, and what is known there. All paths are absolute
    and resolved.
    """

    cwd: str
    workspace: str
    home: str
    # The agents that are known there. The policy has no list of its own, and no default: a caller
    # that forgot them would let an agent rewrite what steers it.
    agents: frozenset[str]  # names of their programs: what they are told is text
    obeyed: tuple[str, ...]  # files of a project that steer one; a directory ends with "/"
    ports: frozenset[int] = frozenset()  # at which their servers take orders from whoever asks
    state: str = ""  # Siding's home; "" when it is not known
    repository: str = ""  # the person's own checkout; "" when there is none
    writable: tuple[str, ...] = ()  # other directories the project allows to be written
    temporary: tuple[str, ...] = ("/tmp", "/var/tmp", "/dev/shm")
    by_agent: bool = True  # no: a person has typed the command, and how they start agents is theirs
    resolve: Callable[[str], str] = posixpath.normpath  # os.path.realpath where there is a disk
    exists: Callable[[str], bool] = lambda path: False  # noqa: ARG005 - os.path.exists there
    # Directories and links; it reads the disk unless it is told otherwise, because a place that
    # forgot it would silently see no links.
    entries: Callable[[str], tuple[Entry, ...]] = entries

    def is_ordinary(self, path: str) -> bool:
        """Return whether a path is a file of the workspace that steers no program and no agent."""
        return zone(path, self, self.cwd) is Zone.INSIDE

    def is_secret(self, path: str) -> bool:
        """Return whether credentials are usually kept in the file at an absolute path."""
        return is_secret(path, self, None)

    @staticmethod
    def is_harmless_device(path: str) -> bool:
        """Return whether a path is a device that anybody may read and write, as /dev/null."""
        return path in HARMLESS_DEVICES


HARMLESS_DEVICES = names("""
    /dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/full /dev/urandom
    /dev/random
""")
ENDLESS_DEVICES = names("/dev/zero /dev/urandom /dev/random")


def absolute(field: str, cwd: str | None) -> str | None:
    """Return the path as an absolute one, not resolved; None when `cwd` is needed and unknown."""
    if field.startswith("/"):
        return field
    if cwd is None:
        return None
    return f"{cwd}/{field}"


def zone(field: str, place: JudgingPlace, cwd: str | None, *, link_itself: bool = False) -> Zone:
    """Return the zone the path in `field` leads to.

    Pass `link_itself` for acts on a link itself and not on its target, such as remove or rename.
    """
    if UNKNOWN in field:
        return _of_open_path(field, place, cwd)
    path = absolute(field, cwd)
    if path is None:
        return Zone.UNKNOWN
    return _of(path, place, link_itself=link_itself and not field.endswith(("/", "/.", "/..")))


def _of_open_path(field: str, place: JudgingPlace, cwd: str | None) -> Zone:
    """Return the zone of a path whose end is unknown, if its known beginning decides it."""
    before = field[: field.index(UNKNOWN)].rpartition("/")[0]
    if not before and not field.startswith("/"):
        return Zone.UNKNOWN
    path = absolute(before or "/", cwd)
    if path is None:
        return Zone.UNKNOWN
    found = _of(path, place, link_itself=False)
    if found in (Zone.SYSTEM, Zone.HOME, Zone.DEVICE, Zone.KERNEL, Zone.STATE, Zone.WORKSPACE):
        return found if path != place.workspace else Zone.UNKNOWN
    return Zone.UNKNOWN


def _of(path: str, place: JudgingPlace, *, link_itself: bool) -> Zone:
    fixed, pattern = _without_pattern(path)
    resolved = _resolved(fixed, place, link_itself=link_itself and not pattern)
    if resolved in HARMLESS_DEVICES or resolved.startswith("/dev/fd/"):
        return Zone.HARMLESS
    led = next(_led_out(fixed, pattern, place, link_itself=link_itself), "") if pattern else ""
    if led:  # the first that is found decides: all of them lead out
        return _of(led, place, link_itself=link_itself and not led.endswith("/"))
    if pattern and resolved == place.workspace:
        return _of_pattern(pattern, place)
    within = _below(resolved, place.workspace)
    if within is not None:
        if within == "" and not pattern:
            return Zone.WORKSPACE
        return _inside(within + pattern, place)
    return _outside(resolved, pattern, place)


def led_out(field: str, place: JudgingPlace, cwd: str | None) -> Iterator[str]:
    """Yield where links lead that a pattern matches first: ``*/x`` may go through one."""
    path = absolute(field, cwd)
    fixed, pattern = _without_pattern(path or "")
    if pattern and UNKNOWN not in field:
        yield from _led_out(fixed, pattern, place, link_itself=False, deep=False)


def _led_out(
    fixed: str, pattern: str, place: JudgingPlace, *, link_itself: bool, deep: bool = True
) -> Iterator[str]:
    """Yield the paths that a pattern matches through a link out of the workspace.

    A link that stands last in a path is followed too, unless the act is on the link itself.
    """
    first, slash, rest = pattern.lstrip("/").partition("/")
    last = not rest.strip("/")
    on_link = last and link_itself and not slash
    if on_link or not is_below(place.resolve(fixed), place.workspace):
        return
    for entry in place.entries(fixed):
        path = f"{fixed.rstrip('/')}/{entry.name}"
        whole = f"{path}{slash}{rest}"
        if not _matches_name(first, entry.name):
            continue
        if entry.is_link and not is_below(place.resolve(path), place.workspace):
            yield whole
        elif not last and deep:
            inner, inner_pattern = _without_pattern(whole)
            if inner_pattern:
                yield from _led_out(inner, inner_pattern, place, link_itself=link_itself)
            elif not is_below(_resolved(whole, place, link_itself=link_itself), place.workspace):
                yield whole


def _matches_name(pattern: str, name: str) -> bool:
    """Return whether the shell's pattern matches a name; a dot at its start has to be given."""
    return (name[0] != "." or pattern[:1] == ".") and _matches(pattern, name)


def _of_pattern(pattern: str, place: JudgingPlace) -> Zone:
    """Return the zone of the names that a pattern in the workspace's root matches."""
    first = pattern.strip("/").partition("/")[0]
    if first.startswith(".") and _matches(first, ".git"):
        return Zone.REPOSITORY
    return _inside(pattern.strip("/"), place)


def _matches(pattern: str, name: str) -> bool:
    shell = pattern.replace(ANY, "*").replace(ONE, "?").replace(NUMBER, "*")
    return fnmatch.fnmatchcase(name, shell)


def _without_pattern(path: str) -> tuple[str, str]:
    """Split a path before the first component that is a pattern."""
    positions = [path.index(mark) for mark in (ANY, ONE, NUMBER) if mark in path]
    if not positions:
        return path, ""
    slash = path.rfind("/", 0, min(positions))
    rest = path[slash:]
    if "/.." in rest:  # a pattern that climbs: only what holds it is certain
        climbs = rest.count("/..")
        return path[: slash or 1] + "/.." * climbs, rest.rpartition("/..")[2]
    return path[: slash or 1], rest


def _resolved(path: str, place: JudgingPlace, *, link_itself: bool) -> str:
    if link_itself:
        head, _, tail = path.rstrip("/").rpartition("/")
        if tail not in ("", ".", ".."):
            return posixpath.normpath(f"{place.resolve(head or '/')}/{tail}")
    found = place.resolve(path)
    return "/" + found.lstrip("/") if found.startswith("//") else found


def _below(path: str, top: str) -> str | None:
    """Return `path` relative to `top`; "" for `top` itself, None when it is not below."""
    if not top:
        return None
    if path == top:
        return ""
    prefix = top.rstrip("/") + "/"
    return path[len(prefix) :] if path.startswith(prefix) else None


def is_below(path: str, top: str) -> bool:
    """Return whether a path is `top` or something below it."""
    return _below(path, top) is not None


def _inside(within: str, place: JudgingPlace) -> Zone:
    parts = within.lower().split("/")
    if any(part == ".git" or _git_by_another_name(part) for part in parts):
        return Zone.REPOSITORY
    return Zone.STEERING if steers(within, place.obeyed) else Zone.INSIDE


def _git_by_another_name(part: str) -> bool:
    """Return whether a file system may take this name for ``.git``.

    NTFS knows it as ``git~1`` too, and drops dots and blanks at the end of a name.
    """
    return part.startswith("git~") or part.rstrip(" .") == ".git"


def _outside(resolved: str, pattern: str, place: JudgingPlace) -> Zone:
    if place.state and _below(resolved, place.state) is not None:
        return Zone.STATE
    within = _below(resolved, place.repository)
    if within is not None:
        return Zone.REPOSITORY if within.split("/")[0] == ".git" else Zone.OUTSIDE
    allowed = _allowed(resolved, pattern, place)
    if allowed is not None:
        return allowed
    if _below(place.workspace, resolved) is not None and not pattern:
        return Zone.WORKSPACE
    if _below(resolved, place.home) is not None:
        return Zone.HOME
    if resolved.startswith("/dev/"):
        return Zone.DEVICE
    if resolved.startswith(("/proc/", "/sys/")):
        return Zone.KERNEL
    holds_home = _below(place.home, resolved) is not None
    if holds_home or resolved.count("/") == 1 or resolved.startswith(_SYSTEM_ROOTS):
        return Zone.SYSTEM
    return Zone.OUTSIDE


def _allowed(resolved: str, pattern: str, place: JudgingPlace) -> Zone | None:
    """Return the zone of a path in a temporary or `writable` directory; None for other paths."""
    for top in place.writable:
        if _below(resolved, top) is not None and (resolved != top or pattern):
            return Zone.TEMPORARY
    for top in place.temporary:
        below = _below(resolved, top)
        if below and _below(place.home, top) and _below(resolved, place.home) is not None:
            return None  # a home among the temporary files is still a home
        if below or (below == "" and pattern and pattern.strip("/") != ANY):
            return Zone.TEMPORARY
        if below == "":
            return Zone.SYSTEM
    return None


_SYSTEM_ROOTS = ordered("""
    /etc/ /usr/ /bin/ /sbin/ /lib /boot/ /var/ /root/ /opt/ /run/ /System/ /Library/ /Applications/
    /private/etc/
""")


def is_secret(field: str, place: JudgingPlace, cwd: str | None) -> bool:
    """Return whether credentials are usually kept at this path, or where its link points."""
    text = field.replace(ANY, "x").replace(ONE, "x")
    if "/" not in text and text in SECRET_NAMES:
        return False  # without a directory it is an ordinary word, as in `grep shadow`
    path = absolute(text.partition(UNKNOWN)[0], cwd) or text
    resolved = place.resolve(path) if path.startswith("/") else path
    return any(is_secret_path(each) for each in {path, resolved})


def holds_secrets(field: str, place: JudgingPlace, cwd: str | None) -> bool:
    """Return whether a directory has one of the known directories of credentials below it."""
    path = absolute(field.partition(ANY)[0], cwd)
    if path is None or UNKNOWN in path:
        return False
    top = place.resolve(path)
    return any(is_below(f"{place.home}/{each}", top) for each in SECRET_DIRECTORIES)


def is_under(field: str, place: JudgingPlace, cwd: str | None) -> bool:
    """Return whether the path is certainly the workspace or something inside it."""
    if UNKNOWN in field:
        return False
    path = absolute(field, cwd)
    if path is None:
        return False
    return zone(field, place, cwd) is Zone.INSIDE or place.resolve(path) == place.workspace
