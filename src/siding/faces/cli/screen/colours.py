"""Colour a patch for a terminal; its text is made inert first."""

from siding.faces.cli.screen.screen import Screen, inert

_HEADERS = (
    "diff --git",
    "index ",
    "--- ",
    "+++ ",
    "old mode",
    "new mode",
    "deleted file",
    "new file",
    "similarity",
    "rename ",
    "copy ",
    "GIT binary",
    "Binary files",
)


def coloured_patch(screen: Screen, line: str) -> str:
    """Return one line of a patch as a terminal shows it."""
    safe = inert(line.rstrip("\r\n"), lines=True)
    if line.startswith("@@"):
        return screen.style(safe, "cyan")
    if line.startswith(_HEADERS):
        return screen.style(safe, "bold")
    if line.startswith("+"):
        return screen.style(safe, "green")
    if line.startswith("-"):
        return screen.style(safe, "red")
    return safe
