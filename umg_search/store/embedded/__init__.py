"""The embedded engine: an index in one folder, for one process at a time, without any server.

Qdrant Edge holds the chunks (one shard a granularity), SQLite the ledger, the text blocks and the set's specification.
"""

from umg_search.store.embedded.engine import EmbeddedEngine

__all__ = ["EmbeddedEngine"]
