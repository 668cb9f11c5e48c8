"""A dictionary for each class, learned from its samples alone, joined into one.

``learner`` takes the half-steps of all classes side by side, ``estimator`` is what they add to
dictionary learning.
"""
