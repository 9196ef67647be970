"""Methods that derive lists, over an index that has them all and over one that derives them itself."""

from pathlib import Path

from tests.fakes.encoders import HashedEncoders, spec
from tests.fakes.engine import MemoryEngine
from tests.fakes.evaluations import dataset, stored, target
from tests.unit.search.shop import SUBJECTS, prose
from umg_search.evaluation.baselines import Method, Product, methods_of
from umg_search.evaluation.cache import Cache
from umg_search.evaluation.deriving import with_derived
from umg_search.evaluation.listing import Listing
from umg_search.evaluation.questions import Question, Span
from umg_search.evaluation.service import Plan, evaluate
from umg_search.evaluation.texts import Texts
from umg_search.evaluation.variants import variant
from umg_search.granularity import FINEST, Channel, Expert, Granularity
from umg_search.model import Document, SetSpec
from umg_search.ports import Scope
from umg_search.search.deriving import DEEPER

LONGER = tuple(Granularity)[1:]
FULL = spec(experts=(Expert.DENSE, Expert.LEXICAL))
DERIVING = spec(experts=FULL.experts, granularities=(FINEST,), derived=LONGER)
DOCUMENTS = [Document(s, prose(s, 45)) for s in SUBJECTS]


def named(name: str, index_spec: SetSpec = FULL) -> Product:
    (method,) = [method for method in methods_of(index_spec.ranked) if method.name == name]
    assert isinstance(method, Product)
    return method


def answer(index_spec: SetSpec, method: Method, folder: Path, *, depth: int) -> list[object]:
    """Return what a method selects of 60 tokens, from lists as an evaluation asks for them."""
    engine = stored(*DOCUMENTS, index_spec=index_spec)
    index = engine.active_set()
    with Cache(folder) as cache:
        listing = Listing(engine, index, HashedEncoders(index_spec), cache, depth=depth)  # type: ignore[arg-type]
        lists = listing.of("part of the orchard for season 3", Scope()).lists
    own = [each.head(method.depth) for each in lists if each.channel in method.channels]
    layouts = Texts(engine, index).of(version for each in own for version in each.hits.distinct)
    return list(method.answering(own, layouts)(budget=60, most=0))


def test_derived_spans_over_all_lists_are_the_spans_of_a_set_that_derives_them(tmp_path: Path) -> None:
    """The counts that its index would bring come from the texts."""
    method = named("derived-spans")
    assert method.channels == (Channel(Expert.DENSE, FINEST), Channel(Expert.LEXICAL, FINEST))
    assert method.depth == DEEPER * named("spans").depth
    derived = answer(FULL, method, tmp_path, depth=method.depth)
    assert derived == answer(DERIVING, named("spans"), tmp_path, depth=named("spans").depth)
    assert derived != answer(FULL, named("spans"), tmp_path, depth=100)


def test_only_the_dense_lists_may_be_derived() -> None:
    method = named("derived-dense-spans")
    lexical = tuple(Channel(Expert.LEXICAL, g) for g in Granularity)
    assert method.channels == (Channel(Expert.DENSE, FINEST), *lexical)
    assert method.derived == tuple(Channel(Expert.DENSE, g) for g in LONGER)


def test_true_lists_beside_derived_ones_are_read_as_deep_as_ever(tmp_path: Path) -> None:
    engine = stored(*DOCUMENTS, index_spec=FULL)
    index = engine.active_set()
    with Cache(tmp_path) as cache:
        listing = Listing(engine, index, HashedEncoders(FULL), cache, depth=100)  # type: ignore[arg-type]
        lists = listing.of("part of the orchard for season 3", Scope()).lists
    layouts = Texts(engine, index).of(version for each in lists for version in each.hits.distinct)
    derived = named("derived-dense-spans").derived
    found = with_derived([each for each in lists if each.channel not in derived], derived, layouts, 20)
    deep = {each.channel: each for each in lists}
    assert [each.channel for each in found] == list(FULL.ranked)
    for each in found:
        assert len(each.hits) == min(20, len(deep[each.channel].hits))
        if each.channel.expert is Expert.LEXICAL:
            assert each.scores.tolist() == deep[each.channel].scores[:20].tolist()


def test_an_index_without_the_finest_or_without_longer_windows_has_no_such_method() -> None:
    for granularities in ((FINEST,), LONGER):
        channels = spec(granularities=granularities).channels
        assert not [method.name for method in methods_of(channels) if method.name.startswith("derived")]
    assert not [m.name for m in methods_of(DERIVING.ranked, derivable=False) if m.name.startswith("derived")]
    dense = spec(experts=(Expert.DENSE,)).channels
    assert [m.name for m in methods_of(dense) if m.name.startswith("derived")] == ["derived-spans"]


def test_a_variant_derives_fewer_lists() -> None:
    methods = methods_of(FULL.ranked)
    found = variant("derived-spans[experts=dense,granularities=8,depth=50]", methods)
    assert found.channels == (Channel(Expert.DENSE, FINEST),)
    assert found.derived == (Channel(Expert.DENSE, Granularity.G8),)
    assert found.depth == DEEPER * 50


def test_a_set_that_derives_lists_is_evaluated_like_any_other(tmp_path: Path) -> None:
    """All of its lists can be asked for, and no method derives them a second time."""
    sentence = "The orchard has part orchard17 for season 3. "
    start = DOCUMENTS[1].text.index(sentence)
    gold = Span(DOCUMENTS[1].key, start, start + len(sentence))
    question = Question("one", "orchard17 of the orchard", evidence=(gold,), documents=(gold.document,))
    engine = MemoryEngine()
    with Cache(tmp_path) as cache:
        plan = Plan(budgets=(60,))
        asked = target(*DOCUMENTS, index_spec=DERIVING)
        found = evaluate(engine, asked, dataset([question]), plan, cache=cache, progress=lambda *_: None)
    names = [method.name for method in found.evaluation.methods]
    assert {"spans", "lexical-g32", "rrf-g16", "longrag"} <= set(names)
    assert "derived-spans" not in names
    assert found.evaluation.column("spans", 60, "recall") == [1]
    assert engine.calls.count("ranked_lists") == 1
    assert found.evaluation.figures[0].channels.keys() == set(DERIVING.ranked)
