"""Measure the house: what a reader has to hold, and what a command loads.

    .venv/bin/python -m tools.house                     the table, and what each command costs
    .venv/bin/python -m tools.house --files             only what is counted in the files: seconds
    .venv/bin/python -m tools.house --times 15          also times, the least of so many rounds
    .venv/bin/python -m tools.house --against DIRECTORY the same times of another checkout, paired
    .venv/bin/python -m tools.house --root DIRECTORY    another checkout instead of this one
    .venv/bin/python -m tools.house --why A B           the shortest way from one module to another
    .venv/bin/python -m tools.house --reach VERB        what a verb reaches, largest first
    .venv/bin/python -m tools.house --unused VERB       the functions that it loads and never calls
    .venv/bin/python -m tools.house --chain             the longest chains of imports
    .venv/bin/python -m tools.house --agents            the files and tables that name agents
    .venv/bin/python -m tools.house --named             the texts that name modules

A developer's tool. Files are read, not imported. An arrow is an import statement, at the top of a
module or in a function; below `if TYPE_CHECKING` only with `--types`. A text that names a module is
an arrow as well (`named.py` has the forms), but for the table of all verbs, by which everything
would be reached from everywhere. What an act reaches begins at the modules in `entries.py`; of a
verb, at the module that the table names for it.

What a command costs is counted in a real process, in a scratch repository of 1,000 files with a
home of its own: functions are code objects in the loaded modules, comprehensions with them. These
counts are the same on each machine of one platform and one version of Python and git, but for a
few calls and flushes that depend on the moment.
"""

import argparse
import gc
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from tools.house import lists
from tools.house.agents import agent_tables, files_naming, files_using
from tools.house.entries import AGENTS
from tools.house.graph import LOADS, REACHES, Graph, graph_of
from tools.house.imports import Kind
from tools.house.loaded import case_of, measure, measure_all, measure_long
from tools.house.named import named_in
from tools.house.scratch import scratch
from tools.house.source import CHECKOUT, read_package
from tools.house.table import budget_text, house, rows_of, text_of, times_text
from tools.house.times import times

_PACKAGE = "src/siding"


def main() -> int:
    parser = _parser()
    chosen = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it
    gc.disable()  # trees of a thousand modules stay until the end
    graph = graph_of(read_package(chosen.root / _PACKAGE))
    try:
        for line in _lines(graph, chosen):
            print(line, flush=True)
    except lists.NotKnown as error:
        parser.error(str(error))
    return 0


def _parser() -> argparse.ArgumentParser:
    about, _, usage = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m tools.house",
        description=about,
        epilog=usage,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--files", action="store_true", help="only what is counted in the files")
    add("--times", type=int, default=0, metavar="ROUNDS", help="measure times as well")
    add(
        "--against",
        type=Path,
        action="append",
        default=[],
        metavar="DIRECTORY",
        help="another checkout, for the times; may be given again",
    )
    add("--root", type=Path, default=CHECKOUT, metavar="DIRECTORY", help="a checkout")
    add("--types", action="store_true", help="count imports below TYPE_CHECKING as well")
    add("--most", type=int, default=40, metavar="N", help="rows of a list")
    add("--why", nargs=2, metavar=("A", "B"), help="the shortest way between modules")
    add("--reach", metavar="VERB", help="what a verb, an act or a module reaches")
    add("--unused", metavar="VERB", help="what a command loads and never calls")
    add("--chain", action="store_true", help="the longest chains of imports")
    add("--agents", action="store_true", help="files and tables that name agents")
    add("--named", action="store_true", help="the texts that name modules")
    return parser


def _lines(graph: Graph, chosen: argparse.Namespace) -> Iterator[str]:
    kinds = REACHES | {Kind.TYPES} if chosen.types else REACHES
    if chosen.why:
        yield from lists.why(graph, tuple(chosen.why), kinds)
    elif chosen.reach:
        yield from lists.reach(graph, chosen.reach, kinds, chosen.most)
    elif chosen.unused:
        with scratch(_source(chosen.root)) as place:
            case = case_of(chosen.unused)
            yield from lists.unused(graph, case.name, measure(place, case), chosen.most)
    elif chosen.chain:
        yield from _chain("with imports in functions", graph.longest_chain(LOADS))
        yield from _chain("without", graph.longest_chain({Kind.TOP}))
    elif chosen.agents:
        yield from _agents(graph)
    elif chosen.named:
        yield from _named(graph)
    else:
        yield from _table(graph, chosen)


def _table(graph: Graph, chosen: argparse.Namespace) -> Iterator[str]:
    yield text_of(rows_of(house(graph)))
    if not chosen.files:
        with scratch(_source(chosen.root)) as place:
            yield ""
            yield budget_text(measure_all(place), measure_long(place))
    if chosen.times:
        roots = [chosen.root, *chosen.against]
        with ExitStack() as stack:
            places = [stack.enter_context(scratch(_source(root))) for root in roots]
            yield ""
            yield times_text(times(places, rounds=chosen.times))


def _chain(which: str, chain: Sequence[str]) -> Iterator[str]:
    yield f"{len(chain)} modules, {which}:"
    yield from (f"  {name}" for name in chain)


def _agents(graph: Graph) -> Iterator[str]:
    package = graph.package
    yield "tables with rows for three agents or more:"
    for table in agent_tables(package, AGENTS):
        yield f"  {package.place(table.module)}:{table.line}  {' '.join(table.agents)}"
    for agent in AGENTS:
        modules, using = files_naming(package, agent), files_using(package, agent)
        # An identifier such as `CLAUDE` is code that has the name not as a word of its own.
        every = {module.name: module for module in (*modules, *using)}
        yield f"{agent}: outside its folder {len(using)} files name it in code, {len(every)} at all"
        for module in sorted(every.values(), key=lambda each: (each not in using, each.name)):
            yield f"  {package.place(module)}{'' if module in using else '  (text)'}"


def _named(graph: Graph) -> Iterator[str]:
    package = graph.package
    for module in package.modules.values():
        for each in named_in(package, module, graph.verbs):
            target = each.target or "NOTHING OF THIS NAME"
            yield f"{package.place(module)}:{each.line}  {each.text!r}  {each.kind}  {target}"


def _source(root: Path) -> Path:
    return (root / _PACKAGE).parent.resolve()


if __name__ == "__main__":
    sys.exit(main())
