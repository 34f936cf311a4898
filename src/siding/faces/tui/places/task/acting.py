"""Acts from the task's screen: what each would do is shown first, and exactly that is done."""

from collections.abc import Callable

from siding.applying.unresolved import Merging, merging
from siding.faces.plans.acts import Changed, carry_out, plan
from siding.faces.plans.plan import ActDone, ActPlan, ActRequest
from siding.faces.tui.carrying import carried_out
from siding.faces.tui.places.task.plan_lines import (
    conflicts,
    lines_of,
    merge_lines,
    merge_ways,
    ways,
)
from siding.faces.tui.places.task.reading import Opened
from siding.faces.tui.places.task.sheet import Choice
from siding.faces.tui.places.task.tab import ActPage
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.styles import TEXT
from siding.feed.rows import task_key
from siding.ground.namedtuples import NamedTuple
from siding.record.place.task_workspace import workspace_of
from siding.record.restoring.refusal import Refusal


class NeedsWord(NamedTuple):
    """An act that asks for the person's word before it is done: why."""

    wish: ActRequest
    error: Refusal


class Acting:
    """Shows a plan in the sheet, and carries it out when the person says so."""

    def __init__(self, page: ActPage) -> None:
        self._page = page
        self._wish: ActRequest | None = None
        self._plan: ActPlan | None = None
        self._merging: Merging | None = None
        self._wanted: ActRequest | None = None  # the newest that was asked for

    @property
    def is_open(self) -> bool:
        return self._plan is not None or self._merging is not None

    def forget(self) -> None:
        """Take in that the sheet was closed."""
        self._wish = self._plan = self._merging = None

    # What it would do

    def plan(self, wish: ActRequest, *, after: str = "") -> None:
        """Work out what an act would do, and show it. It waits for an act that is under way.

        `after` is what was said of that one, which stays.
        """
        opened, port, name = self._page.opened, self._page.port, _name(wish)
        self._wanted = wish
        if what := port.under_way.of([self._key]):
            port.under_way.wait([self._key], lambda is_done: self._go_on(wish, is_done))
            port.say(f"{what} goes on: {name} comes after it, any other key leaves that")
            return
        port.say(f"{after}\n{name}: working out what it would do".lstrip())
        port.work(
            lambda: plan(opened.project, opened.task.id, wish),
            then=lambda found: self._show(wish, found, after),
        )

    @property
    def _key(self) -> str:
        opened = self._page.opened
        return task_key(opened.project.layout.root.name, opened.task.id)

    def _go_on(self, wish: ActRequest, is_done: bool) -> None:
        """Plan what has waited for another act, now that it has ended."""
        said = self._page.said
        if is_done and not self._page.is_taken:
            self.plan(wish, after=said)
        else:
            not_begun = f"{said}\n{_name(wish)} was not begun: press its key again"
            self._page.port.say(not_begun.lstrip(), "warning")

    def _show(self, wish: ActRequest, found: ActPlan, after: str) -> None:
        if self._wanted is not wish:  # the key of another act was pressed after this one
            return
        if self._page.is_taken:  # its keys would go to the plan
            self._page.port.say(f"{_name(wish)} is worked out: press its key again", "warning")
            return
        self.forget()
        self._page.hush()
        if after:
            self._page.port.say(after)
        self._wish, self._plan = wish, found
        self._open(lines_of(found), ways(found))

    def _open(self, lines: list[Pieces], keys: list[tuple[str, str]]) -> None:
        said = "   ".join(f"{key} {what}" for key, what in keys)
        self._page.open_sheet([Choice([(said, "bold")]), *(Choice(each) for each in lines)])

    # Doing it

    def enter(self) -> None:
        """Do what is shown, if that is possible."""
        merging_now = self._merging
        if merging_now is not None:
            if not merging_now.left and not merging_now.syncs:
                self.plan(ActRequest(act="apply", onto=merging_now.branch))
            return
        wish, shown = self._wish, self._plan
        if wish is None or shown is None or shown.stops or shown.nothing or shown.concerns:
            return
        self._page.close_sheet()
        if wish.act == "retry":
            self._page.retry(wish, shown.digest)
            return
        opened = self._page.opened
        self._page.port.say(f"{shown.title} …")
        self._carry_out(wish, lambda: _done(opened, wish, shown.digest))

    def _carry_out(
        self, wish: ActRequest, act: Callable[[], ActDone | NeedsWord | Changed]
    ) -> None:
        carried_out(self._page.port, _name(wish), [self._key], act, self._told)

    def _told(self, found: "ActDone | NeedsWord | Changed") -> None:
        if isinstance(found, Changed):
            self._page.port.say("something has changed since this was shown: look again", "warning")
            return
        if isinstance(found, NeedsWord):
            self._ask_word(found)
            return
        act = f"step {found.step}: " if found.step else ""
        self._page.acted(f"{act}{found.said}   U takes it back")

    def _ask_word(self, found: NeedsWord) -> None:
        """Show why an act asks for the person's word, and do it after all if they give it."""
        wish = found.wish._replace(force=True)
        choices = [
            Choice([(found.error.message, TEXT)]),
            Choice([("go on all the same", "bad")], "yes"),
        ]

        def then(_key: str) -> None:
            opened = self._page.opened
            self._carry_out(wish, lambda: _forced(opened, wish))

        self._page.choose(
            "This asks for your word: enter gives it, escape leaves it", choices, then
        )

    def force(self) -> None:
        """Show the plan once more, with the person's word for what it asked."""
        wish, shown = self._wish, self._plan
        if wish is not None and shown is not None and shown.concerns and not shown.stops:
            self.plan(wish._replace(force=True))

    # Conflicts

    def merge(self) -> None:
        """From the plan of an apply that conflicts: bring the conflict into the workspace."""
        wish, shown = self._wish, self._plan
        if wish is not None and shown is not None and conflicts(shown):
            self.plan(ActRequest(act="resolve", onto=wish.onto))

    def show_merge(self) -> None:
        """Show the conflict that is being resolved: which files are left."""
        opened = self._page.opened
        self._page.port.work(
            lambda: (merging(opened.project, opened.task.id), _workspace(opened)),
            then=lambda found: self._show_merge(*found),
        )

    def _show_merge(self, found: Merging | None, workspace: str) -> None:
        if found is None:
            self._page.port.say("no conflict is being resolved in this task")
            return
        self.forget()
        self._merging = found
        self._open(merge_lines(found, workspace), merge_ways(found))

    def give_up(self) -> None:
        """Show what giving the merge up would do."""
        if self._merging is not None:
            self.plan(ActRequest(act="give_up"))

    def again(self) -> None:
        """Look again at what is shown."""
        if self._merging is not None:
            self.show_merge()
        elif self._wish is not None:
            self.plan(self._wish)


def _name(wish: ActRequest) -> str:
    return wish.act.replace("_", " ")


def _workspace(opened: Opened) -> str:
    found = workspace_of(opened.project, opened.task)
    return "" if found is None else found.path


def _done(opened: Opened, wish: ActRequest, digest: str) -> ActDone | NeedsWord | Changed:
    try:
        return carry_out(opened.project, opened.task.id, wish, digest)
    except Changed as error:
        return error
    except Refusal as refused:
        if not refused.reason.asks:
            raise
        return NeedsWord(wish, refused)


def _forced(opened: Opened, wish: ActRequest) -> ActDone | NeedsWord | Changed:
    """Do an act that the person gave their word for: as it is now, whatever it was before."""
    found = plan(opened.project, opened.task.id, wish)
    return _done(opened, wish, found.digest)
