"""What can be answered to a request for permission, and the answer."""

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings, text


class Options(NamedTuple):
    """The ids of the options of an ask. "" where there is none."""

    once: str
    always: str
    no: str


def options_in(given: object, always_id: str) -> Options:
    """Return the options by their kind. What allows for good is known by its id as well."""
    by_kind: dict[str, str] = {}
    always = ""
    for each in mappings(given):
        kind, its = text(each.get("kind")), text(each.get("optionId"))
        by_kind.setdefault(kind, its)
        if kind == "allow_always" and its == always_id:
            always = its
    once = by_kind.get("allow_once", "")
    return Options(once=once, always=always, no=by_kind.get("reject_once", ""))


def outcome(option: str) -> dict[str, str]:
    """Return what is answered to an ask; "" is that nobody answers it any more."""
    if not option:
        return {"outcome": "cancelled"}
    return {"outcome": "selected", "optionId": option}
