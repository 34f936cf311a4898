"""Programs of the system that are judged by code: kill, ps, mktemp and the like."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import (
    ANYTHING,
    FOUND_BY_NAME,
    NUMBER,
    PrintedText,
    known,
    shown_words,
)
from siding.shellguard.options import arguments
from siding.shellguard.programs.plain import reader

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call


def kill(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge kill: ending one process by its number is allowed."""
    words = list(call.arguments)
    if words and re.fullmatch(r"-(?:\d+|[A-Z]+[A-Z0-9]*)", words[0]) and len(words) > 1:
        words.pop(0)
    given = arguments(words, ("-s", "-n", "--signal", "-q"))
    if given.has("-l", "-L", "--list", "--table"):
        return ANYTHING
    for word in words:
        if re.fullmatch(r"-1|-\d{1,2}|0|1", word):
            examiner.found("kill-all", word)
        if FOUND_BY_NAME in word:  # what pkill would do
            examiner.found("siding-itself", shown_words(call.words))
    names = [part for word in call.words for part in re.findall(r"PPID", word)]
    if names or "$PPID" in call.words:
        examiner.found("siding-itself", shown_words(call.words))
    return ANYTHING


def ps(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge ps: with the letter ``e`` but no dash it shows the environment of each process."""
    for at, word in enumerate(call.arguments):
        after_option = at and call.arguments[at - 1].startswith("-")
        if re.fullmatch(r"[A-Za-z]*e[A-Za-z]*", word) and not after_option:
            examiner.found("print-secret", shown_words(call.words[:6]))
    return PrintedText(text=FOUND_BY_NAME + "\n")


# -- mktemp: the name that it prints is used by the rest of the line -------------------------------


def temporary_file(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge mktemp; return the name that it prints, as far as it is known."""
    given = arguments(call.arguments, ("-p", "--tmpdir", "--suffix"))
    directory = (given.values("-p", "--tmpdir") or ["/tmp"])[0]
    if directory != "/tmp":
        examiner.writes_into(directory, call.state)
    for each in given.operands:
        if "/" in each:
            examiner.writes(each, call.state)
    name = f"{directory}/{NUMBER}"
    if given.has("-d", "--directory") and directory == "/tmp":
        examiner.makes(name, "", call.state)
    return PrintedText(text=name + "\n")


# -- Programs that print a part of a path, which the rest of the line uses as a name ---------------


def path_name(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge basename, dirname, realpath and readlink."""
    reader(examiner, call)
    (*_, last) = ("", *arguments(call.arguments).operands)
    if call.name == "basename":
        return PrintedText(
            text=(NUMBER if not known(last) or not last else last.rpartition("/")[2]) + "\n"
        )
    if call.name == "dirname" and known(last) and "/" in last:
        return PrintedText(text=last.rstrip("/").rpartition("/")[0] + "\n")
    if call.name == "realpath" and known(last) and last.startswith("/"):
        return PrintedText(text=last + "\n")
    return ANYTHING
