"""Settings of searches: what they ask and how they rank, unless a search says otherwise."""

from pydantic import Field
from pydantic_settings import BaseSettings


class SearchSettings(BaseSettings):
    """Defaults of a deployment for `RankingOptions`, which checks them and has the defaults where these are empty."""

    select: str = Field("", description="what searches return: `spans`, `chunks` or `parents`; empty: `spans`")
    budget: int | None = Field(None, description="most tokens of an answer; empty: 512")
    top_k: int | None = Field(
        None, description="most contexts of an answer, 0: no limit; empty: 5 for `chunks` and `parents`"
    )
    cut: str = Field(
        "", description="cut rule, such as `gapr` or `adaptive_k:5`, as for `umg search --cut`; empty: none"
    )
    cut_on: str = Field(
        "", description="what of evidence spans that rule cuts: `sentences` or `runs`; empty: `sentences`"
    )
    search_experts: str = Field(
        "", description="which of the index set's experts searches ask, with commas; empty: all, and none is left out"
    )
    normalisation: str = Field(
        "", description="how the scores of a list are scaled: `zscore`, `minmax` or `max`; empty: `zscore`"
    )
    weighting: str = Field(
        "",
        description="what a list weighs: `entropy`, `uniform`, `depth`, `filled` or `typical`; empty: `entropy`",
    )
    temperature: float | None = Field(
        None, description="divisor of scaled scores: lower makes a list put more on its first hits; empty: 1"
    )
    alpha: float | None = Field(
        None, description="weight of the length of `chunks` and `parents`, 0: length does not count; empty: 0.5"
    )
    floor: int | None = Field(
        None, description="tokens below which a shorter one gains nothing by its length; empty: 16"
    )
    aggregation: str = Field(
        "", description="how hits count for `parents`: `bounded`, `max` or `sum`; empty: `bounded`"
    )
