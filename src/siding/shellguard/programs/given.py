"""Split the arguments of one call by the row of its program: options, operands, a command."""

import re

from siding.shellguard.programs.rows import TAKES_A_VALUE, Launch, Row, Words

ASSIGNS = re.compile(r"[^/=-][^/=]*=")
_HELP = ("--help", "--version")


class Given:
    """The arguments of one call, split by the row of the program."""

    def __init__(self, row: Row) -> None:
        self.rows = [row]  # of the program, its subcommand, the subcommand of that …
        self.base = 0  # where the row of the last subcommand stands; behind it those of options
        self.launch: Launch | None = row.launch
        self.nests = row.has_commands
        self.places = row.places  # an option's row says more than that of the program
        self.spelled = row.options
        self.modes = row.modes
        self.patterns = row.patterns
        self.options: list[tuple[str, Words, str]] = []
        self.verbs: list[str] = []
        self.operands: list[str] = []
        self.command: tuple[str, ...] | None = None
        self.words: set[str] = set()  # of all options that are given
        self.helps = False

    @property
    def row(self) -> Row:
        return self.rows[self.base]

    def meaning(self, name: str) -> Words | None:
        """Return the words of an option; None when no row names it."""
        return self.spelled.get(self.whole(name))

    def whole(self, name: str) -> str:
        """Return the full name of an option: ``--verb`` is ``--verbose``."""
        if name not in self.spelled and len(name) > 4 and name.startswith("--"):
            return next((each for each in self.spelled if each.startswith(name)), name)
        return name

    def in_full(self, name: str, before: Words, value: str) -> tuple[Words, str]:
        """Return the words of an option and its value, as all rows together say it.

        `before` are the words that were known when it was read; a later subcommand may say more.
        """
        if len(self.rows) == 1 and not self.patterns:
            return before, value
        words = self.meaning(name)
        if self.patterns:
            of_values = [pattern for pattern in self.patterns if "=" in pattern[0]]
            found = _matching(of_values, f"{self.whole(name)}={value}")
            if found is not None:
                return found
        return words or before, value

    def has(self, word: str) -> bool:
        return word in self.words

    def values(self, word: str) -> list[str]:
        """Return the values of the options with this word."""
        if word not in self.words:
            return []
        return [value for _, words, value in self.options if word in words]

    def enter(self, row: Row, *, mode: bool = False) -> None:
        """Take in the row of a subcommand, or with `mode` that of an option."""
        if row in self.rows:
            return
        self.rows.append(row)
        if mode:
            self.places = {**self.places, **row.places}
            self.launch = self.launch or row.launch
            self.nests = self.nests or row.has_commands
        else:
            self.base = len(self.rows) - 1
            self.places, self.launch = row.places, row.launch
            self.nests = row.has_commands
        self.spelled = {**self.spelled, **row.options}
        self.modes = {**self.modes, **row.modes}
        self.patterns = [*self.patterns, *row.patterns]

    def option(self, name: str, words: Words, value: str = "") -> None:
        """Enter an option that is given."""
        self.options.append((name, words, value))
        self.words.update(self.in_full(name, words, value)[0] if self.patterns else words)
        if name in _HELP and not self.operands and name not in self.spelled:
            self.helps = True
        mode = self.modes.get(self.whole(name)) if self.modes else None
        if mode is not None:
            self.enter(mode, mode=True)

    def deeper(self, word: str) -> Row | None:
        """Return the row of the subcommand `word`."""
        if self.operands or not self.nests:
            return None
        acting = self.rows[self.base :]
        found = next((row for each in acting if (row := each.command(word)) is not None), None)
        return found or next((each.other for each in acting if each.other), None)


def split(row: Row, words: tuple[str, ...]) -> Given:
    """Split the arguments of a call by the row of its program."""
    given = Given(row)
    if "letters" in row.always and words and words[0].isalpha():
        words = _letters(row, words)
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            if given.launch is not None:
                own = at + max(0, given.launch.operands - len(given.operands))
                given.operands += words[at:own]
                given.command = words[own:]
            else:
                given.operands += words[at:]
            break
        if given.launch is not None and given.launch.unread and given.operands:
            given.command = words[at - 1 :]  # what follows an image is for its program
            break
        if word[:1] == "-" and word != "-":
            at += _option(given, word, words[at : at + 1])
            if "command" in given.options[-1][1]:
                given.command, at = words[at:], len(words)
            continue
        if ASSIGNS.match(word) and _assigned(given, word):
            continue
        deeper = given.deeper(word)
        if deeper is not None:
            given.enter(deeper)
            given.verbs.append(word)
            if deeper.launch is not None and deeper.launch.operands == 0:
                given.command, at = words[at:], len(words)
                _own_options(given)
            continue
        launch = given.launch
        if launch is not None and len(given.operands) == launch.operands:
            given.command = words[at - 1 :]
            break
        given.operands.append(word)
    return given


def _letters(row: Row, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments with the letters of the first word as options: ``tar xf FILE``."""
    taken: list[str] = []
    rest = list(words[1:])
    for letter in words[0]:
        taken.append("-" + letter)
        if rest and TAKES_A_VALUE.intersection(row.options.get(taken[-1], ())):
            taken.append(rest.pop(0))
    return (*taken, *rest)


def _matching(patterns: list[tuple[str, Words]], text: str) -> tuple[Words, str] | None:
    """Return the words of the first pattern that matches, and what follows its start."""
    for pattern, words in patterns:
        start = pattern.removesuffix("*")
        if text[: len(start)].lower() == start.lower() and (start != pattern or text == start):
            return words, text[len(start) :].lstrip("= ")
    return None


def _assigned(given: Given, word: str) -> bool:
    """Enter an operand ``NAME=value`` if a row says what such a one does."""
    name, _, value = word.partition("=")
    words = given.spelled.get(f"{name}=", given.places.get("(assigned)"))
    if words is None:
        return False
    given.option(f"{name}=", words, value)
    return True


def _own_options(given: Given) -> None:
    """Take the options of a subcommand that runs a command off the beginning of that command."""
    words = given.command or ()
    at = 0
    while at < len(words) and words[at][:1] == "-" and words[at] != "-":
        at += 1
        if words[at - 1] == "--":
            break
        at += _option(given, words[at - 1], words[at : at + 1])
    given.command = words[at:]


def _option(given: Given, word: str, rest: tuple[str, ...]) -> int:
    """Enter the options in one word; return how many of the next words are their values."""
    name, equals, value = word.partition("=")
    words = given.meaning(name)
    if words is None and word.startswith("--") and given.patterns:
        found = _matching(given.patterns, word)
        if found is not None:
            given.option(word, *found)
            return 0
    if equals and (words is not None or word.startswith("--")):
        taken_back = words == ("looks",) and value in ("false", "none", "no", "0")
        given.option(name, () if taken_back else words or (), value)
        return 0
    words = given.meaning(word) if equals else words
    found = _matching(given.patterns, word) if words is None and given.patterns else None
    if found is not None:
        given.option(word, *found)
        return 0
    if words is not None or word.startswith("--") or not given.rows[0].joined:
        takes = words is not None and bool(TAKES_A_VALUE.intersection(words))
        given.option(word, words or (), (rest[0] if rest else "") if takes else "")
        # What seems to be an abbreviation may be another option, without a value.
        return 1 if takes and (name in given.spelled or given.whole(name) == name) else 0
    for position in range(1, len(word)):
        name = "-" + word[position]
        words = given.spelled.get(name, ())
        if TAKES_A_VALUE.intersection(words):
            value = word[position + 1 :]
            given.option(name, words, value or (rest[0] if rest else ""))
            return 0 if value else 1
        given.option(name, words)
    return 0
