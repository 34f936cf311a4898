"""Heights, against a plain list."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from siding.faces.tui.rows.heights import CHUNK, Heights

HEIGHT = st.integers(0, 5)


class Model(RuleBasedStateMachine):
    """The same acts on `Heights` and on a list; after each, every question has one answer."""

    def __init__(self) -> None:
        super().__init__()
        self.heights = Heights()
        self.plain: list[int] = []

    @rule(height=HEIGHT)
    def append(self, height: int) -> None:
        self.heights.append(height)
        self.plain.append(height)

    @rule(count=st.sampled_from([0, 1, 3, CHUNK - 1, CHUNK, 2 * CHUNK + 5]))
    def extend(self, count: int) -> None:
        self.heights.extend(count, 2)
        self.plain.extend([2] * count)

    @rule(data=st.data(), added=st.lists(HEIGHT, max_size=CHUNK + 3), is_exact=st.booleans())
    def insert(self, data: st.DataObject, added: list[int], is_exact: bool) -> None:
        at = data.draw(st.integers(0, len(self.plain)))
        self.heights.insert(at, added, is_exact=is_exact)
        if added and not is_exact:
            assert not self.heights.is_exact(self.heights.chunk_of(at))
            assert not self.heights.are_exact
        self.plain[at:at] = added

    @precondition(lambda self: self.plain)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(self.plain) - 1))
        count = data.draw(st.integers(0, len(self.plain) - at))
        self.heights.remove(at, count)
        del self.plain[at : at + count]

    @precondition(lambda self: self.plain)
    @rule(data=st.data(), height=HEIGHT)
    def set(self, data: st.DataObject, height: int) -> None:
        at = data.draw(st.integers(0, len(self.plain) - 1))
        self.heights.set(at, height)
        self.plain[at] = height

    @precondition(lambda self: self.heights.chunks)
    @rule(data=st.data(), height=HEIGHT)
    def measure(self, data: st.DataObject, height: int) -> None:
        chunk = data.draw(st.integers(0, self.heights.chunks - 1))
        items = self.heights.items(chunk)
        self.heights.measured(chunk, [height] * len(items))
        self.plain[items.start : items.stop] = [height] * len(items)
        assert self.heights.is_exact(chunk)

    @rule()
    def estimate(self) -> None:
        self.heights.estimate_all()
        assert not any(map(self.heights.is_exact, range(self.heights.chunks)))

    @rule()
    def clear(self) -> None:
        self.heights.clear()
        self.plain = []

    @invariant()
    def same(self) -> None:
        assert list(self.heights) == self.plain
        assert len(self.heights) == len(self.plain)
        assert self.heights.total == sum(self.plain)
        for at in {0, len(self.plain) // 2, len(self.plain) - 1, len(self.plain)} - {-1}:
            assert self.heights.top(at) == sum(self.plain[:at])
            if at < len(self.plain):
                assert self.heights[at] == self.plain[at]
                assert at in self.heights.items(self.heights.chunk_of(at))

    @precondition(lambda self: sum(self.plain) > 0)
    @rule(data=st.data())
    def find(self, data: st.DataObject) -> None:
        rows = [(at, row) for at, height in enumerate(self.plain) for row in range(height)]
        row = data.draw(st.integers(-3, len(rows) + 3))
        assert self.heights.find(row) == rows[max(0, min(row, len(rows) - 1))]


Model.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestHeights = Model.TestCase


def test_nothing_has_no_rows() -> None:
    heights = Heights()
    assert (heights.total, heights.find(7), heights.top(0)) == (0, (0, 0), 0)
    heights.extend(3, 0)
    assert heights.find(0) == (0, 0)


def test_many_appended_are_found_where_they_were_put() -> None:
    heights = Heights()
    for number in range(3 * CHUNK):
        heights.append(1)
        assert heights.find(number) == (number, 0)


def test_estimates_that_many_chunks_share_are_not_changed_for_all() -> None:
    heights = Heights()
    heights.extend(3 * CHUNK)
    heights.set(CHUNK + 1, 5)
    heights.append(7)
    assert [heights[1], heights[CHUNK + 1], heights[2 * CHUNK + 1]] == [1, 5, 1]
    assert heights.total == 3 * CHUNK + 4 + 7
    other = Heights()
    other.extend(CHUNK)
    assert list(other) == [1] * CHUNK
