"""Arguments that are commands themselves, as in ``git commit -m 'x; rm -rf ~'``."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import known
from siding.shellguard.rules import BUILT_IN

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import ShellState


_DANGER_WORDS = (
    r"(?:^|[\s;&|(`'\"!=/])(?:rm|rmdir|unlink|shred|dd|mkfs[.\w]*|wipefs|sudo|su|doas|chmod|chown|mv"
    r"|sh|bash|zsh|dash|ksh|fish|eval|exec|source|curl|wget|nc|ncat|socat|ssh|scp|python[\d.]*|perl"
    r"|ruby|node|php|find|xargs|kill|pkill|killall|shutdown|reboot|crontab|git|tee|cp|ln)(?:\s|$)"
)


def dangerous_argument(examiner: "Examiner", word: str, state: "ShellState") -> None:
    """Record `dangerous-argument` if an argument, read as a command line, would be blocked."""
    texts = dict.fromkeys((word, word.partition("=")[2], word.partition("!")[2]))  # in this order
    for text in texts:
        spoken = text and " " in text and known(text) and re.search(_DANGER_WORDS, text)
        if spoken and examiner.would_block(text, state):
            examiner.found("dangerous-argument", text)
            return


# -- Record what a text would do as a command line: another program, or a container, may run it ----


def stopped(examiner: "Examiner", what: str, text: str, state: "ShellState") -> None:
    """Record why `text`, which the program `what` seems to hand to a shell, would not run.

    That the text is not understood is no reason: it may not be for a shell at all.
    """
    parts = examiner.probed(text, state) if text.strip() else ()
    for finding in (f for part in parts or () for f in part.findings):
        if BUILT_IN[finding.rule].group != "unclear":
            examiner.found(finding.rule, f"{what}: {text}")


def reached(examiner: "Examiner", text: str, state: "ShellState") -> None:
    """Record what the command line `text` does beyond the container in which it runs."""
    for finding in (f for part in examiner.probed(text, state) or () for f in part.findings):
        if finding.rule == "print-secret" or BUILT_IN[finding.rule].group == "remote":
            examiner.found(finding.rule, finding.matched)
