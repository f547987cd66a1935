"""
A report to look at
===================

After a fit one wants to see whether the learned similarity makes sense. `oddkernel.report.Report` shows maps before and
after, clusters from coarse to fine, neighbours, answers and fit on one page, which needs nothing else; a notebook shows
it as the result of a cell.
"""

import numpy as np
from sklearn.datasets import load_digits

from oddkernel import SKLR, Comparisons
from oddkernel.report import Report

digits = load_digits()
X, y = digits.data[:500], digits.target[:500]
said = Comparisons.from_labels(y, 150, undecided=15, noise=0.05, random_state=0)
model = SKLR(penalty=1.0).fit(X, said)

# %%
# Here it is; try it. Hover over a dot, click it, search for a row, move the slider.

images = (255 - 15 * digits.images[:500]).astype(np.uint8)  # dark on light
Report(model, X, images=images, classes=y)
# sphinx_gallery_thumbnail_path = "_static/report/map.png"

# %%
# ``Report(...).save("digits.html")`` writes the page to a file, ``.figures("pictures")`` each picture as PNG and SVG.
