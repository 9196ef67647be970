"""Ranking: pure stages from ranked lists to the contexts that are kept."""
