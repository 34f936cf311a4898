"""What a file is by its first bytes, whatever it is called."""

import pytest

from siding.assistant.tools.files.read import kind_of

SIZE = b"\x00\x00\x00\x1c"


@pytest.mark.parametrize(
    ("first", "told"),
    [
        (b"RIFF" + SIZE + b"WEBPVP8 ", "a WebP picture"),
        (b"RIFF" + SIZE + b"WAVEfmt ", "a sound or video (RIFF)"),
        (b"RIFF is how this text begins", ""),
        (SIZE + b"ftypisom\x00", "a video or picture (MP4, HEIC)"),
        (SIZE + b"ftyx\x00\x01\x02", "a binary file"),
        (SIZE + b"\x00ftyp", "a binary file"),
        (b"a text, and no more", ""),
        (b"", ""),
    ],
)
def test_a_kind_or_a_text(first: bytes, told: str) -> None:
    found = kind_of(first)
    assert ("" if found is None else found.name) == told
