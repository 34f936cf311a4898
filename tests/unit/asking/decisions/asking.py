"""Requests to begin from, and a strategy for any that is valid."""

from typing import Any

from hypothesis import strategies as st

LINE = st.text(min_size=1, max_size=20).filter(str.strip)


def simple(**more: Any) -> dict[str, Any]:
    """Return the request of the seed's own example, shortened."""
    return {
        "task": "Implement user authentication",
        "source": "task-now.md",
        "items": [
            {
                "id": 1,
                "title": "How?",
                "location": {"file": "task-now.md", "start": 5, "end": 7},
                "context": "not said",
                "options": [
                    {"value": "jwt", "label": "JWT", "score": 85, "pros": ["a"], "cons": ["b"]},
                    {"value": "session", "label": "Session", "score": 70},
                ],
                "recommend": "jwt",
            },
            {
                "id": 2,
                "title": "Which?",
                "options": [
                    {"value": "bcrypt", "label": "bcrypt"},
                    {"value": "argon2", "label": "Argon2"},
                ],
            },
        ],
        **more,
    }


@st.composite
def items(draw: st.DrawFn, number: int) -> dict[str, Any]:
    kind = draw(st.sampled_from(["single", "multiple", "text"]))
    item: dict[str, Any] = {"id": number, "title": draw(LINE)}
    if draw(st.booleans()):
        item["context"] = draw(LINE)
    if draw(st.booleans()):
        start = draw(st.integers(1, 50))
        item["location"] = {
            "file": "a/b.txt",
            "start": start,
            "end": start + draw(st.integers(0, 9)),
        }
    if kind == "text":
        return {**item, "kind": kind, "recommend": draw(LINE)}
    values = draw(st.lists(LINE, min_size=2, max_size=5, unique=True))
    item["options"] = [{"value": value, "label": draw(LINE)} for value in values]
    if kind == "multiple":
        item |= {"kind": kind, "min": draw(st.integers(0, 2)), "max": len(values)}
        item["recommend"] = [values[0]]
    elif draw(st.booleans()):
        item["recommend"] = draw(st.sampled_from(values))
    return item


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    count = draw(st.integers(1, 3))
    return {
        "task": draw(LINE),
        "source": draw(LINE),
        "items": [draw(items(number)) for number in range(1, count + 1)],
    }
