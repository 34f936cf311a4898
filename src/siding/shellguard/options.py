"""Split a program's arguments into options and operands, as getopt does."""

from collections.abc import Collection

from siding.ground.namedtuples import NamedTuple


class Arguments(NamedTuple):
    """A program's arguments: options as (name, value), operands in order."""

    options: tuple[tuple[str, str | None], ...]
    operands: tuple[str, ...]

    def has(self, *names: str) -> bool:
        """Return whether one of these options is given; GNU programs take ``--verb`` for
        ``--verbose``, so a long option also matches when it is abbreviated."""
        return any(_is(name, wanted) for name, _ in self.options for wanted in names)

    def values(self, *names: str) -> list[str]:
        """Return the values given to these options."""
        return [
            value
            for name, value in self.options
            if value is not None and any(_is(name, wanted) for wanted in names)
        ]


def _is(name: str, wanted: str) -> bool:
    if name == wanted:
        return True
    cut = wanted.startswith("--") and name.startswith("--") and len(name) > 4
    return cut and wanted.startswith(name)


def arguments(
    words: tuple[str, ...] | list[str],
    with_value: Collection[str] = (),
    *,
    stop_at_operand: bool = False,
) -> Arguments:
    """Split `words` (without the program) the way getopt does.

    `with_value` names the options that take a value (``-n``, ``--name``). With `stop_at_operand`
    everything from the first operand on is an operand, as wrappers like ``sudo`` read it.
    """
    options: list[tuple[str, str | None]] = []
    operands: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word == "--":
            operands.extend(words[index:])
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
            if stop_at_operand:
                operands.extend(words[index:])
                break
            continue
        taken = _option(word, with_value, words[index : index + 1])
        options.extend(taken[0])
        index += taken[1]
    return Arguments(options=tuple(options), operands=tuple(operands))


def _option(
    word: str, with_value: Collection[str], rest: tuple[str, ...] | list[str]
) -> tuple[list[tuple[str, str | None]], int]:
    """Return the options in one word, and how many of the following words are their values."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        if equals:
            return [(name, value)], 0
        if name in with_value:
            return [(name, rest[0] if rest else None)], 1
        if any(_is(name, each) for each in with_value):  # it may be another option, without a value
            return [(name, rest[0] if rest else None)], 0
        return [(name, None)], 0
    if word in with_value:  # also ``-name``, which find, go and java have
        return [(word, rest[0] if rest else None)], 1
    found: list[tuple[str, str | None]] = []
    for position in range(1, len(word)):
        name = "-" + word[position]
        if name in with_value:
            value = word[position + 1 :]
            found.append((name, value or (rest[0] if rest else None)))
            return found, 0 if value else 1
        found.append((name, None))
    return found, 0
