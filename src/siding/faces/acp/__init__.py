"""An agent of the Agent Client Protocol (ACP), for editors: each session is a conversation."""
