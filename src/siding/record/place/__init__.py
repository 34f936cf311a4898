"""The surroundings of a command: the application, its project, their settings, locks and events."""
