"""Encoders behind ports: dense and sparse models, composition of windows, batching."""
