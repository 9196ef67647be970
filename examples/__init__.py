"""A demonstration on a small corpus of invented documents."""
