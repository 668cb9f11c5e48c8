"""
A kernel and a prior of your own
================================

Any function of two stacks of samples is a kernel, any pair of a value and a proximal map a prior. Here words are compared by
the pieces they share, and a prior keeps every weight below a bound.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

import kernelcoding as kc

words = np.array(
    "kernel kernels colonel coding coder decoder decode atom atoms atomic atlas dictionary dictionaries diction sparse "
    "sparsity spark parse local locality locally location".split(),
    dtype=object,
)
pieces = CountVectorizer(analyzer="char_wb", ngram_range=(2, 4)).fit(words)


def shared_pieces(left, right):
    """Cosine of the counts of pieces of two to four letters: (n, m)."""
    counts = [pieces.transform(stack).toarray() for stack in (left, right)]
    units = [count / np.linalg.norm(count, axis=1, keepdims=True) for count in counts]
    return units[0] @ units[1].T


# %%
# A prior of your own has two methods for rows of codes: its value, and
# :math:`\\arg\\min_y \\tfrac12\\|y - v\\|^2 + t\\,r(y)`.
class Bounded:
    """The l1 norm of codes with entries of at most 0.3; infinite for others."""

    def value(self, codes):
        """Of each row, (n,)."""
        allowed = np.abs(codes).max(axis=1) <= 0.3 + 1e-9
        return np.where(allowed, np.abs(codes).sum(axis=1), np.inf)

    def prox(self, points, scale):
        """Shrink, then clip: (n, N)."""
        return np.clip(np.sign(points) * np.maximum(np.abs(points) - scale, 0), -0.3, 0.3)


query = np.array(["localised"], dtype=object)
coders = {
    "L1": kc.KernelCoder(shared_pieces, prior=kc.priors.L1(), constraint=kc.constraints.Free(), alpha=0.02),
    "own prior: at most 0.3": kc.KernelCoder(shared_pieces, prior=Bounded(), constraint=kc.constraints.Free(), alpha=0.02),
}
codes = {name: coder.fit(words).transform(query)[0] for name, coder in coders.items()}

# %%
# What "localised" is made of, by either prior.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True, layout="constrained")
shown = np.argsort(-codes["L1"])[:8][::-1]
for ax, (name, code) in zip(axes, codes.items(), strict=True):
    bars = ax.barh(words[shown].astype(str), code[shown], color="tab:blue")
    ax.bar_label(bars, fmt="%.2f", padding=3)
    ax.set(title=name, xlabel="weight", xlim=(0, 0.62))
plt.show()
