"""The shell grammar: parse a line of text into a tree of commands, or raise `NotUnderstood`.

This parser is our own rather than tree-sitter's bash grammar, for three reasons. It returns the
words as the shell will see them; tree-sitter leaves unquoting, escapes and braces to the caller,
and commands can hide in them. It has no error recovery: it either parses a line to its last
character or refuses it. And tree-sitter would be a dependency that takes 20 ms to import. The tests
compare this parser with bash: what it accepts, and the words it makes.
"""

import re
from collections.abc import Callable

from siding.shellguard.budget import Budget
from siding.shellguard.simple_commands import SimpleCommandReader
from siding.shellguard.tree import (
    Case,
    Command,
    Condition,
    Coprocess,
    For,
    Function,
    Group,
    If,
    Loop,
    Pipeline,
    Redirected,
    Script,
    Word,
)
from siding.shellguard.words import NAME

_RESERVED = re.compile(r"(?:[{}!]|\[\[|[a-z]+)(?=[ \t\n;&|<>()]|\\\n|\Z)")
_FUNCTION_NAME = re.compile(r"[^\s;&|<>()$`'\"\\=]+")
_FUNCTION = re.compile(r"([^\s;&|<>()$`'\"\\=]+)[ \t]*\([ \t]*\)")
_PARENTHESES = re.compile(r"\([ \t]*\)")
_COPROC_NAME = re.compile(r"[A-Za-z_]\w*[ \t]+(?=[{(]|(?:if|while|until|for|case)\s)")
_TIMED = re.compile(r"-p(?=[ \t\n]|\Z)")
_CLOSED = re.compile(r"\]\](?=[ \t\n;&|<>()]|\Z)")

_OPENERS = frozenset(
    {"if", "while", "until", "for", "select", "case", "function", "coproc", "time", "{", "!", "[["}
)
_ENDERS = frozenset({"then", "else", "elif", "fi", "do", "done", "esac", "}", "in"})
_RESERVED_STARTS = frozenset(word[0] for word in _OPENERS | _ENDERS)


def parse(text: str, budget: Budget | None = None) -> Script:
    """Return the commands in `text`.

    Raises NotUnderstood when any of it does not parse, and TooMuch when reading it takes more work
    than `budget` allows.
    """
    return Parser(text, budget=budget).read_script("")


class Parser(SimpleCommandReader):
    """Reads lists, pipelines and commands."""

    def read_script(self, closer: str) -> Script:
        """Read a whole script: up to `closer`, or to the end when it is empty."""
        script = self._list(frozenset())
        if not closer and not self.ended:
            raise self.fail(f"{self.text[self.at]!r} is not expected here")
        if self.waiting:
            raise self.fail(f"the here-document {self.waiting[0].delimiter!r} is not closed")
        return script

    # -- lists and pipelines ---------------------------------------------------------------

    def _list(self, enders: frozenset[str]) -> Script:
        """Read commands until one of the reserved words `enders`, a ``)``, ``;;`` or the end."""
        pipelines: list[Pipeline] = []
        self.newlines()
        while not self._at_end_of_list(enders):
            commands = self._pipeline()
            connector = self._connector()
            pipelines.append(Pipeline(commands=tuple(commands), connector=connector))
            if connector in ("&&", "||"):
                self.newlines()
                if self._at_end_of_list(enders):
                    raise self.fail(f"nothing follows {connector}")
            elif connector:
                self.newlines()
            elif not self._at_end_of_list(enders):
                raise self.fail("two commands with nothing between them")
        return Script(pipelines=tuple(pipelines))

    def _at_end_of_list(self, enders: frozenset[str]) -> bool:
        self.blanks()
        here = self.text[self.at : self.at + 2]
        if not here or here[0] == ")" or here in (";;", ";&"):
            return True
        word = self._reserved()
        if word in enders:
            return True
        if word in _ENDERS:
            raise self.fail(f"{word!r} is not expected here")
        return False

    def _connector(self) -> str:
        self.blanks()
        here = self.text[self.at : self.at + 2]
        if here in ("&&", "||"):
            self.at += 2
            return here
        if here in (";;", ";&"):
            return ""
        if here[:1] in (";", "&"):
            self.at += 1
            return here[:1]
        if here[:1] == "\n":
            self.newline()
            return ";"
        return ""

    def _pipeline(self) -> list[Command]:
        self._prefixes()
        commands = [self._command()]
        while True:
            self.blanks()
            here = self.text[self.at : self.at + 2]
            if here == "||" or here[:1] != "|":
                return commands
            self.at += 2 if self.peek("|&") else 1
            self.newlines()
            commands.append(self._command())

    def _prefixes(self) -> None:
        """Skip ``!`` and ``time -p``: they do not change which commands run."""
        while self._reserved() in ("!", "time"):
            self.step()
            timed = self._reserved() == "time"
            self.at += 4 if timed else 1
            self.blanks()
            if timed and _TIMED.match(self.text, self.at):
                self.at += 2
                self.blanks()
            if self.ended or self.text[self.at] in ";&|\n)":
                raise self.fail("nothing follows")

    def _reserved(self) -> str:
        if self.text[self.at : self.at + 1] not in _RESERVED_STARTS:
            return ""
        found = _RESERVED.match(self.text, self.at)
        word = found.group() if found else ""
        return word if word in _OPENERS or word in _ENDERS else ""

    def _expect(self, word: str) -> None:
        self.newlines()
        if self._reserved() != word:
            raise self.fail(f"{word!r} was expected")
        self.at += len(word)

    # -- commands --------------------------------------------------------------------------

    def _command(self) -> Command:
        self.budget.spend(10, "reading the line")
        self.blanks()
        self.deeper()
        command = self._compound()
        if command is None:
            command = self._function() or self.read_simple()
        elif not isinstance(command, Function | Coprocess):
            redirects = self.read_redirects()
            if redirects:
                command = Redirected(command=command, redirects=redirects)
        self.depth -= 1
        return command

    def _compound(self) -> Command | None:
        if self.peek("(("):
            condition = self._arithmetic_command()
            if condition is not None:
                return condition
        if self.peek("("):
            return self._subshell()
        word = self._reserved()
        if not word:
            return None
        readers: dict[str, Callable[[], Command]] = {
            "{": self._group,
            "if": self._if,
            "while": self._loop,
            "until": self._loop,
            "for": self._for,
            "select": self._for,
            "case": self._case,
            "[[": self._condition,
            "function": self._named_function,
            "coproc": self._coprocess,
        }
        if word in ("!", "time"):
            raise self.fail(f"{word!r} is not expected here")
        reader = readers.get(word)
        if reader is None:
            return None
        self.at += len(word)
        return reader()

    def _arithmetic_command(self) -> Condition | None:
        inner = self.try_arithmetic(2)
        return None if inner is None else Condition(words=(inner,), arithmetic=True)

    def _subshell(self) -> Group:
        self.at += 1
        script = self._filled(frozenset())
        if not self.peek(")"):
            raise self.fail("a ( is not closed")
        self.at += 1
        return Group(script=script, subshell=True)

    def _group(self) -> Group:
        script = self._filled(frozenset({"}"}))
        self._expect("}")
        return Group(script=script, subshell=False)

    def _filled(self, enders: frozenset[str]) -> Script:
        script = self._list(enders)
        if not script.pipelines:
            raise self.fail("a command was expected")
        return script

    def _if(self) -> If:
        branches = []
        while True:
            condition = self._filled(frozenset({"then"}))
            self._expect("then")
            body = self._filled(frozenset({"elif", "else", "fi"}))
            branches.append((condition, body))
            if self._reserved() != "elif":
                break
            self.at += 4
        otherwise = None
        if self._reserved() == "else":
            self.at += 4
            otherwise = self._filled(frozenset({"fi"}))
        self._expect("fi")
        return If(branches=tuple(branches), otherwise=otherwise)

    def _loop(self) -> Loop:
        condition = self._filled(frozenset({"do"}))
        return Loop(condition=condition, body=self._do())

    def _do(self) -> Script:
        self._expect("do")
        body = self._filled(frozenset({"done"}))
        self._expect("done")
        return body

    def _for(self) -> For:
        self.blanks()
        if self.peek("(("):
            self.at += 2
            inner = self.read_arithmetic()
            if inner is None:
                raise self.fail("a for (( is not closed")
            self._connector()
            return For(name="", words=(), arithmetic=inner, body=self._body_of_for())
        name = NAME.match(self.text, self.at)
        if name is None:
            raise self.fail("a variable's name was expected after 'for'")
        self.at = name.end()
        self.newlines()
        words: tuple[Word, ...] | None = None
        if self._reserved() == "in":
            self.at += 2
            words = self._words_to_end_of_line()
        self._connector()
        return For(name=name.group(), words=words, arithmetic=None, body=self._body_of_for())

    def _body_of_for(self) -> Script:
        self.newlines()
        if self._reserved() == "{":
            self.at += 1
            script = self._filled(frozenset({"}"}))
            self._expect("}")
            return script
        return self._do()

    def _words_to_end_of_line(self) -> tuple[Word, ...]:
        words: list[Word] = []
        self.blanks()
        while not self.ended and self.text[self.at] not in ";\n&|)":
            words.append(self.read_word())
            self.blanks()
        return tuple(words)

    def _case(self) -> Case:
        self.blanks()
        subject = self.read_word()
        self._expect("in")
        items = []
        self.newlines()
        while self._reserved() != "esac":
            if self.peek("("):
                self.at += 1
            patterns = self._case_patterns()
            script = self._list(frozenset({"esac"}))
            items.append((patterns, script))
            self.blanks()
            if self.peek(";;") or self.peek(";&"):
                self.at += 3 if self.peek(";;&") else 2
            self.newlines()
        self.at += 4
        return Case(subject=subject, items=tuple(items))

    def _case_patterns(self) -> tuple[Word, ...]:
        patterns = []
        while True:
            self.blanks()
            patterns.append(self.read_word(patterns=True))
            self.blanks()
            if self.peek("|"):
                self.at += 1
                continue
            if not self.peek(")"):
                raise self.fail("a case pattern is not closed")
            self.at += 1
            return tuple(patterns)

    def _condition(self) -> Condition:
        """Read up to ``]]`` and return the words; its operators (``<``, ``&&``) run nothing."""
        words: list[Word] = []
        while True:
            self.blanks()
            while self.peek("\n"):
                self.newline()
                self.blanks()
            self.step()
            if self.ended:
                raise self.fail("a [[ is not closed")
            if _CLOSED.match(self.text, self.at):
                self.at += 2
                return Condition(words=tuple(words), arithmetic=False)
            if self.text[self.at] in "<>()&|!;":
                if self.peek("<(") or self.peek(">("):
                    words.append(self.read_word(patterns=True))
                else:
                    self.at += 1
                continue
            words.append(self.read_word(patterns=True))

    def _named_function(self) -> Function:
        self.blanks()
        name = _FUNCTION_NAME.match(self.text, self.at)
        if name is None:
            raise self.fail("a function's name was expected")
        self.at = name.end()
        self.blanks()
        if _PARENTHESES.match(self.text, self.at):
            self.at = self.text.index(")", self.at) + 1
        self.newlines()
        return Function(name=name.group(), body=self._body_of_function())

    def _function(self) -> Function | None:
        found = _FUNCTION.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        self.newlines()
        return Function(name=found.group(1), body=self._body_of_function())

    def _body_of_function(self) -> Command:
        self.deeper()
        body = self._compound()
        self.depth -= 1
        if body is None:
            raise self.fail("a function's body was expected")
        redirects = self.read_redirects()
        return Redirected(command=body, redirects=redirects) if redirects else body

    def _coprocess(self) -> Coprocess:
        self.blanks()
        named = _COPROC_NAME.match(self.text, self.at)
        if named:
            self.at = named.end()
        return Coprocess(command=self._command())
