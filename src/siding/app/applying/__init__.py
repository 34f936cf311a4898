"""A task's change switched onto the main line, or offered as a pull request."""
