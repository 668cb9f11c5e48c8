"""Learning from batches: coordinates, atoms and two sums are all that is kept.

``state`` learns from one more batch, ``estimator`` is what batches add to dictionary learning.
"""
