"""How a person wants to be called: the section `call` of the settings.

The person's own settings count, those for all projects (``config.yaml`` in the home) and those of
the project, never the repository's: a webhook would tell others what is asked here.
"""

from datetime import time
from pathlib import Path

from siding.ground.errors import UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.record.place.settings import parse_settings
from siding.record.place.settings_sections import Layer, Section

DESKTOP = ("auto", "on", "off")
TERMINAL = ("off", "bell", "osc9", "osc777")
_NEVER = ""


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
