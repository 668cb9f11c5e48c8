"""
Supervised and task-driven coding with few atoms
================================================

With many atoms, a classifier on unsupervised codes is hard to beat. With few, labels help to choose them. (This example takes about half a minute.)
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import kernelcoding as kc

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16, y, train_size=700, random_state=0, stratify=y)
coder = kc.KernelSparseCoder("rbf", alpha=0.01)


def models(n_atoms):
    """Three ways to the same number of atoms."""
    settings = {"n_atoms": n_atoms, "n_landmarks": 150, "max_iter": 8, "random_state": 0}
    return {
        "unsupervised, then logistic regression": make_pipeline(
            kc.KernelDictionaryLearning(coder, **settings), LogisticRegression(C=100, max_iter=2000)
        ),
        "joint (logistic)": kc.SupervisedKernelCoding(coder, classifier="logistic", **settings),
        "task-driven (logistic)": kc.SupervisedKernelCoding(
            coder, classifier="logistic", training="task-driven", **settings
        ),
    }


# %%
# Joint training adds the classifier's loss to the coding objective; task-driven training moves the atoms along the gradient
# of the classification loss at plain codes.
sizes = [10, 20, 40]
errors = {}
for n_atoms in sizes:
    for name, model in models(n_atoms).items():
        error = 100 * (1 - model.fit(X, y).score(X_test, y_test))
        errors.setdefault(name, []).append(error)
        print(f"{n_atoms:3d} atoms, {name}: {error:.1f} % wrong")

# %%
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
for (name, values), marker in zip(errors.items(), "os^", strict=True):
    ax.plot(sizes, values, marker=marker, label=name)
ax.set_xscale("log", base=2)
ax.set_xticks(sizes, sizes)
ax.set(xlabel="atoms", ylabel="errors on new digits, %", ylim=(0, None), title="700 training digits")
ax.legend()
plt.show()
