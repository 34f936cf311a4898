"""With Hyperscan and without it the outcome is the same, and what is short never loads it."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import counted
from siding.secretmask import prefilter
from siding.secretmask.face import Redactor, known_values
from siding.secretmask.sieve import Sieve, new_sieve
from siding.secretmask.span import RIGHT
from siding.secretmask.stream import SIEVE_AFTER, Stream
from unit.secretmask import cases, family_cases
from unit.secretmask.test_stream import PARTS as TEXTS

pytest.importorskip("hyperscan", reason="pip: siding-cli[fast]")

RULES = Redactor(
    known=known_values({"MY_SECRET": "correct horse battery", "THE_TOKEN": "swordfish-77"})
)._rules
CASES = [
    (before + secret + behind).encode("utf-8", "surrogateescape")
    for before, secret, behind in (*cases.SECRETS, *family_cases.SECRETS)
] + [text.encode("utf-8", "surrogateescape") for text in (*cases.BENIGN, *family_cases.BENIGN)]
# What the searches look for, whole, nearly, overlapping, and at the end of the data.
WORDS = """
    key keys kei KEY kez mnemonic token tokens Token tokeny men cred CRED secret csed auth author
    authors autha autho. salt SALT salt. halt alta pass passpass passpass= passphrase phrase pwd PWD
    password pad pasase codes CODES code -p -u -- --user --pass --auth --u -nb -cb -bn -b -X - -p-
    -----BEGIN -----BEGI untrusted comment: ~ _ . = : a ab aaaaaaaaaaaaaaaaaaa
    aaaaaaaaaaaaaaaaaaaa aB3xY9aB3xY9aB3xY9aB3xY9
""".split()
SPELLED = [
    *(b"keez", b"csed", b"cset", b"alta=", b"altao", b"salt=", b"pass=", b"passa", b"passp"),
    *(b"pad=", b"pasase", b"codes", b"kee", b" -p x", b" -b n", b" -nb ", b" -cb "),
    *(b" --user ", b" --proxy-user=", b" --auth=", b" --pass "),
]
PIECES = [each.encode() for each in WORDS] + [b" ", b" ", b"\n", b"\r\n", b"\x00", b"\xe9", b"\x1b"]


def redacted(data: bytes, sizes: list[int], *, sieve_after: int | None) -> bytes:
    """Return what a stream makes of the data in pieces of these sizes, in turns."""
    stream = Stream(RULES, sieve_after=sieve_after)
    out, at, turn = [], 0, 0
    while at < len(data):
        out.append(stream.feed(data[at : at + sizes[turn % len(sizes)]]))
        at += sizes[turn % len(sizes)]
        turn += 1
    return b"".join(out) + stream.close()


def a_sieve() -> Sieve:
    made = new_sieve()
    assert made is not None
    return made


@example(pieces=[b"pass", b"pass", b"="], before=b"")
@example(pieces=[b" -p -u x"], before=b"")
@example(pieces=[b" ", b"token", b" ", b"a"], before=b"\n")
@example(pieces=[b"key"], before=b"")
@settings(max_examples=600, deadline=None)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=30), before=st.binary(max_size=40))
def test_it_finds_what_the_searches_find(pieces: list[bytes], before: bytes) -> None:
    data = before + b"".join(pieces)
    with patch("siding.secretmask.sieve._SHARE", 0):  # however many there are
        assert a_sieve().found(data) == prefilter.found(data)


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=400))
def test_it_finds_what_the_searches_find_in_any_bytes(data: bytes) -> None:
    assert a_sieve().found(data) in (None, prefilter.found(data))


def test_every_spelling_of_each_word_is_found() -> None:
    """Each byte that is levelled to a letter of a word stands in its place once."""
    asked = a_sieve()
    found = 0
    for word in SPELLED:
        for at in range(len(word)):
            for byte in range(256):
                for before in (b"\n: ", b"_"):
                    data = before + word[:at] + bytes([byte]) + word[at + 1 :]
                    expected = prefilter.found(data)
                    assert asked.found(data) == expected, data
                    found += expected != prefilter.NOTHING
    counted.add(found)
    assert found > 1000


def test_the_cases_have_the_same_outcome() -> None:
    counted.add(len(CASES))
    with patch.object(Sieve, "found", autospec=True, side_effect=Sieve.found) as asked:
        for case in CASES:
            for text in (case, b"a line\n" + case + b"\nanother\n"):
                plain = redacted(text, [len(text)], sieve_after=None)
                assert redacted(text, [len(text)], sieve_after=0) == plain, case
                assert redacted(text, [7, 64], sieve_after=0) == plain, case
    assert asked.call_count > len(CASES)


@settings(max_examples=200, deadline=None)
@given(
    texts=st.lists(st.sampled_from(TEXTS + CASES), max_size=25),
    sizes=st.lists(st.integers(1, 900), min_size=1, max_size=6),
)
def test_any_pieces_of_any_text_have_the_same_outcome(texts: list[bytes], sizes: list[int]) -> None:
    data = b"".join(texts)
    plain = redacted(data, [max(1, len(data))], sieve_after=None)
    assert redacted(data, sizes, sieve_after=0) == plain
    assert redacted(data, sizes, sieve_after=len(data) // 2) == plain


@settings(max_examples=100, deadline=None)
@given(
    secret=st.sampled_from(TEXTS + CASES),
    back=st.integers(0, 200),
    size=st.sampled_from([RIGHT, 1 << 15, 1 << 16]),
)
def test_a_secret_at_the_border_of_two_pieces(secret: bytes, back: int, size: int) -> None:
    line = b"12:00:01 INFO worker 7: GET /a/b.html 200 in 12 ms\n"
    before = (line * (1 + size // len(line)))[: size - min(back, size)]
    data = before + b"\n" + secret + b"\n" + line * 3
    assert redacted(data, [size], sieve_after=0) == redacted(data, [len(data)], sieve_after=None)


def test_too_many_candidates_end_the_search_and_change_nothing() -> None:
    data = b"".join(b"token=aB3xY9-%d\n" % number for number in range(2000))
    asked = a_sieve()
    assert asked.found(data) is None
    assert asked.found(b"\n") is None  # for a while it is not asked again
    assert redacted(data, [4096], sieve_after=0) == redacted(data, [len(data)], sieve_after=None)


def test_dense_and_quiet_output_in_turns_has_the_same_outcome() -> None:
    dense = b"".join(b"password=%d-hunter\n" % number for number in range(300))
    data = (dense + b"a quiet line of a log\n" * 8000) * 3
    with patch("siding.secretmask.sieve._REST", 1):
        assert redacted(data, [4096], sieve_after=0) == redacted(
            data, [len(data)], sieve_after=None
        )


def test_streams_in_several_threads_do_not_disturb_each_other() -> None:
    data = b"a quiet line of a log\ntoken=aB3xY9-hunter\n" + b"quiet " * 400
    plain = redacted(data * 40, [4096], sieve_after=None)
    with ThreadPoolExecutor(4) as threads:
        outs = list(threads.map(lambda _: redacted(data * 40, [4096], sieve_after=0), range(12)))
    assert outs == [plain] * 12


def test_a_failure_of_the_library_changes_nothing() -> None:
    asked = a_sieve()
    asked._database = BrokenDatabase(asked._failure)
    assert asked.found(b"a token=aB3xY9") is None


class BrokenDatabase:
    """Fails at each scan."""

    def __init__(self, failure: type[Exception]) -> None:
        self._failure = failure

    def scan(self, *_: object, **__: object) -> None:
        raise self._failure


def test_what_is_short_does_not_load_the_library() -> None:
    size = 1 << 16
    pieces = SIEVE_AFTER // size
    program = (
        "import sys\n"
        "from siding.secretmask.face import Redactor\n"
        "stream = Redactor().stream()\n"
        f"line = b'a quiet line of a log, and on\\n' * {size // 30}\n"
        f"for _ in range({pieces}): stream.feed(line)\n"
        "print('hyperscan' in sys.modules)\n"
        "for _ in range(3): stream.feed(line)\n"
        "print('hyperscan' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]


def test_without_the_library_all_is_as_before() -> None:
    program = (
        "import sys\n"
        "sys.modules['hyperscan'] = None\n"  # as if it were not installed
        "from siding.secretmask.sieve import new_sieve\n"
        "from siding.secretmask.face import Redactor\n"
        "from siding.secretmask.stream import Stream\n"
        "stream = Stream(Redactor()._rules, sieve_after=0)\n"
        "out = stream.feed(b'a token=aB3xY9-hunter\\n') + stream.close()\n"
        "print(new_sieve(), out.decode())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "None a token=[redacted:token]"
