"""Arguments that are commands themselves, as in ``git commit -m 'x; rm -rf ~'``."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import known

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
    for text in {word, word.partition("=")[2], word.partition("!")[2]}:
        spoken = text and " " in text and known(text) and re.search(_DANGER_WORDS, text)
        if spoken and examiner.would_block(text, state):
            examiner.found("dangerous-argument", text)
            return
