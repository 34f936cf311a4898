"""The tab of the steps: the list, and going back, doing again and comparing from there."""

import shlex
from typing import ClassVar

from textual.app import ComposeResult

from siding.faces.plans.plan import ActRequest
from siding.faces.tui.keys import Key
from siding.faces.tui.places.task.changes import From, Since
from siding.faces.tui.places.task.keys import OF_STEPS
from siding.faces.tui.places.task.story import (
    COLUMNS,
    WINDOW,
    Line,
    Story,
    entries,
    found,
    read_story,
    turns_of,
)
from siding.faces.tui.places.task.tab import Tab, TaskPage
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.list import ListView
from siding.ground.errors import counted

_NEAR_END = 20  # rows from the end at which older steps are read


class StepsTab(Tab):
    """Lists the steps, newest first."""

    NAME = "steps"
    KEYS: ClassVar[tuple[Key, ...]] = OF_STEPS

    def __init__(self, page: TaskPage) -> None:
        super().__init__(page)
        self.list = ListView(COLUMNS, id="steps")
        self.story: Story | None = None
        self.marked = ""  # the step that another one will be compared with
        self._limit = WINDOW
        self._opened: set[str] = set()
        self._shows_left = False
        self._reading = self._again = False

    def compose(self) -> ComposeResult:
        yield self.list

    @property
    def rows(self) -> Rows:
        return self.list

    def status(self) -> str:
        """Return how many steps there are, and what is not shown of them."""
        if self.story is None:
            return "reading"
        more = ", older ones below" if self.story.more else ""
        left = self.story.left
        hidden = f", {left} left behind (L shows them)" if left and not self._shows_left else ""
        marked = f"  step {self.marked} marked: c on another one compares" if self.marked else ""
        return f"{counted(len(self.story.lines), 'step')}{more}{hidden}{marked}"

    # Reading

    def read(self) -> None:
        """Read the newest steps again."""
        if self._reading:
            self._again = True
            return
        self._reading = True
        project, task = self.page.opened
        limit = self._limit

        def work() -> Story:
            try:
                return read_story(project, task, limit)
            finally:
                self._reading = False

        self.page.port.work(work, then=self._take)

    def _take(self, story: Story) -> None:
        first = self.story is None
        self.story = story
        self._draw()
        if first and story.lines:
            self.list.stand_on_key(story.lines[0].key)
        if self._again:
            self._again = False
            self.read()

    def changed(self) -> None:
        self.read()

    def _draw(self) -> None:
        if self.story is None:
            return
        now = self.page.opened.project.app.clock.now()
        shown = entries(
            self.story,
            shows_left=self._shows_left,
            opened=self._opened,
            look=self.list.look,
            now=now,
        )
        key, at = self.list.key, self.list.cursor
        self.list.show(shown)
        if key is not None and not self.list.stand_on_key(key) and shown:
            self.list.stand_on(max(0, min(at, len(shown) - 1)))
        self.page.told()

    def on_scrolled_moved(self) -> None:
        """Read older steps when the person comes near to the last one that is there."""
        story = self.story
        is_near = self.list.count - self.list.cursor < _NEAR_END
        if story is not None and story.more and is_near and not self._reading:
            self._limit += WINDOW
            self.read()
        self.page.told()

    # Acts

    @property
    def line(self) -> Line | None:
        """The step under the cursor."""
        return None if self.story is None else found(self.story, self.list.key)

    def _recorded(self, what: str) -> Line | None:
        """Return the step under the cursor; say why not, if `what` cannot be done with it."""
        line = self.line
        if line is None:
            self.page.port.say("no step is here")
        elif not line.number:
            self.page.port.say(f"{line.name} is not recorded yet, so it cannot be {what}")
            return None
        return line

    def act_open(self) -> None:
        """Show the patch of the step."""
        line = self._recorded("shown as a patch; o shows its output")
        if line is not None:
            self.page.show_patch(Since(From.OF_STEP, line.key))

    def act_since_here(self) -> None:
        """Show what changed since the step."""
        line = self._recorded("compared")
        if line is not None:
            self.page.show_patch(Since(From.STEP, line.key))

    def act_rollback(self) -> None:
        """Show what going back to the state after the step would do."""
        line = self._recorded("gone back to")
        if line is not None:
            self.page.plan(ActRequest(act="rollback", step=line.key))

    def act_rewind(self) -> None:
        """Show what going back to before the prompt would do, also from the run of one prompt."""
        line, story = self.line, self.story
        if line is None or story is None:
            self.page.port.say("no step is here")
            return
        turns = [line] if line.is_turn else turns_of(story, line)
        if not turns:
            self.page.port.say("no prompt is here: w is for prompts to an agent, b goes anywhere")
        elif len(turns) == 1:
            self.page.plan(ActRequest(act="rewind", step=turns[0].key))
        else:
            self._opened |= {line.run}
            self._draw()
            self.page.port.say("this run has several prompts: w on one goes back to before it")

    def act_retry(self) -> None:
        """Show what doing the step again would do."""
        line = self._recorded("done again")
        if line is not None and not line.run and not line.is_turn:
            what = f"step {line.name} ({line.kind})"
            self.page.port.say(f"{what} has no command: T goes back to before it and runs one")
        elif line is not None:
            self.page.plan(ActRequest(act="retry", step=line.key))

    def act_retry_other(self) -> None:
        """Ask for the command that is run in place of the step's own."""
        line = self._recorded("done again")
        if line is None:
            return

        def then(text: str) -> None:
            try:
                argv = tuple(shlex.split(text))
            except ValueError as error:
                self.page.port.say(f"this is no command: {error}", "error")
                return
            if argv:
                self.page.plan(ActRequest(act="retry", step=line.key, argv=argv))

        self.page.ask_text(f"from before step {line.name}, run", then)

    def act_compare(self) -> None:
        """Mark a step, or compare the state after the marked one with that after this one."""
        line = self._recorded("compared")
        if line is None:
            return
        if not self.marked or self.marked == line.key:
            self.marked = "" if self.marked else line.key
            self.page.told()
            return
        first, last = sorted((self.marked, line.key), key=int)
        self.marked = ""
        self.page.show_patch(Since(From.BETWEEN, first, last))

    def act_fold(self) -> None:
        """Show the turns of the run under the cursor, or hide them."""
        line = self.line
        if line is None or not (line.turns or line.depth):
            self.page.port.say("no prompts are below this step")
            return
        self._opened ^= {line.run}
        self._draw()

    def act_left(self) -> None:
        """Show what was left behind, or hide it."""
        self._shows_left = not self._shows_left
        self._draw()
