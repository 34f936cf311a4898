"""The tools of each agent whose calls can be judged: which do nothing, what the others do."""
