"""Searching with the ripgrep that was chosen."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from siding.assistant.tools import program
from siding.assistant.tools.place import Place
from siding.assistant.tools.search import ripgrep
from siding.assistant.tools.search.choosing import INSTALL, Searcher, choose
from siding.assistant.tools.search.parsing import parsed
from siding.assistant.tools.search.request import Found, Mode, Request, SearchFailed
from siding.ground.process.errors import CannotStart

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
                f"Bash, and tell the person: {INSTALL}."
            )
        try:
            output = await self._by_ripgrep(searcher.program, request)
        except CannotStart as error:
            raise SearchFailed(f"The search could not be started: {error}") from error
        return _found(output, request.mode)

    async def _by_ripgrep(self, path: str, request: Request) -> program.Output:
        argv = [path, *ripgrep.arguments(request)]
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
