"""kill: its options are numbers too, so that a row cannot tell them from processes."""

import re
from typing import TYPE_CHECKING

from siding.policy.fields import ANYTHING, FOUND_BY_NAME, PrintedText, shown_words
from siding.policy.options import arguments

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
