"""
Sixty cars, as people see them
==============================

Photographs, no features at all, and 7,097 people's answers to *which of the three is the most central?* (Kleindessner
and von Luxburg). Each answer says that the other two are the farthest apart.

The photographs are not part of the package. This page is empty unless ``ODDKERNEL_DATA`` names a folder that holds
``cars60_survey.csv`` and ``cars60_images``.
"""

import os
from pathlib import Path

import numpy as np

from oddkernel import SKLR, formats
from oddkernel.report import Report

folder = Path(os.environ.get("ODDKERNEL_DATA", "."))
report = None
if (folder / "cars60_survey.csv").exists():
    said = formats.read(folder / "cars60_survey.csv", format="central")
    # The identity kernel knows nothing: all cars are equally far apart until people speak.
    nothing = np.arange(60.0)[:, None]
    model = SKLR("identity", rank=None, loss="softmax", penalty=0.05).fit(nothing, said)
    photographs = [folder / "cars60_images" / f"{number}.jpg" for number in range(1, 61)]
    report = Report(
        model,
        nothing,
        names=[f"car {number}" for number in range(1, 61)],
        images=photographs,
        title="Sixty cars, as people see them",
    )
else:
    print("ODDKERNEL_DATA names no folder with cars60_survey.csv, so there is nothing to show here.")
report
# sphinx_gallery_thumbnail_path = "_static/report/items.png"
