"""What was seen in many trials with one agent."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from siding.agents.talking.port import Proof

_NOT_TAKEN = "its agent ended before it had taken it"
COLUMNS = ("moments", "taken", "not taken", "unsure", "sent again", "answers", "forgotten")


class Failed(NamedTuple):
    """A moment after which something was not as it has to be."""

    number: int
    moment: str
    why: str


class Figures:
    """Counts, by agent."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.failed: list[Failed] = []

    def add(self, story: Iterable[Mapping[str, Any]]) -> None:
        """Count what the story of one trial has."""
        sent: Counter[str] = Counter()
        for line in story:
            match line["event"]:
                case "sending":
                    sent[line["prompt"]] += 1
                case "proven":
                    self.counts["taken"] += 1
                case "requeued" if line.get("reason") == _NOT_TAKEN:
                    self.counts["not taken"] += 1
                case Proof.UNSURE.value:
                    self.counts["unsure"] += 1
                case "answered":
                    self.counts["answers"] += 1
        self.counts["sent again"] += sum(count - 1 for count in sent.values())

    def __str__(self) -> str:
        said = [f"{self.counts[each]} {each}" for each in COLUMNS]
        return ", ".join([*said, f"{len(self.failed)} failed"])
