"""Take the strings out of program text: code with a number in place of each, and the strings."""

import re

from siding.shellguard.programs import program_patterns as patterns


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


_HOMES = ("HOME", "USERPROFILE", "UserProfile", "user.home")


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
