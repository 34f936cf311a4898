"""kill, whose options are numbers too, and ps, whose letters need no dash."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import ANYTHING, FOUND_BY_NAME, PrintedText, shown_words
from siding.shellguard.options import arguments

if TYPE_CHECKING:
    from siding.shellguard.call import Call
    from siding.shellguard.examiner import Examiner


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
