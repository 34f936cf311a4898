"""What a command line gives an agent: the text of a prompt, and the pictures that go along."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.chat.pictures import Picture

PROMPT_HELP = "- reads it from input; so does none, in a pipe"


def add_pictures(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--picture",
        action="append",
        default=[],
        metavar="FILE",
        help="goes along; - reads it from input (repeatable)",
    )
    parser.add_argument(
        "--paste", action="store_true", help="the picture of the clipboard goes along"
    )


def words_of(arguments: Namespace) -> str:
    """Return the prompt; "" for none. Raises UsageError."""
    said: str | None = arguments.prompt
    if said is None and "-" not in arguments.picture and _is_piped():
        said = "-"
    if said != "-":
        return said or ""
    if "-" in arguments.picture:
        raise UsageError(
            "the prompt and a picture cannot both come from input",
            hint="give one of them as an argument",
        )
    return text_of("-")


def text_of(said: str) -> str:
    """Return a text that was given as a word; `-` reads it from input."""
    if said != "-":
        return said
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8-sig").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"what came from input is no text: byte {error.start} is not UTF-8",
            hint="--picture - reads a picture from input",
        ) from None


def pictures_of(arguments: Namespace, context: Context) -> list[Picture]:
    """Return the pictures, read and known to be such. Raises UsageError."""
    from siding.chat.pictures import LARGEST, picture_at, picture_in

    found = [
        picture_in(sys.stdin.buffer.read(LARGEST + 1), "what came from input")
        if each == "-"
        else picture_at(each, context.app.cwd)
        for each in arguments.picture
    ]
    if arguments.paste:
        from siding.chat.clipboard import pasted

        found.append(pasted(context.app.env))
    return found


def _is_piped() -> bool:
    """Tell whether input is a file or a pipe, and not a terminal, /dev/null or a socket."""
    import os
    import stat

    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)
