"""Expand words into fields: braces, tildes, parameters, substitutions, splitting, patterns.

Only values that are certain become text; everything else becomes a mark (see `fields`). A variable
that the line does not set is unknown, unless the caller passed its value in `env`.
"""

import re
from typing import Protocol

from siding.shellguard.budget import LONGEST_VALUE, Budget
from siding.shellguard.fields import ANY, MARKS, NUMBER, ONE, UNKNOWN, PrintedText
from siding.shellguard.names import names
from siding.shellguard.state import ShellState
from siding.shellguard.tree import (
    Arithmetic,
    Literal,
    Parameter,
    Script,
    Substitution,
    Word,
    WordPart,
)
from siding.shellguard.words import NotUnderstood

MOST_FIELDS = 2000
MOST_BRACES = 40  # groups of braces in one word

_NUMBERS = names("""
    $ ! ? # RANDOM SECONDS LINENO UID EUID PPID BASHPID EPOCHSECONDS
""")
_TILDE = re.compile(r"~([A-Za-z_][\w.-]*|[+-])?(?=[/:]|\Z)")
_ASSIGNS = re.compile(r"-{0,2}[A-Za-z_][\w-]*(?:\[[^\]]*\])?\+?=")
_ELEMENT = re.compile(r"\]\+?=")
_SEQUENCE = re.compile(r"(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.-?\d{1,3})?")

# How a run of text came about, and the text: "plain" (unquoted, so `*` is a pattern), "quoted"
# (`*` is a character), or "split" (the value of an expansion, which is split into words).
_Run = tuple[str, str]


class Surroundings(Protocol):
    """What the expander calls back; the examiner implements it."""

    home: str
    budget: Budget

    def substituted(self, script: Script, state: ShellState) -> PrintedText:
        """Judge the commands of a substitution; return what they write."""

    def evaluated(self, text: str, state: ShellState) -> None:
        """Judge what reading `text` as arithmetic runs."""

    def noticed(self, rule: str, matched: str) -> None:
        """Record that an expansion by itself matches the rule `rule`."""


class Expander:
    """Expands words with the variables of one state; ``${x:=y}`` changes that state."""

    def __init__(self, around: Surroundings, state: ShellState) -> None:
        self.around = around
        self.state = state
        self.names: set[str] = set()  # parameters that were used

    def fields(self, words: tuple[Word, ...]) -> list[str]:
        """Return the fields of `words`, in order.

        Raises NotUnderstood past MOST_FIELDS fields or LONGEST_VALUE characters.
        """
        found: list[str] = []
        length = 0
        for word in words:
            for parts in _braces(list(word.parts), self.around.budget):
                fields = self._word(parts) if not word.assigns else [self._unsplit(parts)]
                found.extend(fields)
                length += sum(map(len, fields))
                self.around.budget.spend(2 + len(fields), "making its words")
                if len(found) > MOST_FIELDS:
                    raise NotUnderstood(f"it makes more than {MOST_FIELDS:,} words", 0)
                if length > LONGEST_VALUE:
                    raise NotUnderstood(f"its words have over {LONGEST_VALUE:,} characters", 0)
        return found

    def single(self, word: Word | None) -> str:
        """Return a word as one field, without splitting it: the value of an assignment, say."""
        if word is None:
            return ""
        return self._joined(self._runs(list(word.parts), assignment=True))

    def _joined(self, runs: list[_Run]) -> str:
        text = "".join(text for _, text in runs)
        self.around.budget.text(len(text), "making a value")
        return text

    def _unsplit(self, parts: list[WordPart]) -> str:
        return self._joined(self._runs(parts, assignment=False))

    def elements(self, words: tuple[Word, ...]) -> list[str]:
        """Return the values of the elements in ``name=(a *.c [1]=b)``."""
        found: list[str] = []
        for word in words:
            taken = _element(word)
            if taken is None:
                found += self.fields((word,))
            else:
                self.subscript(Word(parts=taken[0], text=""))
                found.append(self._joined(self._runs(list(taken[1]), assignment=True)))
            if len(found) > MOST_FIELDS:
                raise NotUnderstood(f"it makes more than {MOST_FIELDS:,} words", 0)
        return found

    def subscript(self, word: Word) -> str:
        """Return the text between the brackets of ``name[…]``, judged as arithmetic."""
        text = self.single(word)
        self.around.evaluated(text, self.state)
        return text

    def pattern(self, word: Word) -> str:
        """Return a word as one field with its file name patterns as marks.

        The target of a redirection is such a word.
        """
        runs = self._runs(list(word.parts), assignment=False)
        return self._joined(
            [(how, _marked(text) if how != "quoted" else text) for how, text in runs]
        )

    # -- one word --------------------------------------------------------------------------

    def _word(self, parts: list[WordPart]) -> list[str]:
        spread = self._spread(parts)
        if spread is not None:
            return spread
        return self._split(self._runs(parts, assignment=False))

    def _spread(self, parts: list[WordPart]) -> list[str] | None:
        """Return the fields of ``"$@"`` and ``"${array[@]}"`` when they are the whole word."""
        if len(parts) != 1 or not isinstance(parts[0], Parameter):
            return None
        parameter = parts[0]
        if parameter.name in "@*" and not parameter.operator and self.state.positional is not None:
            return list(self.state.positional)
        if parameter.operator == "[]" and parameter.name in self.state.arrays:
            return list(self.state.arrays[parameter.name])
        return None

    def _split(self, runs: list[_Run]) -> list[str]:
        fields: list[str] = []
        current: list[str] = []
        there = False  # whether the current field exists even if it is empty
        for how, written in runs:
            odd = how == "split" and not self.state.plain_splitting and written
            text = UNKNOWN if odd else written
            if how != "split":
                current.append(_marked(text) if how == "plain" else text)
                there = there or bool(text) or how == "quoted"
                continue
            pieces = re.split(r"[ \t\n]+", _marked(text))
            for number, piece in enumerate(pieces):
                if number and (there or any(current)):
                    fields.append("".join(current))
                    current, there = [], False
                current.append(piece)
        if there or any(current):
            fields.append("".join(current))
        return fields

    def _runs(self, parts: list[WordPart], *, assignment: bool) -> list[_Run]:
        runs: list[_Run] = []
        length = 0
        first = parts[0] if parts else None
        like = isinstance(first, Literal) and not first.quoted and _ASSIGNS.match(first.text)
        after = like.end() if like and not assignment else 0  # the value of `name=value` starts
        for number, part in enumerate(parts):
            if isinstance(part, Literal):
                text = part.text
                if any(mark in text for mark in MARKS):
                    raise NotUnderstood("a control character in a word", 0)
                if not part.quoted:
                    alone = number == len(parts) - 1
                    start = after if number == 0 else len(text)
                    text = self._tilde(text, start, last=alone, lists=assignment or after > 0)
                runs.append(("quoted" if part.quoted else "plain", text))
            else:
                quoted = isinstance(part, Arithmetic) or part.quoted
                runs.append(("quoted" if quoted or assignment else "split", self._value(part)))
            length += len(runs[-1][1])
            if length > LONGEST_VALUE:  # go on: substitutions in the other parts are still judged
                runs = [("quoted", UNKNOWN)]
        self.around.budget.spend(len(parts) + min(length, LONGEST_VALUE) // 64, "making its words")
        return runs

    def _tilde(self, text: str, start: int, *, last: bool, lists: bool) -> str:
        """Expand a tilde at `start` and, when `lists` is True, after every colon.

        Bash expands ``~`` after a colon in an assignment only, for lists like PATH.
        """
        if "~" not in text:
            return text
        head, rest = text[:start], text[start:]
        if not lists:
            return head + (self._tilde_at(rest, last=last) if rest[:1] == "~" else rest)
        first, *pieces = (text[start:] if start < len(text) else text).split(":")
        if start < len(text):
            first = self._tilde_at(first, last=last or bool(pieces))
        else:
            head = ""
        for number, piece in enumerate(pieces, start=1):
            first += ":" + self._tilde_at(piece, last=last or number < len(pieces))
        return head + first

    def _tilde_at(self, text: str, *, last: bool) -> str:
        found = _TILDE.match(text)
        if found is None:
            return UNKNOWN if text[:1] == "~" and "/" not in text and not last else text
        if found.end() == len(text) and not last:
            return UNKNOWN
        name = found.group(1) or ""
        if name == "+":
            place = self.state.cwd or UNKNOWN
        elif name == "-":
            place = UNKNOWN
        elif name in ("", self.around.home.rpartition("/")[2]):
            place = self.around.home
        else:
            place = "/root" if name == "root" else f"/home/{name}"
        return place + text[found.end() :]

    # -- values ----------------------------------------------------------------------------

    def _value(self, part: Parameter | Substitution | Arithmetic) -> str:
        self.around.budget.enter()
        value = self._value_inside(part)
        self.around.budget.leave()
        return value

    def _value_inside(self, part: Parameter | Substitution | Arithmetic) -> str:
        if isinstance(part, Arithmetic):
            self.subscript(part.inner)
            return NUMBER
        if isinstance(part, Substitution):
            output = self.around.substituted(part.script, self.state)
            if part.kind in ("<(", ">("):
                return f"/dev/fd/{NUMBER}"
            if output.text is None:
                return UNKNOWN
            return output.text.rstrip("\n")
        return self._parameter(part)

    def _parameter(self, parameter: Parameter) -> str:
        self.names.add(parameter.name)
        argument = self.single(parameter.argument)
        operator = parameter.operator
        if operator == ":" or ("[]" in operator and argument not in ("@", "*")):
            self.around.evaluated(argument, self.state)
        if operator in ("#[]", "![]"):
            return NUMBER
        if "@" in operator or operator.startswith("!"):
            if operator[-2:] not in ("@Q", "@U", "@L", "@u", "@a", "@K", "@k"):
                self.around.noticed("dynamic-value", f"${{{parameter.name}{operator}}}")
            return UNKNOWN
        value = self._variable(parameter.name)
        if operator == "":
            return UNKNOWN if value is None else value
        if operator == "#" and argument == "":
            return NUMBER  # the length of the value
        if operator in (":-", "-", ":=", "="):
            if value is None and operator[-1] == "=":
                self.state.variables[parameter.name] = UNKNOWN
            return UNKNOWN if value is None else value or argument
        if operator in (":?", "?"):
            return UNKNOWN if value is None else value
        if operator in (":+", "+"):
            return argument if value else UNKNOWN
        return _edited(value, operator, argument)

    def _variable(self, name: str) -> str | None:
        state = self.state
        if name in _NUMBERS:
            return NUMBER
        if name.isdigit():
            if state.positional is None or name == "0":
                return None
            number = int(name) - 1
            return state.positional[number] if number < len(state.positional) else ""
        if name in "@*":
            return None if state.positional is None else " ".join(state.positional)
        if name == "PWD":
            return state.cwd
        if name == "HOME":
            return state.variables.get("HOME", self.around.home)
        return state.variables.get(name)


def _edited(value: str | None, operator: str, argument: str) -> str:
    """Return the value of ``${x%.py}`` and the like.

    Only cuts of a fixed text are computed; after any other edit the value is UNKNOWN, or ANY when
    it is still certain to be one name.
    """
    if value is None or any(mark in argument for mark in MARKS + "*?["):
        return ANY if value and _one_name(value) and operator[0] in "#%^,~" else UNKNOWN
    if operator[0] == "/" and "/" not in argument.lstrip("/").partition("/")[2]:
        return ANY if _one_name(value) and ".." not in argument else UNKNOWN
    if operator in ("%", "%%") and not any(mark in value for mark in MARKS):
        return value.removesuffix(argument)
    if operator in ("#", "##") and not any(mark in value for mark in MARKS):
        return value.removeprefix(argument)
    if operator in ("%", "%%", "#", "##") and _one_name(value):
        cut = value.removesuffix(argument) if "%" in operator else value.removeprefix(argument)
        return cut or UNKNOWN
    return UNKNOWN


def _one_name(value: str) -> bool:
    return UNKNOWN not in value and not value.startswith("/") and ".." not in value


def _marked(text: str) -> str:
    """Return unquoted text with its file name patterns as marks."""
    if "*" not in text and "?" not in text and "[" not in text:
        return text
    text = _with_sets(text) if "]" in text else text
    return text.replace("*", ANY).replace("?", ONE)


def _with_sets(text: str) -> str:
    """Return the text with every ``[abc]`` as a mark.

    The position of the next ``]`` and ``/`` is kept, so that a text of many ``[`` takes linear
    and not quadratic time.
    """
    pieces: list[str] = []
    at = bracket = slash = 0
    while (opening := text.find("[", at)) >= 0:
        bracket = _next(text, "]", opening + 2, bracket)
        slash = _next(text, "/", opening + 1, slash)
        inside = bracket < slash and bracket < len(text) and text[opening + 1] != "]"
        inside = inside and not text.endswith("://", 0, opening)  # an IPv6 address
        pieces += [text[at:opening], ONE] if inside else [text[at : opening + 1]]
        at = bracket + 1 if inside else opening + 1
    return "".join([*pieces, text[at:]])


def _next(text: str, character: str, start: int, known: int) -> int:
    """Return the index of the next `character` from `start` on, or len(text).

    `known` is the index that the last search found; it is reused while it lies ahead.
    """
    if known >= start:
        return known
    found = text.find(character, start)
    return len(text) if found < 0 else found


def _element(word: Word) -> tuple[tuple[WordPart, ...], tuple[WordPart, ...]] | None:
    """Split ``[index]=value`` into the parts of index and value; None for any other word."""
    first = word.parts[0] if word.parts else None
    if not isinstance(first, Literal) or first.quoted or first.text[:1] != "[":
        return None
    for number, part in enumerate(word.parts):
        if not isinstance(part, Literal) or part.quoted:
            continue
        found = _ELEMENT.search(part.text)
        if found is None:
            continue
        head = Literal(text=part.text[: found.start()], quoted=False)
        tail = Literal(text=part.text[found.end() :], quoted=False)
        value = (*((tail,) if tail.text else ()), *word.parts[number + 1 :])
        if number == 0:
            return (Literal(text=head.text[1:], quoted=False),), value
        return (Literal(text=first.text[1:], quoted=False), *word.parts[1:number], head), value
    return None


# -- braces ------------------------------------------------------------------------------------


def _braces(parts: list[WordPart], budget: Budget) -> list[list[WordPart]]:
    """Return the words that brace expansion (``{a,b}``, ``{1..3}``) makes from one word."""
    if not any(isinstance(p, Literal) and not p.quoted and "{" in p.text for p in parts):
        return [parts]
    atoms: list[WordPart] = []
    for part in parts:
        if isinstance(part, Literal) and not part.quoted:
            atoms.extend(Literal(text=character, quoted=False) for character in part.text)
        else:
            atoms.append(part)
    return [_glued(each) for each in _expanded(atoms, 0, 0, budget)]


def _is(atom: WordPart, character: str) -> bool:
    return isinstance(atom, Literal) and not atom.quoted and atom.text == character


def _expanded(
    atoms: list[WordPart], start: int, groups: int, budget: Budget
) -> list[list[WordPart]]:
    budget.spend(1 + len(atoms) // 4, "expanding braces")
    if groups > MOST_BRACES:
        raise NotUnderstood(f"more than {MOST_BRACES} groups of braces in a word", 0)
    for opening in range(start, len(atoms)):
        if not _is(atoms[opening], "{"):
            continue
        closing = _closing(atoms, opening)
        seen = (len(atoms) if closing is None else closing) - opening
        budget.spend(1 + seen // 2, "expanding braces")
        choices = [] if closing is None else _choices(atoms[opening + 1 : closing])
        if closing is None or not choices:
            continue
        results: list[list[WordPart]] = []
        for choice in choices:
            rest = atoms[:opening] + choice + atoms[closing + 1 :]
            results.extend(_expanded(rest, opening, groups + 1, budget))
            if len(results) > MOST_FIELDS:
                raise NotUnderstood(f"braces make more than {MOST_FIELDS:,} words", 0)
        return results
    return [atoms]


def _closing(atoms: list[WordPart], opening: int) -> int | None:
    level = 0
    for index in range(opening, len(atoms)):
        level += _is(atoms[index], "{") - _is(atoms[index], "}")
        if level == 0:
            return index
    return None


def _choices(inside: list[WordPart]) -> list[list[WordPart]]:
    level, choices, current = 0, [], []  # type: int, list[list[WordPart]], list[WordPart]
    for atom in inside:
        level += _is(atom, "{") - _is(atom, "}")
        if level == 0 and _is(atom, ","):
            choices.append(current)
            current = []
        else:
            current.append(atom)
    if choices:
        return [*choices, current]
    text = "".join(a.text for a in inside if isinstance(a, Literal) and not a.quoted)
    sequence = _SEQUENCE.fullmatch(text) if len(text) == len(inside) else None
    if sequence is None:
        return []
    return [[Literal(text=each, quoted=True)] for each in _sequence(*sequence.groups()[:2])]


def _sequence(first: str, last: str) -> list[str]:
    if first.lstrip("-").isdigit() and last.lstrip("-").isdigit():
        one, two = int(first), int(last)
        step = 1 if two >= one else -1
        if abs(two - one) > MOST_FIELDS:
            return [NUMBER]
        return [str(number) for number in range(one, two + step, step)]
    if len(first) == len(last) == 1 and first.isalpha() and last.isalpha():
        step = 1 if last >= first else -1
        return [chr(code) for code in range(ord(first), ord(last) + step, step)]
    return [UNKNOWN]


def _glued(atoms: list[WordPart]) -> list[WordPart]:
    glued: list[WordPart] = []
    for atom in atoms:
        before = glued[-1] if glued else None
        if (
            isinstance(atom, Literal)
            and isinstance(before, Literal)
            and not atom.quoted
            and not before.quoted
        ):
            glued[-1] = Literal(text=before.text + atom.text, quoted=False)
        else:
            glued.append(atom)
    return glued
