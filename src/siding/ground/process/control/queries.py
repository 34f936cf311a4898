"""Take out of a terminal's output what the terminal would answer.

A question is answered by typing. If several people watch a run, only one terminal may answer; and
what a program asked an hour ago must not be answered by a terminal that shows it now: the answer
would be typed into whatever reads the keys by then.
"""

import re

_LONGEST = 128  # bytes; a longer unfinished sequence is no question
_STRING_END = rb"(?:\x07|\x1b\\)"
_QUERY = re.compile(
    rb"\x05"  # ENQ
    rb"|\x1bZ"  # DECID
    rb"|\x1b\[[>=]?[0-9;]{0,8}c"  # DA: which terminal are you
    rb"|\x1b\[\??[0-9;]{1,8}n"  # DSR: status, place of the cursor
    rb"|\x1b\[\??[0-9;]{1,8}\$p"  # DECRQM: state of a mode
    rb"|\x1b\[>[0-9;]{0,4}q"  # XTVERSION
    rb"|\x1b\[\?u"  # kitty: state of the keyboard
    rb"|\x1b\[\?[0-9;]{0,8}g"  # XTQMODKEYS as some send it
    rb"|\x1b\[\?4m"  # XTQMODKEYS
    rb"|\x1b\[(?:1[1345689]|2[01])(?:;[0-9]{1,4})?t"  # size and title of the window
    rb"|\x1b\[[01]?x"  # DECREQTPARM
    rb"|\x1b\[[0-9;]{1,20}\*y"  # DECRQCRA
    rb"|\x1b\][0-9]{1,4};[0-9;a-z]{0,8}\?"
    + _STRING_END  # colours, the clipboard
    + rb"|\x1bP(?:\$q|\+q)[^\x07\x1b]{0,100}"
    + _STRING_END  # DECRQSS, XTGETTCAP
    + rb"|\x1b_G[^\x07\x1b]{0,100}a=q[^\x07\x1b]{0,100}\x1b\\\\"  # kitty: can you show pictures
)
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[P_][^\x07\x1b]*\x1b?)?\Z")


def without_queries(data: bytes) -> bytes:
    """Return the output without the questions in it."""
    return _QUERY.sub(b"", data)


class WholeSequences:
    """Passes output on in pieces that do not end in the middle of a sequence."""

    def __init__(self) -> None:
        self._carry = b""

    def feed(self, data: bytes) -> bytes:
        """Return what can be passed on; the beginning of a sequence is kept for the next call."""
        data, self._carry = self._carry + data, b""
        cut = _UNFINISHED.search(data, max(0, len(data) - _LONGEST))
        if cut is not None:
            data, self._carry = data[: cut.start()], data[cut.start() :]
        return data
