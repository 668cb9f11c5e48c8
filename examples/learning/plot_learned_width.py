"""
A learned width
===============

``learn_kernel=True`` finds the width of a kernel without labels: it minimises the coding objective, relative to how far
the atoms are apart. With labels, ``criterion="held-out"`` minimises the loss of samples left out.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import kernelcoding as kc
from kernelcoding.kernels import Gaussian

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16, y, train_size=300, random_state=0)

# %%
# Three ways to a width, and the accuracy of the residual rule at many others.
found = {
    '"median"': kc.KernelSparseCoder(Gaussian("median")).fit(X, y),
    "learned, ratio": kc.KernelSparseCoder(Gaussian("median"), learn_kernel=True).fit(X),
    "learned, held-out": kc.KernelSparseCoder(
        Gaussian("median"), learn_kernel=kc.KernelLearning(criterion="held-out")
    ).fit(X, y),
}
for name, coder in found.items():
    print(f"{name}: gamma = {coder.kernel_.gamma:.4f}")

gammas = np.geomspace(1e-3, 0.4, 9)
rules = [kc.ResidualClassifier(kc.KernelSparseCoder(Gaussian(gamma))).fit(X, y) for gamma in gammas]
accuracies = [100 * rule.score(X_test, y_test) for rule in rules]

# %%
# The width is a matter of decades, not of digits: each rule lands on the plateau.
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
ax.semilogx(gammas, accuracies, marker="o", color="0.5", label="accuracy on new digits")
for (name, coder), colour in zip(found.items(), ["tab:blue", "tab:green", "tab:red"], strict=True):
    ax.axvline(coder.kernel_.gamma, color=colour, label=name, linestyle="--")
ax.set(xlabel="gamma", ylabel="accuracy, %", title="300 training digits, every one an atom")
ax.legend()
plt.show()
