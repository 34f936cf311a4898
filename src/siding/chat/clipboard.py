"""The picture of the clipboard, by whatever program of the desktop has it."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from siding.chat.pictures import LARGEST, Picture, picture_in
from siding.ground.errors import SidingError, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import Completed, run_captured
from siding.ground.process.lookup import Program, find_program

_PATIENCE_S = 10.0
_WITH_FILE = "--picture FILE gives one from a file"
_HEX = re.compile(rb"\xc2\xabdata PNGf([0-9A-Fa-f]*)\xc2\xbb")


class Way(NamedTuple):
    """One program that prints the picture of the clipboard."""

    argv: tuple[str, ...]
    needs: str = ""  # the variable of the desktop that it talks to; "" for macOS
    read: Callable[[bytes], bytes] = bytes


def _from_applescript(said: bytes) -> bytes:
    """Return the bytes that AppleScript has written in its own notation."""
    found = _HEX.search(said)
    return bytes.fromhex(found[1].decode()) if found else b""


WAYS = (
    Way(("wl-paste", "--no-newline", "--type", "image/png"), "WAYLAND_DISPLAY"),
    Way(("xclip", "-selection", "clipboard", "-target", "image/png", "-out"), "DISPLAY"),
    Way(("pngpaste", "-")),
    Way(("osascript", "-e", "get the clipboard as \u00abclass PNGf\u00bb"), "", _from_applescript),
)


def pasted(env: Mapping[str, str]) -> Picture:
    """Return the picture that the clipboard has. Raises SidingError."""
    ways = [way for way in WAYS if _is_there(way, env)]
    if not ways:
        desktop = env.get("WAYLAND_DISPLAY") or env.get("DISPLAY")
        why = "no program here reads its pictures" if desktop else "this terminal has no desktop"
        hint = f"install wl-clipboard or xclip; {_WITH_FILE}" if desktop else _WITH_FILE
        raise UsageError(f"the clipboard cannot be read: {why}", hint=hint)
    said = ""
    for way in ways:
        done = _printed(way, env)
        data = way.read(done.stdout)
        if done.returncode == 0 and data:
            return picture_in(data, "what the clipboard has")
        said = said or done.stderr.decode(errors="replace").strip().partition("\n")[0]
    raise UsageError(
        f"the clipboard has no picture{f': {said}' if said else ''}",
        hint=f"copy one and try again; {_WITH_FILE}",
    )


def _printed(way: Way, env: Mapping[str, str]) -> Completed:
    try:
        return run_captured(way.argv, env=env, timeout_s=_PATIENCE_S, max_output=2 * LARGEST)
    except SidingError as error:
        return Completed(argv=way.argv, returncode=1, stdout=b"", stderr=str(error).encode())


def _is_there(way: Way, env: Mapping[str, str]) -> bool:
    if way.needs and not env.get(way.needs):
        return False
    return isinstance(find_program(way.argv, env, Path("/")), Program)
