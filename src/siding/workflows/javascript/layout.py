"""Python code as pieces that know where they can be broken into lines."""

from siding.ground.namedtuples import NamedTuple

WIDTH = 100


class Group(NamedTuple):
    """Items between brackets: on one line if there is room, else each on a line of its own."""

    opening: str
    items: tuple["Code", ...]
    closing: str
    separator: str = ","


Code = tuple[str | Group, ...]


def flat(code: Code) -> str:
    """Return code on one line."""
    return "".join(part if isinstance(part, str) else _flat_group(part) for part in code)


def _flat_group(group: Group) -> str:
    items = [flat(item) for item in group.items]
    tail = "," if group.opening == "(" and group.closing == ",)" else ""
    return group.opening + f"{group.separator} ".join(items) + tail.replace(",", "") + group.closing


def laid_out(code: Code, indent: int, used: int = 0) -> str:
    """Return code for a place with this indentation; `used` is what stands behind it."""
    whole = flat(code)
    if indent + len(whole) + used <= WIDTH or all(isinstance(part, str) for part in code):
        return whole
    lines = ""
    for part in code:
        if isinstance(part, str):
            lines += part
            continue
        column = indent + len(lines) - (lines.rfind("\n") + 1) * ("\n" in lines)
        if "\n" in lines:
            column = len(lines) - lines.rfind("\n") - 1
        text = _flat_group(part)
        lines += text if column + len(text) <= WIDTH or not part.items else _broken(part, indent)
    return lines


def _broken(group: Group, indent: int) -> str:
    inner = indent + 4
    lines = [f"{' ' * inner}{laid_out(item, inner, 1)}{group.separator}" for item in group.items]
    return "\n".join([group.opening, *lines, " " * indent + group.closing])
