"""
From a folder of images to labels
=================================

Sub-folders are classes; a pipeline goes from file names to labels. The command line does the same:
``kernelcoding fit folder/ --out model.kc``.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import kernelcoding as kc
from kernelcoding.aggregation import SpatialPyramid
from kernelcoding.images import DenseRootSIFT

# %%
# A folder for this example, with a sub-folder of pictures for each digit. Put your own in its place.
folder = Path(tempfile.mkdtemp())
digits = load_digits()
for number, (image, label) in enumerate(zip(digits.images[:600], digits.target[:600], strict=True)):
    place = folder / str(label)
    place.mkdir(exist_ok=True)
    pixels = Image.fromarray((255 - 15 * image).astype(np.uint8))
    pixels.resize((48, 48), Image.Resampling.BICUBIC).save(place / f"{number:04d}.png")

files = sorted(folder.glob("*/*.png"))
y = [file.parent.name for file in files]
files, test_files, y, y_test = train_test_split(files, y, random_state=0, stratify=y)

# %%
# Local descriptors, coded over visual words by LLC and pooled over parts of the picture, then a linear classifier.
model = make_pipeline(
    DenseRootSIFT(step=6),
    SpatialPyramid(kc.KernelLLC("linear", atoms=100, n_neighbors=5, random_state=0)),
    LinearSVC(C=10),
).fit(files, y)
print(f"accuracy on {len(test_files)} new files: {model.score(test_files, y_test):.3f}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
predicted = model.predict(test_files)
ConfusionMatrixDisplay.from_predictions(y_test, predicted, ax=left, colorbar=False, cmap="Blues")
wrong = [i for i, label in enumerate(y_test) if predicted[i] != label][:6]
shown = (wrong + [i for i in range(len(y_test)) if i not in wrong])[:6]
pictures = [np.asarray(Image.open(test_files[i])) for i in shown]
right.imshow(np.block([pictures[:3], pictures[3:]]), cmap="gray")
titles = ", ".join(f"{y_test[i]} as {predicted[i]}" for i in wrong) or "none"
right.set(xticks=[], yticks=[], title=f"wrong first ({titles})")
plt.show()
