"""The recorder: projects, tasks, workspaces, runs, steps, and how states are kept."""
