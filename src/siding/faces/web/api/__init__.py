"""The JSON API: it has the data and acts of the pages, and one OpenAPI document describes it."""
