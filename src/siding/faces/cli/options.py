"""Options that several verbs have. A page of help loads this, and none of what they are about."""

from argparse import SUPPRESS, ArgumentParser

TASK_WORD = "name, part of one, or id; - is the one before"
STOP = "end the runs of the task first"


def add_task_word(
    parser: ArgumentParser,
    about: str = f"{TASK_WORD} (default: this terminal's)",
    *,
    is_needed: bool = False,
) -> None:
    """Add the task that a verb is about: as a word, or behind ``-t`` as with all other verbs."""
    # First: afterwards it would replace SUPPRESS, and the empty word would take away what -t said.
    parser.set_defaults(task=None)
    task = parser.add_mutually_exclusive_group(required=is_needed)
    task.add_argument("task", nargs="?", metavar="TASK", default=SUPPRESS, help=about)
    task.add_argument(
        "-t", "--task", dest="task", metavar="TASK", default=SUPPRESS, help="the same as TASK"
    )


def add_beside_arguments(parser: ArgumentParser) -> None:
    """Add the options that say what happens to runs that live."""
    runs = parser.add_mutually_exclusive_group()
    runs.add_argument(
        "--now", action="store_true", help="do not wait until no run is in the middle of a file"
    )
    runs.add_argument("--stop", action="store_true", help=STOP)


def add_stop_argument(parser: ArgumentParser) -> None:
    """Add the option for acts that are refused while runs live."""
    parser.add_argument("--stop", action="store_true", help=STOP)


def add_sandbox_arguments(parser: ArgumentParser) -> None:
    """Add the options for the sandbox of a run, and for its limits."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--sandbox",
        nargs="?",
        const="",
        metavar="PROFILE",
        help="write only the workspace, see no home; write it --sandbox=PROFILE or before --",
    )
    choice.add_argument("--no-sandbox", action="store_true", help="none, whatever the settings say")
    parser.add_argument(
        "--network",
        choices=("on", "allow", "off", "loopback"),
        help="in a sandbox with the machine's, listed hosts, none, or a 127.0.0.1 of its own",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="HOST",
        help="in a sandbox that reaches this host, those the agent needs, and no others: a name, "
        "*.example.org, HOST:PORT, a network, or pip, npm, … (repeatable)",
    )
    reads = "read this, or npm, pip, uv, cargo, … for its package cache"
    for name, what in (("read", reads), ("write", "read and write this")):
        parser.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="PATH",
            help=f"in a sandbox that can {what}, too (repeatable)",
        )
    limits = parser.add_argument_group("limits")
    limits.add_argument("--max-output", metavar="SIZE", help="end it after so much output: 100MiB")
    limits.add_argument("--max-memory", metavar="SIZE", help="end it when all of it takes more")
    limits.add_argument("--max-processes", metavar="N", help="end it when it has more processes")
    limits.add_argument(
        "--max-disk", metavar="SIZE", help="end it when the workspace grows by more"
    )


def add_terminal_arguments(parser: ArgumentParser) -> None:
    """Add the options that say how the command is connected to the terminal."""
    tty = parser.add_mutually_exclusive_group()
    tty.add_argument("--tty", action="store_true", default=None, help="give it its own terminal")
    tty.add_argument("--no-tty", dest="tty", action="store_false", help="give it pipes")
    parser.add_argument(
        "--stdin",
        choices=("auto", "pass", "none"),
        default="auto",
        help="pass our standard input on (auto: a terminal, a file, or a pipe with data in it)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the step as JSON; its output goes to stderr"
    )
