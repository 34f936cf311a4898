"""The tools of opencode. Tried with 1.18."""

from siding.agents.tool_words import (
    ToolTable,
    fetched,
    patched,
    read,
    written,
)

# Helpers and skills do nothing themselves: their calls are reported as those of the session are.
_HARMLESS = """
    codesearch glob invalid list list_mcp_resource_templates list_mcp_resources lsp plan_enter
    plan_exit question read_mcp_resource skill task todoread todowrite websearch
"""
TOOLS = ToolTable(
    shell="bash",
    touching={
        "read": {"filePath": read},
        "grep": {"path": read},
        "write": {"filePath": written},
        "edit": {"filePath": written},
        "multiedit": {"filePath": written},
        "patch": {"patchText": patched},
        "apply_patch": {"patchText": patched},
        "webfetch": {"url": fetched},
    },
    optional=frozenset({"grep"}),
    harmless=frozenset(_HARMLESS.split()),
    own="siding_",
)
