"""What the options for sandbox and limits ask for, and messages about it."""

from argparse import Namespace

from siding.faces.cli.screen.screen import Screen
from siding.ground.errors import UsageError
from siding.record.place.quantities import bytes_in
from siding.sandbox.sandbox import SandboxPlan, SandboxRequest

_SIZES = ("output", "memory", "disk")
_OF_SANDBOX = ("network", "allow_host", "read", "write")


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
