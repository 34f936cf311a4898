"""The tab in which a person talks with the agent of a task."""
