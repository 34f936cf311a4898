"""Quote what an agent or a person wrote, in a line of the terminal."""

_LONGEST = 160  # characters


def quoted(text: str) -> str:
    """Return untrusted text as one short quotation.

    Apostrophes in it are replaced, so that the text cannot end the quotation and pass for ours.
    """
    line = " ".join(text.split()).replace("'", "\u2019")
    if len(line) > _LONGEST:
        line = line[: _LONGEST - 1] + "\u2026"
    return f"'{line}'"
