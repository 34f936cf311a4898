"""Messages of commits: read in the encoding they name, and given trailers as git gives them."""

import pytest

from siding.applying.git.commits import RawCommit, with_trailers
from siding.ground.ids import Sha

NAMED = [("Siding-Task", "t1")]


@pytest.mark.parametrize(
    ("message", "made"),
    [
        ("one", "one\n\nSiding-Task: t1\n"),
        ("one\n\nwhy it is so", "one\n\nwhy it is so\n\nSiding-Task: t1\n"),
        ("one\n\nAcked-by: A <a@a>", "one\n\nAcked-by: A <a@a>\nSiding-Task: t1\n"),
        ("Fix: it", "Fix: it\n\nSiding-Task: t1\n"),  # a subject is no trailer
        ("one\n\nAcked-by: A\n\nmore", "one\n\nAcked-by: A\n\nmore\n\nSiding-Task: t1\n"),
        ("one\r\n\r\nSiding-Task: t1\r\n\n", "one\n\nSiding-Task: t1\n"),
        ("one\0\n\n", "one\n\nSiding-Task: t1\n"),
    ],
)
def test_a_trailer_joins_those_that_are_there(message: str, made: str) -> None:
    assert with_trailers(message, NAMED) == made


def test_a_value_stays_on_its_line() -> None:
    assert with_trailers("one", [("A", "b\n  c"), ("D", "e")]) == "one\n\nA: b c\nD: e\n"


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        (b"", "\xe9t\xe9\n\nplus".encode()),
        (b"ISO-8859-1", "\xe9t\xe9\n\nplus".encode("latin-1")),
        (b"no-such-encoding", "\xe9t\xe9\n\nplus".encode()),
    ],
)
def test_a_message_is_read_in_its_encoding(encoding: bytes, message: bytes) -> None:
    sha = Sha("1" * 40)
    commit = RawCommit(
        sha=sha, tree=sha, parents=(), author=b"", encoding=encoding, message=message
    )
    assert commit.subject == "\xe9t\xe9"
    assert commit.text == "\xe9t\xe9\n\nplus"
