"""The Codex CLI."""
