"""Folders of pictures: found by class, described, learned and predicted through the commands."""

import csv
from pathlib import Path

import numpy as np
import pytest

import kernelcoding as kc
from helpers.commands import done, failed, output, write_csv
from kernelcoding.images import load_folder
from kernelcoding.own_data.pictures import any_pictures

cv2 = pytest.importorskip("cv2")


def draw(folder, per_class, seed=0):
    """Stripes, upright and lying, and noise."""
    rng = np.random.default_rng(seed)
    waves = 127 + 100 * np.sin(np.arange(40) / 2)
    for name in ("lying", "noise", "upright"):
        (folder / name).mkdir(parents=True)
        for i in range(per_class):
            noise = rng.normal(0, 20, (40, 40))
            base = {"lying": waves[:, None], "upright": waves[None, :], "noise": 127.0}[name]
            picture = np.clip(base + (4 if name == "noise" else 1) * noise, 0, 255)
            cv2.imwrite(str(folder / name / f"{i:02d}.png"), picture.astype(np.uint8))
    return folder


def test_sub_folders_are_classes(tmp_path):
    folder = draw(tmp_path / "set", 3)
    (folder / "lying" / "notes.txt").write_text("no picture")
    (folder / "empty").mkdir()
    found = load_folder(folder)
    assert found.classes == ["lying", "noise", "upright"]
    assert found.labels == ["lying"] * 3 + ["noise"] * 3 + ["upright"] * 3
    assert [file.split("/")[-1] for file in found.files] == ["00.png", "01.png", "02.png"] * 3
    assert found.masks is None


def test_masks_are_found_beside_or_told(tmp_path):
    draw(tmp_path / "set" / "images", 2)
    draw(tmp_path / "set" / "masks", 2)
    found = load_folder(tmp_path / "set")
    pairs = zip(found.files, found.masks, strict=True)
    assert all(mask == file.replace("/images/", "/masks/") for file, mask in pairs)
    known = any_pictures([tmp_path / "set"])  # without labels: masks are no pictures either
    assert known.names == sorted(found.files)
    assert {str(one.mask) for one in known.images} == set(found.masks)
    without = any_pictures([tmp_path / "set" / "images"])
    assert without.images == without.names == known.names
    draw(tmp_path / "other" / "images", 1)
    draw(tmp_path / "other" / "more", 1)
    assert len(any_pictures([tmp_path / "other"]).names) == 6  # no masks: nothing is left out
    alone = any_pictures([Path(found.files[0])])
    assert (alone.images, alone.names) == ([found.files[0]], [found.files[0]])
    (tmp_path / "set" / "masks" / "noise" / "01.png").unlink()
    with pytest.raises(ValueError, match=r"noise/01\.png has no mask"):
        load_folder(tmp_path / "set")


def test_folders_without_classes_are_explained(tmp_path):
    with pytest.raises(ValueError, match=r"has no sub-folders with pictures .*put the pictures of"):
        load_folder(tmp_path)
    with pytest.raises(ValueError, match="nothing is no folder"):
        load_folder(tmp_path / "nothing")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("pictures")
    return draw(root / "train", 8), draw(root / "test", 3, seed=1), root


@pytest.mark.parametrize("features", ["covariance", "fisher", "words"])
def test_from_a_folder_to_labels(features, folders):
    train, test, root = folders
    model = root / f"{features}.kc"
    report = ["--report", root / "page.html"] if features == "words" else []
    said = done("fit", train, "--out", model, "--features", features, "--coder", "llc", *report)
    if report:
        assert "% of 6 samples" in said
        text = (root / "page.html").read_text(encoding="utf-8")
        assert "fitted to 18 others, has not seen" in text
    assert f"Features: {features}" in said
    assert "ResidualClassifier of 24 pictures" in said
    out = root / f"{features}.csv"
    output("predict", model, test / "lying" / "00.png", test, "--out", out)
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10
    truth = [row["picture"].split("/")[-2] for row in rows]
    assert [row["label"] for row in rows] == truth
    files = load_folder(test).files
    assert kc.load(model).predict(files).tolist() == [file.split("/")[-2] for file in files]
    assert "Accuracy: 100.0 % of 9 samples" in done("evaluate", model, test)
    assert "24 samples" in done("info", model)


def test_the_better_features_are_kept(folders, monkeypatch):
    from kernelcoding.own_data import pictures

    train, _, root = folders
    monkeypatch.setattr(pictures, "FISHER", "words")  # quicker than Fisher vectors
    said = done(
        "fit", train, "--out", root / "auto.kc", "--search", "quick", "--coder", "llc",
        "--classifier", "residual", "--neighbors", 3, "--gamma", "median",
    )  # fmt: skip
    assert "kept: " in said
    assert "residual kLLC" in said


def test_wrong_requests_about_pictures(folders, tmp_path):
    train, test, _ = folders
    out = ["--out", tmp_path / "m.kc"]
    said = failed("fit", train, "--target", "x", "--kernel", "rbf", "--drop", "a", *out)
    assert (
        "classes of pictures, which have no columns: leave --target, --kernel, --drop out" in said
    )
    table = write_csv(tmp_path / "t.csv", [[i, i % 2] for i in range(30)], ["x", "y"])
    said = failed("fit", table, "--target", "y", "--masks", test, *out)
    assert "Masks are for folders of pictures: leave --masks out" in said
    assert "Give one folder of pictures" in failed("fit", train, test, *out)
