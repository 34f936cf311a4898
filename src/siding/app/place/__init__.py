"""Where a command works: the application, its project, their settings, locks and events."""
