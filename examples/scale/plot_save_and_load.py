"""
Saving and loading safely
=========================

A model file holds arrays and a description, no code: loading one from anybody can give a wrong model at worst. Whole
scikit-learn pipelines go in.
"""

import pickle
import tempfile
import zipfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import kernelcoding as kc

X, y = load_digits(return_X_y=True)
model = make_pipeline(
    StandardScaler(with_std=False), kc.KernelSparseCoder("rbf", atoms=200, alpha=0.02, random_state=0), LinearSVC()
).fit(X[:900], y[:900])

# %%
# One call each; what comes back answers the same, bit for bit.
path = Path(tempfile.mkdtemp()) / "model.kc"
kc.save(model, path)
loaded = kc.load(path)
same = np.array_equal(model.decision_function(X[900:]), loaded.decision_function(X[900:]))
print("same answers:", same)

# %%
# A file that is damaged, or something else, is refused with a sentence.
damaged = path.with_name("damaged.kc")
damaged.write_bytes(path.read_bytes()[:-2000])
try:
    kc.load(damaged)
except kc.persistence.ModelFileError as error:
    print(type(error).__name__)

# %%
# What is inside: arrays by size, of a file that is about as large as a pickle, which could run anything.
with zipfile.ZipFile(path) as archive:
    parts = sorted(((entry.compress_size, entry.filename) for entry in archive.infolist()), reverse=True)
sizes = {"model file": path.stat().st_size, "pickle": len(pickle.dumps(model))}
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
left.barh([name for _, name in parts[:8]], [size / 1e3 for size, _ in parts[:8]], color="tab:blue")
left.invert_yaxis()
left.set(xlabel="kB", title=f"{len(parts)} parts of the file, the eight largest")
bars = right.bar(list(sizes), [size / 1e3 for size in sizes.values()], color=["tab:blue", "0.6"], width=0.5)
right.bar_label(bars, fmt="%.0f kB")
right.set(ylabel="kB", title="size on disk")
right.margins(y=0.15)
plt.show()
