"""Evaluation: questions with known answers, methods over the same lists, measures, and their differences."""
