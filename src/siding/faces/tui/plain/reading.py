"""What plain mode says. Each line begins with a word that says what the line is."""

from collections.abc import Iterator, Mapping, Sequence

from siding.applying.pull_request import PreparedPullRequest
from siding.asking.views import DecisionView, ItemView
from siding.chat.parts import Call, CallState, Given, Notice, Part, Plan, Speech, Thinking, all_of
from siding.chat.store import Chats
from siding.chat.viewing import StoryView
from siding.comments.comment import Placed
from siding.comments.comments import Way
from siding.faces.plans.plan import ActPlan
from siding.faces.tui.found import Found
from siding.faces.tui.text import inert
from siding.feed.model import Ask, Feed, Row, State
from siding.feed.state import ordered
from siding.ground.errors import counted
from siding.ground.ids import TaskId
from siding.guard.guard import Guard
from siding.record.place.project import Project
from siding.record.recording.difference import difference
from siding.record.recording.logged import Search, logged

_FIRST = (State.WAITS, State.BROKE, State.READY, State.RUNS)
_PATHS = 20  # of a group in a plan
_WORD = 80  # characters of a word that is said again
WAYS = {
    Way.TYPED: "typed into its terminal",
    Way.AT_END: "it gets them when its turn ends",
    Way.WITH_PROMPT: "it gets them with its next prompt",
    Way.QUEUED: "it gets them as its next prompt",
    Way.BY_YOU: "they are yours to give",
}
_WORDS = {State.WAITS: "wait", State.BROKE: "broke", State.READY: "ready", State.RUNS: "run"}
_ALL_WORDS = {**_WORDS, State.RESTS: "rest", State.DONE: "done"}


def shown_rows(feed: Feed, *, everything: bool) -> list[Row]:
    """Return the rows in their order; only those that want somebody, unless all are asked for."""
    return [row for row in ordered(feed.rows) if everything or row.state in _FIRST]


def counts(feed: Feed, *, everything: bool) -> str:
    """Return how many rows are in which state."""
    words = _ALL_WORDS if everything else _WORDS
    found = [(word, len(feed.in_state(state))) for state, word in words.items()]
    said = ", ".join(f"{count} {word}" for word, count in found if count)
    return said or "all quiet: nothing waits, broke, is ready or runs"


def row_line(row: Row) -> str:
    """Return a row as one line."""
    change = f", {counted(row.files, 'file')} changed" if row.files else ""
    agent = f", {row.agent}" if row.agent else ""
    below = "part of it, " if row.parent else ""
    what = f": {row.what}" if row.what else ""
    return inert(f"{below}{row.state}: {row.project_name}, {row.name}{what}{agent}{change}")


def ask_line(ask: Ask) -> str:
    """Return what waits for a person as one line."""
    return inert(f"{ask.kind}: {ask.entry.title}")


def changes(before: Feed, after: Feed) -> list[str]:
    """Return a line for each row that is new, in another state, or gone."""
    old = {row.key: row for row in before.rows}
    lines = [
        row_line(row)
        for row in ordered(after.rows)
        if row.key not in old or (old[row.key].state, old[row.key].asks) != (row.state, row.asks)
    ]
    keys = {row.key for row in after.rows}
    return lines + [
        inert(f"gone: {row.project_name}, {row.name}") for row in before.rows if row.key not in keys
    ]


def story_lines(project: Project, task: str, chat: str) -> Iterator[str]:
    """Yield what was said in a conversation; the newest of the task if `chat` is "".

    Each line has who said it before it. Raises NotFound.
    """
    found = Chats(project.task_layout(TaskId(task))).find(chat)
    view = StoryView(found)
    try:
        portion = view.look()
    finally:
        view.close()
    if portion.is_cut or portion.left_out:
        yield f"older parts: siding chat show -t {inert(task)} -c {found.id}"
    for part in all_of(portion.shifts).values():
        for label, said in _spoken(part, portion.talk.agent or "agent"):
            yield from (f"{label}: {inert(each)}" for each in said.rstrip().split("\n"))


def _spoken(part: Part, agent: str) -> Iterator[tuple[str, str]]:
    match part:
        case Given():
            yield part.by or "you", part.text
        case Speech(text):
            yield agent, text
        case Thinking(text):
            yield "thinks", text.strip().partition("\n")[0]
        case Call():
            result = f": {part.result}" if part.result else ""
            failed = " (failed)" if part.state is CallState.FAILED else ""
            yield "tool", f"{part.name} {part.about}{result}{failed}"
        case Plan(steps):
            yield from (("plan", each.said) for each in steps)
        case Notice(lines):
            yield from (("note", each.said.strip()) for each in lines)


def step_lines(project: Project, task: str, limit: int) -> list[str]:
    """Return the newest steps of a task, oldest first."""
    found = logged(project, task, limit=limit, search=Search())
    lines = []
    for step in found.steps:
        exit_status = f", exit status {step.exit_code}" if step.exit_code is not None else ""
        files = f", {counted(step.files, 'file')} changed" if step.files else ""
        lines.append(inert(f"step {step.id}: {step.kind} {step.title}{exit_status}{files}"))
    return lines


def patch_of(project: Project, task: str) -> Iterator[str]:
    """Yield the lines of what a task changed."""
    with difference(project, task, at=None, start=None, end=None) as found:
        for line in found.patch_lines():
            yield inert(line.rstrip("\n"))


def plan_lines(plan: ActPlan) -> list[str]:
    """Return what an act would do."""
    lines = [f"plan: {plan.title}", plan.sentence]
    for group in plan.groups:
        lines.append(f"{counted(group.many, 'path')} {group.what}:")
        lines += [f"  {path}" for path in group.paths[:_PATHS]]
        if group.many > _PATHS:
            lines.append(f"  and {group.many - _PATHS} more")
    lines += [f"note: {each}" for each in plan.notes]
    lines += [f"needs consent: {each}" for each in plan.concerns]
    lines += [f"not possible: {each}" for each in plan.stops]
    return [inert(line) for line in lines]


def question_lines(decision: DecisionView) -> list[str]:
    """Return what a question is about."""
    lines = [f"question: {decision.task}"] if decision.task else []
    if decision.gate:
        lines.append(f"its answer lets the task leave the phase {decision.gate}")
    return [inert(line) for line in lines]


def item_lines(item: ItemView) -> list[str]:
    """Return one item of a question, with its numbered choices."""
    lines = [f"item {item.id}: {item.title}"]
    lines += [f"  {line}" for line in item.context.splitlines() if line.strip()]
    for number, option in enumerate(item.options, start=1):
        advice = ", recommended" if option.recommended else ""
        lines.append(f"{number}: {option.label}{advice}")
        lines += [f"  for: {each}" for each in option.pros]
        lines += [f"  against: {each}" for each in option.cons]
    if item.kind == "text" and item.suggested:
        lines.append(f"suggested: {item.suggested}")
    return [inert(line) for line in lines]


def chosen_of(item: ItemView, typed: str) -> str | list[str] | None:
    """Return the answer that was typed to an item; None if it is none."""
    text = typed.strip()
    if item.kind == "text":
        return text or item.suggested or None
    numbers = text.replace(",", " ").split()
    if not all(each.isdecimal() and 1 <= int(each) <= len(item.options) for each in numbers):
        return None
    values = list(dict.fromkeys(item.options[int(each) - 1].value for each in numbers))
    if item.kind == "single":
        return values[0] if len(numbers) == 1 else None
    return values if item.least <= len(values) <= item.most else None


def asks_for(item: ItemView) -> str:
    """Return how an item is answered."""
    if item.kind == "text":
        return "your answer, one line"
    many = "a number" if item.kind == "single" else "one number or several"
    return f"{many}; b leaves it, cancel takes the question back"


def no_choice(word: str) -> str:
    """Return what is said to a word that means nothing here."""
    if not word:
        return "nothing was typed; h is help"
    return f"there is no choice {inert(word)[:_WORD]!r} here; h is help"


def comment_line(placed: Placed) -> str:
    """Return a comment as one line."""
    comment = placed.comment
    lines = f"{comment.first}-{comment.last}" if comment.last > comment.first else comment.first
    state = "stale" if placed.is_stale else comment.state
    return inert(f"comment {comment.id}: {state}: {comment.path}:{lines}: {comment.said}")


def pull_request_lines(found: PreparedPullRequest) -> list[str]:
    """Return what a pull request would push."""
    lines = [
        f"plan: push {counted(found.new_commits, 'commit')} of {found.branch} to {found.remote}",
        f"for: {found.base}",
    ]
    lines += [f"note: {found.note}"] if found.note else []
    lines += [f"left out: {each.sha[:10]} {each.subject}" for each in found.gone_back]
    lines += [f"run later by other programs: {each.path}" for each in found.traps]
    lines += [f"title: {found.title}"]
    lines += [f"text: {line}" for line in found.body.split("\n") if line.strip()]
    return [inert(line) for line in lines]


def first_lines(found: Found) -> list[str]:
    """Return what a first start says; `first` says it again."""
    lines = [f"first start: {found.agents_line}"]
    if found.guard is Guard.UNASKED:
        lines.append(
            "guard: agents can run in a sandbox, with their commands judged before they run; "
            "type guard to turn that on"
        )
    else:
        lines.append(f"guard: {found.guard}; type guard to change that")
    if found.hooks:
        lines.append("hooks: a repository brings some; they run only once you allow them")
    lines.append("first says this again")
    return lines


def asks_of(feed: Feed, row: Row) -> list[Ask]:
    """Return the asks of a row, longest waiting first."""
    by_id: Mapping[str, Ask] = {ask.id: ask for ask in feed.asks}
    return [by_id[each] for each in row.asks if each in by_id]


def loose_asks(feed: Feed) -> Sequence[Ask]:
    """Return the asks that are of no row: of a project."""
    return [ask for ask in feed.asks if not ask.row]
