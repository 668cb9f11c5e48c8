"""
Several views in one pipeline
=============================

A sample may have several descriptions: here the pixels of a digit, how much ink its rows and columns hold, and numbers that
say nothing. :class:`~kernelcoding.kernels.MultipleKernel` weighs one kernel per view, and learns the weights.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import kernelcoding as kc
from kernelcoding.kernels import Gaussian, MultipleKernel, View

digits = load_digits()
samples = {
    "pixels": digits.data / 16,
    "ink": np.hstack([digits.images.sum(axis=1), digits.images.sum(axis=2)]),
    "noise": np.random.default_rng(0).normal(size=(len(digits.data), 10)),
}
X = kc.Views(samples)
train, test = train_test_split(np.arange(len(X)), train_size=400, random_state=0)
y = digits.target

# %%
# Views of any kind go together: vectors, histograms, covariance matrices, columns of a data frame.
views = [View("pixels", Gaussian("median")), View("ink", "chi2"), View("noise", Gaussian("median"))]
alignment = kc.KernelLearning(weights="alignment")
settings = {
    "pixels alone": (views[0], False),
    "ink alone": (views[1], False),
    "noise alone": (views[2], False),
    "equal weights": (MultipleKernel(views), False),
    "learned weights": (MultipleKernel(views), alignment),
}
accuracy, rules = {}, {}
for name, (kernel, learn_kernel) in settings.items():
    coder = kc.KernelSparseCoder(kernel, alpha=0.02, learn_kernel=learn_kernel)
    rules[name] = kc.ResidualClassifier(coder).fit(X[train], y[train])
    accuracy[name] = 100 * rules[name].score(X[test], y[test])
    print(f"{name}: {accuracy[name]:.1f} %")
weights = rules["learned weights"].coder_.kernel_.weights_

# %%
# The weights come from the alignment of each kernel with the labels: noise gets next to nothing.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
left.barh(list(samples), weights, color=["tab:blue", "tab:cyan", "0.6"])
left.set(xlabel="weight", title="learned weights of the views")
left.invert_yaxis()
bars = right.barh(list(accuracy), list(accuracy.values()), color=["tab:blue", "tab:cyan", "0.6", "0.4", "k"])
right.bar_label(bars, fmt="%.1f", padding=3)
right.set(xlabel="accuracy on new digits, %", xlim=(0, 112), title="residual rule, 400 training digits")
right.invert_yaxis()
plt.show()
