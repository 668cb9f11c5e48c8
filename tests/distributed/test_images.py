"""Images and sets of descriptors in blocks: descriptors, vectors, and codebooks drawn from all."""

import dask
import dask.array as da
import dask.bag as db
import numpy as np
import pytest

from kernelcoding import aggregation, images
from kernelcoding.aggregation import ImageAggregator

pytest.importorskip("cv2")

N_IMAGES = 7
CUTS = (3, 4)  # blocks of three, one and three images


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Files of pictures, one of which is none."""
    import cv2

    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    found = []
    for number in range(N_IMAGES):
        path = folder / f"{number}.png"
        cv2.imwrite(str(path), rng.integers(0, 256, (40, 48), dtype=np.uint8))
        found.append(str(path))
    return found


@pytest.fixture(autouse=True)
def _threads():
    with dask.config.set(scheduler="threads"):
        yield


def as_dask(paths):
    """The same paths in every lazy form."""
    cut = [list(part) for part in np.split(np.array(paths), CUTS)]
    return {
        "array": da.from_array(np.array(paths), chunks=((3, 1, 3),)),
        "bag": db.from_sequence(paths, npartitions=3),
        "delayed": [dask.delayed(part) for part in cut] + [dask.delayed([])],
    }


def aggregator(**changes):
    vlad = aggregation.VLAD(n_words=3, random_state=0)
    return ImageAggregator(images.DenseRootSIFT(step=8, **changes), vlad, n_samples=60)


KINDS = ["array", "bag", "delayed"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:The lengths of the")
def test_images_are_learned_from_and_aggregated_block_by_block(kind, paths):
    lazy = as_dask(paths)[kind]
    local, far = aggregator().fit(paths), aggregator().fit(lazy)
    np.testing.assert_array_equal(far.aggregator_.words_, local.aggregator_.words_)
    vectors = far.transform(lazy)
    assert isinstance(vectors, da.Array)
    assert vectors.dtype == np.float32
    assert vectors.shape[1] == 3 * 128
    if kind == "array":
        assert vectors.chunks[0] == (3, 1, 3)
    np.testing.assert_array_equal(vectors.compute(), local.transform(paths))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:The lengths of the")
@pytest.mark.parametrize("n_components", [None, 2])
def test_codebooks_are_those_of_images_in_one_list(kind, n_components, paths):
    words = images.VisualWords(
        n_words=4, n_samples=70, descriptors=images.DenseRootSIFT(step=8), n_components=n_components
    )
    lazy = as_dask(paths)[kind]
    local = words.fit(paths)
    expected, codebook = local.transform(paths), local.words_
    far = words.fit(lazy)
    np.testing.assert_array_equal(far.words_, codebook)
    found = far.transform(lazy)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.compute(), expected, rtol=0, atol=1e-6)


def test_descriptors_stay_in_delayed_blocks_and_feed_aggregators(paths):
    extractor = images.DenseRootSIFT(step=8)
    local = extractor.transform(paths)
    blocks = extractor.transform(as_dask(paths)["array"])
    assert [len(block) for block in dask.compute(*blocks)] == [3, 1, 3]
    fitted = [
        aggregation.VLAD(n_words=3, random_state=0).fit(local),
        aggregation.FisherVector(n_components=2, n_pca=4, random_state=0).fit(local),
        aggregation.KernelVLAD(n_words=3, n_landmarks=8, random_state=0).fit(local),
        aggregation.KernelFisherVector(n_components=2, n_axes=3, random_state=0).fit(local),
    ]
    for model in fitted:
        found = model.transform(blocks)
        assert found.numblocks[0] == 3
        np.testing.assert_allclose(found.compute(), model.transform(local), atol=1e-5)
        with pytest.raises(ValueError, match="would all be computed in this process"):
            model.fit(blocks)


def test_covariances_and_faces_of_stacks_of_images(paths):
    pixels = np.random.default_rng(1).integers(0, 256, (5, 12, 10), dtype=np.uint8)
    lazy = da.from_array(pixels, chunks=(2, 12, 10))
    channels = [images.Intensity(), images.Derivatives()]
    for embed in (False, True):
        local = images.RegionCovariance(channels, embed_mean=embed).fit(pixels)
        far = images.RegionCovariance(channels, embed_mean=embed).fit(lazy)
        np.testing.assert_array_equal(far.deviations_, local.deviations_)
        assert far.channel_names_ == local.channel_names_
        found = far.transform(lazy)
        assert found.shape == local.transform(pixels).shape
        np.testing.assert_array_equal(found.compute(), local.transform(pixels))
    faces = images.RandomFaces(n_components=4).fit(pixels)
    np.testing.assert_allclose(faces.transform(lazy).compute(), faces.transform(pixels), rtol=1e-12)
    with pytest.raises(ValueError, match="would all be computed in this process"):
        images.RandomFaces().fit(lazy)


@pytest.mark.filterwarnings("ignore:Skipped:UserWarning")
def test_images_that_cannot_be_read_leave_rows_out(paths, tmp_path):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"none")
    given = [*paths[:3], str(broken), *paths[3:]]
    lazy = da.from_array(np.array(given), chunks=4)
    far = aggregator(on_error="skip").fit(lazy)
    assert far.skipped_ == [3]
    vectors = far.transform(lazy)
    assert np.isnan(vectors.shape[0])
    assert vectors.compute().shape[0] == len(paths)


def test_images_of_dask_are_not_read_here_by_surprise(paths):
    with pytest.raises(ValueError, match="would all be read in this process"):
        images.DenseRootSIFT().map(as_dask(paths)["array"], lambda index, record: index)
