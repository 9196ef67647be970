import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from umg_search.encoding.batching import batches, halved_on_shortage
from umg_search.encoding.tokens import UNLIMITED, Tokens, WordCounter, cut_to_limit, room_for_text, tokens_of
from umg_search.errors import ModelError


def letters() -> Tokens:
    """One token a letter, words at white space: cuts inside words can be told from cuts between them."""
    vocabulary = {"[UNK]": 0, **{chr(c): c for c in range(97, 123)}}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    return Tokens(tokenizer)


def words() -> Tokens:
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "w": 1}, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.enable_truncation(4)
    return Tokens(tokenizer)


@given(st.integers(1, 200), st.integers(1, 30))
def test_pieces_join_to_the_text_and_keep_every_token(count: int, limit: int) -> None:
    text = " ".join(["w"] * count)
    pieces = words().pieces(text, limit)
    lengths = words().lengths(pieces)
    assert "".join(pieces) == text
    assert lengths.sum() == count
    assert lengths.max() <= limit
    assert len(pieces) == -(-count // limit)
    assert lengths.max() - lengths.min() <= 1


@given(st.text(st.sampled_from("ab cd"), max_size=120), st.integers(1, 20))
def test_no_piece_exceeds_the_limit_whatever_the_text(text: str, limit: int) -> None:
    pieces = letters().pieces(text, limit)
    assert "".join(pieces) == text
    assert letters().lengths(pieces).max() <= limit


def test_a_cut_is_between_words_where_one_is_near_and_inside_one_only_where_none_is() -> None:
    assert [piece.strip() for piece in letters().pieces("abcdefg hijklmn opq", 10)] == ["abcdefg", "hijklmn", "opq"]
    assert letters().pieces("abcdefghij", 4) == ["abcd", "efg", "hij"]


def test_truncation_of_the_models_own_tokenizer_does_not_reach_counts() -> None:
    assert words().lengths(["w " * 9, ""]).tolist() == [9, 0]


def test_cutting_tells_which_text_a_piece_is_from() -> None:
    pieces = cut_to_limit(["w w", "w w w w w", "", "w"], words(), 2)
    assert pieces.owner.tolist() == [0, 1, 1, 1, 2, 3]
    assert pieces.lengths.tolist() == [2, 2, 2, 1, 0, 1]


def test_room_is_what_special_tokens_and_prompt_leave() -> None:
    assert room_for_text("m", words(), 100, "") == 100
    assert room_for_text("m", words(), 100, "w w ") == 100 - 2 - 1
    assert room_for_text("m", words(), None, "") == room_for_text("m", words(), 1e30, "") == UNLIMITED
    with pytest.raises(ModelError, match="shorten the prompt"):
        room_for_text("m", words(), 20, "w " * 10)


def test_tokenizers_without_vocabulary_are_refused() -> None:
    with pytest.raises(ModelError, match=r"add tokenizer\.json"):
        tokens_of("m", Tokenizer(models.WordLevel({}, unk_token="[UNK]")))  # noqa: S106 - no password
    with pytest.raises(ModelError, match="none of the tokenizers library"):
        tokens_of("m", object())


def test_words_are_counted_by_unicode_rules_and_punctuation_is_none() -> None:
    texts = ["It's 3.14, not U.S.", "…!?", "", "我们 是", "안녕 하세요"]
    assert WordCounter().count(texts) == [4, 0, 0, 3, 2]


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 9), st.integers(1, 500))
def test_batches_hold_every_row_once_within_both_bounds(lengths: list[int], texts: int, tokens: int) -> None:
    rows = list(batches(np.asarray(lengths, dtype=np.int64), texts=texts, tokens=tokens))
    assert sorted(np.concatenate(rows).tolist() if rows else []) == list(range(len(lengths)))
    for batch in rows:
        assert 1 <= len(batch) <= texts
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= max(tokens, len(batch))


def test_a_batch_that_does_not_fit_into_memory_is_halved() -> None:
    def run(texts: list[str]) -> list[str]:
        if len(texts) > 2:
            raise RuntimeError("CUDA out of memory")
        return texts

    parts = halved_on_shortage(run, list("abcdefg"))
    assert [text for part in parts for text in part] == list("abcdefg")


def test_a_single_text_that_does_not_fit_and_other_errors_are_raised() -> None:
    def run(texts: list[str]) -> list[str]:
        raise MemoryError if len(texts) == 1 else RuntimeError("other")

    with pytest.raises(MemoryError):
        halved_on_shortage(run, ["a"])
    with pytest.raises(RuntimeError, match="other"):
        halved_on_shortage(run, ["a", "b"])
