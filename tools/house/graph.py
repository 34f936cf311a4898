"""Walks along the arrows: what a module reaches, by which way, and the longest chain."""

from collections import deque
from collections.abc import Collection, Iterable, Mapping

from tools.house.imports import Arrow, Kind, imports_of
from tools.house.named import arrows_named
from tools.house.source import Package
from tools.house.verbs import Verbs, verbs_of

LOADS = frozenset({Kind.TOP, Kind.INSIDE})
REACHES = LOADS | {Kind.STRING, Kind.PROGRAM}


class Graph:
    """The modules of a package with the arrows between them."""

    def __init__(self, package: Package, verbs: Verbs, arrows: Iterable[Arrow]) -> None:
        self.package = package
        self.verbs = verbs
        self.arrows = tuple(arrows)

    def next_to(self, kinds: Collection[Kind]) -> Mapping[str, tuple[str, ...]]:
        """Return what each module needs at once, by arrows of these kinds."""
        found: dict[str, dict[str, None]] = {name: {} for name in self.package.modules}
        for arrow in self.arrows:
            if arrow.kind in kinds and arrow.source != arrow.target:
                found[arrow.source][arrow.target] = None
        return {name: tuple(targets) for name, targets in found.items()}

    def reach(self, starts: Iterable[str], kinds: Collection[Kind] = REACHES) -> frozenset[str]:
        """Return the modules that these reach, with themselves."""
        nearby = self.next_to(kinds)
        waiting = deque(starts)
        found = set(waiting)
        while waiting:
            for target in nearby[waiting.popleft()]:
                if target not in found:
                    found.add(target)
                    waiting.append(target)
        return frozenset(found)

    def way(self, start: str, end: str, kinds: Collection[Kind] = REACHES) -> list[Arrow]:
        """Return the shortest way from one module to another; empty if there is none."""
        by_source: dict[str, list[Arrow]] = {}
        for arrow in self.arrows:
            if arrow.kind in kinds:
                by_source.setdefault(arrow.source, []).append(arrow)
        came_by: dict[str, Arrow] = {}
        waiting = deque([start])
        while waiting and end not in came_by:
            for arrow in by_source.get(waiting.popleft(), ()):
                if arrow.target != start and arrow.target not in came_by:
                    came_by[arrow.target] = arrow
                    waiting.append(arrow.target)
        steps: list[Arrow] = []
        while end in came_by:
            steps.insert(0, came_by[end])
            end = steps[0].source
        return steps

    def longest_chain(self, kinds: Collection[Kind] = LOADS) -> list[str]:
        """Return the longest chain of modules, each of which needs the next one.

        Modules that need each other in a circle count once: the first of them stands for all.
        """
        nearby = self.next_to(kinds)
        best: dict[str, list[str]] = {}
        for circle in _circles(nearby):
            inside = set(circle)
            beyond = (target for name in circle for target in nearby[name] if target not in inside)
            longest = max((best[target] for target in beyond), key=len, default=[])
            best |= {name: [circle[0], *longest] for name in circle}
        return max(best.values(), key=len, default=[])

    def circles(self, kinds: Collection[Kind] = LOADS) -> list[list[str]]:
        """Return the groups of modules that need each other in a circle."""
        return [circle for circle in _circles(self.next_to(kinds)) if len(circle) > 1]


def graph_of(package: Package) -> Graph:
    """Return the graph of a package: import statements, and texts that name modules."""
    verbs = verbs_of(package)
    arrows: list[Arrow] = []
    for module in package.modules.values():
        arrows += imports_of(package, module)
        arrows += arrows_named(package, module, verbs)
    return Graph(package, verbs, arrows)


def _circles(nearby: Mapping[str, tuple[str, ...]]) -> list[list[str]]:
    """Return the strongly connected components (Tarjan), what is needed before what needs it."""
    found: list[list[str]] = []
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    for root in nearby:
        if root in index:
            continue
        work = [(root, iter(nearby[root]))]
        while work:
            name, targets = work[-1]
            if name not in index:
                index[name] = lowest[name] = len(index)
                stack.append(name)
                on_stack.add(name)
            fresh = next((target for target in targets if target not in index), None)
            if fresh is not None:
                work.append((fresh, iter(nearby[fresh])))
                continue
            work.pop()
            for target in nearby[name]:
                if target in on_stack:
                    lowest[name] = min(lowest[name], lowest[target])
            if lowest[name] == index[name]:
                at = stack.index(name)
                found.append(stack[at:])
                on_stack.difference_update(stack[at:])
                del stack[at:]
    return found
