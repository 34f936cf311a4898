"""Every call is counted once."""

from pathlib import Path

from siding.sessions.kinds import Record
from siding.sessions.usage import Counting, Spent, Tokens, UsageSource, summed

from .building import at, said, written


def answer(uuid: str, message: str, tokens: int, **more: object) -> Record:
    body = {
        "id": message,
        "role": "assistant",
        "model": "claude-x",
        "content": [{"type": "text", "text": uuid}],
        "usage": {"input_tokens": tokens, "output_tokens": 1},
    }
    return said(uuid, None, 1, "assistant", message=body, requestId="r", **more)


def state(tokens: int, model: str = "claude-x") -> Record:
    use = {"inputTokens": tokens, "outputTokens": 0}
    return {"type": "cost-state", "timestamp": at(9), "modelUsage": {model: use}}


def spent(tmp_path: Path, **sessions: list[Record]) -> list[Spent]:
    counting = Counting()
    for name, records in sessions.items():
        counting.add(UsageSource(name, (written(tmp_path / f"{name}.jsonl", records),)))
    return counting.spent()


def test_the_lines_of_one_answer_count_once_and_the_larger_usage_wins(tmp_path: Path) -> None:
    (found,) = spent(tmp_path, s=[answer("a", "M", 5), answer("b", "M", 70), answer("c", "M", 9)])
    assert found.tokens == Tokens(input=70, output=1, calls=1)
    assert (found.day, found.model, found.hidden) == ("2026-01-01", "claude-x", False)


def test_copies_in_a_fork_count_for_the_first_session_only(tmp_path: Path) -> None:
    found = spent(
        tmp_path,
        parent=[answer("a", "M", 100)],
        fork=[answer("a", "M", 100), answer("b", "N", 7)],
    )
    assert {each.session_id: each.tokens.input for each in found} == {"parent": 100, "fork": 7}


def test_calls_in_no_line_are_the_difference_to_the_running_total(tmp_path: Path) -> None:
    found = spent(
        tmp_path,
        parent=[answer("a", "M", 700), state(1000), state(1600, "claude-x[1m]")],
        fork=[answer("a", "M", 700), answer("b", "N", 50), state(1690, "claude-x[1m]")],
    )
    hidden = {each.session_id: each.tokens.input for each in found if each.hidden}
    assert hidden == {"parent": 900, "fork": 40}
    assert sum(each.tokens.input for each in found) == 1690


def test_a_total_below_what_the_lines_say_hides_nothing(tmp_path: Path) -> None:
    found = spent(tmp_path, s=[answer("a", "M", 700), state(3)])
    assert [each.hidden for each in found] == [False]


def test_odd_and_synthetic_lines_are_not_counted(tmp_path: Path) -> None:
    odd = answer("a", "M", 5)
    odd["message"]["usage"]["input_tokens"] = "5"
    made_up = answer("b", "N", 5)
    made_up["message"]["model"] = "<synthetic>"
    user = said("u", None, 1, message={"role": "user", "content": '"usage"'})
    assert spent(tmp_path, s=[odd, made_up, user]) == []


def test_sums(tmp_path: Path) -> None:
    found = spent(tmp_path, s=[answer("a", "M", 5), answer("b", "N", 6, cwd="/w")])
    assert summed(found, "model") == {"claude-x": Tokens(input=11, output=2, calls=2)}
    assert list(summed(found, "cwd")) == ["", "/w"]
