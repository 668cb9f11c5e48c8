"""Files of descriptors that several programs of this folder read.

``KERNELCODING_FEATURES=FOLDER python -m benchmarks.descriptors [virus fmd scene15]`` writes into
that folder what is not there yet, from the images in ``KERNELCODING_DATA``:

* ``virus.npz``: region covariances ``C`` of the textures, and labels ``y``;
* ``fmd.npz``: of photographs shrunk to 256 pixels, inside the masks, square roots of frequencies of
  800 words ``H`` and Fisher vectors ``F`` of 16 Gaussians and 48 principal components;
* ``scene15.npz``: square roots of frequencies of 800 words ``H``, training and test lists together.

Scales of channels, words and mixtures are learned once, without labels, from images of both parts
of all splits to come.
"""

import argparse
import time

import numpy as np

from kernelcoding.aggregation import FisherVector, ImageAggregator
from kernelcoding.datasets import fetch_fmd, fetch_scene15, fetch_virus
from kernelcoding.experiments.features.training_images import drawn_images
from kernelcoding.images import DenseRootSIFT, Masked, RegionCovariance, VisualWords

from . import data
from .kernel_accuracy import FEATURES

DRAWN, STEP, SIDE = 200, 6, 256


def words(images):
    """Square roots of frequencies of words, (n, 800)."""
    extractor = DenseRootSIFT(step=STEP, max_side=SIDE, n_jobs=1)
    found = VisualWords(800, extractor, n_samples=100_000, random_state=0)
    return found.fit(drawn_images(images, np.arange(len(images)), DRAWN)).transform(images)


def fisher_vectors(images):
    """Fisher vectors, (n, 1536)."""
    found = ImageAggregator(
        DenseRootSIFT(step=STEP, max_side=SIDE, n_jobs=1),
        FisherVector(16, n_pca=48, n_samples=None, random_state=0),
        n_samples=100_000,
        random_state=0,
    )
    return found.fit(drawn_images(images, np.arange(len(images)), DRAWN)).transform(images)


def virus():
    """Covariances of textures."""
    found = fetch_virus(data.DATA_HOME, False)
    return {"C": RegionCovariance(n_jobs=1).fit_transform(found.data), "y": found.target}


def fmd():
    """Words and Fisher vectors of materials."""
    found = fetch_fmd(data.DATA_HOME, False)
    images = [Masked(*pair) for pair in zip(found.data, found.masks, strict=True)]
    return {"H": words(images), "F": fisher_vectors(images), "y": found.target}


def scene15():
    """Words of scenes."""
    found = fetch_scene15(data.DATA_HOME)
    return {"H": words(found.data), "y": found.target}


FILES = {"virus": virus, "fmd": fmd, "scene15": scene15}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help=f"of {', '.join(FILES)}; default all")
    FEATURES.mkdir(parents=True, exist_ok=True)
    for name in parser.parse_args().files or FILES:
        path = FEATURES / f"{name}.npz"
        if path.exists():
            continue
        begin = time.perf_counter()
        np.savez_compressed(path, **FILES[name]())
        print(f"{path.name}: {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
