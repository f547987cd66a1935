"""
Outdoor scenes: natural or man-made, and eight kinds
====================================================

GIST descriptors of photographs of eight kinds of places (Oliva and Torralba), and answers by kind. The learned kernel
is cut into two clusters and into eight.

The descriptors are not part of the package. This page is empty unless ``ODDKERNEL_DATA`` names a folder that holds
``scene_gist.npz``.
"""

import os
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from oddkernel import SKLR, Comparisons
from oddkernel.report import Report

folder = Path(os.environ.get("ODDKERNEL_DATA", "."))
report = None
if (folder / "scene_gist.npz").exists():
    with np.load(folder / "scene_gist.npz") as file:
        X, y, names = file["X"].astype(float), file["y"], file["name"]
    rng = np.random.default_rng(0)
    some = np.concatenate([rng.choice(np.flatnonzero(y == kind), 60, replace=False) for kind in np.unique(y)])
    X, y, names = X[some], y[some], names[some]
    model = SKLR().fit(X, Comparisons.from_labels(y, 400, random_state=0))
    report = Report(
        model,
        X,
        names=[f"{kind} {name}" for kind, name in zip(y, names, strict=True)],
        classes=y,
        title="Outdoor scenes",
    )
    natural = np.isin(y, ["coast", "forest", "mountain", "opencountry"])
    for true, k in ((natural, 2), (y, 8)):
        print(f"{k} clusters match at {adjusted_rand_score(true, report.resolutions[k].labels):.2f}")
else:
    print("ODDKERNEL_DATA names no folder with scene_gist.npz, so there is nothing to show here.")
report
# sphinx_gallery_thumbnail_path = "_static/report/clusters.png"
