"""How a tool waits for the broker, and tells a model what was refused."""

from collections.abc import Callable
from typing import TypeVar

from anyio import to_thread
from mcp.server.mcpserver.exceptions import ToolError

from siding.ground.errors import SidingError

_Result = TypeVar("_Result")


async def told(ask: Callable[[], _Result]) -> _Result:
    """Ask in a thread; what is refused is told to the model with what to do."""
    try:
        return await to_thread.run_sync(ask, abandon_on_cancel=True)
    except SidingError as error:
        raise ToolError(": ".join(filter(None, (error.message, error.hint)))) from None
    except OSError as error:
        raise ToolError(f"Siding cannot be reached: {error}") from None
