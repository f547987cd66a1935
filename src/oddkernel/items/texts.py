"""Features of texts: which words and parts of words they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..comparisons import RowError
from ..comparisons.names import as_items
from .encoders import Row
from .sources import Source
from .tables import Items

N_FEATURES = 100
"""Dimensions of the features of texts unless another number is given. Chosen by hand."""


class Tfidf:
    """The encoder that needs no weights: see `from_texts`."""

    name = option = "tfidf"
    prefix = "text"
    together = True

    def rows(self, source: Source) -> Iterator[Row]:
        """The features of each text; they depend on all texts."""
        for index, features in enumerate(from_texts(source.texts, source.names).X):
            yield Row(index, features)


def from_texts(texts: Sequence[str], names: Sequence[str], *, n_features: int = N_FEATURES) -> Items:
    """Features of texts: TF-IDF weights of words and of their parts, condensed by a truncated SVD.

    The weights depend on all the texts, so items that are to be compared must come from one call.

    Parameters
    ----------
    texts : sequence of str
        At least two.
    names : sequence of str
        The items' names, as many and all different.
    n_features : int, default=100
        How many features to make; there are fewer if there are fewer texts.

    Returns
    -------
    Items
        ``X`` of shape (n, n_features), ``names`` and ``columns``. The same texts give the same features.

    Examples
    --------
    >>> from sklearn.metrics import pairwise_distances
    >>> items = from_texts(["a red apple", "red apples", "a blue car"], ["apple", "apples", "car"])
    >>> distance = pairwise_distances(items.X)
    >>> bool(distance[0, 1] < distance[0, 2])
    True
    """
    called = as_items(names) or ()
    if len(called) != len(texts):
        raise ValueError(f"{len(called)} names for {len(texts)} texts; expected one for each")
    if len(texts) < 2:
        raise ValueError(f"{len(texts)} texts; expected at least 2, which can be compared")
    if n_features < 1:
        raise ValueError(f"n_features={n_features}; expected a whole number of at least 1")
    for row, text in enumerate(texts):
        if not text.strip():
            raise RowError(row, "an empty text; expected some words")
    # Reading tables of names, which this package does too, would wait a second for this.
    from scipy import sparse
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    # Words, and parts of words, in which "apple" and "apples" are alike.
    words = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", sublinear_tf=True)
    parts = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    try:
        weights = sparse.hstack([words.fit_transform(texts), parts.fit_transform(texts)]).tocsr()
    except ValueError:
        raise ValueError("the texts hold no words; expected letters or digits") from None
    svd = TruncatedSVD(min(n_features, *weights.shape), random_state=0)
    X = svd.fit_transform(weights)
    return Items(X, called, tuple(f"text{k}" for k in range(X.shape[1])))
