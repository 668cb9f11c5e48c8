"""From pictures to a model: descriptors, then the search on what they make of the pictures."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from ..aggregation import FisherVector, ImageAggregator
from ..images import DenseRootSIFT, Masked, RegionCovariance, VisualWords, load_folder
from ..images.folders import mask_of, pictures_and_masks, pictures_in
from ..model_search import Choices, Watch
from ..records import EvaluationRecord
from ..tables import LabelledSamples
from .fitting import FittedModel, fit_model
from .left_out import evaluate_left_out
from .parts import steps_of
from .preparing import Prepared

FISHER, COVARIANCE, WORDS, AUTO = "fisher", "covariance", "words", "auto"
KERNELS = {FISHER: "rbf", COVARIANCE: "log-euclidean", WORDS: "rbf"}
MAX_SIDE = 256  # longer pictures are shrunk
LEARNED_FROM = 200  # pictures that words and mixtures are learned from
CHUNK = 16  # pictures that are described at a time, for the bar
EXTRACTORS = (ImageAggregator, RegionCovariance, VisualWords)


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures with what they are called and, where known, their classes."""

    images: list[Any]  # paths, or masked ones
    names: list[str]
    labels: NDArray | None


def is_picture_model(model: BaseEstimator) -> bool:
    """Whether a model takes pictures."""
    _, first = steps_of(model)[0]
    return isinstance(first, EXTRACTORS)


def labelled_pictures(folder: Path, masks: Path | None) -> Pictures:
    """The pictures of a folder whose sub-folders are classes."""
    found = load_folder(folder, masks)
    images: list[Any] = found.files
    if found.masks is not None:
        pairs = zip(found.files, found.masks, strict=True)
        images = [Masked(Path(image), Path(mask)) for image, mask in pairs]
    return Pictures(images, found.files, np.array(found.labels))


def any_pictures(paths: Sequence[Path]) -> Pictures:
    """Pictures given one by one or as folders, without labels; with masks where a folder has them.

    Parameters
    ----------
    paths : sequence of Path
    """
    images: list[Any] = []
    names: list[str] = []
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist.")
        root, masks = pictures_and_masks(path) if path.is_dir() else (path, None)
        if masks is None:  # then all pictures count, whatever the folders are called
            files = pictures_in(path) if path.is_dir() else [path]
            images += map(str, files)
        else:
            files = pictures_in(root)
            images += [Masked(file, Path(mask_of(file, root, masks))) for file in files]
        names += map(str, files)
    if not names:
        raise ValueError(f"There are no pictures in {', '.join(map(str, paths))}.")
    return Pictures(images, names, None)


def extractor(kind: str, choices: Choices) -> BaseEstimator:
    """What describes pictures, not fitted."""
    if kind == COVARIANCE:
        return RegionCovariance(max_side=MAX_SIDE, n_jobs=choices.n_jobs)
    sift = DenseRootSIFT(step=4, max_side=MAX_SIDE, n_jobs=choices.n_jobs)
    if kind == WORDS:
        return VisualWords(400, sift, n_samples=100_000, random_state=choices.seed)
    fisher = FisherVector(32, n_pca=48, n_samples=None, random_state=choices.seed)
    return ImageAggregator(sift, fisher, n_samples=100_000, random_state=choices.seed)


def described(kind: str, pictures: Pictures, choices: Choices, watch: Watch | None) -> tuple:
    """A fitted extractor and what it makes of the pictures.

    Parameters
    ----------
    kind : str
        "fisher", "covariance" or "words".
    pictures : Pictures
    choices : Choices
    watch : callable or None
        Told what is done, how many steps are done and how many there are.
    """
    images, made = pictures.images, extractor(kind, choices)
    few = np.random.default_rng(choices.seed).permutation(len(images))[:LEARNED_FROM]
    n_steps = 1 + -(-len(images) // CHUNK)
    tell = watch or (lambda *_: None)
    tell(f"learning {kind}", 0, n_steps)
    made.fit([images[i] for i in np.sort(few)])
    parts = []
    for start in range(0, len(images), CHUNK):
        tell(f"{kind} of pictures", 1 + start // CHUNK, n_steps)
        parts.append(np.asarray(made.transform(images[start : start + CHUNK]), dtype=np.float64))
    return made, np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class FittedPictures:
    """A model of pictures, and the same without what describes them, with the descriptors."""

    whole: FittedModel
    inner: FittedModel
    descriptors: LabelledSamples

    def left_out(self, seed: int) -> EvaluationRecord:
        """How the model would have done on a quarter of the pictures; all taught descriptors."""
        return evaluate_left_out(self.descriptors, Prepared(()), self.inner, None, seed)


def fit_pictures(
    pictures: Pictures, features: str, choices: Choices, effort: str, watch: Watch | None = None
) -> FittedPictures:
    """Describe pictures, search on the descriptors, and keep both in one pipeline.

    Descriptors learn without labels, once, from some of all pictures; the search leaves out
    pictures after that.

    Parameters
    ----------
    pictures : Pictures
        With labels.
    features : str
        "fisher", "covariance", "words", or "auto" for the better of the first two.
    choices : Choices
    effort : str
    watch : callable, default=None
    """
    kinds = (FISHER, COVARIANCE) if features == AUTO else (features,)
    if features == AUTO and effort == "none":
        kinds = (FISHER,)
    start = time.perf_counter()
    found = {kind: _fitted_to(kind, pictures, choices, effort, watch) for kind in kinds}
    means = {kind: _mean(each.inner) for kind, each in found.items()}
    best = max(kinds, key=lambda kind: means[kind])
    about = found[best].whole.about
    about["seconds"] = round(time.perf_counter() - start, 3)
    about["features"] = best
    about["features_compared"] = {kind: round(100 * mean, 2) for kind, mean in means.items()}
    about["shape"] = [len(pictures.images)]
    return found[best]


def _fitted_to(
    kind: str, pictures: Pictures, choices: Choices, effort: str, watch: Watch | None
) -> FittedPictures:
    """A model of one kind of descriptors."""
    made, vectors = described(kind, pictures, choices, watch)
    samples = LabelledSamples(vectors, pictures.labels)
    own = replace(choices, kernel=KERNELS[kind])
    inner = fit_model(samples, Prepared(()), own, effort, None, watch)
    whole = replace(inner, model=Pipeline([("features", made), *steps_of(inner.model)]))
    return FittedPictures(whole, inner, samples)


def _mean(found: FittedModel) -> float:
    return 0.0 if found.outcome is None else found.outcome.kept.trial.mean
