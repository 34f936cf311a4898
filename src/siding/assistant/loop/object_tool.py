"""The tool by which a model hands over the object that was asked for."""

from collections.abc import Mapping
from typing import Any

from siding.assistant.tools.port import Call, Result, ToolSpec, Use

NAME = "StructuredOutput"


class ObjectTool:
    """Takes one object that fits a schema. `is_there`: it was handed over."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.value: Any = None
        self.is_there = False
        self._spec = ToolSpec(
            name=NAME,
            description="Hand over the result of the whole task. Call it once, at the end.",
            schema=schema,
        )

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return True

    def use(self, _given: Mapping[str, Any], /) -> Use:
        return Use(text="hands over the result")

    async def run(self, call: Call) -> Result:
        self.value, self.is_there = call.given, True
        return Result("It was taken. The task is done.", shown="the result")
