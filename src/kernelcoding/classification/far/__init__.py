"""Supervised learning from samples of Dask: passes over blocks that stay with the workers.

``learner`` takes the half-steps of joint training, ``codes`` fits classifiers to the codes that a
pass leaves with the workers, and ``newton`` finishes those of one class against the rest.
"""
