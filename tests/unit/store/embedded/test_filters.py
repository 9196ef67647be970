"""Ranges of large integers over bounds that are floats."""

import math

from hypothesis import given
from hypothesis import strategies as st

from umg_search.ports import Scope
from umg_search.store.embedded.filters import _float_from, _float_to, scope_filter

LONG = st.integers(-(2**63), 2**63 - 1)


def test_an_open_scope_has_no_filter() -> None:
    assert scope_filter(Scope()) is None


@given(LONG | st.integers(2**63 - 3_000, 2**63 - 1) | st.integers(2**53 - 5, 2**53 + 5))
def test_the_next_float_is_never_far(number: int) -> None:
    above, below = _float_from(number), _float_to(number)
    assert below <= number <= above
    assert above - number < 1_024
    assert number - below < 1_024
    assert (int(float(above)), int(float(below))) == (above, below)
    if below != above:
        assert math.nextafter(float(below), math.inf) == float(above)
