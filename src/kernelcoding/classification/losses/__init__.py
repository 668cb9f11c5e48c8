"""The mathematics of classifiers of codes, one loss per file: arrays in, arrays out.

Squared errors have a closed form (``ridge``). The hinge and the logistic loss of one class against
the rest share their descent (``one_vs_rest``). ``multinomial`` is the logistic loss of all classes
at once. Nothing here knows a rule, a learner or an estimator.
"""
