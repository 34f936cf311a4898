"""A person's own settings of an agent, and how it is told in them to report for good."""
