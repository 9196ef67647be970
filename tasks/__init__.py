"""Celery tasks over the ingest services."""
