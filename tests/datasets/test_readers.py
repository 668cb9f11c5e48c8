"""Official layouts, on small trees, and the real lists and files where they are here."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.io import savemat

from helpers import trees
from kernelcoding import datasets
from kernelcoding.datasets.files import read_pgm

# ---------------------------------------------------------------- Extended YaleB


def test_cropped_yale_reads_faces_and_nothing_else(tmp_path, rng):
    faces = trees.cropped_yale(tmp_path / "yaleb" / "CroppedYale", rng)
    bunch = datasets.fetch_yaleb(tmp_path, download_if_missing=False)
    assert sorted(bunch.files) == sorted(faces)
    for name, image, row, label in zip(
        bunch.files, bunch.images, bunch.data, bunch.target, strict=True
    ):
        assert_array_equal(image, faces[name])
        assert_array_equal(row, faces[name].ravel())
        assert name.startswith(bunch.target_names[label])
    assert_array_equal(bunch.target_names, ["yaleB01", "yaleB02", "yaleB13", "yaleB15"])
    assert bunch.train is None
    assert "Georghiades" in bunch.DESCR


@pytest.mark.parametrize("below", ["CroppedYale", "yaleb", "yaleb/CroppedYale", ""])
def test_cropped_yale_is_found_where_people_put_it(tmp_path, rng, below):
    trees.cropped_yale(tmp_path / below, rng)
    X, y = datasets.fetch_yaleb(tmp_path, download_if_missing=False, return_X_y=True)
    assert len(X) == len(y) == 12


@pytest.mark.parametrize("comment", [b"", b"# made by hand\n", b"# one\n# two\n"])
def test_pgm_agrees_with_opencv(tmp_path, rng, comment):
    cv2 = pytest.importorskip("cv2")
    pixels = rng.integers(0, 256, (7, 5), dtype=np.uint8)
    pixels[0, :4] = [10, 32, 35, 9]  # white space and a comment sign right after the header
    path = trees.write(tmp_path / "a.pgm", trees.pgm(pixels, comment))
    assert_array_equal(read_pgm(path), pixels)
    assert_array_equal(cv2.imread(str(path), cv2.IMREAD_UNCHANGED), pixels)


def test_yaleb_bad_trees(tmp_path, rng):
    folder = tmp_path / "CroppedYale"
    (folder / "yaleB01").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"Expected \*.pgm files in .*, got none"):
        datasets.fetch_yaleb(tmp_path)
    trees.write(folder / "yaleB01" / "a.pgm", "P2\n1 1\n255\n0")
    with pytest.raises(ValueError, match=r"Expected a binary PGM file .*a.pgm is none"):
        datasets.fetch_yaleb(tmp_path)
    trees.write(folder / "yaleB01" / "a.pgm", trees.pgm(np.zeros((4, 4)))[:-1])
    with pytest.raises(ValueError, match="cut off: 15 of 16 pixels"):
        datasets.fetch_yaleb(tmp_path)
    trees.write(folder / "yaleB01" / "a.pgm", trees.pgm(np.zeros((4, 4))))
    trees.write(folder / "yaleB01" / "b.pgm", trees.pgm(np.zeros((4, 5))))
    with pytest.raises(ValueError, match=r"one size: .*a.pgm is \(4, 4\), .*b.pgm is \(4, 5\)"):
        datasets.fetch_yaleb(tmp_path)
    with pytest.raises(ValueError, match=r"features to be one of \['images', .*got 'pixels'"):
        datasets.fetch_yaleb(tmp_path, features="pixels")


@pytest.fixture
def lcksvd(rng):
    labels_train, labels_test = np.array([2, 0, 1, 0, 2]), np.array([1, 1, 2])
    return {
        "training_feats": rng.normal(size=(6, 5)),
        "testing_feats": rng.normal(size=(6, 3)),
        "H_train": np.eye(3)[:, labels_train],
        "H_test": np.eye(3)[:, labels_test],
    }


def test_lcksvd_features_have_samples_in_columns(tmp_path, lcksvd):
    (tmp_path / "yaleb" / "trainingdata").mkdir(parents=True)
    savemat(tmp_path / "yaleb" / "trainingdata" / "featurevectors.mat", lcksvd)
    bunch = datasets.fetch_yaleb(tmp_path, features="lcksvd")
    assert_array_equal(bunch.data[bunch.train], lcksvd["training_feats"].T)
    assert_array_equal(bunch.data[bunch.test], lcksvd["testing_feats"].T)
    assert_array_equal(bunch.target[bunch.train], [2, 0, 1, 0, 2])
    assert_array_equal(bunch.target[bunch.test], [1, 1, 2])
    assert len(bunch.target_names) == 3


def test_lcksvd_bad_files(tmp_path, lcksvd):
    path = tmp_path / "featurevectors.mat"
    trees.write(path, "no MATLAB file, but long enough to have a header" * 9)
    with pytest.raises(ValueError, match="cannot be read as a MATLAB file"):
        datasets.fetch_yaleb(tmp_path, features="lcksvd")
    trees.write(path, b"")
    with pytest.raises(ValueError, match="cannot be read as a MATLAB file"):
        datasets.fetch_yaleb(tmp_path, features="lcksvd")
    savemat(path, {name: array for name, array in lcksvd.items() if name != "H_test"})
    with pytest.raises(ValueError, match=r"lacks \['H_test'\]"):
        datasets.fetch_yaleb(tmp_path, features="lcksvd")
    savemat(path, lcksvd | {"H_test": lcksvd["H_test"].T})
    with pytest.raises(ValueError, match=r"one column per sample"):
        datasets.fetch_yaleb(tmp_path, features="lcksvd")
    savemat(path, lcksvd | {"H_test": np.ones((3, 3))})
    with pytest.raises(ValueError, match=r"indicators with one 1 per column"):
        datasets.fetch_yaleb(tmp_path, features="lcksvd")


def test_prepared_faces_that_could_run_code_are_refused(tmp_path):
    np.savez(tmp_path / "faces_48x42.npz", X=np.array([print], dtype=object))
    with pytest.raises(ValueError, match="cannot be read as an NPZ file"):
        datasets.fetch_yaleb(tmp_path)
    np.savez(tmp_path / "faces_48x42.npz", X=np.zeros((2, 3, 3)), y=np.zeros(2))
    with pytest.raises(ValueError, match=r"lacks \['subject', 'files'\]"):
        datasets.fetch_yaleb(tmp_path)
    trees.write(tmp_path / "faces_48x42.npz", b"PK no zip file")
    with pytest.raises(ValueError, match="cannot be read as an NPZ file"):
        datasets.fetch_yaleb(tmp_path)


# ---------------------------------------------------------------- Virus


@pytest.mark.parametrize(("bits", "dtype"), [(8, np.uint8), (16, np.uint16)])
def test_virus_labels_and_copies(tmp_path, rng, bits, dtype):
    patches = rng.integers(0, 2**bits, (4, 5, 5)).astype(dtype)
    shown = {(1, 1): 0, (1, 2): 1, (2, 1): 2, (2, 10): 1, (2, 11): 3}  # (1, 2) is (2, 10) again
    for (label, sample), which in shown.items():
        path = (
            tmp_path / "virus" / "images" / f"class-{label:03d}-sample-{sample:03d}-{bits}bit.png"
        )
        trees.write(path, trees.png(patches[which], stamp=b"when\0" + bytes([65 + sample])))
    bunch = datasets.fetch_virus(tmp_path, bits=bits)
    assert_array_equal(bunch.target, [0, 0, 1, 1, 1])
    assert_array_equal(bunch.target_names, ["class-001", "class-002"])
    assert_array_equal(bunch.groups, [0, 1, 2, 1, 3])
    cv2 = pytest.importorskip("cv2")
    for path, which in zip(bunch.data, shown.values(), strict=True):
        assert_array_equal(cv2.imread(path, cv2.IMREAD_UNCHANGED), patches[which])


def test_virus_bad_trees(tmp_path):
    path = tmp_path / "class-001-sample-001-8bit.png"
    trees.write(path, trees.png(np.zeros((3, 3), np.uint16)))
    with pytest.raises(ValueError, match=r"Expected 8 bits in .*, got 16"):
        datasets.fetch_virus(tmp_path)
    trees.write(path, trees.png(np.zeros((3, 3), np.uint8))[:-9])
    with pytest.raises(ValueError, match=r"001-8bit.png is cut off after \d+ bytes"):
        datasets.fetch_virus(tmp_path)
    trees.write(path, "GIF89a")
    with pytest.raises(ValueError, match="Expected a PNG file"):
        datasets.fetch_virus(tmp_path)
    path.unlink()
    trees.write(tmp_path / "class-one-sample-001-8bit.png")
    with pytest.raises(ValueError, match=r"Expected class-CCC-sample-SSS-8bit.png"):
        datasets.fetch_virus(tmp_path)
    with pytest.raises(ValueError, match=r"bits to be one of \[8, 16\], got 12"):
        datasets.fetch_virus(tmp_path, bits=12)
    with pytest.raises(FileNotFoundError, match=r"(?s)cannot be downloaded.*virustexture.*16bit"):
        datasets.fetch_virus(tmp_path, bits=16)


# ---------------------------------------------------------------- FMD


def test_fmd_pairs_photographs_with_masks(tmp_path):
    trees.fmd(tmp_path / "fmd")
    bunch = datasets.fetch_fmd(tmp_path, download_if_missing=False)
    assert_array_equal(bunch.target, [0, 0, 0, 1, 1, 1])
    assert_array_equal(bunch.target_names, ["fabric", "wood"])
    for path, mask, file in zip(bunch.data, bunch.masks, bunch.files, strict=True):
        number = re.search(r"\d(?=\.jpg)", file)[0]
        assert Path(path).read_text() == f"image{file.split('/')[0]}{number}"
        assert Path(mask).read_text() == f"mask{file.split('/')[0]}{number}"


def test_fmd_bad_trees(tmp_path):
    folder = trees.fmd(tmp_path / "FMD")
    (folder / "mask" / "wood" / "wood_001.jpg").unlink()
    with pytest.raises(FileNotFoundError, match=r"1 of the 6 files .*masks.*wood_001.jpg"):
        datasets.fetch_fmd(tmp_path)
    for path in (folder / "image").glob("*/*"):
        path.unlink()
    with pytest.raises(ValueError, match=r"Expected photographs in .*, got none"):
        datasets.fetch_fmd(tmp_path)
    for path in (folder / "image").glob("*/"):
        path.rmdir() if path.is_dir() else path.unlink()
    with pytest.raises(ValueError, match="Expected one folder per class"):
        datasets.fetch_fmd(tmp_path)


def test_broken_copy_is_reported_and_not_downloaded_over(tmp_path):
    trees.write(tmp_path / "fmd" / "image" / "wood" / "a.jpg")
    with pytest.raises(FileNotFoundError, match=r"(?s)incomplete: mask is missing.*FMD.zip"):
        datasets.fetch_fmd(tmp_path)


# ---------------------------------------------------------------- MIT Indoor

TRAIN = ["office/a.jpg", "bar/concert hall.jpg", "bar/b.jpg"]
TEST = ["bar/z.jpg", "office/c.jpg"]


@pytest.mark.parametrize(
    ("subset", "files", "train", "test"),
    [
        ("all", TRAIN + TEST, [0, 1, 2], [3, 4]),
        ("train", TRAIN, [0, 1, 2], []),
        ("test", TEST, [], [0, 1]),
    ],
)
def test_indoor_subsets_keep_the_order_of_the_lists(tmp_path, subset, files, train, test):
    trees.scenes(tmp_path / "mit_indoor", TRAIN, TEST)
    trees.write(tmp_path / "mit_indoor" / "Images" / "bar" / "unlisted.jpg")
    bunch = datasets.fetch_mit_indoor(tmp_path, subset=subset)
    assert_array_equal(bunch.files, files)
    assert_array_equal(bunch.train, train)
    assert_array_equal(bunch.test, test)
    assert_array_equal(bunch.target_names, ["bar", "office"])
    assert_array_equal(bunch.target_names[bunch.target], [file.split("/")[0] for file in files])
    folder = tmp_path / "mit_indoor" / "Images"
    assert bunch.data == [str(folder / file) for file in files]


def test_indoor_official_lists(tmp_path):
    folder = trees.real("mit_indoor")
    whole = datasets.fetch_mit_indoor(folder, lists_only=True)
    assert len(whole.train) == 5360  # the page of the set: 67 categories of about 80 and 20
    assert len(whole.test) == 1340
    assert len(whole.target_names) == 67
    with pytest.raises(FileNotFoundError, match=r"not found in .* download_if_missing is False"):
        datasets.fetch_mit_indoor(folder, download_if_missing=False)
    # A small tree: the first training and the first test images of every category.
    kept = {}
    for part in ("train", "test"):
        _, first = np.unique(whole.target[whole[part]], return_index=True)
        kept[part] = whole[part][np.sort(first)]
    trees.scenes(tmp_path, *(list(whole.files[rows]) for rows in kept.values()))
    small = datasets.fetch_mit_indoor(tmp_path)
    rows = np.concatenate(list(kept.values()))
    assert_array_equal(small.files, whole.files[rows])
    assert_array_equal(small.target, whole.target[rows])
    assert_array_equal(small.target_names, whole.target_names)


def test_indoor_bad_trees(tmp_path):
    folder = trees.scenes(tmp_path / "mit_indoor", TRAIN, TEST)
    (folder / "Images" / "bar" / "b.jpg").unlink()
    with pytest.raises(FileNotFoundError, match=r"1 of the 5 files named by Train.* do not exist"):
        datasets.fetch_mit_indoor(tmp_path)
    assert len(datasets.fetch_mit_indoor(tmp_path, subset="test").data) == 2
    (folder / "TestImages.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"incomplete: TestImages.txt is missing"):
        datasets.fetch_mit_indoor(tmp_path)
    trees.write(folder / "TestImages.txt", "\n\n")
    with pytest.raises(ValueError, match=r"Expected names in .*TestImages.txt, got an empty list"):
        datasets.fetch_mit_indoor(tmp_path)
    for entry in ("../../passwd", "../a.jpg", "a.jpg", "bar/a/b.jpg", "/etc/a.jpg"):
        trees.write(folder / "TestImages.txt", "bar/z.jpg\n" + entry)
        with pytest.raises(ValueError, match=r"Expected <category>/<file> in .*\(entry 2\)"):
            datasets.fetch_mit_indoor(tmp_path)
    trees.write(folder / "TestImages.txt", "bar/b.jpg")
    with pytest.raises(ValueError, match=r"1 images are named in both lists .*bar/b.jpg"):
        datasets.fetch_mit_indoor(tmp_path)
    with pytest.raises(ValueError, match=r"subset to be one of .*, got 'val'"):
        datasets.fetch_mit_indoor(tmp_path, subset="val")


# ---------------------------------------------------------------- VOC2007

LABELS = {
    "train": {"000012": {"car": 1}, "000017": {"person": 1, "horse": 0}},
    "val": {"000005": {"chair": 1}},
    "test": {"000001": {"dog": 1, "person": 1}, "000002": {"train": 1}},
}


@pytest.mark.parametrize(
    ("subset", "parts"),
    [("train", ["train"]), ("val", ["val"]), ("test", ["test"]), ("trainval", ["train", "val"]),
     ("all", ["train", "val", "test"])],
)  # fmt: skip
@pytest.mark.parametrize("below", ["VOCdevkit/VOC2007", "voc2007/VOCdevkit/VOC2007", "voc2007"])
def test_voc_labels_and_difficult_flags(tmp_path, subset, parts, below):
    folder = trees.voc(tmp_path / below, LABELS)
    bunch = datasets.fetch_voc2007(tmp_path, subset=subset)
    expected = [(part, image) for part in parts for image in LABELS[part]]
    assert_array_equal(bunch.files, [image for _, image in expected])
    assert bunch.data == [str(folder / "JPEGImages" / f"{image}.jpg") for _, image in expected]
    for row, (part, image) in enumerate(expected):
        values = LABELS[part][image]
        for column, name in enumerate(trees.VOC_NAMES):
            assert bunch.target[row, column] == (values.get(name, -1) == 1)
            assert bunch.difficult[row, column] == (values.get(name, -1) == 0)
        assert row in bunch[part]
    assert sum(len(bunch[part]) for part in ("train", "val", "test")) == len(expected)


# Images with at least one object that is not difficult, from the table of the challenge's page.
VOC_TABLE = {
    "aeroplane": (112, 126, 204), "bicycle": (116, 127, 239), "bird": (180, 150, 282),
    "boat": (81, 100, 172), "bottle": (139, 105, 212), "bus": (97, 89, 174),
    "car": (376, 337, 721), "cat": (163, 174, 322), "chair": (224, 221, 417),
    "cow": (69, 72, 127), "diningtable": (97, 103, 190), "dog": (203, 218, 418),
    "horse": (139, 148, 274), "motorbike": (120, 125, 222), "person": (1025, 983, 2007),
    "pottedplant": (133, 112, 224), "sheep": (48, 48, 97), "sofa": (111, 118, 223),
    "train": (127, 134, 259), "tvmonitor": (128, 128, 229),
}  # fmt: skip


def test_voc_official_lists():
    bunch = datasets.fetch_voc2007(trees.real("voc2007"), lists_only=True)
    assert [len(bunch[part]) for part in ("train", "val", "test")] == [2501, 2510, 4952]
    counts = {
        str(name): tuple(
            int(bunch.target[bunch[part], column].sum()) for part in ("train", "val", "test")
        )
        for column, name in enumerate(bunch.target_names)
    }
    assert counts == VOC_TABLE
    assert not (bunch.difficult & bunch.target.astype(bool)).any()
    assert bunch.difficult.sum() > 0


def test_voc_small_tree_with_official_labels(tmp_path):
    lists = trees.real("voc2007", "ImageSets", "Main")
    labels = {}
    for part in ("train", "val", "test"):
        images = (lists / f"{part}.txt").read_text().split()[:40]
        labels[part] = {image: {} for image in images}
        for name in trees.VOC_NAMES:
            for line in (lists / f"{name}_{part}.txt").read_text().splitlines()[:40]:
                image, value = line.split()
                labels[part][image][name] = int(value)
    trees.voc(tmp_path / "voc2007", labels)
    small = datasets.fetch_voc2007(tmp_path)
    whole = datasets.fetch_voc2007(trees.real("voc2007"), lists_only=True)
    kept = np.concatenate([whole[part][:40] for part in ("train", "val", "test")])
    assert_array_equal(small.files, whole.files[kept])
    assert_array_equal(small.target, whole.target[kept])
    assert_array_equal(small.difficult, whole.difficult[kept])


def test_voc_bad_trees(tmp_path):
    folder = trees.voc(tmp_path / "voc2007", LABELS)
    lists = folder / "ImageSets" / "Main"
    (folder / "JPEGImages" / "000005.jpg").unlink()
    with pytest.raises(FileNotFoundError, match=r"1 of the 5 files .*000005.jpg"):
        datasets.fetch_voc2007(tmp_path)
    for content in ("000005 2", "000007 1", "000005", "000005 1\n000006 1"):
        trees.write(lists / "cow_val.txt", content)
        with pytest.raises(ValueError, match=r"Expected a line .* in .*cow_val.txt"):
            datasets.fetch_voc2007(tmp_path, subset="val")
    (lists / "sofa_test.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"Expected the list .*sofa_test.txt"):
        datasets.fetch_voc2007(tmp_path, subset="test")
    trees.write(lists / "test.txt", "../../secret")
    with pytest.raises(ValueError, match=r"Expected numbers of images in .*test.txt"):
        datasets.fetch_voc2007(tmp_path, subset="test")
