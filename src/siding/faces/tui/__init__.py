"""The terminal: one screen over all projects, and each task in it. Nothing else loads Textual."""
