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
from typing import TYPE_CHECKING

from siding.asking.decisions.record import DecisionChanged
from siding.asking.views import InboxEntry, decision_entry, step_entry, view_of
from siding.ground.errors import SidingError, UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import run_captured
from siding.ground.process.lookup import Program, find_program
from siding.guard.enforcement import run_judged_hook
from siding.guard.hooks import HookResult, hooks_for
from siding.record.place.event_log import StepRecorded
from siding.record.place.project import Project
from siding.record.place.settings import parse_settings
from siding.record.place.settings_sections import Layer, Section

if TYPE_CHECKING:
    from siding.record.place.wiring import Event

DESKTOP = ("auto", "on", "off")
TERMINAL = ("off", "bell", "osc9", "osc777")
_NEVER = ""
_PATIENCE_S = 5.0
_MAC_SCRIPT = (
    "on run argv\n  display notification (item 2 of argv) with title (item 1 of argv)\nend run"
)
NOTIFY_TIMEOUT_S = 10.0


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
    )


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


def notify_event(project: Project, event: "Event", *, url: str | None) -> list[HookResult]:
    """Run the hooks for an event; return those that failed."""
    entry = None
    match event:
        case StepRecorded(task=task, step=step):
            entry = step_entry(project, task.id, task.name, step)
        case DecisionChanged(decision=decision):
            entry = decision_entry(project, view_of(decision, gate=""))
    return [] if entry is None else notify(project, entry, url=url)


def notify(project: Project, entry: InboxEntry, *, url: str | None = None) -> list[HookResult]:
    """Run the hooks for an entry of the inbox; return those that failed.

    Each hook may take `NOTIFY_TIMEOUT_S` seconds. `url` is the page of the entry, if one is known.
    """
    try:
        hooks, _untrusted = hooks_for(project, "notify")
    except SidingError as error:
        return [HookResult("notify", "", "project", 1, error.message)]
    env = {
        **project.app.env,
        "SIDING_WAITS": entry.kind,
        "SIDING_WAITS_TITLE": _plain(entry.title),
        "SIDING_WAITS_PROJECT": _plain(entry.repo_root),
        "SIDING_WAITS_TASK": _plain(entry.task_name or entry.task_id),
        "SIDING_WAITS_SESSION": entry.session_id,
        "SIDING_WAITS_COMMAND": entry.command,
        "SIDING_WAITS_URL": url or "",
    }
    failed = []
    for hook in hooks:
        try:
            done = run_judged_hook(
                project, hook, root=project.paths.root, env=env, timeout_s=NOTIFY_TIMEOUT_S
            )
        except SidingError as error:  # it hung, or could not be started
            done = HookResult(hook.moment, hook.command, hook.source, 1, error.message)
        if done.exit_code != 0:
            failed.append(done)
    call = call_of(entry, url=url, plain_title=_plain(entry.title))
    return [*failed, *call_person(project, call)]


def _plain(text: str) -> str:
    """Return one line of at most 300 characters, without control characters."""
    kept = "".join(each if each.isprintable() else " " for each in text)
    return " ".join(kept.split())[:300]
