"""Flags of ``siding run`` for sandbox and limits, and messages about them."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.screen.screen import Screen
from siding.ground.errors import UsageError
from siding.record.place.quantities import bytes_in
from siding.sandbox.sandbox import SandboxPlan, SandboxRequest

_SIZES = ("output", "memory", "disk")
_OF_SANDBOX = ("network", "allow_host", "read", "write")


def add_sandbox_arguments(parser: ArgumentParser) -> None:
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


def sandbox_request(arguments: Namespace) -> SandboxRequest:
    """Return what the flags ask for. Raises UsageError."""
    sizes = {name: _size(name, getattr(arguments, f"max_{name}")) for name in _SIZES}
    given = [name for name in _OF_SANDBOX if getattr(arguments, name)]
    asked = True if given or arguments.sandbox is not None else None
    if given and arguments.no_sandbox:
        flag = given[0].replace("_", "-")
        raise UsageError(f"--{flag} is of the sandbox, and --no-sandbox asks for none")
    return SandboxRequest(
        sandbox=False if arguments.no_sandbox else asked,
        profile=arguments.sandbox or None,
        network=arguments.network,
        hosts=tuple(arguments.allow_host),
        read=tuple(arguments.read),
        write=tuple(arguments.write),
        processes=_count(arguments.max_processes),
        **sizes,
    )


def say_sandbox(screen: Screen, plan: SandboxPlan) -> None:
    """Print where the sandbox is not as requested."""
    for warning in plan.warnings:
        screen.warn(warning)
    if plan.refusal:
        screen.warn(plan.refusal)
        screen.note("nothing ran; `siding doctor --sandbox` says what works on this machine")


def _size(name: str, text: str | None) -> int | None:
    size = None if text is None else bytes_in(text)
    if text is not None and (size is None or size <= 0):
        raise UsageError(f"--max-{name} {text!r} is not a size", hint="4096, 100MiB or 2GB")
    return size


def _count(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise UsageError(f"--max-processes {text!r} is not a number", hint="a number from 1")
    return int(text)
