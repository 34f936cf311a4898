"""The keys of a task's screen: those of each tab, and those that count in all of them. Pure."""

from siding.faces.tui.keys import Key
from siding.faces.tui.slots import MOST, SLOT

OF_TASK = (
    Key("answer", ("ctrl+y", "tab"), "give the keys to what asks; then 1 to 9 answer it"),
    Key("next", ("n", "g n"), "the next that waits for you, in any project", "next waiting"),
    Key("previous", ("b", "g b"), "the one before that waits for you"),
    Key("apply", ("A",), "apply the change: what it would do is shown first", "apply"),
    Key("undo", ("U",), "take the newest act back", "undo"),
    Key("redo", ("R",), "do again what was taken back"),
    Key("sync", ("Y",), "bring the moved base branch in"),
    Key("pull_request", ("P",), "push the work and open or update its pull request"),
    Key("conflict", ("M",), "the conflict that is being resolved: files left, continue, give up"),
    Key("attempts", ("C",), "compare with another attempt at the task"),
    Key("bisect", ("B",), "find the step after which something fails"),
    Key("talk", ("t", "f"), "talk with its agent: what was said, and the next prompt"),
    Key("patch", ("p",), "the patch"),
    Key("steps", ("s",), "the steps"),
    Key("output", ("o",), "the output of a run"),
    Key("attach", ("a",), "attach to a run that lives: it gets the whole terminal"),
    Key("again", ("r",), "read everything again"),
    Key("search", ("/",), "search in what is shown; nothing typed ends it"),
    *(Key(f"{SLOT}{n}", (str(n),), f"go to row {n} of home") for n in range(1, MOST + 1)),
)

# They come before the others as long as something is searched.
OF_SEARCH = (
    Key("next_hit", ("n",), "the next place that was found", "next place"),
    Key("previous_hit", ("N",), "the place before that was found", "place before"),
    Key("end_search", ("escape",), "end the search", "end the search"),
)

OF_PATCH = (
    Key("down", ("j",), "a line down", "line"),
    Key("up", ("k",), "a line up"),
    Key("next_hunk", ("J",), "the next hunk", "hunk"),
    Key("previous_hunk", ("K",), "the hunk before"),
    Key("next_file", ("]",), "the next file", "file"),
    Key("previous_file", ("[",), "the file before"),
    Key("comment", ("c",), "comment on the line, or on the range", "comment"),
    Key("range", ("v",), "begin a range, or end it", "range"),
    Key("viewed", ("space",), "this hunk is viewed; on a title the whole file", "viewed"),
    Key("send", ("S",), "send all comments that are drafts to the agent", "send"),
    Key("edit", ("e",), "write the comment under the cursor anew"),
    Key("delete", ("d",), "take the comment under the cursor away"),
    Key("open", ("enter",), "show the lines of a fold; in the list, go there"),
    Key("fold", ("z",), "show a file by its title alone, or whole"),
    Key("white", ("w",), "hide hunks in which only white space changed, or show them"),
    Key("since", ("i",), "since when the patch is shown: last look, base, a turn"),
    Key("list", ("left", "h"), "to the list of files"),
    Key("lines", ("right", "l"), "to the patch"),
)

OF_STEPS = (
    Key("down", ("j",), "a step down", "step"),
    Key("up", ("k",), "a step up"),
    Key("open", ("enter",), "the patch of the step", "patch"),
    Key("rollback", ("b",), "go back to the state after this step; its plan is shown", "back to"),
    Key("rewind", ("w",), "go back to before this prompt", "rewind"),
    Key("retry", ("t",), "do this step again: its command, or its prompt", "retry"),
    Key("retry_other", ("T",), "go back to before it, and run another command"),
    Key("compare", ("c",), "compare: mark a step, then again on another one", "compare"),
    Key("fold", ("z",), "show the turns of a run, or hide them"),
    Key("left", ("L",), "show what was left behind, or hide it"),
    Key("since_here", ("i",), "the patch since this step"),
)

OF_OUTPUT = (
    Key("down", ("j",), "a line down"),
    Key("up", ("k",), "a line up"),
    Key("next_error", ("J", "]"), "the next error", "error"),
    Key("previous_error", ("K", "["), "the error before"),
    Key("end", ("G",), "to the end, and follow it", "end"),
    Key("begin", ("g g",), "to the beginning"),
    Key("newer", ("l", "right"), "the output of the next newer run"),
    Key("older", ("h", "left"), "the output of the run before", "older run"),
)

OF_TALK = (
    Key("write", ("i",), "type a prompt", "type"),
    Key("down", ("j",), "a line down"),
    Key("up", ("k",), "a line up"),
    Key("open", ("enter",), "unfold what is under the cursor, or fold it", "unfold"),
    Key("fold", ("z",), "unfold everything, or fold it", "all"),
    Key("waiting", ("w",), "what waits for the agent: change it, drop it, put it first", "waiting"),
    Key("stop", ("x x",), "end the turn, and drop what waits", "stop"),
    Key("go_on", ("c",), "send what is held"),
    Key("end", ("G",), "to the end, and follow it", "end"),
    Key("begin", ("g g",), "to the beginning"),
    Key("mode", ("shift+tab",), "what the agent may do without asking"),
    Key("model", ("m",), "the model that it works with"),
    Key("effort", ("e",), "how much it thinks"),
    Key("newer", ("l", "right"), "the next newer conversation of the task"),
    Key("older", ("h", "left"), "the conversation before"),
    Key("new_chat", ("+",), "begin another conversation, or take a run over as one"),
)

OF_COMPOSER = (
    Key("send", ("enter",), "give it to the agent as its next prompt", "queue"),
    Key("steer", ("alt+enter",), "give it into the turn that runs, if the agent can", "steer"),
    Key("newline", ("ctrl+j",), "begin a line; shift+enter does so where the terminal sends it"),
    Key("leave_field", ("escape",), "to the story; twice ends the turn", "story, twice stop"),
    Key("earlier", ("up",), "an earlier prompt"),
    Key("later", ("down",), "a later prompt, and what was typed"),
    Key("history", ("ctrl+r",), "search earlier prompts", "history"),
    Key("waiting", ("alt+q",), "what waits for the agent"),
    Key("picture", ("ctrl+v",), "the picture of the clipboard goes along"),
    Key("expand", ("alt+o",), "show the lines of what was pasted"),
    Key("mode", ("shift+tab",), "what the agent may do without asking"),
    Key("model", ("alt+m",), "the model that it works with"),
    Key("effort", ("alt+e",), "how much it thinks"),
    Key("page_up", ("pageup",), "the story a screen up"),
    Key("page_down", ("pagedown",), "the story a screen down"),
    Key("answer", ("ctrl+y", "tab"), "give the keys to what asks; then 1 to 9 answer it"),
    Key("help", ("f1",), "the keys of this place; type to filter, enter runs one", "keys"),
)

# While the selector has the keys: its own are in the selector, letters mean nothing there.
_BESIDE = ("page_up", "page_down", "answer", "help")
OF_BESIDE = tuple(each for each in OF_COMPOSER if each.act in _BESIDE)

OF_QUEUE = (
    Key("down", ("j", "down"), "a prompt down"),
    Key("up", ("k", "up"), "a prompt up"),
    Key("edit", ("e", "enter"), "type it anew", "edit"),
    Key("drop", ("d",), "drop it: the agent does not get it", "drop"),
    Key("steer_now", ("s",), "give it into the turn that runs, if the agent can", "steer now"),
    Key("move_up", ("K",), "send it earlier", "earlier"),
    Key("move_down", ("J",), "send it later", "later"),
    Key("send_again", ("a",), "send it again: nobody knows whether the agent has it"),
    Key("go_on", ("c",), "send what is held"),
    Key("to_field", ("escape", "i"), "back to what you type", "back"),
)

SHEET = (
    Key("sheet_down", ("j",), "down"),
    Key("sheet_up", ("k",), "up"),
    Key("sheet_enter", ("enter",), "do it, or choose it"),
    Key("sheet_force", ("f",), "go on all the same"),
    Key("sheet_merge", ("m",), "bring the conflict into the workspace"),
    Key("sheet_give_up", ("x",), "give the merge up"),
    Key("sheet_yes", ("y",), "it holds"),
    Key("sheet_no", ("n",), "it fails"),
    Key("sheet_skip", ("s",), "it cannot be said"),
    Key("sheet_again", ("r",), "look again"),
    Key("sheet_close", ("escape", "q"), "leave it"),
)
