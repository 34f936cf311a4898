"""The rows of the table: what is counted in the files, and what commands were seen to cost."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tools.house.agents import AgentTable, agent_tables, files_naming, files_using
from tools.house.counts import (
    folder_lines,
    folder_sizes,
    named_by_verb,
    parameters,
    small,
)
from tools.house.entries import ACTS, AGENTS, RECORDER
from tools.house.goals import LIMITS, PARSED, figures, shown
from tools.house.graph import LOADS, REACHES, Graph
from tools.house.imports import Kind
from tools.house.loaded import Loaded
from tools.house.steps import StepUse, step_use
from tools.house.times import BARE, Time

NOT_THERE = "none"
CROWDED = 30  # modules in a folder


class Reach(NamedTuple):
    """What an act reaches."""

    modules: int
    lines: int

    def __str__(self) -> str:
        return f"{self.modules:,}, {self.lines / 1000:.1f}k"


class House(NamedTuple):
    """What is counted in the files of a package."""

    files: int
    lines: int
    # act -> what it reaches; None in a checkout in which its modules have other names
    by_statements: Mapping[str, Reach | None]  # import statements alone
    by_texts: Mapping[str, Reach | None]  # and texts that name modules
    by_programs: Mapping[str, Reach | None]  # and programs that are started
    chain: Sequence[str]
    chain_at_top: Sequence[str]  # without imports inside functions
    recorder: int | None  # lines of `record` and `ground`
    projects: int  # parameters called `project`
    naming: Mapping[str, int]  # agent -> files that name it outside its folder
    using: Mapping[str, int]  # the same, in their code
    tables: Sequence[AgentTable]
    steps: StepUse
    folders: Sequence[tuple[str, int]]
    small: int
    named_by_verb: int


def house(graph: Graph) -> House:
    """Count what the table of the house needs. A test can hold any of it."""
    package = graph.package
    return House(
        files=len(package.modules),
        lines=package.lines(),
        by_statements=reaches(graph, LOADS),
        by_texts=reaches(graph, LOADS | {Kind.STRING}),
        by_programs=reaches(graph, REACHES),
        chain=graph.longest_chain(),
        chain_at_top=graph.longest_chain({Kind.TOP}),
        recorder=folder_lines(package, RECORDER),
        projects=len(parameters(package, "project")),
        naming={agent: len(files_naming(package, agent)) for agent in AGENTS},
        using={agent: len(files_using(package, agent)) for agent in AGENTS},
        tables=agent_tables(package, AGENTS),
        steps=step_use(package),
        folders=folder_sizes(package),
        small=len(small(package)),
        named_by_verb=len(named_by_verb(package)),
    )


def reaches(graph: Graph, kinds: frozenset[Kind]) -> dict[str, Reach | None]:
    """Return what each act reaches by arrows of these kinds."""
    package = graph.package
    found: dict[str, Reach | None] = dict.fromkeys(ACTS)
    for act, modules in ACTS.items():
        starts = [f"{package.name}.{each}" for each in modules]
        if all(start in package.modules for start in starts):
            names = graph.reach(starts, kinds)
            found[act] = Reach(len(names), package.lines(names))
    return found


def rows_of(house: House) -> list[tuple[str, str, str]]:
    """Return the rows of the table that the files alone decide: what, how much now, the goal."""
    steps = house.steps
    matches = len(steps.open_matches) + len(steps.closed_matches)
    crowded = [name for name, size in house.folders if size >= CROWDED]
    naming = ", ".join(f"{agent} {count}" for agent, count in house.naming.items())
    using = ", ".join(f"{agent} {count}" for agent, count in house.using.items())
    goals = {"run": "≤ 200, 45k", "undo + apply + rollback": "≤ 150, 32k"}
    return [
        ("files; lines in `src`", f"{house.files:,}; {house.lines:,}", "≤ 1,000; ≤ 150k"),
        *(
            (
                f"modules and lines that {act} reaches by import statements; with texts that name"
                " modules; with programs that are started",
                "; ".join(
                    str(by[act] or NOT_THERE)
                    for by in (house.by_statements, house.by_texts, house.by_programs)
                ),
                goals.get(act, ""),
            )
            for act in house.by_statements
        ),
        (
            "longest import chain; without imports in functions",
            f"{len(house.chain)}; {len(house.chain_at_top)}",
            "≤ 25",
        ),
        (
            "lines of `record` and `ground`",
            NOT_THERE if house.recorder is None else f"{house.recorder:,}",
            "≤ 40k",
        ),
        ("parameters called `project`", f"{house.projects:,}", "later ≤ 150"),
        ("files whose code names an agent outside its folder", using, "≤ 3 each"),
        ("the same, with texts and comments", naming, ""),
        ("tables keyed by agent", str(len(house.tables)), "1"),
        (
            "`match` over steps without `assert_never`; chains of `if`; single questions outside "
            "the ledger's room, inside it; by a property (`step.as_run`); checks by `assert`",
            f"{len(steps.open_matches)} of {matches}; {len(steps.chains)}; "
            f"{len(steps.questions)}, {len(steps.named)}; {len(steps.by_name)}; "
            f"{len(steps.checks)}",
            "0",
        ),
        (
            f"modules in the largest folder; folders with {CROWDED} or more",
            f"{house.folders[0][1]}; {len(crowded)}",
            "",
        ),
        ("modules of fewer than 50 lines, without `__init__`", str(house.small), ""),
        ("modules whose last word ends in -ing or -ed", str(house.named_by_verb), ""),
    ]


def text_of(rows: Sequence[tuple[str, str, str]]) -> str:
    """Return rows as a table of Markdown."""
    return _markdown(("what", "now", "goal"), rows)


def budget_text(loaded: Mapping[str, Loaded], long: Mapping[str, Loaded]) -> str:
    """Return what commands cost as a table of Markdown, each figure with the most it may be.

    `long` is the same with a ledger of 1,000 steps.
    """
    head = (
        *("command", "modules of ours", "functions loaded", "never called", "called"),
        *("modules of others", "git", "fsyncs", "patterns", "ledger lines of 1,000"),
    )
    return _markdown(head, [_budget_row(name, each, long) for name, each in loaded.items()])


def _budget_row(name: str, loaded: Loaded, long: Mapping[str, Loaded]) -> list[str]:
    limit = LIMITS.get(name)
    cells = [
        _with_most(found, getattr(limit, what, None)) for what, found in figures(loaded).items()
    ]
    cells.insert(3, f"{loaded.called:,}")
    lines = _with_most(long[name].parsed, PARSED.get(name)) if name in long else ""
    return [f"`{name}`", *cells, lines]


def _with_most(figure: float, most: float | None) -> str:
    if most is None:
        return shown(figure)
    return f"{shown(figure)} (≤ {shown(most)})" if figure > most else f"{shown(figure)} ✓"


def times_text(times: Sequence[Time]) -> str:
    """Return times as a table of Markdown, with their ratio to a bare interpreter."""
    (bare,) = (each.least_ms for each in times if each.command == BARE)
    rows = [
        (each.place, f"`{each.command}`", f"{each.least_ms:.1f}", f"{each.least_ms / bare:.1f}")
        for each in times
    ]
    return _markdown(("source", "command", "ms, least", "times a bare interpreter"), rows)


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
