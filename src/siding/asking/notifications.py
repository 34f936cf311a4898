"""Call a person when something starts to wait: by hooks, the desktop, the terminal, a webhook.

What an agent wrote is passed to programs as an argument, as data or in environment variables, never
as words of a command line, as part of a program or of a control sequence. Hooks of the repository
run only if they are trusted. A way that fails or hangs is reported and stops nothing.

Of the settings (the section `call`) the person's own count, those for all projects (``config.yaml``
in the home) and those of the project, never the repository's: a webhook would tell others what is
asked here.
"""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import time
from pathlib import Path

from siding.asking.views import InboxEntry
from siding.ground.errors import SidingError, UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.multiplexer import wrapped
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import run_captured
from siding.ground.process.lookup import Program, find_program
from siding.guard.hooks import HookResult
from siding.record.place.project import Project
from siding.record.place.quantities import seconds_in
from siding.record.place.settings import parse_settings
from siding.record.place.settings_sections import Layer, Section

DESKTOP = ("auto", "on", "off")
TERMINAL = ("off", "bell", "osc9", "osc777")
_NEVER = ""
_PATIENCE_S = 5.0
_LONGEST_AFTER_S = 3600.0
_MAC_SCRIPT = (
    "on run argv\n  display notification (item 2 of argv) with title (item 1 of argv)\nend run"
)


class QuietHours(NamedTuple):
    """A time of each day at which nobody is called; it may go past midnight."""

    begin: time
    end: time

    def has(self, now: time) -> bool:
        """Tell whether a time of the day is in them. The end is not."""
        if self.begin <= self.end:
            return self.begin <= now < self.end
        return now >= self.begin or now < self.end


class CallSettings(NamedTuple):
    """The ways in which a person is called besides the hooks."""

    desktop: str = "auto"  # a notification of the desktop; auto: where there is one
    terminal: str = "bell"  # on the terminal that the command was started in
    webhook: str = ""  # an address that gets a POST; "" for none
    quiet: QuietHours | None = None
    after_s: float = 20.0  # what has ended is told after so many seconds


def call_settings(*paths: Path) -> CallSettings:
    """Return the settings in these files; a later one replaces what an earlier one says.

    Raises UsageError with the file and the place of a mistake.
    """
    found = CallSettings()
    for path in paths:
        try:
            raw = read_bytes(path, limit=1 << 20)
        except FileNotFoundError:
            continue
        if b"call" in raw:
            section = Section([Layer(parse_settings(path, raw), path)], "call")
            found = _replaced(found, section, path)
    return found


def _replaced(found: CallSettings, section: Section, path: Path) -> CallSettings:
    quiet = section.text("quiet", "unsaid")
    return CallSettings(
        desktop=section.one_of("desktop", DESKTOP, found.desktop),
        terminal=section.one_of("terminal", TERMINAL, found.terminal),
        webhook=_address(section.text("webhook", found.webhook), path),
        quiet=found.quiet if quiet == "unsaid" else _hours(quiet, path),
        after_s=_after(section.text("after", ""), found.after_s, path),
    )


def _after(text: str, known: float, path: Path) -> float:
    if not text:
        return known
    if text in ("0", "0s", "now"):
        return 0.0
    seconds = seconds_in(text)
    if seconds is None or seconds > _LONGEST_AFTER_S:
        raise UsageError(
            f"call.after in {str(path)!r} should be a time such as 20s, an hour at most, and is "
            f"{text!r}"
        )
    return seconds


def _address(text: str, path: Path) -> str:
    if text and not text.startswith(("https://", "http://")):
        raise UsageError(
            f"call.webhook in {str(path)!r} should be an http address, and is {text!r}"
        )
    return text


def _hours(text: str, path: Path) -> QuietHours | None:
    if text == _NEVER:
        return None
    try:
        begin, end = (time.fromisoformat(each.strip().zfill(5)) for each in text.split("-"))
    except ValueError:
        raise UsageError(
            f"call.quiet in {str(path)!r} should be hours such as 22:00-07:30, and is {text!r}"
        ) from None
    return QuietHours(begin, end)


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


class Ways(NamedTuple):
    """The ways in which a person wants to be called."""

    settings: CallSettings

    @property
    def after_s(self) -> float:
        return self.settings.after_s

    def are_here(self, env: Mapping[str, str]) -> bool:
        """Tell whether one of them can reach a person from here; on a server none can."""
        wanted = self.settings
        return bool(wanted.webhook) or _has_terminal(wanted) or _shows(env, wanted)

    def is_quiet(self, project: Project) -> bool:
        """Tell whether nobody wants to be called now."""
        now = project.app.clock.now().astimezone().time()
        return self.settings.quiet is not None and self.settings.quiet.has(now)


def ways_of(project: Project) -> Ways:
    """Return the ways in which the person wants to be called. Raises UsageError."""
    wanted = call_settings(project.app.home.config_path, project.layout.config_yaml)
    return Ways(wanted)


class Called(NamedTuple):
    """The ways that failed, whether another one said it, and the number that the desktop gave it.

    A bell says nothing. The number is 0 where there is none.
    """

    failed: list[HookResult]
    is_said: bool
    number: int = 0


def call_by(project: Project, ways: Ways, call: Call) -> Called:
    """Call the person in all ways that are set."""
    wanted = ways.settings
    rang = wanted.terminal != "off" and ring(wanted.terminal, call, project.app.env)
    shown = _desktop(project.app.env, wanted, call)
    failed = [shown] if isinstance(shown, HookResult) else []
    posted = False
    if wanted.webhook:
        refused = _post(wanted.webhook, call)
        failed += [] if refused is None else [refused]
        posted = refused is None
    is_said = posted or isinstance(shown, int) or (rang and wanted.terminal != "bell")
    return Called(failed, is_said, shown if isinstance(shown, int) else 0)


def wishes(project: Project) -> tuple[bool, float]:
    """Tell whether nobody wants to be called now, and after how many seconds of what has ended."""
    try:
        ways = ways_of(project)
    except SidingError:
        return False, CallSettings().after_s
    return ways.is_quiet(project), ways.after_s


def desktop_command(platform: str, call: Call) -> tuple[str, ...]:
    """Return the command that shows a notification on this system."""
    if platform == "darwin":
        return ("osascript", "-e", _MAC_SCRIPT, call.title, call.text)
    return ("notify-send", "--app-name=Siding", "--print-id", "--", call.title, call.text)


def sequence(way: str, call: Call, env: Mapping[str, str]) -> bytes:
    """Return what makes a terminal call: its bell, or a notification (OSC 9, OSC 777)."""
    title, text = (each.replace(";", ",") for each in (call.title, call.text))
    if way == "osc9":
        return wrapped(f"\x1b]9;{title}: {text}\x07", env).encode()
    if way == "osc777":
        return wrapped(f"\x1b]777;notify;{title};{text}\x07", env).encode()
    return b"\x07"  # multiplexers pass it on


def ring(way: str, call: Call, env: Mapping[str, str]) -> bool:
    """Call on the terminal of this session; tell whether it has one. Nobody waits for it."""
    with suppress(OSError):
        terminal = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(terminal, sequence(way, call, env))
        finally:
            os.close(terminal)
        return True
    return False


def _desktop(env: Mapping[str, str], wanted: CallSettings, call: Call) -> HookResult | int | None:
    """Show it on the desktop; return the notification's number, 0 without one, None if unwanted."""
    if not _shows(env, wanted):
        return None
    argv = desktop_command(sys.platform, call)
    try:
        done = run_captured(argv, env=env, timeout_s=_PATIENCE_S)
        if done.returncode != 0 and "--print-id" in argv:  # older than libnotify 0.8
            plain = tuple(each for each in argv if each != "--print-id")
            done = run_captured(plain, env=env, timeout_s=_PATIENCE_S)
    except SidingError as error:
        return _failed("call.desktop", error.message)
    if done.returncode != 0:
        return _failed("call.desktop", done.stderr.decode("utf-8", "replace").strip())
    said = done.stdout.strip()
    return int(said) if said.isascii() and said.isdigit() and len(said) < 12 else 0


def _has_terminal(wanted: CallSettings) -> bool:
    if wanted.terminal == "off":
        return False
    try:
        os.close(os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _shows(env: Mapping[str, str], wanted: CallSettings) -> bool:
    program = desktop_command(sys.platform, Call("", "", {}))[0]
    return wanted.desktop == "on" or (wanted.desktop == "auto" and _has_desktop(env, program))


def _has_desktop(env: Mapping[str, str], program: str) -> bool:
    shown = sys.platform == "darwin" or env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")
    return bool(shown) and isinstance(find_program((program,), env, Path("/")), Program)


def _post(address: str, call: Call) -> HookResult | None:
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
