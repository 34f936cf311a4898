"""The lines of a decision: who asks, about what, each option. All texts are made inert first."""

from siding.asking.lookup import source_of
from siding.asking.origin import QuotedSource
from siding.asking.views import DecisionView, ItemView, OptionView
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.words import ago, counted, local_time
from siding.ground.ids import run_or_step
from siding.record.place.project import Project

KINDS = {"single": "choose one", "multiple": "choose several", "text": "write an answer"}


def print_head(screen: Screen, decision: DecisionView) -> None:
    """Print who asked a decision, what it is about, and its state."""
    colour = {"open": "yellow", "answered": "green"}.get(decision.state, "dim")
    by = f" by {inert(decision.agent)}" if decision.agent else ""
    where = f" in task {inert(decision.task_id)}" if decision.task_id else ""
    step = f", {inert(run_or_step(decision.step_id))}" if decision.step_id else ""
    asked = f"asked {ago(decision.created_at)}{by}{where}{step}"
    name = screen.style(inert(decision.session_id), "bold")
    screen.print(f"{name} · {screen.style(decision.state, colour)} · {asked}")
    screen.print(f"{inert(decision.task)} ({inert(decision.source)})")
    if decision.completed_at:
        how = f" ({inert(decision.how_closed)})" if decision.how_closed else ""
        screen.print(f"{decision.state} {local_time(decision.completed_at)}{how}")
    if decision.gate:
        screen.print(f"gate of phase {inert(decision.gate)}: the answer is a person's")
    if decision.reason:
        screen.print(f"because: {inert(decision.reason)}")


def print_item(screen: Screen, project: Project, decision: DecisionView, item: ItemView) -> None:
    """Print one question, the lines it is about, and what can be chosen."""
    screen.print()
    rule = KINDS[item.kind]
    if item.kind == "multiple":
        rule = f"choose {range_of(item)}"
    title = screen.style(f"{item.id}. {inert(item.title)}", "bold")
    screen.print(f"{title}  {screen.style(f'[{rule}]', 'dim')}")
    for line in inert(item.context.strip(), lines=True).splitlines():
        screen.print(f"   {line}".rstrip())
    source = source_of(project, decision, item)
    if source is not None:
        _print_source(screen, source)
    for number, option in enumerate(item.options, start=1):
        _print_option(screen, number, option, chosen=option.value in item.values)
    if item.kind == "text":
        for line in inert("\n".join(item.values), lines=True).splitlines():
            screen.print(f"   {screen.style('answer:', 'green')} {line}")
        if item.suggested and not item.values:
            screen.print(f"   suggested: {inert(item.suggested)}")
    if item.note:
        screen.print(f"   note: {inert(item.note)}")


def range_of(item: ItemView) -> str:
    """Return how many options of a multiple choice are chosen, in words."""
    if item.least == item.most:
        return str(item.least)
    return f"{item.least} to {item.most}"


def _print_option(screen: Screen, number: int, option: OptionView, *, chosen: bool) -> None:
    mark = screen.style("*", "green") if chosen else " "
    facts = [inert(option.value)]
    if option.score is not None:
        facts.append(f"score {option.score:g}")
    if option.recommended:
        facts.append(screen.style("recommended", "green"))
    screen.print(f" {mark} {number}) {inert(option.label)}  ({', '.join(facts)})")
    for sign, style, texts in (("+", "green", option.pros), ("-", "red", option.cons)):
        for text in texts:
            screen.print(f"      {screen.style(sign, style)} {inert(text)}")


def _print_source(screen: Screen, source: QuotedSource) -> None:
    where = f"{inert(source.file)}:{source.start}-{source.end}"
    if source.problem:
        screen.print(screen.style(f"   {where}: {inert(source.problem)}", "dim"))
        return
    screen.print(screen.style(f"   {where}", "cyan"))
    for line in source.lines:
        mark = ">" if line.asked else " "
        text = f"   {mark}{line.number:>5} | {inert(line.text)}"
        screen.print(text if line.asked else screen.style(text, "dim"))


def about(decision: DecisionView) -> str:
    """Return one line about a decision's size."""
    return counted(len(decision.items), "question")
