import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from umg_search.evaluation.metrics import answer_recall, coverage, position, set_f1
from umg_search.evaluation.questions import EvidenceMode, Span
from umg_search.model import DocumentKey

ALL, ANY = EvidenceMode
A, B = DocumentKey("default", "a"), DocumentKey("default", "b")


def spans(*ranges: tuple[int, int], document: DocumentKey = A) -> list[Span]:
    return [Span(document, start, end) for start, end in ranges]


def test_recall_and_precision_are_shares_of_characters() -> None:
    found = coverage(spans((10, 30)), spans((20, 60)), ALL)
    assert found.recall == 10 / 20
    assert found.precision == 10 / 40
    assert found.iou == 10 / (20 + 40 - 10)
    assert found.ie == 10 / 20 * 10 / 40
    assert found.complete == 0


def test_all_spans_are_needed_in_mode_all() -> None:
    evidence = spans((0, 10)) + spans((0, 30), document=B)
    found = coverage(evidence, spans((0, 10)), ALL)
    assert (found.recall, found.precision, found.complete) == (10 / (10 + 30), 1, 0)
    assert coverage(evidence, spans((0, 10)) + spans((0, 30), document=B), ALL).complete == 1


def test_one_span_is_enough_in_mode_any_and_each_counts_for_precision() -> None:
    evidence = spans((0, 10), (100, 140))
    found = coverage(evidence, spans((0, 10), (100, 120)), ANY)
    assert (found.recall, found.complete) == (1, 1)
    assert found.precision == (10 + 20) / (10 + 20)
    assert found.iou == max(10 / (30 + 10 - 10), 20 / (30 + 40 - 20))


def test_another_document_does_not_count() -> None:
    assert coverage(spans((0, 10)), spans((0, 10), document=B), ALL).recall == 0


def test_what_is_returned_twice_is_found_once_and_paid_twice() -> None:
    found = coverage(spans((0, 10)), spans((0, 10), (0, 10)), ALL)
    assert (found.recall, found.precision) == (10 / 10, 10 / 20)
    assert found.iou == 10 / (20 + 10 - 10)


def test_evidence_that_overlaps_itself_counts_once() -> None:
    assert coverage(spans((0, 10), (5, 20)), spans((0, 10)), ALL).recall == 10 / 20


def test_an_empty_answer_has_nothing() -> None:
    found = coverage(spans((0, 10)), [], ALL)
    assert (found.recall, found.precision, found.iou, found.ie, found.complete) == (0, 0, 0, 0, 0)
    assert coverage(spans((0, 10)), [], ANY) == found


ranges = st.lists(
    st.tuples(st.sampled_from([A, B]), st.integers(0, 60), st.integers(1, 20)).map(
        lambda parts: Span(parts[0], parts[1], parts[1] + parts[2])
    ),
    max_size=6,
)


def characters(some: list[Span]) -> set[tuple[DocumentKey, int]]:
    return {(span.document, i) for span in some for i in range(span.start, span.end)}


@given(ranges.filter(bool), ranges)
def test_coverage_is_that_of_sets_of_characters(evidence: list[Span], returned: list[Span]) -> None:
    gold, shown = characters(evidence), characters(returned)
    paid = sum(span.length for span in returned)
    found = coverage(evidence, returned, ALL)
    assert found.recall == len(gold & shown) / len(gold)
    assert found.precision == (len(gold & shown) / paid if paid else 0)
    assert found.iou == len(gold & shown) / (paid + len(gold) - len(gold & shown))
    assert found.complete == (gold <= shown)


@given(ranges.filter(bool), ranges, ranges, st.sampled_from(EvidenceMode))
def test_more_text_never_lowers_recall(
    evidence: list[Span], returned: list[Span], more: list[Span], mode: EvidenceMode
) -> None:
    assert coverage(evidence, returned + more, mode).recall >= coverage(evidence, returned, mode).recall


@given(ranges.filter(bool), ranges)
def test_any_is_never_less_than_all_and_all_values_are_shares(evidence: list[Span], returned: list[Span]) -> None:
    every, one = coverage(evidence, returned, ALL), coverage(evidence, returned, ANY)
    assert one.recall >= every.recall or one.recall == pytest.approx(every.recall)
    for found in (every, one):
        assert all(0 <= value <= 1 for value in (found.recall, found.precision, found.iou, found.ie))
        assert found.iou <= found.recall


def test_position_is_the_share_of_the_answer_before_the_first_evidence() -> None:
    returned = spans((0, 30)) + spans((100, 170), document=B)
    assert position(spans((120, 130), document=B), returned) == (30 + 20) / 100
    assert position(spans((0, 5)), returned) == 0
    assert position(spans((40, 50)), returned) is None
    assert position(spans((40, 50)), []) is None


@given(ranges.filter(bool), ranges)
def test_there_is_a_position_exactly_where_there_is_recall(evidence: list[Span], returned: list[Span]) -> None:
    found = position(evidence, returned)
    assert (found is not None) == (coverage(evidence, returned, ALL).recall > 0)
    assert found is None or 0 <= found < 1


@pytest.mark.parametrize(
    ("answer", "text", "found"),
    [
        ("Paris", "It was in paris, then.", 1),
        ("18", "In 1180 it fell.", 0),
        ("18", "It has 18, not 19.", 1),
        ("art", "A cart came.", 0),
        ("new  york", "in New\nYork City", 1),
        ("東京", "私は東京都に住む", 1),
        ("ＡＢＣ", "abc", 1),
        ("$5", "It costs $5.", 1),
    ],
)
def test_an_answer_is_a_string_in_a_context(answer: str, text: str, found: float) -> None:
    assert answer_recall([answer], ["nothing", text]) == found


def test_any_answer_will_do_and_no_context_has_none() -> None:
    assert answer_recall(["six", "ten"], ["It is ten."]) == 1
    assert answer_recall(["six"], []) == 0


def test_f1_of_sets() -> None:
    assert set_f1([A, B], [A]) == 2 * 1 / (2 + 1)
    assert set_f1([A], [B]) == 0
    assert set_f1([A, A], [A, A]) == 1


@given(st.sets(st.integers(0, 9), min_size=1), st.sets(st.integers(0, 9)))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(expected: set[int], returned: set[int]) -> None:
    assume(expected & returned)
    both = len(expected & returned)
    precision, recall = both / len(returned), both / len(expected)
    keys = [[DocumentKey("", str(i)) for i in some] for some in (expected, returned)]
    assert set_f1(*keys) == pytest.approx(2 * precision * recall / (precision + recall))
