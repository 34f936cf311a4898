"""Answers about single modules and verbs: why one needs another, what a verb reaches and loads."""

from collections import Counter
from collections.abc import Collection, Iterator

from tools.house.entries import ACTS
from tools.house.graph import Graph
from tools.house.imports import Kind
from tools.house.loaded import Loaded


class NotKnown(Exception):
    """A name is no module, no verb and no act."""


def modules_of(graph: Graph, name: str) -> tuple[str, ...]:
    """Return the modules that a verb, an act or a module's own name stands for.

    A name may be without the package's. Raises NotKnown.
    """
    package = graph.package
    for full in (name, f"{package.name}.{name}"):
        if full in package.modules:
            return (full,)
    if name in graph.verbs.by_words:
        return (graph.verbs.by_words[name].module,)
    if name in ACTS:
        return tuple(f"{package.name}.{each}" for each in ACTS[name])
    ends = [each for each in package.modules if each.endswith(f".{name}")]
    if len(ends) == 1:
        return (ends[0],)
    more = f"; it may be {', '.join(ends)}" if ends else ""
    raise NotKnown(f"no module, verb or act is called {name!r}{more}")


def why(graph: Graph, ends: tuple[str, str], kinds: Collection[Kind]) -> Iterator[str]:
    """Yield the shortest way from one module to another, a line each step."""
    start, end = ends
    (first, *_), (last, *_) = modules_of(graph, start), modules_of(graph, end)
    way = graph.way(first, last, kinds)
    if not way:
        yield f"{first} does not reach {last}"
        return
    yield first
    for arrow in way:
        place = graph.package.place(graph.package.modules[arrow.source])
        yield f"  -> {arrow.target:56} {arrow.kind:8} {place}:{arrow.line}"


def reach(graph: Graph, name: str, kinds: Collection[Kind], most: int) -> Iterator[str]:
    """Yield what a verb reaches, largest first, with what each module alone is the way to."""
    starts = modules_of(graph, name)
    package, found = graph.package, graph.reach(starts, kinds)
    total = package.lines(found)
    yield f"{name} ({', '.join(starts)}) reaches {len(found)} modules, {total:,} lines"
    sums = Counter[str]()
    for each in found:
        sums[".".join(each.split(".")[1:3])] += package.modules[each].lines
    yield "\n   lines  folder"
    yield from (f"{lines:8,}  {folder}" for folder, lines in sums.most_common(most))
    yield "\n   lines  modules and lines that go if it goes  module"
    alone = _alone(graph, starts, found, kinds)
    for each in sorted(found, key=lambda each: -package.modules[each].lines)[:most]:
        gone = alone[each]
        yield f"{package.modules[each].lines:8,}  {len(gone):10} {package.lines(gone):10,}  {each}"
    yield "\nwhose going would take the most along:"
    for each in sorted(alone, key=lambda each: -package.lines(alone[each]))[:most]:
        if each not in starts:
            gone = alone[each]
            size = package.modules[each].lines
            yield f"{size:8,}  {len(gone):10} {package.lines(gone):10,}  {each}"


def _alone(
    graph: Graph, starts: tuple[str, ...], found: frozenset[str], kinds: Collection[Kind]
) -> dict[str, frozenset[str]]:
    """Return for each module what is reached through it alone, with itself."""
    nearby = graph.next_to(kinds)
    alone = {}
    for each in found:
        waiting = [start for start in starts if start != each]
        met = set(waiting)
        while waiting:
            for target in nearby[waiting.pop()]:
                if target != each and target not in met:
                    met.add(target)
                    waiting.append(target)
        alone[each] = found - met
    return alone


def unused(graph: Graph, name: str, loaded: Loaded, most: int) -> Iterator[str]:
    """Yield the modules that a command loads, those with the most uncalled functions first."""
    yield (
        f"{name}: {loaded.modules} modules of ours, {loaded.functions:,} functions,"
        f" {loaded.called:,} called, {loaded.unused:.0%} never"
    )
    idle = [each for each in loaded.by_module.values() if each.loaded and not each.called]
    yield (
        f"in {len(idle)} modules no function is called: {sum(e.loaded for e in idle):,} functions"
    )
    patterns = sorted(loaded.patterns.items(), key=lambda row: -row[1])
    yield f"{sum(count for _, count in patterns)} patterns are compiled while modules are imported:"
    yield "  " + ", ".join(f"{name.partition('.')[2]} {count}" for name, count in patterns)
    yield "\n uncalled  loaded   lines  module, and the loaded modules that import it at their top"
    users: dict[str, list[str]] = {}
    for arrow in graph.arrows:
        if arrow.kind is Kind.TOP and arrow.source in loaded.by_module:
            users.setdefault(arrow.target, []).append(arrow.source)
    rows = sorted(loaded.by_module.items(), key=lambda row: row[1].called - row[1].loaded)
    beginning = f"{graph.package.name}."
    for module, each in rows[:most]:
        by = sorted({user.removeprefix(beginning) for user in users.get(module, ())})
        shown = ", ".join(by[:4]) + (f" and {len(by) - 4} more" if len(by) > 4 else "")
        size = graph.package.modules[module].lines
        named = f"{module.removeprefix(beginning)}  <- {shown or 'an import in a function'}"
        yield f"{each.loaded - each.called:9}{each.loaded:8}{size:8}  {named}"
