"""Index sets on Elasticsearch, OpenSearch and the embedded engine, behind the Engine port."""
