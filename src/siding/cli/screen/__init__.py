"""What a person sees: tables, colours, words for times and sizes. Text of others is made inert."""
