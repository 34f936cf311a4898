"""What the context consists of, with sizes: for a person who asks what the model was told."""

from siding.ground.namedtuples import NamedTuple


class ContextPart(NamedTuple):
    """A part of what the model is told. `characters` is 0 for a file that is not shown.

    `origin` says who wrote it. `size` is the file's bytes, None for what is no file or was not
    read. `tokens` is an estimate. `note` says what is left out, and why.
    """

    name: str
    origin: str
    characters: int
    tokens: int
    size: int | None = None
    note: str = ""
