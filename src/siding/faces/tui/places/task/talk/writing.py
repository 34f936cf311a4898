"""What is typed for the agent: sending it, its history, completions, pastes, and the kept draft."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from textual.events import Key

from siding.chat.clipboard import pasted as clipboard
from siding.chat.composed import Labels, Prompt, picture_named
from siding.chat.conversations import require_words
from siding.chat.mentions import Mention, Workspace, commands_like
from siding.chat.prompt_history import earlier_prompts
from siding.chat.talk import Talk
from siding.chat.unsent import Unsent, keep_unsent, unsent
from siding.faces.tui.keys import spoken
from siding.faces.tui.places.task.sheet import Choice
from siding.faces.tui.places.task.talk.completions import MOST, Completions, wanted
from siding.faces.tui.places.task.talk.composer import Composer
from siding.faces.tui.places.task.talk.port import TalkPort
from siding.faces.tui.places.task.talk.slash import Slashes
from siding.faces.tui.text import inert
from siding.ground.errors import SidingError, UsageError

_KEEPS_AFTER_S = 0.4  # of no key
_ACTS = frozenset(
    "send steer newline leave_field earlier later history waiting picture expand "
    "mode model effort page_up page_down".split()
)


class Writing:
    """The field, and what belongs to it."""

    def __init__(self, tab: TalkPort, slashes: Slashes) -> None:
        self._tab = tab
        self._slashes = slashes
        self.field = Composer(self.key, self._pasted, self.changed)
        self.completions = Completions()
        self.labels = Labels()
        self.escaped_at = -10.0  # when `escape` led from here to the story
        self._history: list[str] | None = None
        self._at = -1  # in the history; -1 is what is typed
        self._typed = ""  # before the history was looked at
        self._workspace: Workspace | None = None
        self._asked = 0  # counts completions: an old answer is nothing
        self._kept = ""
        self._due = False

    # A conversation comes, and goes.

    def open(self) -> None:
        """Show what was typed for the conversation and not sent."""
        chat = self._tab.chat
        self._history, self._at = None, -1
        if chat is None:
            return
        self._tab.page.port.work(partial(unsent, chat), then=self._take_unsent)

    def about(self, talk: Talk) -> None:
        """Say above the field for whom it is."""
        self.field.border_title = f"to {inert(talk.agent)}" if talk.agent else "a first prompt"

    def _take_unsent(self, found: Unsent) -> None:
        if found.text and not self.field.text:
            self.labels, self._kept = found.labels, found.text
            self.field.write(found.text)

    def keep(self) -> None:
        """Keep what is typed now."""
        self._due = False
        chat, typed = self._tab.chat, self.field.text
        if chat is not None and typed != self._kept:
            self._kept = typed
            keep_unsent(chat, typed, self.labels)

    def close(self) -> None:
        """Keep what is typed for the conversation, and take it out of the field."""
        self.keep()
        self.labels, self._kept = Labels(), ""
        self.field.write("")
        self.completions.show(())

    def changed(self) -> None:
        """Take in that the text is another one."""
        self.field.fit()
        self._complete()
        if not self._due:
            self._due = True
            self.field.set_timer(_KEEPS_AFTER_S, self.keep)

    # Keys.

    def key(self, event: Key) -> bool:
        """Do what a key means in the field; tell whether it meant something."""
        self._tab.page.hush()
        if event.key == "shift+enter":
            self.newline()
            return True
        if self.completions.is_open and self._in_completions(event.key):
            return True
        key = spoken(event.key, event.character)
        if len(key) == 1 or key == "space":
            return False
        entry = self._tab.page.key_table.press(key, time.monotonic())
        if entry is None or entry.act not in _ACTS:
            return False
        if entry.act == "earlier" and not self.field.is_on_first_row:
            return False
        if entry.act == "later" and not self.field.is_on_last_row:
            return False
        self._tab.page.run_key(entry)
        return True

    def _in_completions(self, key: str) -> bool:
        match key:
            case "up" | "down":
                self.completions.move(1 if key == "down" else -1)
            case "tab":
                self._complete_with(self.completions.chosen)
            case "enter":
                chosen = self.completions.chosen
                if chosen is None or self.field.text.strip() == chosen.value:
                    self.completions.show(())
                    return False
                self._complete_with(chosen)
            case "escape":
                self.completions.show(())
            case _:
                return False
        return True

    def newline(self) -> None:
        """Begin a line."""
        self.field.put("\n")

    def leave(self) -> None:
        """Give the keys to the story; a second `escape` right after it stops the turn."""
        self.escaped_at = time.monotonic()
        self._tab.to_story()

    # Sending.

    def send(self, *, steers: bool = False) -> None:
        """Give the agent what is typed; a command of ours is carried out."""
        text = self.field.text
        if not text.strip():
            if self._tab.chat is None:
                self._tab.choose()
            return
        if not steers and self._slashes.run(text.strip()):
            self._sent()
            return
        cwd = Path(self._tab.page.port.siding.cwd)
        try:
            prompt = self.labels.prompt(text, cwd)
            if prompt.words or not prompt.pictures:
                require_words(prompt.words)
        except SidingError as error:
            self._tab.page.port.say(f"{error.message}\n{error.hint or ''}".strip(), "error")
            return
        if self._tab.chat is None:
            if prompt.pictures:
                self._tab.page.port.say("the first prompt takes no pictures: begin with words")
            elif self._tab.begin(prompt.words):
                self._sent()
            return
        self._give(text, self.labels, prompt, steers=steers)

    def _give(self, text: str, labels: Labels, prompt: Prompt, *, steers: bool) -> None:
        acts = self._tab.acts
        give = acts.steer if steers else acts.send

        def failed() -> None:
            """Put back what was not given: nothing that was typed is lost."""
            if not self.field.text:
                self.labels = labels
                self.field.write(text)

        self._sent()
        self._tab.page.port.work(partial(give, prompt.words, prompt.pictures), failed=failed)

    def _sent(self) -> None:
        if self._history is not None:
            self._history.insert(0, self.labels.expanded(self.field.text).strip())
        self._at, self.labels = -1, Labels()
        self.field.write("")
        self.completions.show(())
        self.keep()

    # Earlier prompts.

    def go_in_history(self, step: int) -> None:
        """Show an earlier prompt, or a later one; behind the newest is what was typed."""
        if self._history is None:
            if step > 0:
                self._read_history(lambda: self.go_in_history(step))
            return
        at = max(-1, min(self._at + step, len(self._history) - 1))
        if at == self._at:
            return
        if self._at < 0:
            self._typed = self.field.text
        self._at = at
        self.field.write(self._typed if at < 0 else self.labels.paste(self._history[at]))

    def search_history(self) -> None:
        """Let an earlier prompt be chosen by its words."""
        if self._history is None:
            self._read_history(self.search_history)
            return
        if not self._history:
            self._tab.page.port.say("there is no earlier prompt")
            return
        found = {f"{n}": said for n, said in enumerate(self._history)}
        lines = [
            Choice([(inert(" ".join(said.split()))[:200], "text")], key)
            for key, said in found.items()
        ]
        self._tab.page.find("earlier prompts", lines, lambda key: self._take(found[key]))

    def _take(self, said: str) -> None:
        self.field.write(self.labels.paste(said))
        self.field.focus()

    def _read_history(self, then: Callable[[], None]) -> None:
        opened, chat = self._tab.page.opened, self._tab.chat

        def read(found: list[str]) -> None:
            self._history = found
            then()

        self._tab.page.port.work(partial(earlier_prompts, opened.project, chat), then=read)

    # Pastes and pictures.

    def _pasted(self, text: str) -> str:
        path = picture_named(text, Path(self._tab.page.port.siding.cwd))
        return f"{self.labels.picture(path)} " if path else self.labels.paste(text)

    def picture(self) -> None:
        """Have the picture of the clipboard go along."""
        env = self._tab.page.port.siding.env
        self._tab.page.port.work(
            partial(clipboard, env),
            then=lambda found: self.field.put(f"{self.labels.clipboard(found)} "),
        )

    def attach(self, path: str) -> str:
        """Have a picture of a file go along; say so. Raises UsageError."""
        if not picture_named(path, Path(self._tab.page.port.siding.cwd)):
            raise UsageError(
                f"{path!r} is no picture that agents take", hint="PNG, JPEG, GIF, WebP"
            )
        self.field.put(f"{self.labels.picture(path)} ")
        return f"{path} goes along with this prompt"

    def expand(self) -> None:
        """Show the lines of pastes in place of their labels."""
        text = self.field.text
        self.field.write(self.labels.expanded(text))

    # Completions.

    def _complete(self) -> None:
        row, _column = self.field.cursor_location
        sought = wanted(self.field.before_cursor, row)
        self._asked += 1
        if sought is None or not self.field.has_focus:
            if self.completions.is_open:
                self.completions.show(())
            return
        mark, letters = sought
        number, chat, opened = self._asked, self._tab.chat, self._tab.page.opened
        if self._workspace is None:
            self._workspace = Workspace(opened.project, opened.task)
        workspace, slashes = self._workspace, self._slashes

        def look() -> list[Mention]:
            if mark == "@":
                return workspace.like(letters, MOST)
            own = commands_like(chat, letters, MOST) if chat is not None else []
            return [*slashes.like(letters), *own]

        def then(found: list[Mention]) -> None:
            if number == self._asked:
                self.completions.show(found)

        self._tab.page.port.work(look, then=then)

    def _complete_with(self, found: Mention | None) -> None:
        row, column = self.field.cursor_location
        sought = wanted(self.field.before_cursor, row)
        self.completions.show(())
        if found is None or sought is None:
            return
        begin = column - len(sought[1]) - 1
        end = "" if found.kind == "directory" else " "
        self.field.replace(f"{found.value}{end}", (row, begin), (row, column))
