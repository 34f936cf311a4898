"""The tools of Codex, as its hooks name them. Tried with 0.169."""

from siding.agents.tool_words import (
    ToolTable,
    patched,
    read,
    typed,
)

# It glues the name of a group to that of a tool: `collaborationspawn_agent`. The commands of a
# helper are reported as those of the session are.
_HELPERS = """
    followup_task interrupt_agent list_agents send_message spawn_agent wait_agent close_agent
    resume_agent send_input wait
"""
_HARMLESS = """
    create_goal get_goal update_goal update_plan request_user_input tool_search web_search
    list_mcp_resources list_mcp_resource_templates read_mcp_resource
"""
TOOLS = ToolTable(
    shell="Bash",
    touching={
        "apply_patch": {"command": patched},
        "view_image": {"path": read},
        "write_stdin": {"chars": typed},
    },
    harmless=frozenset(
        [
            *_HARMLESS.split(),
            *(f"{group}{name}" for group in ("", "collaboration") for name in _HELPERS.split()),
        ]
    ),
)
