"""Read simple commands: assignments, words and redirections, and the blanks between them."""

import re

from siding.shellguard.tree import Assignment, Heredoc, Literal, Redirect, Simple, Word, WordPart
from siding.shellguard.words import WordReader, joined

_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
_BLANK_STARTS = frozenset(" \t\\")
_REDIRECT = re.compile(r"(\d+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<&|>&|<>|>>|>\||&>>|&>|<|>)")
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[)?")
_DECLARE = frozenset({"declare", "typeset", "local", "export", "readonly"})


class SimpleCommandReader(WordReader):
    """Reads commands that hold no other command but in substitutions."""

    def newline(self) -> None:
        """Pass a newline, and the here-documents whose bodies begin behind it."""
        self.step()
        self.at += 1
        if self.waiting:
            self.read_heredocs()

    def newlines(self) -> None:
        """Pass blanks, comments and newlines."""
        self.blanks()
        while self.peek("\n"):
            self.newline()
            self.blanks()

    def blanks(self) -> None:
        """Pass blanks and a comment."""
        if self.text[self.at : self.at + 1] in _BLANK_STARTS:
            blank = _BLANK.match(self.text, self.at)
            if blank:
                self.at = blank.end()
        if self.peek("#") and (self.at == 0 or self.text[self.at - 1] in " \t\n;&|()<>"):
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end

    def read_simple(self) -> Simple:
        """Read assignments, words and redirections, in any order."""
        start = self.at
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            self.blanks()
            redirect = self._redirect()
            if redirect is not None:
                redirects.append(redirect)
                continue
            if self.ended or self.text[self.at] in ";&|\n()":
                if not self.ended and self.peek("("):
                    raise self.fail("'(' is not expected here")
                break
            declaring = bool(words) and words[0].text in _DECLARE
            assignment = self._assignment() if not words or declaring else None
            if assignment is None:
                words.append(self.read_word())
            elif declaring and assignment.array is None:
                words.append(_as_word(assignment))
            else:
                assignments.append(assignment)
        if not (assignments or words or redirects):
            raise self.fail("a command was expected")
        return Simple(
            assignments=tuple(assignments),
            words=tuple(words),
            redirects=tuple(redirects),
            text=self.text[start : self.at].strip(),
        )

    def _assignment(self) -> Assignment | None:
        start = self.at
        found = _ASSIGNED.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        self.step()
        subscript = None
        if found.group(2):
            subscript = Word(parts=tuple(self._quoted_until("]")), text="")
        operator = next((o for o in ("+=", "=") if self.peek(o)), None)
        if operator is None:
            self.at = start
            return None
        self.at += len(operator)
        value: Word | None = None
        array: tuple[Word, ...] | None = None
        if self.peek("("):
            array = self._array()
        elif not self.ended and (self.text[self.at] not in " \t\n;&|<>()" or self._substitutes()):
            value = self.read_word()
        return Assignment(
            name=found.group(1),
            subscript=subscript,
            append=operator == "+=",
            value=value,
            array=array,
        )

    def _substitutes(self) -> bool:
        return self.peek("<(") or self.peek(">(")

    def _array(self) -> tuple[Word, ...]:
        self.at += 1
        words: list[Word] = []
        while True:
            self.newlines()
            if self.ended:
                raise self.fail("an array is not closed")
            if self.peek(")"):
                self.at += 1
                return tuple(words)
            words.append(self.read_word())

    def read_redirects(self) -> tuple[Redirect, ...]:
        """Read the redirections behind a compound command."""
        redirects: list[Redirect] = []
        while True:
            self.blanks()
            redirect = self._redirect()
            if redirect is None:
                return tuple(redirects)
            redirects.append(redirect)

    def _redirect(self) -> Redirect | None:
        found = _REDIRECT.match(self.text, self.at)
        if found is None:
            return None
        descriptor, operator = found.group(1) or "", found.group(2)
        if operator in ("<", ">") and self.text[found.end() : found.end() + 1] == "(":
            if descriptor:
                raise self.fail("a redirection to a process substitution without a space")
            return None
        self.budget.spend(4, "reading the line")
        self.at = found.end()
        blank = _BLANK.match(self.text, self.at)  # not blanks(): `> #x` writes to a file `#x`
        if blank:
            self.at = blank.end()
        target = self.read_word()
        heredoc = None
        if operator in ("<<", "<<-"):
            heredoc = _heredoc(target, strip_tabs=operator == "<<-", fail=self.fail)
            self.waiting.append(heredoc)
        return Redirect(operator=operator, descriptor=descriptor, target=target, heredoc=heredoc)


def _heredoc(target: Word, *, strip_tabs: bool, fail: object) -> Heredoc:
    literals = [part for part in target.parts if isinstance(part, Literal)]
    if len(literals) != len(target.parts):
        assert callable(fail)
        raise fail("a here-document's delimiter is not plain text")
    return Heredoc(
        delimiter="".join(part.text for part in literals),
        quoted=any(mark in target.text for mark in "'\"\\"),
        strip_tabs=strip_tabs,
    )


def _as_word(assignment: Assignment) -> Word:
    """Return the word for ``name=value`` after ``export`` and the like.

    Bash treats it as an argument, but expands its value as it does for an assignment.
    """
    name: list[WordPart] = [Literal(text=assignment.name, quoted=False)]
    if assignment.subscript is not None:
        inside = assignment.subscript.parts
        name += [Literal(text="[", quoted=False), *inside, Literal(text="]", quoted=False)]
    operator = "+=" if assignment.append else "="
    value: tuple[WordPart, ...] = assignment.value.parts if assignment.value else ()
    return Word(
        parts=joined([*name, Literal(text=operator, quoted=False), *value]),
        text=assignment.name + operator + (assignment.value.text if assignment.value else ""),
        assigns=True,
    )
