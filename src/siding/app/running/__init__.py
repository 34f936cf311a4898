"""Commands run in a task and recorded as steps; checkpoints."""
