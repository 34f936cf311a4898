"""Patterns for paths: ``*.py``, ``src/**/*.{ts,tsx}``.

A pattern without a slash is compared with the last name of a path, one with a slash with the whole
path from the directory that is searched. ``**`` stands for any number of directories. One that
ends with a slash stands for everything below that directory. Case counts.
"""

import re
from collections.abc import Callable
from fnmatch import translate
from functools import lru_cache
from itertools import takewhile

LONGEST = 1000  # characters of a pattern
_MOST_ALTERNATIVES = 256
_MOST_PARTS = 64
_SIMPLE = re.compile(r"[\w.*?-]+")

Matcher = Callable[[str], bool]


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
