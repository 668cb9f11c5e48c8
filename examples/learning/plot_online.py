"""
Online learning from a stream
=============================

``partial_fit`` learns from batches that are seen once. Here the stream changes: after sixty batches, digits five to nine
take the place of zero to four. ``forgetting`` says how much the past counts.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import kernelcoding as kc

X, y = load_digits(return_X_y=True)
X = X / 16
random = np.random.default_rng(0)
low, high = X[y < 5], X[y >= 5]
landmarks = X[random.choice(len(X), 150, replace=False)]


def stream():
    """Batches of 30 digits."""
    for source in [low] * 60 + [high] * 60:
        yield source[random.choice(len(source), 30, replace=False)]


# %%
# Each batch is coded before it is learned from: its error says how well the dictionary of that moment explains new samples.
learners = {
    forgetting: kc.KernelDictionaryLearning(
        kc.KernelSparseCoder("rbf", alpha=0.05), n_atoms=25, landmarks=landmarks, forgetting=forgetting
    )
    for forgetting in (1.0, 0.9)
}
errors = {forgetting: [] for forgetting in learners}
for batch in stream():
    for forgetting, learner in learners.items():
        if hasattr(learner, "dictionary_"):
            errors[forgetting].append(learner.reconstruction_error(batch).mean())
        learner.partial_fit(batch)

# %%
# A dictionary that remembers everything adapts slowly, because old samples keep their say; one that forgets is back in a
# few batches, and is noisier.
figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
for forgetting, values in errors.items():
    smooth = np.convolve(values, np.ones(5) / 5, mode="valid")
    ax.plot(np.arange(len(smooth)) + 5, smooth, label=f"forgetting={forgetting}")
ax.axvline(60, color="0.5", linestyle=":", label="other digits")
ax.set(xlabel="batch", ylabel="squared error of the next batch", title="25 atoms, mean over five batches")
ax.legend()
plt.show()
