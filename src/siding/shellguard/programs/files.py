"""mktemp: the name that it prints is used by the rest of the line."""

from typing import TYPE_CHECKING

from siding.shellguard.fields import NUMBER, PrintedText
from siding.shellguard.options import arguments

if TYPE_CHECKING:
    from siding.shellguard.call import Call
    from siding.shellguard.examiner import Examiner


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
