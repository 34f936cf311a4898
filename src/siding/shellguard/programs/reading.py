"""Programs that print a part of a path, which the rest of the line uses as a name."""

from typing import TYPE_CHECKING

from siding.shellguard.fields import ANYTHING, NUMBER, PrintedText, known
from siding.shellguard.options import arguments
from siding.shellguard.programs.plain import reader

if TYPE_CHECKING:
    from siding.shellguard.call import Call
    from siding.shellguard.examiner import Examiner


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
