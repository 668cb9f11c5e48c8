"""Algorithms on ``(K, k)``, one per file; the table is in ``formulations/penalised.py``."""
