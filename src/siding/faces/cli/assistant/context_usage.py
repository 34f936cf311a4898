"""What the context of a conversation consists of, in the words of Claude Code's stream of JSON."""

from typing import Any

from siding.assistant.agent import Agent

_OF_SERVER = "mcp__"
# Which colour a program gives a part is up to it; these are names that Claude Code uses.
_COLOURS = {"system prompt": "promptBorder", "tools": "inactive", "messages": "purple"}


def usage_of_context(agent: Agent) -> dict[str, Any]:
    """Return the answer to `get_context_usage`. All figures are estimated by length."""
    size = agent.context_size()
    parts = {
        "system prompt": size.system,
        "tools": sum(size.tools.values()),
        "messages": size.messages,
    }
    total = sum(parts.values())
    free = max(0, size.window - total)
    categories = [
        {"name": name, "tokens": tokens, "color": _COLOURS[name]} for name, tokens in parts.items()
    ]
    return {
        "categories": [*categories, {"name": "free space", "tokens": free, "color": "inactive"}],
        "totalTokens": total,
        "maxTokens": size.summed_up_at,
        "rawMaxTokens": size.window,
        "percentage": round(100 * total / size.window, 1),
        "model": agent.model,
        "isAutoCompactEnabled": True,
        "autoCompactThreshold": size.summed_up_at,
        "memoryFiles": [],
        "mcpTools": [
            {"name": name, "serverName": name.split("__")[1], "tokens": tokens, "isLoaded": True}
            for name, tokens in size.tools.items()
            if name.startswith(_OF_SERVER)
        ],
        "systemTools": [
            {"name": name, "tokens": tokens}
            for name, tokens in size.tools.items()
            if not name.startswith(_OF_SERVER)
        ],
        "agents": [],
        "gridRows": [],
    }
