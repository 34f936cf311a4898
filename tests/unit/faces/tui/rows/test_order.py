"""Rows do not move under the cursor; what would move is counted."""

from hypothesis import given
from hypothesis import strategies as st

from siding.faces.tui.rows.order import Order, Pending

KEYS = st.permutations(list("abcdefgh")).flatmap(
    lambda keys: st.integers(0, len(keys)).map(lambda size: list(keys[:size]))
)


@given(st.lists(KEYS, min_size=1, max_size=5), st.data())
def test_a_held_order_keeps_its_places(orders: list[list[str]], data: st.DataObject) -> None:
    order = Order()
    order.want(orders[0], cursor=None)
    for keys in orders[1:]:
        before = list(order.shown)
        cursor = data.draw(st.sampled_from(before)) if before else None
        order.want(keys, cursor=cursor)
        if cursor is None or cursor not in keys:
            assert order.shown == keys
            continue
        at = before.index(cursor)
        assert order.shown[: order.shown.index(cursor)] == [k for k in before[:at] if k in keys]
        assert [k for k in order.shown if k in before] == [k for k in before if k in keys]
        assert set(order.shown) <= set(keys)
        later = set(keys[keys.index(cursor) :])
        assert later - set(before) <= set(order.shown), "what comes below the cursor is shown"
        pending = order.pending
        assert (pending == Pending()) is (order.shown == keys)
        assert pending.new == len(keys) - len(order.shown)
    order.sort()
    assert order.shown == orders[-1]
    assert not str(order.pending)


def test_what_would_move_is_counted_in_words() -> None:
    order = Order()
    order.want(list("abcd"), cursor=None)
    order.want(list("dabc"), cursor="a")
    assert str(order.pending) == "1 moved up"
    order.want(list("xdbca"), cursor="a")
    assert order.shown == list("abcd")
    assert str(order.pending) == "1 moved up, 1 moved down, 1 new above"
