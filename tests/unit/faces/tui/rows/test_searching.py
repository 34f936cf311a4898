"""A search through what a program printed finds what is drawn, and reads it by windows."""

from hypothesis import example, given
from hypothesis import strategies as st

from siding.faces.tui.rows.lines import hits
from siding.faces.tui.rows.output import WINDOW, FileLines, drawn
from siding.faces.tui.rows.searching import Hit, Leg, Search, Wanted, word
from siding.ground.sgr import Style


def lines_of(data: bytes) -> FileLines:
    lines = FileLines(lambda offset, size: data[offset : offset + size])
    lines.look()
    return lines


def found(search: Search) -> list[Hit]:
    """Return all hits, each slice as short as it can be."""
    all_of_them = []
    while not search.has_ended:
        hit = search.go_on(0)
        if hit is not None:
            all_of_them.append(hit)
    return all_of_them


def items(lines: FileLines, wanted: Wanted, numbers: range) -> list[int]:
    return [hit.item for hit in found(Search(wanted, [Leg(lines, numbers, 0)]))]


PIECE = st.sampled_from(
    [
        *"abkKxe1 \\",
        "\t",
        "\r",
        "\n",
        "\x07",
        "\x00",
        "\u202e",
        "\x1b",
        "\x1b[31m",
        "\x1b[0m",
        "\x1b[2K",
        "\x1b]0;ab\x07",
        "\x1b]8;;ab",
        "\N{KELVIN SIGN}",
        "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}",
        "é",
        "É",
        "日",
        "\N{SNOWMAN}\N{VARIATION SELECTOR-16}",
        "\udcff",
    ]
)
TEXT = st.lists(PIECE, max_size=40).map("".join)
WORD = st.text(st.sampled_from("abkxeéÉ日İ1 \\"), min_size=1, max_size=3)


@given(TEXT, WORD)
@example("a\x1b[31mb", "ab")
@example("abc\td", "c d")
@example("\N{KELVIN SIGN}", "k")
@example("\x1b", "1b")
@example("\udcff", "ff")
@example("\x1b]8;;\nabc\td\n\x07\n", "c d")
def test_what_is_found_is_what_is_drawn(text: str, wanted: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    lines, style, with_it = lines_of(data), Style(), []
    for number, line in enumerate(data.split(b"\n")[: len(lines)]):
        there = drawn(line.decode("utf-8", "backslashreplace"), style)
        assert there.line.text == lines.line(number).text
        if hits(there.line.text, wanted):
            with_it.append(number)
    every = range(len(lines))
    assert items(lines, word(wanted), every) == with_it
    assert items(lines, word(wanted), every[::-1]) == with_it[::-1]


def test_a_search_goes_over_windows_forwards_and_backwards() -> None:
    total = 3 * WINDOW // 10
    rows = [b"%09d" % number for number in range(total)]
    marked = [0, 1, 6552, 6553, 6554, 13106, 13107, total - 1]  # windows begin near 6553
    for number in marked:
        rows[number] = b"NEEDLE-%d" % number
    lines = lines_of(b"\n".join(rows))
    assert len(lines._offsets) >= 2
    wanted = word("needle")
    assert items(lines, wanted, range(total)) == marked
    assert items(lines, wanted, range(total)[::-1]) == marked[::-1]
    assert items(lines, wanted, range(2, 6553)) == [6552]
    assert items(lines, wanted, range(6552, 0, -1)) == [6552, 1]
    assert not items(lines, wanted, range(7, 7))


def test_a_line_that_is_cut_is_searched_over_the_cut() -> None:
    data = b"x" * ((1 << 20) - 3) + b"needle" + b"y" * (1 << 20) + b"needle\nlast needle"
    lines = lines_of(data)
    hits_of = found(Search(word("needle"), [Leg(lines, range(len(lines)), 10)]))
    assert hits_of == [Hit(10, (1 << 20) - 3), Hit(12, 3), Hit(13, 5)]


def test_a_search_takes_slices_and_counts_what_it_has_read() -> None:
    data = b"nothing is here\n" * 40_000
    lines = lines_of(data)
    search = Search(word("needle"), [Leg(lines, range(len(lines)), 0)])
    assert search.total == len(data)
    slices = 0
    while not search.has_ended:
        assert search.go_on(0) is None
        slices += 1
    assert slices > 5
    assert search.done == len(data)


def test_bytes_that_do_not_hold_it_are_not_drawn() -> None:
    wanted = word("needle")
    dull = b"\x1b[32mINFO\x1b[0m a line, \xe2\x9c\x93 d\xc3\xa9j\xc3\xa0 vu\n"
    assert not wanted.may_be_in(dull * 100)
    assert wanted.may_be_in(dull * 100 + b"NEE\x1b[0mdle\n")
    assert not word("zoé").may_be_in(dull)
    assert word("DÉJÀ").may_be_in(dull)
