"""What is shown: what a command printed, or the line that is made without one. Pure."""

from siding.statusline.document import Facts, hit_rate, percentages


def shown(printed: str) -> str:
    """Return the text of what a command printed: each line without blanks at its ends, none empty.

    Colours stay in it.
    """
    lines = (each.strip() for each in printed.strip().split("\n"))
    return "\n".join(each for each in lines if each)


def parts_of(facts: Facts, columns: int = 80) -> list[str]:
    """Return the parts of the line without a command: model, context, cache, cost.

    What is not known has no part. On less than 60 columns they are shorter.
    """
    found = [facts.model] if facts.model else []
    used = percentages(facts.use, facts.window).used
    if facts.use is not None and used is not None:
        sent = f" ({tokens(facts.use.sent)}/{tokens(facts.window)})" if columns >= 60 else ""
        found.append(f"Context {used}%{sent}")
    elif facts.use is not None and facts.use.sent:
        found.append(f"Context {tokens(facts.use.sent)}")
    rate = None if facts.use is None else hit_rate(facts.use)
    if rate:
        found.append(f"Cache {rate}%")
    if facts.dollars:
        found.append(f"${facts.dollars:.2f}")
    return found


def tokens(count: int) -> str:
    """Return a number of tokens: ``999``, ``1k``, ``10.9k``, ``1.5m``."""
    if count < 1000:
        return str(count)
    if count < 999_950:
        return f"{_tenths(count / 1000)}k"
    return f"{_tenths(count / 1_000_000)}m"


def _tenths(number: float) -> str:
    return f"{int(number * 10 + 0.5) / 10:.1f}".removesuffix(".0")
