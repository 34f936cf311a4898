"""The agents that workflows call: each attempt at a call is a run of its task, recorded as any."""
