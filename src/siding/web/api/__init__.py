"""The JSON API: the same facts and acts as the pages, described by one OpenAPI document."""
