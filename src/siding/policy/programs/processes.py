"""Programs that end processes, by their numbers or by their names."""

import re
from typing import TYPE_CHECKING

from siding.policy.fields import ANYTHING, FOUND_BY_NAME, MARKS, PrintedText, shown_words
from siding.policy.options import arguments
from siding.policy.programs.rows import does_projects_work

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner


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


def kill_by_name(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge pkill and killall."""
    given = arguments(call.arguments, ("-u", "-U", "-g", "-G", "-P", "-s", "-t", "-o", "-y", "-n"))
    if given.has("-l", "--list", "-V", "--version", "--help"):
        return ANYTHING
    everybody = given.has("-u", "-U", "--user", "--uid", "--euid") or not given.operands
    wide = any(set(word) <= set(".*") or set(word) & set(MARKS) for word in given.operands)
    if everybody or wide or "-1" in call.arguments:
        examiner.found("kill-all", shown_words(call.words))
    elif not all(map(_of_the_project, given.operands)):
        examiner.found("siding-itself", shown_words(call.words))
    return ANYTHING


def _of_the_project(pattern: str) -> bool:
    """Return whether a pattern names a tool of the project: ``vite``, ``next dev``.

    A name that Siding does not know may be that of an agent, of Siding, or of somebody's editor; so
    may that of an interpreter.
    """
    words = pattern.split()
    plain = all(re.fullmatch(r"[\w./:@=-]+", word) for word in words)
    return bool(words) and plain and does_projects_work(words[0].rpartition("/")[2])


JUDGES = {
    **dict.fromkeys(
        ("pkill", "killall", "xkill", "taskkill", "wkill", "killall.exe"), kill_by_name
    ),
    "kill": kill,
}
