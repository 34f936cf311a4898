"""The verbs that go back and forth in the steps of a task."""
