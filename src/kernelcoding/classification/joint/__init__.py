"""Joint training: codes, atoms, classifier and, where asked, the kernel, in turn.

``labelled`` is the formulation of codes that look at labels, ``learner`` takes the half-steps, and
``trial`` decides whether labels help at all. ``kernel`` adds the kernel as one more half-step of a
quotient (``ratio``), which samples left out may reject (``veto``).
"""
