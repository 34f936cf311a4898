"""Find the step that broke something."""
