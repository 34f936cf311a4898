"""The tool Glob: find files by their paths. Patterns for paths: ``src/**/*.{ts,tsx}``.

A pattern without a slash is compared with the last name of a path, one with a slash with the whole
path from the directory that is searched. ``**`` stands for any number of directories. One that
ends with a slash stands for everything below that directory. Case counts.
"""

import asyncio
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache
from itertools import takewhile
from typing import Any

from siding.assistant.tools.files.paths import PathRefused, Paths, explained
from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.search.ripgrep import Searches
from siding.assistant.tools.search.search import (
    Found,
    Mode,
    Request,
    SearchFailed,
    Where,
    newest_first,
    where,
)
from siding.assistant.tools.spec import failed, spec_of, text
from siding.ground.errors import counted
from siding.shellguard.face import Effect

LONGEST = 1000  # characters of a pattern
_MOST_ALTERNATIVES = 256
_MOST_PARTS = 64
_SIMPLE = re.compile(r"[\w.*?-]+")
Matcher = Callable[[str], bool]
MOST_SHOWN = 100
_WILD = re.compile(r"[*?{\[]")


# -- Patterns for paths ----------------------------------------------------------------------------


class BadPattern(ValueError):
    """A pattern cannot be used; the text tells why."""


def matcher(pattern: str) -> Matcher:
    """Return a function that tells whether a path matches. Raises BadPattern."""
    alternatives = [_parts(each) for each in expanded(pattern)]
    any_name = [parts[0] for parts in alternatives if len(parts) == 1]
    whole = [parts for parts in alternatives if len(parts) > 1]

    def matches(path: str) -> bool:
        names = path.split("/")
        return any(_is_name(each, names[-1]) for each in any_name) or any(
            _is_path(parts, names) for parts in whole
        )

    return matches


def filtering(patterns: str) -> Matcher:
    """Return a function for several patterns, between which are blanks or commas.

    One that begins with ``!`` leaves out what it matches. Raises BadPattern.
    """
    words = _words(patterns)
    wanted = [matcher(word) for word in words if not word.startswith("!")]
    unwanted = [matcher(word[1:]) for word in words if word.startswith("!")]
    return lambda path: (
        (not wanted or any(each(path) for each in wanted))
        and not any(each(path) for each in unwanted)
    )


def simple_names(patterns: str) -> tuple[str, ...]:
    """Return patterns for last names that all paths matching `patterns` fit; () if any may match.

    Programs that search can skip other files, and understand nothing but ``*`` and ``?`` here.
    """
    words = [word for word in _words(patterns) if not word.startswith("!")]
    names = [name.rpartition("/")[2] for word in words for name in expanded(word)]
    if all(name and _SIMPLE.fullmatch(name) and "**" not in name for name in names):
        return tuple(dict.fromkeys(names))
    return ()


def expanded(pattern: str) -> list[str]:
    """Return the patterns that one with braces stands for. Raises BadPattern."""
    if len(pattern) > LONGEST:
        raise BadPattern(f"a pattern has at most {LONGEST} characters")
    done: list[str] = []
    left = [pattern]
    while left:
        each = left.pop()
        found = _braces(each)
        if found is None:
            done.append(each)
        else:
            start, end, choices = found
            left += [f"{each[:start]}{choice}{each[end:]}" for choice in reversed(choices)]
        if len(done) + len(left) > _MOST_ALTERNATIVES:
            raise BadPattern(f"it stands for more than {_MOST_ALTERNATIVES} patterns")
    return done


def _braces(pattern: str) -> tuple[int, int, list[str]] | None:
    """Return where the first closed pair of braces begins and ends, and its choices."""
    for start, letter in enumerate(pattern):
        if letter != "{":
            continue
        depth, begun = 0, start + 1
        choices: list[str] = []
        for at in range(start, len(pattern)):
            if pattern[at] == "{":
                depth += 1
            elif pattern[at] == "}":
                depth -= 1
                if depth == 0:
                    return start, at + 1, [*choices, pattern[begun:at]]
            elif pattern[at] == "," and depth == 1:
                choices.append(pattern[begun:at])
                begun = at + 1
    return None


def _words(patterns: str) -> list[str]:
    words, depth = [""], 0
    for letter in patterns:
        depth += (letter == "{") - (letter == "}" and depth > 0)
        if depth == 0 and (letter.isspace() or letter == ","):
            words.append("")
        else:
            words[-1] += letter
    return [word for word in words if word]


def _parts(pattern: str) -> list[str]:
    """Return the parts between slashes; only one if the pattern is for last names."""
    text = pattern.removeprefix("./")
    if text.endswith("/"):
        text += "**"
    if "/" not in text:
        return [text or "*"]
    parts = [part for part in text.split("/") if part]
    if len(parts) > _MOST_PARTS:
        raise BadPattern(f"it has more than {_MOST_PARTS} parts")
    if len(parts) == 1:  # `/name`: only in the directory itself
        parts.insert(0, "")
    if parts[-1] == "**":
        parts.append("*")
    return parts


def _is_path(parts: list[str], names: list[str]) -> bool:
    """Compare from the left; `reached` are the numbers of parts that may have been used up."""
    wanted = [part for part in parts if part]
    reached = _after_stars(wanted, {0})
    for name in names:
        if not reached:
            return False
        reached = _after_stars(
            wanted,
            {
                at if wanted[at] == "**" else at + 1
                for at in reached
                if at < len(wanted) and (wanted[at] == "**" or _is_name(wanted[at], name))
            },
        )
    return len(wanted) in reached


def _after_stars(parts: list[str], reached: set[int]) -> set[int]:
    found = set(reached)
    for start in reached:
        stars = takewhile(lambda part: part == "**", parts[start:])
        found.update(start + number for number, _part in enumerate(stars, start=1))
    return found


def _is_name(part: str, name: str) -> bool:
    # Frameworks have files called `[id].tsx`: a name that is spelled so is meant.
    return part == name or _regex(part).fullmatch(name) is not None


@lru_cache(maxsize=512)
def _regex(part: str) -> re.Pattern[str]:
    # `translate` makes atomic groups of stars, so that no name takes long.
    return re.compile(translate(part.replace("[^", "[!")))


# -- The tool --------------------------------------------------------------------------------------


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
    return Result("\n".join(lines), shown=counted(total, "file"), details=details)
