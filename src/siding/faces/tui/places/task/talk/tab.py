"""The tab of a conversation: its story above, what waits, and the field for the next prompt."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical

from siding.chat.acts import Acts
from siding.chat.pace import Pace
from siding.chat.store import Chat, Chats
from siding.chat.talk import Standing, Talk
from siding.chat.viewing import Portion, StoryView
from siding.faces.tui.keys import Key
from siding.faces.tui.places.task.keys import OF_BESIDE, OF_COMPOSER, OF_QUEUE, OF_TALK
from siding.faces.tui.places.task.tab import Tab, TaskPage
from siding.faces.tui.places.task.talk.beginning import Beginning
from siding.faces.tui.places.task.talk.beside import Beside
from siding.faces.tui.places.task.talk.changing import Changing
from siding.faces.tui.places.task.talk.following import Following
from siding.faces.tui.places.task.talk.heading import heading, settings
from siding.faces.tui.places.task.talk.queue_list import QueueList
from siding.faces.tui.places.task.talk.slash import Slashes
from siding.faces.tui.places.task.talk.story import Story
from siding.faces.tui.places.task.talk.writing import Writing
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.styles import Look
from siding.faces.tui.rows.transcript import Transcript
from siding.feed.addresses import is_chat_id

_BY = "terminal"
_TWICE_S = 1.5  # within which a second escape stops the turn


class TalkFoot(Vertical):
    """What is below the answer card: the field, and what works beside the conversation."""

    DEFAULT_CSS = "TalkFoot { height: auto; display: none; }"


class TalkTab(Tab):
    """Shows a conversation of the task, and lets a person take part in it."""

    NAME = "talk"
    KEYS: ClassVar[tuple[Key, ...]] = OF_TALK
    DEFAULT_CSS = "TalkTab { layout: vertical; } TalkTab > Transcript { height: 1fr; }"

    def __init__(self, page: TaskPage) -> None:
        super().__init__(page)
        self.view = Transcript(id="story")
        self.queue = QueueList()
        self.slashes = Slashes()
        self.writing = Writing(self, self.slashes)
        self.changing = Changing(self)
        self.beginning = Beginning(self)
        self.beside = Beside(self, self.view)
        self.foot = TalkFoot(self.writing.completions, self.writing.field, self.beside)
        self.wanted = ""  # the id of a conversation; "" for the newest
        self.story = Story(self.view)
        self.portion: Portion | None = None
        self._chat: Chat | None = None
        self._is_read = False
        self._part = "field"  # which of its parts had the keys last
        self._following: Following | None = None

    def compose(self) -> ComposeResult:
        yield self.view
        yield self.queue

    def on_mount(self) -> None:
        """Have the commands there are."""
        self.slashes.add(self.changing.commands())

    @property
    def rows(self) -> Rows:
        return self.view

    # As its parts see it.

    @property
    def chat(self) -> Chat | None:
        """The conversation that is shown."""
        return self._chat

    @property
    def talk(self) -> Talk:
        """Where it stands, as far as that was read."""
        return Talk() if self.portion is None else self.portion.talk

    @property
    def pace(self) -> Pace:
        """How fast its turn is, or the last one was."""
        return Pace() if self.portion is None else self.portion.pace

    @property
    def acts(self) -> Acts:
        """What can be asked of it."""
        assert self._chat is not None
        opened = self.page.opened
        return Acts(opened.project, opened.task, self._chat, by=_BY)

    def asked(self, work: Callable[[], str]) -> None:
        """Carry out an act in a thread, and say what came of it."""
        self.page.port.work(work, then=lambda said: self.page.port.say(said) if said else None)

    def begin(self, words: str) -> bool:
        """Begin a conversation with a first prompt."""
        return self.beginning.begin(words)

    def choose(self) -> None:
        """Let the agent be chosen with whom one begins."""
        self.beginning.choose()

    def begun(self, said: str) -> None:
        """Take in that a conversation was begun, or taken over."""
        self.page.port.say(said)
        self.wanted = ""
        self.read()

    def to_story(self) -> None:
        """Give the keys to the story."""
        self.view.focus()

    def to_queue(self) -> None:
        """Give the keys to what waits."""
        if self.queue.prompts:
            self.queue.focus()
        else:
            self.page.port.say("nothing waits")

    def to_field(self) -> None:
        """Give the keys to the field."""
        self.writing.field.focus()

    def scroll(self, pages: int) -> None:
        """Scroll the story."""
        self.view.page(pages)

    # As a tab.

    @property
    def state(self) -> str:
        """Which of its parts has the keys."""
        if self.writing.field.has_focus:
            return "field"
        if self.beside.has_keys:
            return "beside"
        return "queue" if self.queue.has_focus else ""

    def keys_now(self) -> tuple[Key, ...]:
        tables = {"field": OF_COMPOSER, "beside": OF_BESIDE, "queue": OF_QUEUE}
        return tables.get(self.state, OF_TALK)

    @property
    def is_alone(self) -> bool:
        """Whether the keys of the task do not count: letters are typed, or mean nothing."""
        return self.state in ("field", "beside")

    def status(self) -> str:
        """Return what the head says of the conversation."""
        if self._chat is None:
            return "no conversation yet" if self._is_read else "reading"
        if self.portion is None:
            return f"{self._chat.id}  reading"
        left = self.portion.left_out + self.story.dropped
        return heading(self._chat.id, self.portion, is_cut=self.portion.is_cut or left > 0)

    def about(self) -> str:
        """Return who is there, and with what."""
        return "" if self.portion is None else settings(self.portion)

    def read(self) -> None:
        """Look which conversation is to be shown, and follow it."""
        opened, wanted = self.page.opened, self.wanted

        def find() -> Chat | None:
            found = Chats(opened.project.task_layout(opened.task.id)).all()
            named = [each for each in found if each.id == wanted]
            return next(reversed(named or found), None)

        self.page.port.work(find, then=self._take_chat)

    def _take_chat(self, chat: Chat | None) -> None:
        is_first, self._is_read = not self._is_read, True
        if self._following is not None:
            self._following.wake()
        same = chat is not None and self._chat is not None and chat.id == self._chat.id
        if not same and not (chat is None and self._chat is None and not is_first):
            self._leave_chat()
            self._chat = chat
            self.writing.open()
            if chat is None:
                self.beginning.offer()
            else:
                self.wanted = chat.id  # a newer one does not take its place by itself
                self._following = Following(StoryView(chat), self._take, self._failed)
        self.beside.look()
        self.page.told()

    def _leave_chat(self) -> None:
        if self._chat is not None:
            self.writing.close()
        if self._following is not None:
            self._following.close()
            self._following = None
        self.portion = None
        self.story.clear()
        self.beside.clear()

    def _take(self, portion: Portion) -> None:
        """Show what is new."""
        before, self.portion = self.portion, portion
        self.story.agent = portion.talk.agent or "agent"
        for shift in portion.shifts:
            self.story.take(shift)
        self.story.bound()
        self.beside.take(portion.helpers)
        if before is None or before.talk != portion.talk:
            self.queue.show(portion.talk)
            if not self.queue.prompts and self.queue.has_focus:
                self.to_field()
            self.writing.about(portion.talk)
        self.page.told()

    def _failed(self, told: str) -> None:
        self.page.port.say(f"the conversation cannot be read on: {told}\nr reads it again", "error")
        self._following = None
        self._chat = None

    def changed(self) -> None:
        """Look again: a host may have come, or a conversation."""
        if self._following is not None:
            self._following.wake()
        if self._chat is None:
            self.read()

    def take_feed(self) -> None:
        """Take in that the feed is another one: workflows may have begun, or ended."""
        if self._is_read:
            self.beside.look()

    def show_chat(self, chat: str) -> None:
        """Show a conversation by its id."""
        if is_chat_id(chat) and chat != self.wanted:
            self.wanted = chat
            if self._is_read:
                self.read()

    def entered(self) -> None:
        """Begin to read, and give the keys to the field."""
        self.foot.display = True
        self.to_field()
        if not self._is_read:
            self.read()

    def noticed(self) -> None:
        if self.state or self.view.has_focus:
            self._part = self.state

    def back(self) -> None:
        if self._part == "queue" and self.queue.prompts:
            self.queue.focus()
        elif self._part in ("field", "beside") or self._chat is None:
            self.to_field()
        else:
            self.to_story()

    def left(self) -> None:
        self.writing.keep()

    def hide(self) -> None:
        """Another tab is shown."""
        self.foot.display = False

    def closed(self) -> None:
        """Let go of the conversation: the place is left."""
        if self._is_read:
            self.writing.keep()
        if self._following is not None:
            self._following.close()

    def may_leave(self) -> bool:
        """Stop the turn at the second `escape` from the field; do not leave by it. A helper that
        is shown is left first.
        """
        if self.beside.leave_view():
            return False
        if time.monotonic() - self.writing.escaped_at > _TWICE_S:
            return True
        self.writing.escaped_at = -10.0
        self.act_stop()
        return False

    def fit(self, columns: int) -> None:
        del columns
        self.writing.field.fit()

    def use(self, look: Look) -> None:
        for each in (self.view, self.queue, self.writing.completions, self.beside):
            each.use(look)

    # Keys of the story.

    def act_down(self) -> None:
        self._moved().move(1)

    def act_up(self) -> None:
        self._moved().move(-1)

    def _moved(self) -> Rows:
        return self.queue if self.state == "queue" else self.view

    def act_write(self) -> None:
        self.to_field()

    def act_waiting(self) -> None:
        self.to_queue()

    def act_end(self) -> None:
        self.view.go_to_end()

    def act_begin(self) -> None:
        self.view.go_to_row(0)

    def act_open(self) -> None:
        """Unfold what is under the cursor, or fold it; without a conversation begin one."""
        if self._chat is None:
            self.beginning.choose()
            return
        key = self.view.key_at(self.view.cursor)
        if key and key in self.view.foldable():
            self.view.toggle(key)
        elif self.view.cursor < 0:
            self.view.move(-1)

    def act_fold(self) -> None:
        """Unfold all, or fold all if all are unfolded."""
        keys = self.view.foldable()
        self.view.fold(keys, all(map(self.view.is_open, keys)))

    def act_stop(self) -> None:
        """End the turn that runs."""
        if self._chat is None or self.talk.standing in (Standing.ENDED, Standing.IDLE):
            self.page.port.say("nothing runs")
            return
        self.asked(self.acts.stop)

    def act_older(self) -> None:
        self._beside(-1)

    def act_newer(self) -> None:
        self._beside(1)

    def _beside(self, step: int) -> None:
        opened, chat = self.page.opened, self._chat

        def find() -> str:
            ids = [each.id for each in Chats(opened.project.task_layout(opened.task.id)).all()]
            at = ids.index(chat.id) + step if chat is not None and chat.id in ids else -1
            return ids[at] if 0 <= at < len(ids) else ""

        def then(found: str) -> None:
            if found:
                self.show_chat(found)
            else:
                self.page.port.say("there is no other conversation on this side")

        self.page.port.work(find, then=then)

    def act_new_chat(self) -> None:
        self.beginning.choose()

    # Keys of the field.

    def act_send(self) -> None:
        self.writing.send()

    def act_steer(self) -> None:
        self.writing.send(steers=True)

    def act_newline(self) -> None:
        self.writing.newline()

    def act_leave_field(self) -> None:
        """Leave a helper that is shown, else the field."""
        if not self.beside.leave_view():
            self.writing.leave()

    def act_earlier(self) -> None:
        self.writing.go_in_history(1)

    def act_later(self) -> None:
        """Show a later prompt; from the empty field go to what works beside, if anything does."""
        if self.writing.field.text or not self.beside.take_keys():
            self.writing.go_in_history(-1)

    def act_history(self) -> None:
        self.writing.search_history()

    def act_picture(self) -> None:
        self.writing.picture()

    def act_expand(self) -> None:
        self.writing.expand()

    def act_page_up(self) -> None:
        self.scroll(-1)

    def act_page_down(self) -> None:
        self.scroll(1)

    # What the agent works with.

    def act_mode(self) -> None:
        self.changing.mode()

    def act_model(self) -> None:
        self.changing.model()

    def act_effort(self) -> None:
        self.changing.effort()

    # Keys of what waits.

    def act_to_field(self) -> None:
        self.to_field()

    def act_edit(self) -> None:
        self.changing.edit()

    def act_drop(self) -> None:
        self.changing.drop()

    def act_steer_now(self) -> None:
        self.changing.steer_now()

    def act_send_again(self) -> None:
        self.changing.again()

    def act_move_up(self) -> None:
        self.changing.move(-1)

    def act_move_down(self) -> None:
        self.changing.move(1)

    def act_go_on(self) -> None:
        if self._chat is not None:
            self.asked(self.acts.go_on)
