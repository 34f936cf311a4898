"""The verbs about all projects: `inbox`, `today`, `projects`."""
