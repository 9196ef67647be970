"""umg-search: retrieval at several granularities on Elasticsearch and OpenSearch."""
