"""
Learning a dictionary, and its history
======================================

Instead of all samples, 40 atoms that were learned: combinations of samples in the kernel's space. A pre-image shows, for
each, the point of the input space that comes closest to it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import kernelcoding as kc
from kernelcoding.displays import DictionaryDisplay, HistoryDisplay

X, y = load_digits(return_X_y=True)
X = X[:800] / 16
learner = kc.KernelDictionaryLearning(
    kc.KernelSparseCoder("rbf", alpha=0.05, positive=True), n_atoms=40, max_iter=15, random_state=0
).fit(X)

# %%
# The objective after every half-step: codes for fixed atoms, atoms for fixed codes. It never rises.
print(f"{learner.n_iter_} rounds, {learner.status_}")
print(f"objective {learner.objective_history_[0]:.4f} to {learner.objective_history_[-1]:.4f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
DictionaryDisplay.from_estimator(learner, (8, 8), X=X, n_columns=8, ax=left)
left.set_title("40 learned atoms (pre-images)")
HistoryDisplay.from_estimator(learner, ax=right)
right.set_title("mean objective")
plt.show()
