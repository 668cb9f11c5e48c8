"""
Residual classification, and unknown classes
============================================

A sample is coded over the atoms of all classes; the class whose own part of the code explains it best wins. How much of a
code belongs to one class says whether the sample belongs to any: eights and nines are unknown to this classifier.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import train_test_split

import kernelcoding as kc

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16, y, train_size=0.5, random_state=0, stratify=y)
known = y < 8
model = kc.ResidualClassifier(kc.KernelSparseCoder("rbf", alpha=0.02)).fit(X[known], y[known])

# %%
# Digits of known classes are told apart; :meth:`~kernelcoding.ResidualClassifier.concentration` of the others is low.
is_known = y_test < 8
print(f"accuracy on zero to seven: {model.score(X_test[is_known], y_test[is_known]):.3f}")
concentration = model.concentration(X_test)

# %%
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
bins = np.linspace(0, 1, 25)
left.hist(concentration[is_known], bins, alpha=0.6, density=True, label="0 to 7")
left.hist(concentration[~is_known], bins, alpha=0.6, density=True, label="8 and 9, never seen")
left.set(xlabel="concentration of the code", title="codes of unknown classes are spread")
left.legend()
RocCurveDisplay.from_predictions(is_known, concentration, name="concentration", ax=middle)
middle.set_title("known or unknown")
order = np.argsort(concentration)[:16]
right.imshow(np.block([[np.pad(X_test[i].reshape(8, 8), 1) for i in row] for row in order.reshape(4, 4)]), cmap="gray_r")
right.set(xticks=[], yticks=[], title="the sixteen most doubtful")
plt.show()
