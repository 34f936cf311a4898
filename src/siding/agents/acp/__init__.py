"""Agents that speak the Agent Client Protocol (ACP, version 1) over standard input and output.

- One prompt (`agents.headless`): a run of such an agent is a run of `bridge_program`. It starts the
  agent in the workspace, gives it the prompt, answers what it asks, and prints what it says as
  events. So it is recorded, stopped and sandboxed like any other run.
- A conversation (`agents.talking`): `talker` holds the agent, and `habits` is what differs from one
  to the other. It reads and writes the messages itself: the SDK takes 41 MiB and 0.4 s.
"""
