"""The tools of the Gemini CLI. Tried with 0.61."""

from siding.agents.tool_words import (
    ToolTable,
    addressed,
    fetched,
    read,
    written,
)
from siding.shellguard.face import Effect

# Helpers do nothing themselves: their calls are reported as those of the session are.
_HARMLESS = """
    activate_skill ask_user codebase_investigator cli_help complete_task enter_plan_mode
    exit_plan_mode generalist get_internal_docs glob google_web_search invoke_agent list_directory
    list_background_processes read_background_output update_topic write_todos
    tracker_add_dependency tracker_create_task tracker_get_task tracker_list_tasks
    tracker_update_task tracker_visualize
"""
TOOLS = ToolTable(
    shell="run_shell_command",
    touching={
        "read_file": {"file_path": read, "absolute_path": read},
        "read_many_files": {"include": read, "paths": read},
        "search_file_content": {"dir_path": read, "path": read},
        "grep_search": {"dir_path": read, "path": read},
        "write_file": {"file_path": written},
        "replace": {"file_path": written},
        "web_fetch": {"prompt": addressed, "url": fetched},
    },
    optional=frozenset({"search_file_content", "grep_search"}),
    acting={"save_memory": lambda _given: ((Effect.WRITES, "~/.gemini/GEMINI.md"),)},
    harmless=frozenset(_HARMLESS.split()),
    own="mcp_siding_",
)
