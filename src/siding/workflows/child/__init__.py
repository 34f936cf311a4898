"""The process in which a workflow's script runs. It imports nothing outside this folder."""
