"""Decide whether secrets are masked: in all output of a conversation but text on a terminal."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.screen.screen import Screen

READ_AT_A_TERMINAL = ("text", "table")


def add_no_redact(parser: ArgumentParser) -> None:
    """Declare ``--no-redact``."""
    parser.add_argument(
        "--no-redact", action="store_true", help="leave secrets as they are, for yourself"
    )


def is_redacted(arguments: Namespace, screen: Screen) -> bool:
    """Return whether secrets are masked in what the command prints or writes.

    A file, a pipe and a document for programs are usually handed on; text on a terminal is read by
    the person whose session it is.
    """
    if arguments.no_redact:
        return False
    stays = arguments.format in READ_AT_A_TERMINAL and getattr(arguments, "output", None) is None
    return not (stays and screen.out.isatty())


def redaction_note(arguments: Namespace) -> str:
    """Return what a line that confirms a write says about the secrets in it."""
    return "secrets as they are" if arguments.no_redact else "secrets masked"
