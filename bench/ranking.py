"""Print the time of fusion and selection over ten lists of 100 hits: `python -m bench.ranking`.

The lists are drawn as those of 236 questions of chunking_eval_docs look, which have in the median 808 units of 42
documents over 3,650 sentences: a few documents that several channels agree on, near the same places, and others once.
"""

import statistics
import time
from collections.abc import Callable, Mapping

import numpy as np

from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import DocumentHash, Evidence, RankedList, version_of
from umg_search.ranking.axis import axis_of
from umg_search.ranking.evidence import Normalisation, to_evidence
from umg_search.ranking.fusion import by_length, fuse, units
from umg_search.ranking.overlap import deduplicate
from umg_search.ranking.promotion import promote
from umg_search.ranking.spans import spans
from umg_search.ranking.truncation import within_budget
from umg_search.ranking.weights import Weighting, weights
from umg_search.store.units import pack, unpack
from umg_search.windows import window_at, window_count

DEPTH, DOCUMENTS, SENTENCES, BUDGET, BLOCKS, ROUNDS = 100, 400, 300, 512, 20, 30


def ranked_lists(rng: np.random.Generator) -> list[tuple[Channel, list[str], np.ndarray]]:
    """Return ten lists of packed hits with falling scores."""
    counts = {d: rng.integers(5, 45, SENTENCES).tolist() for d in range(DOCUMENTS)}
    lists = []
    for channel in (Channel(e, g) for e in (Expert.DENSE, Expert.LEXICAL) for g in Granularity):
        seen = set()
        while len(seen) < DEPTH:
            document = int(min(rng.geometric(0.12), DOCUMENTS - 1))
            windows = window_count(SENTENCES, channel.granularity)
            place = rng.normal(document * 0.618 % 1.0, 0.08) % 1.0
            seen.add((document, int(place * windows)))
        packed = [
            pack(
                version_of(DocumentHash(d.to_bytes(16, "big")), 1),
                window_at(w, SENTENCES, channel.granularity),
                channel.granularity,
                counts[d],
            ).decode()
            for d, w in sorted(seen)
        ]
        rng.shuffle(packed)
        lists.append((channel, packed, np.sort(rng.gamma(2.0, 0.1, DEPTH))[::-1].copy()))
    return lists


def timed(actions: Mapping[str, Callable[[], object]]) -> list[dict[str, float]]:
    """Return the median milliseconds of each action, block by block, the actions in turn within a block."""
    return [{name: median(action) for name, action in actions.items()} for _ in range(BLOCKS)]


def median(action: Callable[[], object]) -> float:
    """Return the median milliseconds of an action."""
    samples = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        action()
        samples.append(time.perf_counter() - start)
    return 1000 * statistics.median(samples)


def main() -> None:
    """Print one line a stage, then the sum that the goal speaks of."""
    packed = ranked_lists(np.random.default_rng(7))
    values = [part for _, part, _ in packed]
    hits = unpack(values)
    lists = [RankedList(channel, found, scores) for (channel, _, scores), found in zip(packed, hits, strict=True)]

    def read() -> list[Evidence]:
        return [to_evidence(item, normalisation=Normalisation.ZSCORE, temperature=1.0) for item in lists]

    evidence = read()
    shares = weights(evidence, Weighting.ENTROPY, depth=DEPTH).tolist()
    fused = fuse(evidence, shares)
    ranked = by_length(fused, units(fused), alpha=0.5, floor=16)

    def chunks() -> object:
        order = by_length(fused, units(fused), alpha=0.5, floor=16)
        return list(within_budget(picked(order), budget=BUDGET))

    def parents() -> object:
        order = by_length(fused, promote(fused), alpha=0.5, floor=16)
        return list(within_budget(picked(order), budget=BUDGET))

    def picked(order):  # noqa: ANN001, ANN202 - a generator local to the two selections above
        rows = zip(
            order.document.tolist(),
            order.first.tolist(),
            order.last.tolist(),
            order.place.tolist(),
            order.score.tolist(),
            strict=True,
        )
        listed = list(rows)
        return (fused.selected(*listed[row]) for row in deduplicate(order, share=0.75))

    blocks = timed(
        {
            "plain loop of 10,000": lambda: sum(range(10_000)),
            "unpack": lambda: unpack(values),
            "evidence + weights": lambda: weights(read(), Weighting.ENTROPY, depth=DEPTH),
            "fuse": lambda: fuse(evidence, weights),
            "select chunks": chunks,
            "select parents": parents,
            "select spans": lambda: spans(fused, budget=BUDGET),
        }
    )
    for block in blocks:
        for selection in ("chunks", "parents", "spans"):
            block[f"fusion + {selection}"] = block["fuse"] + block[f"select {selection}"]
    # Shared machines change their speed under one's feet, hence the plain loop, and the quietest block beside all.
    units_and_documents = f"{len(ranked.score)} units, {len(fused.versions)} documents"
    print(f"{len(lists)} lists of {DEPTH} hits, {units_and_documents}, {len(axis_of(fused).tokens)} sentences")
    print(f"{'milliseconds':22s} {'median':>8s} {'quietest':>8s}   goal of fusion + selection: 0.5")
    for stage in blocks[0]:
        found = [block[stage] for block in blocks]
        print(f"{stage:22s} {statistics.median(found):8.3f} {min(found):8.3f}")


if __name__ == "__main__":
    main()
