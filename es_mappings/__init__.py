"""The index schema as reviewed JSON: one folder per engine, one file per kind of index."""
