"""The Gemini CLI."""
