"""Output for a person: tables, colours, words for times and sizes; untrusted text is made inert."""
