"""The runs of workflows on the dashboard: agents as rows, the timeline, the live stream."""
