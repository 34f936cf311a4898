"""Scan the text of a program that a command line holds, whatever its language.

The scan finds what is plainly there: a command that the text gives to a shell, a place outside
the workspace that it deletes or writes, a file of credentials that it reads, an address that it
sends to, and text that it fetches or decodes and then runs. It knows no language. What it does
not understand is no reason to ask: the same text in a file runs unasked, and only a sandbox holds
a program back.

The strings are taken out of the text first: code with a number in place of each, and the strings.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from siding.shellguard import paths
from siding.shellguard.effects import secret_variable, seeks_secrets
from siding.shellguard.fields import MARKS, UNKNOWN
from siding.shellguard.hosts import is_elsewhere, is_metadata
from siding.shellguard.paths import Zone
from siding.shellguard.programs import program_patterns as patterns
from siding.shellguard.programs.arguments import dangerous_argument, stopped

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import ShellState

_HOMES = ("HOME", "USERPROFILE", "UserProfile", "user.home")
_LONGEST_STATEMENT = 1000  # characters, and as many strings of one text are looked at
_MOST_STRINGS = 200


class ProgramStrings:
    """The code of a program, in which ``"3"`` stands for its string with the number 3."""

    def __init__(self, language: str, text: str, home: str) -> None:
        self.home = home
        self.strings: list[str] = []
        self.ticks: list[str] = []  # those between backticks
        self.bound: dict[str, str] = {}  # names of variables that hold a path
        comment = "#" if language in patterns.HASH else "--" if "lua" in language else "//"
        code = re.sub(patterns.STRINGS.format(comment), self._keep, text, flags=re.DOTALL)
        code = re.sub(patterns.JOINED, self._join, code)
        code = re.sub(patterns.HOME, lambda _: self._number(home), code)
        code = re.sub(patterns.GOES_ON, r"\1", code)
        code = re.sub(patterns.OF_ENVIRONMENT, self._variable, code)
        self.code = re.sub(r"(\"\d+\")\s*>>=\s*\\(\w+)\s*->", r"\2 = \1;", code)

    def values(self, code: str) -> list[str]:
        """Return the strings in a piece of the code."""
        return [self.strings[int(number)] for number in re.findall(r'"(\d+)"', code)]

    def bind(self, statement: str) -> None:
        """Remember the path that a statement gives a name to, if it does."""
        found = patterns.BOUND.search(statement)
        if found and not re.search(patterns.READS_A_FILE, found[2]):
            path = self.path(found[2]) or (*self.homely(found[2]), "")[0]
            if path:
                self.bound[found[1]] = path

    def path(self, code: str) -> str:
        """Return the path that code makes of strings and bound names; "" when it is not plain."""
        found = patterns.PATH.match(code)
        if found is not None:
            first = self.strings[int(found[1])]
        else:
            found = patterns.NAMED_PATH.match(code)
            first = self.bound.get(found[1], "") if found else ""
        if not found or not first:
            return ""
        first = re.sub(patterns.HOME_IN_STRING, lambda _: self.home, first)
        path = "/".join((first, *self.values(found[2])))
        if path.startswith("~") and path[1:2] in ("", "/"):
            path = self.home + path[1:]
        placed = path.startswith(("/", ".."))
        return "" if "://" in path or "\n" in path or (" " in path and not placed) else path

    def _keep(self, found: re.Match[str]) -> str:
        if found["comment"] is not None:
            return ""
        text = found["text"] or found["short"] or found["line"] or ""
        text = re.sub(r"\\(.)", lambda each: {"n": "\n", "t": "\t"}.get(each[1], each[1]), text)
        if found["tick"]:
            self.ticks.append(text)
        return self._number(text)

    def _number(self, text: str) -> str:
        self.strings.append(text)
        return f'"{len(self.strings) - 1}"'

    def _join(self, found: re.Match[str]) -> str:
        return self._number("".join(self.values(found[0])))

    def _variable(self, found: re.Match[str]) -> str:
        """Return the code for a variable of the environment: that of the home is the home."""
        name = found[2] or found[3] or self.strings[int(found[1])]
        return self._number(self.home) if name in _HOMES else found[0]

    def homely(self, statement: str) -> list[str]:
        """Return the paths below the home that a statement puts together, in any language."""
        found = []
        for start in re.finditer(r"\"(\d+)\"|[$@]?\b([A-Za-z_]\w*)\b", statement):
            first = self.strings[int(start[1])] if start[1] else self.bound.get(start[2], "")
            first = re.sub(patterns.HOME_IN_STRING, lambda _: self.home, first)
            if first == "~" or first.startswith("~/"):
                first = self.home + first[1:]
            if not f"{first}/".startswith(f"{self.home}/") or "\n" in first:
                continue
            after = re.match(patterns.AFTER_HOME, statement[start.end() :])
            bare = re.match(r"/[\w./-]+", statement[start.end() :])  # Tcl has no quotes
            parts = self.values(after[0]) if after else [bare[0]] if bare else []
            found.append("/".join((first, *parts)))
        return found


def arguments_in(code: str) -> list[str]:
    """Return the arguments at the beginning of code, with parentheses around them or without."""
    code = code.lstrip()
    arguments, depth = [""], 0 if code[:1] == "(" else 1
    for character in code:
        depth += (character in "([{") - (character in ")]}")
        if depth <= 0:
            break
        if character == "," and depth == 1:
            arguments.append("")
        else:
            arguments[-1] += character
    return [each for each in arguments if each.strip(" )")]


def judge_program(
    examiner: "Examiner",
    language: str,
    text: str,
    state: "ShellState",
    given: Sequence[str] = (),
) -> bool:
    """Judge program text by what is plainly seen in it; `given` are the program's arguments.

    Return whether it goes on without end.
    """
    examiner.budget.spend(20 + 2 * len(text), "reading program text")
    if not text.strip(MARKS + " \t\n") and set(text) & set(MARKS):
        examiner.found("code-from-input", text)
    found = _Text(examiner, language, text, state)
    found.judge(given)
    return found.endless


class _Text:
    """A program's text that is judged, statement by statement."""

    def __init__(self, examiner: "Examiner", language: str, text: str, state: "ShellState") -> None:
        self.examiner, self.state = examiner, state
        self.language = re.sub(r"(?<=[a-z]{3})[\d.]+$|(?<=node)js$", "", language)
        self.strings = ProgramStrings(self.language, text, examiner.home)
        self.code = self.strings.code
        self.runs = bool(re.search(patterns.RUNS_TEXT, self.code))
        self.fetches = bool(re.search(patterns.FETCHES, self.code))
        removes = any(re.match(r"\s*rm(?:\s|$)", text) for text in self.strings.strings)
        self.deletes = removes or bool(re.search(patterns.DELETES, self.code))
        self.endless = bool(re.search(patterns.ENDLESS, self.code)) and not re.search(
            patterns.ENDS, self.code
        )
        self.statements = [each[:_LONGEST_STATEMENT] for each in re.split(r"[;\n]", self.code)]

    def judge(self, given: Sequence[str]) -> None:
        for statement in self.statements:
            self.examiner.budget.spend(3 + len(statement) // 16, "reading program text")
            if UNKNOWN in statement and not statement.strip(MARKS + " \t()"):
                self.examiner.found("code-from-input", self.code[:120])
            self.strings.bind(statement)
            self._files(statement)
            self._network(statement)
        self._commands(given)
        self._arguments(given)
        self._hidden()

    def _commands(self, given: Sequence[str]) -> None:
        lines = list(self.strings.ticks) if self.language in patterns.BACKTICKS_RUN else []
        starts = False
        for statement in self.statements:
            starts = starts or bool(re.search(patterns.STARTS, statement))
            for found in re.finditer(patterns.COMMAND, statement):
                words = self.strings.values(found[1])
                line = words[0] if len(words) == 1 else shlex.join(words)
                one = len(words) > 1 or " " not in line.strip()
                if one and re.match(r"\s*[+.,]", statement[found.end() :]):
                    line += " x"  # `["python", script]`
                for there in re.findall(patterns.DIRECTORY, statement)[:1]:
                    line = f"cd {shlex.quote(self.strings.strings[int(there)])} && {line}"
                lines.append(line)
            for number in re.findall(patterns.COMMAND_BEHIND, statement):
                lines.append(self.strings.strings[int(number)])
            if self.language in patterns.BARE_WORDS:
                lines += re.findall(rf"{patterns.STARTS}[\s(`]+([^\]}})']+)", statement)
            if self.language in ("ipython", "gdb", "lldb", "gnuplot", "r2", "radare2"):
                lines += re.findall(r"^\s*(?:platform )?(?:!|shell )(.+)", statement)
        for word in given if starts else ():
            stopped(self.examiner, self.language, word if " " in word else "", self.state)
        lines += re.findall(r"(?:\bqx|%x)[({\[]([^)}\]]*)", self.code)
        for line in dict.fromkeys(lines[:_MOST_STRINGS]):
            homely = re.sub(patterns.HOME_IN_COMMAND, lambda _: self.strings.home, line)
            plain = re.sub(patterns.INTERPOLATED, "x", homely)
            stopped(self.examiner, self.language, plain, self.state)
        lists = map(self.strings.values, re.findall(patterns.LIST, self.code))
        for text in (*map(shlex.join, lists), *self.strings.strings) if starts else ():
            if " " in text and text not in lines and "\n" not in text.strip():
                dangerous_argument(self.examiner, text, self.state)

    def _hidden(self) -> None:
        """Judge text that is run as code, and what is done to processes."""
        for text in re.findall(rf"{patterns.RUNS_TEXT}\s*{patterns.STRING}", self.code):
            judge_program(self.examiner, self.language, self.strings.strings[int(text)], self.state)
        for rule, pattern in patterns.AT_ALL.items():
            if re.search(pattern, self.code):
                self.examiner.found(rule, self.code[:120])
        grows = bool(re.search(patterns.GROWS, self.code))
        if re.search(patterns.ASTRONOMIC, self.code) or (
            grows and re.search(patterns.MANY_TURNS, self.code)
        ):
            self.examiner.found("fill-disk", self.code[:120])
        names = [*self.strings.strings, *re.findall(patterns.BETWEEN_SLASHES, self.code)]
        if re.search(patterns.WHOLE_ENVIRONMENT, self.code) and any(map(seeks_secrets, names)):
            self.examiner.found("print-secret", self.code[:120])
        if self.endless and grows:
            self.examiner.found("fill-disk", self.code[:120])
        drops = any(re.match(r"(?i)\s*(?:drop|truncate)\s", s) for s in self.strings.strings)
        if drops and re.search(patterns.DATABASES, self.code):
            self.examiner.found("destroy-data", self.code[:120])
        texts = " ".join(self.strings.strings)
        if self.runs and (self.fetches or re.search(r"\bcurl\b|\bwget\b|https?://", texts)):
            self.examiner.found("remote-code", "runs what it fetches")
        elif self.runs and re.search(patterns.DECODES, self.code):
            self.examiner.found("code-unclear", "runs what it decodes")

    # -- files -----------------------------------------------------------------------------

    def _files(self, statement: str) -> None:
        for arguments in self._calls(patterns.GOES_TO, statement):
            self._each(arguments[:1], self._go)
        for pattern, at, act in (
            (patterns.DELETES, 0, self._delete),
            (patterns.WRITES, 0, self._write),
            (patterns.MOVES, 0, self._delete),
            (patterns.COPIES, 1, self._write),
            (patterns.COPIES, 0, self._read),
            (patterns.READS, 0, self._read),
            (patterns.GIVES_RIGHTS, 1, self._write),
            (patterns.LINKS, 0, self._link),
            (patterns.LOADS, 0, self._load),
            (patterns.LOADS, 1, self._load),
        ):
            for arguments in self._calls(pattern, statement):
                self._each(arguments[at : at + 1], act)
        self._deletes_otherwise(statement)
        self._opens(statement)
        self._below_home(statement)

    def _below_home(self, statement: str) -> None:
        """Judge paths below the home by what they are, whichever function they are given to."""
        texts = self.strings.values(statement)
        deletes = any(re.match(r"\s*rm\s", text) for text in texts) or re.search(
            patterns.ANY_DELETES, statement
        )
        for path in self.strings.homely(statement):
            if deletes:
                self._delete_outside(path)
            elif not re.search(patterns.ONLY_LOOKS, statement):
                self.examiner.reads(path, self.state)

    def _opens(self, statement: str) -> None:
        for arguments in self._calls(patterns.OPENS, statement):
            given = [text for each in arguments for text in self.strings.values(each)[:1]]
            if any(re.fullmatch(patterns.WRITE_MODE, text) for text in given):
                self._each(arguments, self._write)  # Perl has the mode before the path …
            elif given and given[0].startswith("|"):  # Perl pipes into a command
                stopped(self.examiner, self.language, given[0].lstrip("| "), self.state)
            elif given and given[0].startswith(">"):
                self._write(given[0].lstrip("> "))  # … or in it
            else:
                self._each(arguments, self._read)
        for before, name in patterns.METHODS.findall(statement):
            acts = {
                "read": self._read,
                "writ": self._write,
                "mkdi": self._write,
                "touc": self._write,
            }
            act = acts.get(name[:4], self._delete)
            nearest = patterns.BEFORE_A_PATH.split(before)[-1]
            inner = nearest.rpartition("(")[2]  # `print(path.read_text())`
            self._each([inner if nearest.count("(") > nearest.count(")") else nearest], act)

    def _deletes_otherwise(self, statement: str) -> None:
        """Judge a function that deletes and is handed to another one, and what Tcl deletes."""
        for start, number in re.findall(patterns.HANDED_DELETES, statement):
            rest = statement.partition(start)[2].partition(",")[2]
            if not number or re.match(patterns.DELETES, self.strings.strings[int(number)]):
                self._each([rest], self._delete)
        if re.search(patterns.HANDED_BEHIND, statement):  # `[…].forEach(fs.unlinkSync)`
            self._each(re.findall(r'"\d+"', statement), self._delete)
        if self.deletes:  # what it lists, it may delete
            for arguments in self._calls(patterns.LISTS, statement):
                self._each(arguments[:2], self._delete_outside)
            for before in patterns.LISTED_BEFORE.findall(statement):
                self._each([patterns.BEFORE_A_PATH.split(before)[-1]], self._delete_outside)
        if self.language in ("R", "Rscript"):
            for arguments in self._calls(patterns.WRITES_OF_R, statement):
                self._each(arguments, self._write)
        if self.language in patterns.BARE_WORDS:
            for path in re.findall(patterns.BARE_DELETES, statement):
                self._delete(re.sub(r"^~(?=/|$)", self.strings.home, path))

    def _arguments(self, given: Sequence[str]) -> None:
        """Judge the arguments as the files of a program that deletes or writes some."""
        opens = any(re.fullmatch(patterns.WRITE_MODE, text) for text in self.strings.strings)
        writes = opens or re.search(rf"{patterns.WRITES}|>\s*ARGV", self.code)
        for word in given if re.search(r"argv|ARGV|\bshift\b", self.code) else ():
            if re.search(patterns.DELETES, self.code):
                self._delete(word)
            elif writes:
                self._write(word)

    def _delete(self, path: str) -> None:
        self.examiner.deletes(path, self.state, recursive=True)

    def _delete_outside(self, path: str) -> None:
        if self.examiner.zone(path, self.state) not in (Zone.INSIDE, Zone.TEMPORARY):
            self._delete(path)

    def _link(self, path: str) -> None:
        near = self.examiner.zone(path, self.state) in (Zone.INSIDE, Zone.TEMPORARY)
        if not near and not self.examiner.is_beside(path, self.state):
            self.examiner.found("link-outside", path)

    def _load(self, path: str) -> None:
        if not path.startswith(("/", "..")) or path.startswith(("/usr/", "/lib", "/opt/")):
            return
        inside = self.examiner.is_workspace(path, self.state)
        if not inside and not self.examiner.is_beside(path, self.state):
            self.examiner.found("run-outside", path)

    def _write(self, path: str) -> None:
        self.examiner.writes(path, self.state)
        if self.fetches:
            self.examiner.takes(path, self.state)

    def _go(self, path: str) -> None:
        self.state = self.state.copy()
        self.state.cwd = paths.absolute(path, self.state.cwd)

    def _read(self, path: str) -> None:
        self.examiner.reads(path, self.state)
        if self.runs and self.examiner.zone(path, self.state) is not Zone.INSIDE:
            self.examiner.found("run-outside", path)

    def _calls(self, pattern: str, statement: str) -> Iterator[list[str]]:
        """Yield the arguments of each call of a function with one of these names."""
        for found in re.finditer(pattern, statement):
            self.examiner.budget.spend(2 + len(statement) // 8, "reading program text")
            yield arguments_in(statement[found.end() :])

    def _each(self, arguments: list[str], act: Callable[[str], None]) -> None:
        for path in map(self.strings.path, arguments):
            if path and self.examiner.zone(path, self.state) is not Zone.UNKNOWN:
                act(path)

    def _serves(self, statement: str) -> None:
        """Judge a server that other machines can reach, and code that is loaded from one."""
        for numbers in re.findall(patterns.SERVES, statement):
            if self.strings.strings[int("".join(numbers))] in ("", "0.0.0.0", "::"):
                self.examiner.found("serve-files", statement[:120])
        for arguments in self._calls(patterns.LOADS, statement):
            for text in self.strings.values("".join(arguments[:1])):
                if re.match(r"https?://", text):
                    self.examiner.found("remote-code", text)

    def _network(self, statement: str) -> None:
        texts = self.strings.values(statement)
        sends = re.search(patterns.SENDS, statement)
        for address in texts:
            if ("://" in address or address.count(".") == 3) and is_metadata(address):
                self.examiner.found("cloud-metadata", address)
            if sends and re.match(r"(?:https?|wss?|ftp)://", address) and is_elsewhere(address):
                self.examiner.found("send-data", address)
        self._serves(statement)
        for number in re.findall(patterns.CONNECTS, statement):
            if is_elsewhere(self.strings.strings[int(number)]):
                self.examiner.found("send-data", self.strings.strings[int(number)])
        for found in re.finditer(patterns.OF_ENVIRONMENT, statement):
            name = found[2] or found[3] or self.strings.strings[int(found[1])]
            if secret_variable(name) and re.search(patterns.SHOWS, statement):
                self.examiner.found("print-secret", name)
