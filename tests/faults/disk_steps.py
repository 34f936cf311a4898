"""The steps that change a directory tree, on numbered nodes, as a recorder writes them down."""

from typing import NamedTuple


class Link(NamedTuple):
    """A symbolic link."""

    target: str


Node = bytes | dict[str, int] | Link
Tree = dict[int, Node]


class Store(NamedTuple):
    node: int
    offset: int
    data: bytes


class Resize(NamedTuple):
    node: int
    size: int


class Enter(NamedTuple):
    """A name appears (or, over an old one, is replaced)."""

    directory: int
    name: str
    node: int


class Leave(NamedTuple):
    directory: int
    name: str


class Move(NamedTuple):
    directory: int
    name: str
    to_directory: int
    to_name: str
    node: int


class Swap(NamedTuple):
    """Two names change places, both or neither."""

    directory: int
    name: str
    to_directory: int
    to_name: str
    node: int  # what was at the first name
    to_node: int


class Flush(NamedTuple):
    """fsync of a node; None: of everything."""

    node: int | None


class Promised(NamedTuple):
    """All lines on stdout so far."""

    text: bytes


Data = Store | Resize
Name = Enter | Leave | Move | Swap
Step = Data | Name | Flush | Promised
