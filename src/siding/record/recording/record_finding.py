"""A problem that the verification of a record found."""

from siding.ground.namedtuples import NamedTuple


class RecordFinding(NamedTuple):
    """A problem in a record. `where` names the file, line or object."""

    where: str
    problem: str
    serious: bool  # False if nothing is lost
