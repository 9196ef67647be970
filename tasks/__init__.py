"""Celery tasks over the ingest services; the only package that imports Celery and Redis."""
