"""The page *The paper, reproduced*, generated from the stored results."""

from __future__ import annotations

from collections.abc import Mapping

from oddkernel.cli.reproduce import PAPER

from .outcome import Outcome

INTRODUCTION = """\
# The paper, reproduced

This page compares our results with those of
[Amid, Gionis and Ukkonen 2016](https://arxiv.org/abs/1612.00086), experiment by experiment. `oddkernel reproduce`
generates it from the results stored in `experiments/results`.

The people here are simulated: they answer by the classes of the data. The rivals are *Kkm*, kernel k-means on the
initial kernel, without learning; *LSML*, a linear metric from comparisons; *ITML*, a linear metric from pairs; and
*SKkm*, a kernel from pairs. *SKLR* has hard constraints; *sSKLR* has a penalty for violated answers (10⁵ unless another
is named). *The paper's algorithm* stops at the first kernel that agrees with the answers, here at the paper's ratio of
2; *exact* is the optimum, at a ratio of 4 unless another is named. All of them start from the paper's adaptive Gaussian
kernel, with 90% of its trace. None of our settings was tuned on the labels used for scoring, except for one choice
described under [Items left out](#items-left-out). One setting of a rival was, in its favour: LSML's penalty.

An experiment continues where its last run ended, and never measures anything twice:

```text
$ pip install "oddkernel[paper]"
$ oddkernel reproduce table1 --draws 30 --jobs 2 --results experiments/results
$ oddkernel reproduce page --results experiments/results --out docs
```

For the data sets see [the loaders](datasets.md). `--draws` is the number of repetitions, each with its own seed, which
is stored with its results; `--again METHOD` measures a method again after it has changed.
"""


def page(outcomes: Mapping[str, Outcome], figures_at: str) -> str:
    """The page, a section for each experiment."""
    if not outcomes.keys() & set(PAPER):
        title, *rest = "\n".join(outcome.markdown(figures_at) for outcome in outcomes.values()).split("\n", 1)
        return "\n".join([title.removeprefix("#"), *rest])
    return "\n".join([INTRODUCTION, *(outcome.markdown(figures_at) for outcome in outcomes.values())])
