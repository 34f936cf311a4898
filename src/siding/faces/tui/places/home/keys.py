"""The keys of home."""

from siding.faces.tui.keys import Key
from siding.faces.tui.slots import MOST, SLOT

_PIN = "pin_"

KEYS = (
    Key("open", ("enter",), "open the row under the cursor", "open"),
    Key("next", ("n",), "the next that waits for you", "next waiting"),
    Key("previous", ("b",), "the one before that waits for you"),
    Key("answer", ("ctrl+y", "tab"), "arm the card below; then its keys answer", "answer"),
    Key("follow_up", ("f",), "give the agent a prompt, or the task its next command", "follow up"),
    Key("stop", ("x",), "end what runs in it; x again does it", "stop"),
    Key("apply", ("A",), "what an apply would do; A again does it", "apply"),
    Key("undo", ("U",), "what an undo would take back; U again does it"),
    Key("close", ("X",), "what closing it would do; X again does it"),
    Key("new", ("N",), "a new task: type the command of an agent", "new"),
    Key("unseen", ("u",), "mark it as not seen yet, or as seen"),
    Key("select", ("space", "v"), "select it; acts are then about all that are selected"),
    Key("filter", ("/",), "show only rows with these words", "filter"),
    Key("fold", ("z",), "list what rests and what was done today, or only how many there are"),
    Key("sort", (".",), "put the rows that moved where they belong now"),
    Key("address", ("o",), "copy its address"),
    Key("up", ("k", "up"), "the row above"),
    Key("down", ("j", "down"), "the row below"),
    Key("page_up", ("pageup",), "a screen up"),
    Key("page_down", ("pagedown",), "a screen down"),
    Key("first", ("home", "g g"), "the first row"),
    Key("last", ("end", "G"), "the last row"),
    *(Key(f"{SLOT}{n}", (str(n),), f"go to row {n}") for n in range(1, MOST + 1)),
    *(
        Key(f"{_PIN}{n}", (f"m {n}",), f"give it the number {n} for good, or take that back")
        for n in range(1, MOST + 1)
    ),
)


def pin_of(act: str) -> int:
    """Return the number that an act gives for good; 0 for other acts."""
    return int(act.removeprefix(_PIN)) if act.startswith(_PIN) else 0
