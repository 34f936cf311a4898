"""Siding's own agent: a prompt once more. It takes the options of Claude Code."""

from siding.agents.claude.again import again as again
