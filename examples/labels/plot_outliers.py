"""
Outliers by residual
====================

What the atoms of normal samples do not explain is an outlier. The score follows the shape of the data, and works for any
kernel, also of images or covariances.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons

import kernelcoding as kc
from kernelcoding.kernels import Gaussian

# %%
# In the plane: darker is more normal, the line is where 5 % of the training samples are outside.
points, _ = make_moons(250, noise=0.08, random_state=0)
detector = kc.KernelOutlierDetector(
    kc.KernelSparseCoder(Gaussian(gamma=8.0), alpha=0.05), contamination=0.05
).fit(points)
horizontal, vertical = np.meshgrid(np.linspace(-1.7, 2.7, 90), np.linspace(-1.2, 1.7, 60))
grid = np.column_stack([horizontal.ravel(), vertical.ravel()])
scores = detector.decision_function(grid).reshape(horizontal.shape)

# %%
# And on digits: a detector that knows ones and has to find everything else.
digits = load_digits()
X, y = digits.data / 16, digits.target
ones = kc.KernelOutlierDetector(kc.KernelSparseCoder("rbf", alpha=0.05)).fit(X[:900][y[:900] == 1])
value = ones.score_samples(X[900:])
strangest = np.flatnonzero(y[900:] == 1)[np.argsort(value[y[900:] == 1])[:8]]

figure = plt.figure(figsize=(12, 4), layout="constrained")
left, middle, right = figure.subplots(1, 3, width_ratios=[1.6, 1.4, 0.8])
left.contourf(horizontal, vertical, scores, levels=20, cmap="Blues")
left.contour(horizontal, vertical, scores, levels=[0], colors="k")
inside = detector.predict(points) == 1
left.scatter(*points[inside].T, s=6, color="w", edgecolors="0.3", linewidths=0.5)
left.scatter(*points[~inside].T, s=18, color="tab:red", label="5 % outliers")
left.legend()
left.set_title("decision function")
for label, name in ((True, "ones"), (False, "other digits")):
    middle.hist(value[(y[900:] == 1) == label], 30, alpha=0.6, density=True, label=name)
middle.axvline(ones.offset_, color="k", linestyle="--", label="threshold")
middle.set(xlabel="score", title="scores of new digits")
middle.legend()
right.imshow(np.block([[np.pad(X[900:][i].reshape(8, 8), 1) for i in row] for row in strangest.reshape(4, 2)]), cmap="gray_r")
right.set(xticks=[], yticks=[], title="strangest ones")
plt.show()
