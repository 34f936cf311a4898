"""The tool TodoWrite: the list of what is to be done."""

from collections.abc import Mapping, Sequence
from typing import Any

from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.spec import choice, failed, part, several, spec_of, text

_MOST_ITEMS = 100
_DOING = "in_progress"


class Todos:
    """The list of one conversation."""

    def __init__(self) -> None:
        self.items: Sequence[Mapping[str, Any]] = ()


class TodoWrite:
    """Replaces the list."""

    def __init__(self, todos: Todos) -> None:
        self._todos = todos
        item = part(
            {
                "content": text("what is to be done", minLength=1),
                "status": choice("how it stands", "pending", _DOING, "completed"),
                "activeForm": text("what is being done, as the person reads it", minLength=1),
            },
            "content",
            "status",
            "activeForm",
        )
        self.spec = spec_of(
            __file__,
            "TodoWrite",
            {"todos": several("the whole list", item, maxItems=_MOST_ITEMS)},
            "todos",
        )

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return False  # two lists side by side would come in any order

    def use(self, _given: Mapping[str, Any], /) -> Use:
        return Use(text="TodoWrite", in_conversation=True)

    async def run(self, call: Call) -> Result:
        new = call.given["todos"]
        doing = [each["content"] for each in new if each["status"] == _DOING]
        if len(doing) > 1:
            return failed(f"Only one item can be in progress; {len(doing)} are. Nothing was kept.")
        old, self._todos.items = self._todos.items, tuple(new)
        done = sum(each["status"] == "completed" for each in new)
        text = f"The list was kept: {done} of {len(new)} done."
        if doing:
            text += f" Go on with: {doing[0]}"
        details = {"oldTodos": list(old), "newTodos": list(new)}
        return Result(text, shown=f"{done} of {len(new)} done", details=details)
