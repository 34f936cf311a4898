"""A fold that remembers is the fold of all messages, whatever became of them meanwhile."""

from hypothesis import given
from hypothesis import strategies as st

from siding.assistant.loop.model import Folding, Message, Usage

NUMBERS = st.lists(st.tuples(st.integers(0, 30), st.lists(st.integers(0, 9), max_size=5)))


def said(number: int) -> Message:
    return Message("user", [{"type": "text", "text": str(number)}])


def texts(before: str, message: Message) -> str:
    return f"{before} {message.content[0]['text']}"


@given(NUMBERS)
def test_it_is_the_fold_of_all(changes: list[tuple[int, list[int]]]) -> None:
    """Each change leaves so many of the messages, as the same objects, and adds others."""
    remembering = Folding("", texts)
    messages: list[Message] = []
    for kept, added in changes:
        messages = [*messages[:kept], *map(said, added)]
        told = "".join(f" {each.content[0]['text']}" for each in messages)
        assert remembering.of(messages) == told


def test_what_was_there_is_not_gone_over_again() -> None:
    seen: list[Message] = []

    def count(total: int, message: Message) -> int:
        seen.append(message)
        return total + 1

    remembering, messages = Folding(0, count), [said(each) for each in range(100)]
    assert remembering.of(messages) == 100
    seen.clear()
    messages[-2:] = [said(1), said(2), said(3)]  # as the newest answer is made anew
    assert remembering.of(messages) == 101
    assert seen == messages[-3:]
    assert remembering.of([]) == 0


def test_usage_is_added_field_by_field_and_the_parts_of_a_prompt_do_not_overlap() -> None:
    used = Usage(input=1, output=20, cache_read=300, cache_write=4000)
    assert used.prompt == 4301
    assert used.plus(Usage()) == used
    assert used.plus(Usage(output=5)) == used._replace(output=25)
    assert Usage().prompt == 0
