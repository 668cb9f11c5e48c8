"""Experiments: declarative descriptions of what is run, and the records they leave."""
