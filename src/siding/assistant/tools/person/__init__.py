"""The tools that are about the person: what is planned, and questions."""
