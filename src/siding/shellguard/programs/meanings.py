"""The words of a row that are about one value: a path, an address, a command, a statement."""

from typing import TYPE_CHECKING

from siding.shellguard.fields import shown_words
from siding.shellguard.hosts import is_far
from siding.shellguard.programs.path_meanings import PATHS
from siding.shellguard.programs.text_meanings import TEXTS
from siding.shellguard.row import OF_CALLS, Words
from siding.shellguard.rules import BUILT_IN

if TYPE_CHECKING:
    from siding.shellguard.call import Call
    from siding.shellguard.examiner import Examiner


def means(
    examiner: "Examiner", call: "Call", words: Words, value: str, *, spared: bool = False
) -> None:
    """Judge one value by the words about it.

    With `spared` the call only shows something, or another option takes back what this one says;
    that it runs code or shows a credential holds all the same.
    """
    if "far" in words and is_far(value):
        words = tuple(word for word in words if not word.startswith("writes"))
    for word in words:
        if word in PATHS:
            PATHS[word](examiner, call, value)
        elif word in TEXTS:
            TEXTS[word](examiner, call, value)
        elif word not in OF_CALLS and not (spared and _spares(word)):
            examiner.found(word, shown_words(call.words[:6]))


def _spares(rule: str) -> bool:
    return BUILT_IN[rule].group != "code" and rule not in ("print-secret", "skips-checks")


def read_as(examiner: "Examiner", call: "Call", word: str, text: str) -> None:
    """Judge a text, such as a program's input, by one word about texts."""
    TEXTS[word](examiner, call, text)
