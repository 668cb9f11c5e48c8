"""The half-steps of dictionary learning: codes for the present atoms, atoms for the present codes.

``coding`` passes over the samples and sums up what atoms need. ``learner`` takes both half-steps
for atoms that are combinations of landmarks, ``point_learner`` for points of the input space.
``refresh`` gives unused atoms and twins another place, and ``protocol`` says what the loop asks of
a learner.
"""
