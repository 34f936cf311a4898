"""What is known of a call before it runs: its commands, its files, its addresses."""

import posixpath
from collections.abc import Callable, Mapping

from siding.assistant.tools.port import Use
from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import Effect, JudgingPlace, LineUse, Mark

_MARKS = frozenset(Mark)


class PermissionGround(NamedTuple):
    """Where calls are decided on. All paths are absolute and resolved.

    `place` has the workspace, the home, and the directory of the shell. Files of the workspace and
    of `roots` may be changed if somebody allows it; these and those of `readable` may be read.
    """

    place: JudgingPlace
    roots: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    env: Mapping[str, str] = {}

    @property
    def writable(self) -> tuple[str, ...]:
        """The directories whose files may be changed."""
        return (self.place.workspace, *self.roots)

    def may_read(self, path: str) -> bool:
        """Tell whether a path is where anything may be read."""
        return any(is_below(path, root) for root in (*self.writable, *self.readable))

    def is_ordinary(self, path: str) -> bool:
        """Tell whether a path is a file of the workspace that steers no program and no agent."""
        places = (self.place._replace(workspace=root) for root in self.writable)
        return any(place.is_ordinary(path) for place in places)


class UsedFile(NamedTuple):
    """A file that a call works on: as it is named, and where that leads. They may hold marks.

    `by`, `within` and `is_deep`: see `LineTouch` of shellguard.
    """

    effect: Effect
    named: str
    real: str
    by: int | None = None
    within: int | None = None
    is_deep: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """Both paths."""
        return (self.named, self.real)

    @property
    def is_known(self) -> bool:
        """Tell whether the path is certain."""
        return not Mark.are_in(self.named)


class CallFacts(NamedTuple):
    """A call of a tool, and what is known of it. `line` is None of a tool that is no shell."""

    tool: str
    use: Use
    is_safe: bool
    files: tuple[UsedFile, ...] = ()
    hosts: tuple[str, ...] = ()  # "" is one that cannot be told
    line: LineUse | None = None


def facts_of(tool: str, use: Use, ground: PermissionGround, *, is_safe: bool) -> CallFacts:
    """Return what is known of a call."""
    is_safe = is_safe or use.in_conversation
    if use.command:
        line = LineUse.of(use.command, ground.place, ground.env)
        files = tuple(
            UsedFile(
                effect=each.effect,
                named=_normal(each.path),
                real=_resolved(each.path, ground.place.resolve),
                by=each.by,
                within=each.within,
                is_deep=each.is_deep,
            )
            for each in line.touches
        )
        return CallFacts(tool, use, is_safe, files, line=line)
    touches = () if use.touches is None else use.touches.touches
    hosts = tuple(host_of(what) for effect, what in touches if effect is Effect.FETCHES)
    on_files = [each for each in touches if each[0] is not Effect.FETCHES]
    only_one = len(on_files) == 1
    files = tuple(
        _file(effect, use.pattern if only_one else "", what, ground) for effect, what in on_files
    )
    return CallFacts(tool, use, is_safe, files, hosts)


def _file(effect: Effect, named: str, what: str, ground: PermissionGround) -> UsedFile:
    # A character that is a mark elsewhere is one of the name here; no pattern fits its stand-in.
    shown = "".join("\ufffd" if each in _MARKS else each for each in named or what)
    workspace = ground.place.workspace
    real = _resolved(posixpath.join(workspace, what), ground.place.resolve)
    return UsedFile(effect, posixpath.normpath(posixpath.join(workspace, shown)), real)


def _normal(path: str) -> str:
    """Return a path without ``..``; all of it is unknown if that leads out of what is unknown."""
    if path[0] == Mark.UNKNOWN or ("/.." in path and Mark.are_in(path)):
        return Mark.UNKNOWN
    return posixpath.normpath(path)


def _resolved(path: str, resolve: Callable[[str], str]) -> str:
    """Return where a path leads, as far as it is known."""
    marks = [at for at, letter in enumerate(path) if letter in _MARKS]
    if not marks:
        return resolve(path)
    head, slash, _ = path[: marks[0]].rpartition("/")
    if not slash:
        return path
    rest = path[len(head) :]
    if "/.." in rest:
        return Mark.UNKNOWN  # it climbs out of something that is not known
    return resolve(head or "/").rstrip("/") + rest


def is_below(path: str, root: str) -> bool:
    """Tell whether a path is a directory or in it, whatever its marks stand for."""
    if Mark.UNKNOWN in path or "/../" in f"{path}/":
        return False
    return path == root or path.startswith(root.rstrip("/") + "/")


def host_of(address: str) -> str:
    """Return the host of a URL in small letters; "" where readers of URLs may disagree about it."""
    scheme, colons, rest = address.partition("://")
    host = rest.partition("/")[0].partition("?")[0].partition("#")[0].rstrip(".").lower()
    name, _, port = host.partition(":")
    is_plain = all(each.isascii() and (each.isalnum() or each in ".-") for each in name)
    if not colons or scheme.lower() not in ("http", "https") or not name or not is_plain:
        return ""
    return name if not port or port.isdigit() else ""
