"""From a table with everything in it to a model and back, through the real commands."""

import csv
import re

import numpy as np
import pytest

import kernelcoding as kc
from helpers.commands import done, failed, invoke, noted, write_csv
from kernelcoding import persistence

pytest.importorskip("pandas")
NAMES = ["customer_id", "age", "plan", "since", "note", "branch", "churn"]
N = 90


def customers(seed=0, n=N):
    """Labels follow age and plan; some cells are empty."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        age, plan = rng.normal(40, 12), str(rng.choice(["basic", "pro", "free"]))
        label = "yes" if age + (15 if plan == "free" else 0) > 45 else "no"
        cells = [f"{age:.1f}" if i % 9 else "", plan if i % 11 else ""]
        day = f"20{rng.integers(10, 20)}-0{rng.integers(1, 9)}-1{rng.integers(0, 9)}"
        rows.append([1000 + 17 * i, *cells, day, f"this is note number {i}", "north", label])
    return rows


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder with a model that a quick search has found, and what was said."""
    folder = tmp_path_factory.mktemp("customers")
    write_csv(folder / "train.csv", customers(), NAMES)
    write_csv(folder / "new.csv", customers(1, 40), NAMES)
    arguments = ["fit", folder / "train.csv", "--target", "churn", "--out", folder / "model.kc"]
    result = invoke(*arguments, "--search", "quick", "--scale")
    assert result.exit_code == 0, result.output
    return folder, result


def test_what_was_done_to_each_column_is_said(fitted):
    _, result = fitted
    lines = {}
    for words in map(str.split, result.stdout.splitlines()):
        lines.setdefault(words[0] if words else "", " ".join(words))  # cells may be folded
    assert lines["customer_id"].startswith("customer_id number left out: an identifier")
    assert lines["age"].startswith("age number 10 standardised, missing ones are the median,")
    assert lines["plan"] == "plan category 9 4 categories, an indicator each"
    assert "dates (year-month-day)" in lines["since"]
    assert lines["note"].startswith("note text left out: ")
    assert lines["branch"].startswith("branch category left out: constant")


def test_models_are_compared_with_peers_and_the_best_is_kept(fitted):
    folder, result = fitted
    for name in ("residual kSC", "residual kLLC", "supervised linear", "supervised max-margin"):
        assert name in result.stdout
    for name in ("majority vote", "logistic regression", "SVC"):
        assert re.search(rf"points (above|below) {name}", result.stdout)
    about = persistence.about(folder / "model.kc")
    table = {row["model"]: row["accuracy"] for row in about["search"]["table"]}
    ours = [row["accuracy"] for row in about["search"]["table"] if not row["peer"]]
    kept = table[about["search"]["kept"]]
    assert kept == max(ours) or "within one standard error of it" in result.stdout
    assert kept > table["majority vote"]


def test_predictions_have_names_probabilities_and_rejection(fitted, monkeypatch):
    folder, _ = fitted
    monkeypatch.chdir(folder)
    notes = noted("predict", "model.kc", "new.csv", "--id", "customer_id", "--force")
    assert "new.csv: ignored the labels in 'churn'; --target churn compares with them." in notes
    with open("labels.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expected_names = ["customer_id", "label", "probability no", "probability yes", "known"]
    assert list(rows[0]) == expected_names
    assert [row["customer_id"] for row in rows] == [str(1000 + 17 * i) for i in range(40)]
    model = kc.load("model.kc")
    from kernelcoding.tables import read_samples

    frame = read_samples(folder / "new.csv").X
    assert [row["label"] for row in rows] == model.predict(frame).tolist()
    found = [[float(row["probability no"]), float(row["probability yes"])] for row in rows]
    np.testing.assert_allclose(found, model.predict_proba(frame), rtol=1e-5, atol=1e-9)
    assert {row["known"] for row in rows} <= {"yes", "no"}
    noted("predict", "model.kc", "new.csv", "--out", "labels.npz", "--force")
    with np.load("labels.npz", allow_pickle=False) as arrays:
        assert arrays["classes"].tolist() == ["no", "yes"]
        assert arrays["probabilities"].shape == (40, 2)
        assert arrays["known"].dtype == bool


def test_columns_may_be_reordered_left_out_or_more(fitted, monkeypatch):
    folder, _ = fitted
    monkeypatch.chdir(folder)
    noted("predict", "model.kc", "new.csv", "--out", "all.npy", "--force")
    order = [2, 3, 1]  # without the columns that the model does not look at
    rows = [[row[i] for i in order] + ["more"] for row in customers(1, 40)]
    write_csv(folder / "some.csv", rows, [*(NAMES[i] for i in order), "extra"])
    notes = noted("predict", "model.kc", "some.csv", "--out", "some.npy", "--force")
    assert "some.csv: ignored 'extra', which the model does not know." in notes
    np.testing.assert_array_equal(np.load("all.npy"), np.load("some.npy"))
    write_csv(folder / "few.csv", [row[:1] for row in rows], ["plan"])
    said = failed("predict", "model.kc", "few.csv", "--out", "few.npy")
    assert "few.csv lacks 'age', 'since', which the model was fitted with" in said
    rows[4][2] = "old"
    write_csv(folder / "bad.csv", rows, [*(NAMES[i] for i in order), "extra"])
    result = invoke("predict", "model.kc", "bad.csv", "--out", "bad.npy")
    assert result.exit_code == 1
    assert "row 5, column 'age': got 'old'" in result.stderr


def test_categories_that_training_did_not_have_are_told(fitted, monkeypatch):
    folder, _ = fitted
    monkeypatch.chdir(folder)
    rows = customers(1, 40)
    for row, plan in ((3, "gold"), (8, "silver"), (9, "gold")):
        rows[row][2] = plan
    write_csv(folder / "gold.csv", rows, NAMES)
    said = "gold.csv: 3 of 40 cells of column 'plan' hold 'gold', 'silver', as none did in training"
    for command in (["predict", "--out", "gold.npy"], ["encode", "--out", "codes.npz"]):
        notes = noted(command[0], "model.kc", "gold.csv", *command[1:], "--force")
        assert f"{said}: they count as no category." in notes
    assert not any("training" in note for note in noted("encode", "model.kc", "new.csv", "--force"))


@pytest.mark.filterwarnings("default:.*zero")
def test_known_samples_are_told_without_a_search_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "train.csv", customers(), NAMES)
    strange = customers(1, 40)
    strange[0][1] = "4000"
    write_csv(tmp_path / "new.csv", strange, NAMES)
    invoke("fit", "train.csv", "--target", "churn", "--search", "none", "--scale", "--alpha", "0.1")
    noted("predict", "model.kc", "new.csv")
    with open("labels.csv", newline="", encoding="utf-8") as file:
        known = [row["known"] for row in csv.DictReader(file)]
    assert known[0] == "no"
    assert known.count("yes") > 25


def test_standard_input_is_a_file(fitted, monkeypatch):
    folder, _ = fitted
    monkeypatch.chdir(folder)
    noted("predict", "model.kc", "new.csv", "--out", "file.npy", "--force")
    content = (folder / "new.csv").read_bytes()
    result = invoke("predict", "model.kc", "-", "--out", "stdin.npy", "--force", stdin=content)
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load("file.npy"), np.load("stdin.npy"))


def test_info_says_what_a_file_holds(fitted):
    folder, _ = fitted
    said = done("info", folder / "model.kc")
    for words in ("train.csv: 90 samples", "churn: no (", "TableColumns → ColumnTransformer →",
                  "residual kSC", "kernelcoding ", "left out: constant", "not known"):  # fmt: skip
        assert words in said, words
    assert "fit_intercept" not in said  # a setting that nobody chose
    kc.save(kc.ResidualClassifier().fit(np.eye(4), [0, 0, 1, 1]), folder / "own.kc")
    said = done("info", folder / "own.kc")
    assert re.search("settings +as by default", said)
    assert "not said: the file was not written by this command" in said


def test_codes_of_a_table(fitted, monkeypatch):
    folder, _ = fitted
    monkeypatch.chdir(folder)
    noted("encode", "model.kc", "new.csv", "--out", "codes.npy", "--force")
    assert len(np.load("codes.npy")) == 40


def test_quantities_are_refused_with_what_to_use(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [[f"{x:.3f}", f"{3 * x:.4f}"] for x in rng.normal(size=80)]
    write_csv(tmp_path / "t.csv", rows, ["size", "price"])
    said = failed("fit", "t.csv", "--target", "price")
    assert (
        "column 'price' holds 80 different numbers in 80 rows, which looks like a quantity" in said
    )
    assert "HistGradientBoostingRegressor" in said
    assert "say --types price=category" in said


def test_version_is_said():
    assert done("--version") == f"kernelcoding {kc.__version__}\n"
    assert "--install-completion" in done("--help")


def test_evaluate_says_and_shows_how_the_model_does(fitted, monkeypatch):
    folder, _ = fitted
    monkeypatch.chdir(folder)
    said = done("evaluate", "model.kc", "new.csv", "--report", "page.html", "--force")
    accuracy = float(said.split("Accuracy: ")[1].split()[0])
    compared = invoke("predict", "model.kc", "new.csv", "--target", "churn", "--out", "l.npy")
    assert f"Accuracy: {accuracy:.1f} %" in compared.stdout
    assert "of 40 samples (95 % interval" in said
    assert "Report: page.html" in said
    assert "of labels are right" in (folder / "page.html").read_text(encoding="utf-8")
    assert "--report must end in .html" in failed(
        "evaluate", "model.kc", "new.csv", "--report", "x"
    )
    write_csv(folder / "bare.csv", [row[:-1] for row in customers(1, 9)], NAMES[:-1])
    assert "bare.csv has no column 'churn'" in failed("evaluate", "model.kc", "bare.csv")


def test_fit_reports_on_rows_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "t.csv", customers(), NAMES)
    said = done("fit", "t.csv", "--target", "churn", "--report", "page.html")
    assert "of 23 samples" in said
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "fitted to 67 others, has not seen" in text
