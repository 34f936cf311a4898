"""Whether a rule means a call, in the widest sense: for rules that deny, or ask.

Such a rule holds for all that a call does: for each command of a line, for files that a command
reads or changes, for a file's name and for where its link leads. What allows is narrower
(`decision`).
"""

import posixpath
import unicodedata
from collections.abc import Iterable, Iterator

from siding.assistant.loop.permissions.facts import CallFacts, PermissionGround, UsedFile, is_below
from siding.assistant.loop.permissions.patterns import (
    ANYTHING,
    Fit,
    Glob,
    literal,
    may_fit,
    meet,
    of_field,
    of_path,
    of_text,
)
from siding.assistant.loop.permissions.rules import DOMAIN, FETCH, SHELL, PermissionRule
from siding.shellguard.face import Effect, Mark

READ = "Read"
EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_CHANGES = frozenset({Effect.WRITES, Effect.DELETES})


def means(rule: PermissionRule, facts: CallFacts, ground: PermissionGround) -> Fit:
    """Tell whether a rule means a call, or some of what it does."""
    if not rule.pattern:
        return Fit.YES if names_tool(rule.tool, facts.tool) else Fit.NO
    if rule.tool == SHELL:
        return _of_line(rule.pattern, facts)
    if rule.tool == READ or rule.tool in EDITS:
        return _of_files(rule, facts, ground)
    if rule.tool == FETCH:
        return max((_of_host(rule.pattern, host) for host in facts.hosts), default=Fit.NO)
    if rule.tool != facts.tool:
        return Fit.NO
    return Fit.YES if fits_text(rule.pattern, facts.use.pattern) else Fit.NO


def names_tool(name: str, tool: str) -> bool:
    """Tell whether the name in a rule is that of a tool, or of the server that the tool is of."""
    is_server = name.startswith("mcp__") and "__" not in name.removeprefix("mcp__")
    if is_server and "*" not in name:
        return tool == name or tool.startswith(f"{name}__")
    return name == tool or ("*" in name and meet(of_text(name), literal(tool)))


def fits_text(pattern: str, text: str) -> bool:
    """Tell whether a pattern means what a tool without files or commands is used on."""
    return meet(of_text(pattern), literal(text))


def fits_host(pattern: str, host: str) -> bool:
    """Tell whether a pattern such as ``domain:*.example.org`` means a host."""
    name = pattern.removeprefix(DOMAIN).lower().rstrip(".")
    if name.startswith("*."):
        return host.endswith(name[1:])
    return bool(host) and host == name


def globs(pattern: str, ground: PermissionGround, *, anywhere: bool) -> Iterator[Glob]:
    """Yield what the pattern of a rule for files means, as patterns of absolute paths.

    ``//x`` is absolute, ``~/x`` in the home, ``/x`` and ``a/x`` in the workspace, ``x`` anywhere in
    it; with `anywhere`, ``x`` is anywhere on the machine, and ``a/x`` in any of the directories.
    """
    tops, rest = _tops(pattern, ground, anywhere=anywhere)
    for top in dict.fromkeys(tops):
        path = posixpath.normpath(f"/{top.lstrip('/')}/{rest}")
        path = f"/{path.lstrip('/')}"
        yield of_path(path)
        # An agent may make links in these directories; what allows must not follow them.
        if anywhere or not any(is_below(path, root) for root in ground.writable):
            yield of_path(_resolved(path, ground))


def _tops(pattern: str, ground: PermissionGround, *, anywhere: bool) -> tuple[tuple[str, ...], str]:
    """Return the directories from which a pattern counts, and what it is from there."""
    place = ground.place
    if pattern.startswith("//"):
        return ("",), pattern[2:]
    if pattern == "~" or pattern.startswith("~/"):
        return (place.home, place.resolve(place.home)), pattern[2:]
    if pattern.startswith("/"):
        return (place.workspace,), pattern[1:]
    rest = pattern.removeprefix("./")
    is_name = rest == pattern and "/" not in rest.rstrip("/")
    if is_name:
        return ("",) if anywhere else (place.workspace,), f"**/{rest}"
    return ground.writable if anywhere else (place.workspace,), rest


def _resolved(path: str, ground: PermissionGround) -> str:
    """Return the pattern with the links in its beginning followed, where no wildcard is."""
    at = min((path.index(each) for each in "*?[\\" if each in path), default=len(path))
    head, _, _ = path[:at].rpartition("/")
    if not head:
        return path
    return ground.place.resolve(head).rstrip("/") + path[len(head) :]


def of_file(file: UsedFile, path: str) -> Glob:
    """Return the pattern of a path that a call works on, with what is below it if that counts."""
    if not file.is_deep:
        return of_field(path)
    return (*of_field(path.rstrip("/")), *of_path("/x")[2:])


def _of_line(pattern: str, facts: CallFacts) -> Fit:
    if facts.line is None:
        return Fit.NO
    if facts.use.command.strip() == pattern:
        return Fit.YES
    found = max(
        (may_fit(pattern, each.words, each.text) for each in facts.line.commands), default=Fit.NO
    )
    return max(found, Fit.MAYBE) if facts.line.unclear else found


def _of_files(rule: PermissionRule, facts: CallFacts, ground: PermissionGround) -> Fit:
    effects: Iterable[Effect] = {Effect.READS} if rule.tool == READ else _CHANGES
    patterns = [_folded(each) for each in globs(_same_case(rule.pattern), ground, anywhere=True)]
    found = Fit.MAYBE if facts.line is not None and facts.line.unclear else Fit.NO
    for file in facts.files:
        if file.effect in effects:
            found = max(found, *(_of_path(patterns, file, path) for path in file.paths))
    return found


def _of_path(patterns: list[Glob], file: UsedFile, path: str) -> Fit:
    seen = _same_case(path)
    if not Mark.are_in(seen) and any(meet(p, literal(seen)) for p in patterns):
        return Fit.YES
    wide = (ANYTHING,) if path == Mark.UNKNOWN else of_file(file, seen)
    return Fit.MAYBE if any(meet(pattern, wide) for pattern in patterns) else Fit.NO


def _of_host(pattern: str, host: str) -> Fit:
    if not host:
        return Fit.MAYBE
    return Fit.YES if fits_host(pattern, host) else Fit.NO


def _same_case(text: str) -> str:
    """Return a name as file systems see it that do not tell capitals from small letters."""
    return unicodedata.normalize("NFC", text).casefold()


def _folded(glob: Glob) -> Glob:
    return tuple(
        each._replace(letters=frozenset(letter.casefold() for letter in each.letters))
        for each in glob
    )
