"""The tool Glob: find files by their paths."""

import asyncio
import os
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from siding.assistant.tools.files.paths import PathRefused, Paths, explained
from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.search.globs import BadPattern, Matcher, matcher
from siding.assistant.tools.search.request import Found, Mode, Request, SearchFailed, Where, where
from siding.assistant.tools.search.results import newest_first
from siding.assistant.tools.search.ripgrep import Searches
from siding.assistant.tools.spec import failed, spec_of, text
from siding.shellguard.face import Effect

MOST_SHOWN = 100
_WILD = re.compile(r"[*?{\[]")


class Glob:
    """Finds files by a pattern, the newest first."""

    def __init__(self, place: Place, paths: Paths, searches: Searches) -> None:
        self._place = place
        self._paths = paths
        self._searches = searches
        self.spec = spec_of(
            __file__,
            "Glob",
            {
                "pattern": text("the pattern: **/*.py, src/**/*.{ts,tsx}, Makefile"),
                "path": text("the directory (the workspace)"),
            },
            "pattern",
        )

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return True

    def use(self, given: Mapping[str, Any]) -> Use:
        directory, pattern = _split(given)
        use = self._paths.use("Glob", Effect.READS, directory)
        return use._replace(text=f"Glob {pattern[:120]} in {use.pattern}")

    async def run(self, call: Call) -> Result:
        begun = time.monotonic()
        directory, pattern = _split(call.given)
        try:
            place = await asyncio.to_thread(where, self._place, self._paths, directory)
            if place.file:
                return failed(f"{directory} is a file. Give a directory as `path`.")
            matches = matcher(pattern)
            request = Request(place.directory, Mode.LIST, ignores=place.ignores)
            found = await self._searches.find(request)
        except (PathRefused, SearchFailed) as refused:
            return failed(str(refused))
        except BadPattern as problem:
            return failed(f"The pattern cannot be used: {problem}.")
        except OSError as error:
            return failed(explained(error, directory) + self._paths.similar(directory))
        shown, total = await asyncio.to_thread(self._files, place, found, matches)
        took_ms = round((time.monotonic() - begun) * 1000)
        return _result(shown, total, found.notes, took_ms)

    def _files(self, place: Where, found: Found, matches: Matcher) -> tuple[list[str], int]:
        paths = [each.path for each in found.hits if matches(each.path)]
        newest = newest_first(place.directory, paths)[:MOST_SHOWN]
        return [self._paths.shown(place.directory / path) for path in newest], len(paths)


def _split(given: Mapping[str, Any]) -> tuple[str, str]:
    """Return the directory and the pattern in it.

    Of a pattern that is absolute or leads upwards, the directories without wildcards are the
    former.
    """
    directory, pattern = given.get("path") or ".", given["pattern"]
    if not pattern.startswith(("/", "~")) and ".." not in pattern.split("/"):
        return directory, pattern
    parts = pattern.split("/")
    wild = next((at for at, part in enumerate(parts) if _WILD.search(part)), len(parts) - 1)
    fixed, rest = "/".join(parts[:wild]) or "/", "/".join(parts[wild:])
    return os.path.join(directory, fixed) if fixed[0] not in "/~" else fixed, f"/{rest}"


def _result(shown: list[str], total: int, notes: Sequence[str], took_ms: int) -> Result:
    details = {
        "filenames": shown,
        "numFiles": len(shown),
        "truncated": total > len(shown),
        "durationMs": took_ms,
    }
    if not shown:
        text = "\n".join(("No file matches.", *notes))
        return Result(text, shown="no files", details=details)
    lines = [*shown, *notes]
    if total > len(shown):
        lines.append(f"({len(shown)} of {total:,} files, the newest. Narrow the pattern.)")
    return Result("\n".join(lines), shown=f"{total:,} files", details=details)
