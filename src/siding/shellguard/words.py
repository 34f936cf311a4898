"""Read the words of a shell line: quoting, expansions, substitutions, here-documents.

The rules are those of POSIX 1003.1 §2.2-2.6 and bash's manual. The reader is strict on purpose: it
raises `NotUnderstood` for anything else, and the policy then at least asks about the line.
"""

import re

from siding.shellguard.budget import Budget
from siding.shellguard.tree import (
    Arithmetic,
    Heredoc,
    Literal,
    Parameter,
    Script,
    Substitution,
    Word,
    WordPart,
)

DEEPEST = 40  # nested substitutions and compound commands

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[*@#?$!_-]")
_ENDS_WORD = frozenset(" \t\n;&|<>()")
_PLAIN = re.compile(r"[^ \t\n;&|<>()\\'\"$`]+")
# Inside quotes: the characters that stand for themselves, by the character that ends the quotes.
_QUOTED = {'"': re.compile(r'[^"\\$`]+'), "]": re.compile(r"[^\]\\$`]+")}
_OF_BODY = re.compile(r"[^\\$`]+")
_OF_BACKQUOTES = re.compile(r"[^`\\]+")
_OF_ARITHMETIC = re.compile(r"[^()$`\"'\\]+")
_OF_BRACES = re.compile(r"[^} \t\n;&|<>()\\'\"$`]+")
_OPERATORS = re.compile(r":[-=?+]|[-=?+]|##?|%%?|/[/#%]?|\^\^?|,,?|~~?|@[A-Za-z]|:")
_ANSI = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|(.))",
    re.DOTALL,
)
_ANSI_LETTERS = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}


class NotUnderstood(ValueError):
    """The grammar cannot parse the line to its end; `offset` is where it stopped, from 0."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


class WordReader:
    """Reads words from the text of a line; `at` is the index of the next character."""

    def __init__(self, text: str, *, depth: int = 0, budget: Budget | None = None) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.budget = budget or Budget()
        # Where `((` turned out to open no arithmetic. Without this, nested `((` would be tried
        # again at every level, which takes exponential time.
        self._not_arithmetic: set[int] = set()
        self.waiting: list[Heredoc] = []  # here-documents whose bodies follow the next newline

    # The commands of a substitution; `grammar.Parser`, the subclass, reads them.
    def read_script(self, closer: str) -> Script:
        raise NotImplementedError

    def fail(self, reason: str) -> NotUnderstood:
        return NotUnderstood(reason, self.at)

    def peek(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    @property
    def ended(self) -> bool:
        return self.at >= len(self.text)

    def step(self) -> None:
        """Count one piece that is read."""
        self.budget.spend(1, "reading the line")

    def deeper(self) -> None:
        self.step()
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.fail("nested too deeply")

    # -- words -----------------------------------------------------------------------------

    def read_word(self, *, patterns: bool = False) -> Word:
        """Read one word; `patterns` allows ``@(a|b)`` in it, as ``case`` and ``[[`` do."""
        self.step()
        start = self.at
        parts: list[WordPart] = []
        while not self.ended:
            character = self.text[self.at]
            if character in "<>" and self.text[self.at + 1 : self.at + 2] == "(":
                parts.append(self._process_substitution())
            elif character == "(" and patterns and self._after_pattern_mark(start):
                parts.append(self._extended_pattern())
            elif character in _ENDS_WORD:
                break
            else:
                self._read_part(parts, quoted=False)
        if self.at == start:
            raise self.fail("a word was expected")
        return Word(parts=joined(parts), text=self.text[start : self.at])

    def _after_pattern_mark(self, start: int) -> bool:
        return self.at > start and self.text[self.at - 1] in "?*+@!"

    def _extended_pattern(self) -> Literal:
        """Read ``(a|b)`` of an extended pattern, and return it as the pattern ``*(a|b)``."""
        start, level = self.at, 0
        while not self.ended:
            character = self.text[self.at]
            if character in "$`\\'\"":
                raise self.fail("an expansion inside an extended pattern")
            level += (character == "(") - (character == ")")
            self.step()
            self.at += 1
            if level == 0:
                return Literal(text="*" + self.text[start : self.at], quoted=False)
        raise self.fail("an extended pattern is not closed")

    def _read_part(self, parts: list[WordPart], *, quoted: bool) -> None:
        """Read one part outside quotes."""
        self.step()
        character = self.text[self.at]
        if character == "\\":
            self._backslash(parts)
        elif character == "'":
            parts.append(Literal(text=self._single_quoted(), quoted=True))
        elif character == '"':
            self.at += 1
            inner = self._quoted_until('"')
            parts.extend(inner or [Literal(text="", quoted=True)])
        elif character in "$`":
            parts.append(self._expansion(quoted=quoted))
        else:
            plain = _PLAIN.match(self.text, self.at)
            assert plain is not None
            parts.append(Literal(text=plain.group(), quoted=False))
            self.at = plain.end()

    def _backslash(self, parts: list[WordPart]) -> None:
        follows = self.text[self.at + 1 : self.at + 2]
        if not follows:
            raise self.fail("the line ends in a backslash")
        self.at += 2
        if follows != "\n":
            parts.append(Literal(text=follows, quoted=True))
        elif not parts:
            parts.append(Literal(text="", quoted=False))

    def _single_quoted(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise self.fail("a single quote is not closed")
        inside = self.text[self.at + 1 : end]
        self.at = end + 1
        return inside

    def _quoted_until(self, closer: str) -> list[WordPart]:
        """Read double-quoted text up to `closer`, which is consumed."""
        parts: list[WordPart] = []
        plain = _QUOTED[closer]
        while not self.ended:
            self.step()
            character = self.text[self.at]
            if character == closer:
                self.at += 1
                return parts
            if character == "\\":
                self._quoted_backslash(parts, '$`"\\')
            elif character in "$`":
                parts.append(self._expansion(quoted=True))
            else:
                parts.append(Literal(text=self._run(plain), quoted=True))
        raise self.fail("a double quote is not closed")

    def _run(self, plain: re.Pattern[str]) -> str:
        """Read the characters that match `plain`; there must be at least one."""
        found = plain.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return found.group()

    def _quoted_backslash(self, parts: list[WordPart], escapable: str) -> None:
        follows = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if follows == "\n":
            return
        text = follows if follows and follows in escapable else "\\" + follows
        parts.append(Literal(text=text, quoted=True))

    # -- expansions ------------------------------------------------------------------------

    def _expansion(self, *, quoted: bool) -> WordPart:
        """Read the expansion that starts at a ``$`` or a backquote."""
        if self.peek("`"):
            return self._backquoted(quoted=quoted)
        if self.peek("$(("):
            arithmetic = self._arithmetic()
            if arithmetic is not None:
                return arithmetic
        if self.peek("$("):
            self.at += 2
            return Substitution(script=self._nested_script(")"), kind="$(", quoted=quoted)
        if self.peek("${"):
            return self._braced(quoted=quoted)
        if self.peek("$["):
            raise self.fail("the old arithmetic form $[…]")
        if not quoted and self.peek("$'"):
            return Literal(text=self._ansi_quoted(), quoted=True)
        if not quoted and self.peek('$"'):
            raise self.fail('a translated string $"…"')
        self.at += 1
        found = _PARAMETER.match(self.text, self.at)
        if found is None:
            return Literal(text="$", quoted=quoted)
        name = found.group()
        if name.isdigit():  # $10 is $1 and a zero
            name = name[0]
        self.at += len(name)
        return Parameter(name=name, operator="", argument=None, quoted=quoted)

    def _nested_script(self, closer: str) -> Script:
        self.deeper()
        script = self.read_script(closer)
        if not self.peek(closer):
            raise self.fail("a substitution is not closed")
        self.at += len(closer)
        self.depth -= 1
        return script

    def _process_substitution(self) -> Substitution:
        kind = self.text[self.at : self.at + 2]
        self.at += 2
        return Substitution(script=self._nested_script(")"), kind=kind, quoted=True)

    def _backquoted(self, *, quoted: bool) -> Substitution:
        self.at += 1
        collected: list[str] = []
        escapable = '`\\$"' if quoted else "`\\$"
        while not self.ended:
            self.step()
            character = self.text[self.at]
            if character == "`":
                self.at += 1
                return self._backquoted_script("".join(collected), quoted)
            if character != "\\":
                collected.append(self._run(_OF_BACKQUOTES))
                continue
            if self.text[self.at + 1 : self.at + 2] in escapable:
                self.at += 1
                character = self.text[self.at : self.at + 1]
            collected.append(character)
            self.at += 1
        raise self.fail("a backquote is not closed")

    def _backquoted_script(self, text: str, quoted: bool) -> Substitution:
        inner = type(self)(text, depth=self.depth, budget=self.budget)
        inner.deeper()
        try:
            script = inner.read_script("")
        except NotUnderstood as error:
            raise self.fail(error.reason) from None
        return Substitution(script=script, kind="`", quoted=quoted)

    def _ansi_quoted(self) -> str:
        start = self.at + 2
        end = start
        while end < len(self.text) and self.text[end] != "'":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise self.fail("a $'…' string is not closed")
        self.at = end + 1
        return _ANSI.sub(_ansi_character, self.text[start:end])

    def _arithmetic(self) -> Arithmetic | None:
        """Read ``$((…))``. Return None and read nothing when it is ``$( (…) …)`` instead."""
        inner = self.try_arithmetic(3)
        return None if inner is None else Arithmetic(inner=inner)

    def try_arithmetic(self, opening: int) -> Word | None:
        """Skip `opening` characters and read arithmetic. Return None and read nothing if it is
        something else."""
        start, depth = self.at, self.depth
        if start in self._not_arithmetic:
            return None
        self.at += opening
        try:
            inner = self.read_arithmetic()
        except NotUnderstood:
            inner = None
        if inner is None:
            self._not_arithmetic.add(start)
            self.at, self.depth = start, depth
        return inner

    def read_arithmetic(self) -> Word | None:
        """Read up to and including ``))``. Return None when a single ``)`` comes first."""
        self.deeper()
        start, level = self.at, 0
        parts: list[WordPart] = []
        while not self.ended:
            self.step()
            character = self.text[self.at]
            if character == ")" and level == 0:
                if not self.peek("))"):
                    return None
                word = Word(parts=joined(parts), text=self.text[start : self.at])
                self.at += 2
                self.depth -= 1
                return word
            level += (character == "(") - (character == ")")
            if character in "$`":
                parts.append(self._expansion(quoted=True))
            elif character == '"':
                self.at += 1
                parts.extend(self._quoted_until('"'))
            elif character in "'\\":
                raise self.fail("quoting inside arithmetic")
            elif character in "()":
                parts.append(Literal(text=character, quoted=True))
                self.at += 1
            else:
                parts.append(Literal(text=self._run(_OF_ARITHMETIC), quoted=True))
        raise self.fail("arithmetic is not closed")

    def _braced(self, *, quoted: bool) -> Parameter:
        """Read ``${…}``."""
        self.at += 2
        self.deeper()
        prefix = self._prefix()
        found = _PARAMETER.match(self.text, self.at)
        if found is None:
            raise self.fail("a bad substitution")
        name = found.group()
        self.at = found.end()
        parts: list[WordPart] = []
        operator = prefix
        if self.peek("["):
            self.at += 1
            parts.extend(self._quoted_until("]"))
            operator += "[]"
        if prefix == "!" and self.text[self.at : self.at + 2] in ("*}", "@}"):
            self.at += 1  # ${!prefix*}: names of variables; harmless, but treated as indirection
        if not self.peek("}"):
            if parts:  # a blank keeps the subscript and the operator's argument apart
                parts.append(Literal(text=" ", quoted=True))
            known = _OPERATORS.match(self.text, self.at)
            if known is None:
                raise self.fail("a bad substitution")
            operator += known.group()
            self.at = known.end()
            parts.extend(self._until_brace(quoted=quoted))
        if not self.peek("}"):
            raise self.fail("a ${…} is not closed")
        self.at += 1
        self.depth -= 1
        argument = Word(parts=joined(parts), text="") if parts else None
        return Parameter(name=name, operator=operator, argument=argument, quoted=quoted)

    def _prefix(self) -> str:
        """Read the ``#`` of a length or the ``!`` of an indirection."""
        mark = self.text[self.at : self.at + 1]
        follows = self.text[self.at + 1 : self.at + 2]
        if mark in ("#", "!") and follows and (follows.isalnum() or follows in "_*@"):
            self.at += 1
            return mark
        return ""

    def _until_brace(self, *, quoted: bool) -> list[WordPart]:
        parts: list[WordPart] = []
        while not self.ended and not self.peek("}"):
            self.step()
            character = self.text[self.at]
            if quoted and character == "'":
                parts.append(Literal(text="'", quoted=True))
                self.at += 1
            elif character in " \t\n;&|<>()":
                parts.append(Literal(text=character, quoted=quoted))
                self.at += 1
            elif character in "\\'\"$`":
                self._read_part(parts, quoted=quoted)
            else:
                parts.append(Literal(text=self._run(_OF_BRACES), quoted=quoted))
        return parts

    # -- here-documents --------------------------------------------------------------------

    def read_heredocs(self) -> None:
        """Read the bodies of the here-documents in `waiting`; the cursor is after a newline."""
        waiting, self.waiting = self.waiting, []
        for heredoc in waiting:
            lines: list[str] = []
            while True:
                self.step()
                if self.ended:
                    raise self.fail(f"the here-document {heredoc.delimiter!r} is not closed")
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                line = line.lstrip("\t") if heredoc.strip_tabs else line
                if line == heredoc.delimiter:
                    break
                lines.append(line + "\n")
            heredoc.body = self._heredoc_body("".join(lines), heredoc)

    def _heredoc_body(self, text: str, heredoc: Heredoc) -> Word:
        if heredoc.quoted:
            return Word(parts=(Literal(text=text, quoted=True),), text=text)
        inner = type(self)(text, depth=self.depth, budget=self.budget)
        try:
            parts = inner.read_unquoted_body()
        except NotUnderstood as error:
            raise self.fail(error.reason) from None
        return Word(parts=joined(parts), text=text)

    def read_unquoted_body(self) -> list[WordPart]:
        """Read the whole text as the body of a here-document whose delimiter is not quoted."""
        parts: list[WordPart] = []
        while not self.ended:
            self.step()
            if self.peek("\\"):
                self._quoted_backslash(parts, "$`\\")
            elif self.text[self.at] in "$`":
                parts.append(self._expansion(quoted=True))
            else:
                parts.append(Literal(text=self._run(_OF_BODY), quoted=True))
        return parts


def _ansi_character(found: re.Match[str]) -> str:
    octal, pair, short, long, control, other = found.groups()
    if octal:
        return chr(int(octal, 8) & 0xFF)
    digits = pair or short or long
    if digits:
        code = int(digits, 16)
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    if control:
        return chr(ord(control[0]) & 0x1F)
    return _ANSI_LETTERS.get(other, other if other in "\\'\"?" else "\\" + other)


def joined(parts: list[WordPart]) -> tuple[WordPart, ...]:
    """Join neighbouring literals that are both quoted or both unquoted."""
    joined: list[WordPart] = []
    texts: list[str] = []  # of the run of literals at the end, joined only once
    quoted = False
    for part in parts:
        if isinstance(part, Literal):
            if texts and part.quoted != quoted:
                joined.append(Literal(text="".join(texts), quoted=quoted))
                texts = []
            texts.append(part.text)
            quoted = part.quoted
            continue
        if texts:
            joined.append(Literal(text="".join(texts), quoted=quoted))
            texts = []
        joined.append(part)
    if texts:
        joined.append(Literal(text="".join(texts), quoted=quoted))
    return tuple(joined)
