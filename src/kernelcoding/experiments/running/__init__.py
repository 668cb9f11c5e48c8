"""From the description of an experiment to its records: split, search, fit, score, write."""
