"""What of a step the words about its changes go by."""

from typing import Protocol


class Figures(Protocol):
    """The figures of a step."""

    @property
    def files(self) -> int: ...
    @property
    def additions(self) -> int: ...
    @property
    def deletions(self) -> int: ...
    @property
    def modes(self) -> int: ...
    @property
    def links(self) -> int: ...
    @property
    def directories(self) -> int: ...


class TurnFigures(Protocol):
    """The figures of the turns of a run."""

    @property
    def number(self) -> int: ...
    @property
    def files(self) -> int: ...
    @property
    def steps(self) -> tuple[str, ...]: ...


class RunFigures(Figures, Protocol):
    """The figures of a step that may be a run with turns."""

    @property
    def turns(self) -> TurnFigures | None: ...
