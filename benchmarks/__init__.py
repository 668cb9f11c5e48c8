"""Speed as ratios to peers, measured in one run: ``python -m benchmarks [suite ...]``."""
