"""Columns are matched by name: order does not matter, and what is missing is named."""

import numpy as np
import pytest

import kernelcoding as kc
from helpers.commands import WORDS, X, done, failed, noted, write_csv

NAMES = ["sepal", "width", "petal", "2019"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a model of named columns, in which commands run."""
    monkeypatch.chdir(tmp_path)
    rows = [[*sample, word] for sample, word in zip(X.tolist(), WORDS, strict=True)]
    write_csv(tmp_path / "train.csv", rows, [*NAMES, "kind"])
    done("fit", "train.csv", "--target", "kind")
    return tmp_path


def write_columns(path, **columns):
    """A CSV file of columns by name."""
    cells = zip(*columns.values(), strict=True)
    return write_csv(path, [list(row) for row in cells], list(columns))


def columns_of(names):
    return {name: X[:, NAMES.index(name)].tolist() for name in names}


def predicted(name="new.csv", *options):
    notes = noted("predict", "model.kc", name, "--out", "found.npz", "--force", *options)
    with np.load("found.npz", allow_pickle=False) as found:
        return found["labels"], found["scores"], notes


@pytest.fixture
def truth(folder):
    model = kc.ResidualClassifier(kc.KernelSparseCoder(random_state=0)).fit(X, WORDS)
    return model.predict(X), model.decision_function(X), model.coder_.transform(X)


def test_names_of_features_are_in_the_model_file(folder):
    model = kc.load("model.kc")
    assert model.feature_names_in_.tolist() == NAMES
    done("fit", "train.csv", "--target", "kind", "--atoms", 5, "--out", "learned.kc")
    assert kc.load("learned.kc").feature_names_in_.tolist() == NAMES
    np.save("samples.npy", X)
    done("fit", "samples.npy", "--out", "unnamed.kc")
    assert not hasattr(kc.load("unnamed.kc"), "feature_names_in_")


@pytest.mark.parametrize("order", [[3, 1, 0, 2], [1, 0, 2, 3]])
def test_reordered_columns_give_the_same_answers(order, folder, truth):
    write_columns(folder / "new.csv", **columns_of([NAMES[i] for i in order]))
    labels, scores, notes = predicted()
    np.testing.assert_array_equal(labels, truth[0])
    np.testing.assert_array_equal(scores, truth[1])
    assert notes == []
    done("encode", "model.kc", "new.csv", "--out", "codes.npy")
    np.testing.assert_array_equal(np.load("codes.npy"), truth[2])


def test_extra_columns_are_named_and_ignored(folder, truth):
    words = ["some text, " * 100] * len(X)
    write_columns(folder / "new.csv", comment=words, **columns_of(NAMES[::-1]), id=range(len(X)))
    _, scores, notes = predicted()
    np.testing.assert_array_equal(scores, truth[1])
    assert notes == ["new.csv: ignored 'comment', 'id', which the model does not know."]
    _, _, notes = predicted("train.csv")  # its labels are an extra column here
    assert notes == ["train.csv: ignored the labels in 'kind'; --target kind compares with them."]
    assert predicted("train.csv", "--target", "kind")[2] == []


@pytest.mark.parametrize("command", ["predict", "encode"])
def test_missing_and_renamed_columns_are_refused_by_name(command, folder):
    found = columns_of(NAMES)
    write_columns(folder / "new.csv", **{k: found[k] for k in ("2019", "petal")})
    said = failed(command, "model.kc", "new.csv")
    assert "new.csv lacks 'sepal', 'width', which the model was fitted with" in said
    assert "its columns are '2019', 'petal'. Add or rename columns" in said
    write_columns(folder / "new.csv", **{k.replace("width", "Width"): v for k, v in found.items()})
    assert "new.csv lacks 'width', which" in failed(command, "model.kc", "new.csv", "--header")
    said = failed(command, "model.kc", "train.csv", "--target", "petal")
    assert "train.csv lacks 'petal'" in said


def test_numeric_names_are_matched_alike(folder):
    years, rows = ["2019", "2020", "2021", "2022"], X.tolist()
    write_csv(folder / "years.csv", rows, years)
    done("fit", "years.csv", "--header", "--force")
    expected = kc.KernelSparseCoder(random_state=0).fit(X).transform(X)
    write_csv(folder / "new.csv", X[:, ::-1].tolist(), years[::-1])
    done("encode", "model.kc", "new.csv", "--out", "codes.npy")
    np.testing.assert_array_equal(np.load("codes.npy"), expected)
    write_csv(folder / "new.csv", rows, [*years[:3], "2023"])
    said = failed("encode", "model.kc", "new.csv")
    assert "new.csv lacks '2022', which the model was fitted with" in said
    write_csv(folder / "new.csv", rows)
    (note,) = noted("encode", "model.kc", "new.csv", "--out", "codes.npy", "--force")
    assert "was taken for a sample" in note
    np.testing.assert_array_equal(np.load("codes.npy"), expected)


def test_names_that_occur_twice_are_refused(folder):
    rows = X.tolist()
    for names, other in ((["sepal", *NAMES[1:3], "sepal"], 0), ([*NAMES, "sepal"], 1)):
        write_csv(folder / "new.csv", [row + [1.0] * other for row in rows], names)
        said = failed("fit", "new.csv", "--header", "--out", "other.kc")
        assert "new.csv has several columns named 'sepal'. Give every column" in said
    assert "several columns named 'sepal'" in failed("predict", "model.kc", "new.csv")
    write_csv(folder / "new.csv", [[*row, 1, 2] for row in rows], [*NAMES, "x", "x"])
    assert predicted()[2] == ["new.csv: ignored 'x', 'x', which the model does not know."]


def test_without_names_columns_are_counted(folder, truth):
    np.save("new.npy", X)
    np.savez("new.npz", X=X)
    write_csv(folder / "new.csv", X.tolist())
    for name, options in (("new.npy", []), ("new.npz", []), ("new.csv", ["--no-header"])):
        _, scores, notes = predicted(name, *options)
        np.testing.assert_array_equal(scores, truth[1])
        assert notes == []
    for name in ("few.npy", "few.npz", "few.csv"):
        np.save("few.npy", X[:, :3])
        np.savez("few.npz", X=X[:, :3])
        write_csv(folder / "few.csv", X[:, :3].tolist())
        said = failed("predict", "model.kc", name)
        assert f"{name} has 3 features, the model takes 4 ('sepal', 'width', 'petal'" in said


def test_a_model_without_names_takes_columns_in_their_order(folder, truth):
    np.savez("train.npz", X=X, y=WORDS)
    done("fit", "train.npz", "--force")
    _, scores, notes = predicted("train.csv", "--target", "kind")
    np.testing.assert_array_equal(scores, truth[1])
    assert notes == ["train.csv: the model knows no names, so that columns were taken in their "
                     "order."]  # fmt: skip
    said = failed("predict", "model.kc", "train.csv")
    assert "train.csv has 5 features, the model takes 4. Give it the columns" in said


def test_parquet_columns_are_matched_alike(folder, truth):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=NAMES)[NAMES[::-1]]
    frame["day"] = pd.Timestamp("2020-01-01")
    frame.to_parquet("new.parquet")
    _, scores, notes = predicted("new.parquet")
    np.testing.assert_array_equal(scores, truth[1])
    assert notes == ["new.parquet: ignored 'day', which the model does not know."]
    frame.drop(columns="petal").to_parquet("new.parquet")
    assert "new.parquet lacks 'petal'" in failed("predict", "model.kc", "new.parquet")


def test_pipelines_that_choose_columns_by_name_find_them(folder):
    pd = pytest.importorskip("pandas")
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    chosen = ColumnTransformer([("some", StandardScaler(), ["petal", "sepal"])])
    model = make_pipeline(chosen, kc.ResidualClassifier()).fit(
        pd.DataFrame(X, columns=NAMES), WORDS
    )
    kc.save(model, folder / "model.kc")
    write_columns(folder / "new.csv", **columns_of(NAMES[::-1]))
    labels, _, _ = predicted()
    np.testing.assert_array_equal(labels, model.predict(pd.DataFrame(X, columns=NAMES)))


def test_names_without_pandas_are_explained(folder, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    said = failed("predict", "model.kc", "train.csv", "--target", "kind")
    assert "Tables need pandas: pip install 'kernelcoding[cli]'" in said
