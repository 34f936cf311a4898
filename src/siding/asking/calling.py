"""Call the person when something begins to wait: on the desktop, in the terminal, by a webhook.

What an agent wrote is passed as an argument or as data, never as part of a program or of a control
sequence. A way that fails is reported and stops nothing.
"""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from siding.asking.call_settings import CallSettings, call_settings
from siding.asking.entries import InboxEntry
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import run_captured
from siding.ground.process.lookup import Program, find_program
from siding.guard.hooks import HookResult
from siding.record.place.project import Project

_PATIENCE_S = 5.0
_MAC_SCRIPT = (
    "on run argv\n  display notification (item 2 of argv) with title (item 1 of argv)\nend run"
)


class Call(NamedTuple):
    """What a person is told: one line each, without control characters."""

    title: str
    text: str
    record: Mapping[str, str]  # the same for programs


def call_of(entry: InboxEntry, *, url: str | None, plain_title: str) -> Call:
    """Return what is said of an entry of the inbox."""
    where = entry.task_name or entry.project
    words = {
        "decision": "asks you",
        "policy": "was blocked",
        "failed": "failed",
        "workflow": "has a workflow that stopped",
        "done": "has a workflow that is done",
    }
    title = f"Siding: {where} {words.get(entry.kind, 'waits for you')}"
    record = {
        "waits": entry.kind,
        "title": plain_title,
        "project": entry.project,
        "task": entry.task_name or entry.task_id,
        "session": entry.session_id,
        "command": entry.command,
        "url": url or "",
    }
    return Call(_line(title), plain_title or _line(entry.command), record)


def call_person(project: Project, call: Call) -> list[HookResult]:
    """Call the person in all ways that are set, unless it is a quiet hour; return what failed."""
    try:
        wanted = call_settings(project.app.home.config_path, project.layout.config_yaml)
    except SidingError as error:
        return [_failed("call", error.message)]
    if _is_quiet(project, wanted):
        return []
    if wanted.terminal != "off":
        ring(wanted.terminal, call)
    failed = [_desktop(project.app.env, wanted, call), _post(wanted.webhook, call)]
    return [each for each in failed if each is not None]


def is_quiet(project: Project) -> bool:
    """Tell whether nobody wants to be called now."""
    try:
        wanted = call_settings(project.app.home.config_path, project.layout.config_yaml)
    except SidingError:
        return False
    return _is_quiet(project, wanted)


def _is_quiet(project: Project, wanted: CallSettings) -> bool:
    now = project.app.clock.now().astimezone().time()
    return wanted.quiet is not None and wanted.quiet.has(now)


def desktop_command(platform: str, call: Call) -> tuple[str, ...]:
    """Return the command that shows a notification on this system."""
    if platform == "darwin":
        return ("osascript", "-e", _MAC_SCRIPT, call.title, call.text)
    return ("notify-send", "--app-name=Siding", "--", call.title, call.text)


def sequence(way: str, call: Call) -> bytes:
    """Return what makes a terminal call: its bell, or a notification (OSC 9, OSC 777)."""
    title, text = (each.replace(";", ",") for each in (call.title, call.text))
    if way == "osc9":
        return f"\x1b]9;{title}: {text}\x07".encode()
    if way == "osc777":
        return f"\x1b]777;notify;{title};{text}\x07".encode()
    return b"\x07"


def ring(way: str, call: Call) -> None:
    """Call on the terminal of this session, if it has one. Nobody waits for it."""
    with suppress(OSError):
        terminal = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(terminal, sequence(way, call))
        finally:
            os.close(terminal)


def _desktop(env: Mapping[str, str], wanted: CallSettings, call: Call) -> HookResult | None:
    argv = desktop_command(sys.platform, call)
    if wanted.desktop == "off" or (wanted.desktop == "auto" and not _has_desktop(env, argv[0])):
        return None
    try:
        done = run_captured(argv, env=env, timeout_s=_PATIENCE_S)
    except SidingError as error:
        return _failed("call.desktop", error.message)
    if done.returncode == 0:
        return None
    return _failed("call.desktop", done.stderr.decode("utf-8", "replace").strip())


def _has_desktop(env: Mapping[str, str], program: str) -> bool:
    shown = sys.platform == "darwin" or env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")
    return bool(shown) and isinstance(find_program((program,), env, Path("/")), Program)


def _post(address: str, call: Call) -> HookResult | None:
    if not address:
        return None
    import urllib.request

    asked = urllib.request.Request(
        address,
        data=json.dumps(call.record).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "siding"},
        method="POST",
    )
    try:
        with urllib.request.urlopen(asked, timeout=_PATIENCE_S):
            return None
    except (OSError, ValueError) as error:
        return _failed("call.webhook", str(error))


def _failed(way: str, said: str) -> HookResult:
    return HookResult("notify", way, "settings", 1, said)


def _line(text: str) -> str:
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())
