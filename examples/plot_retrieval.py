"""
Retrieval with NearestNeighbors
===============================

`transform` gives coordinates in which plain Euclidean distance is the learned one, so that any index over Euclidean
distances searches by people's similarity.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from oddkernel import SKLR, Comparisons

digits = load_digits()
X, y = digits.data[:900], digits.target[:900]
X_new, y_new = digits.data[900:1200], digits.target[900:1200]

# %%
# People sort the digits into those with a loop (0, 6, 8, 9) and those without; features know nothing of loops.

loop = np.isin(y, [0, 6, 8, 9]).astype(int)
loop_new = np.isin(y_new, [0, 6, 8, 9]).astype(int)
model = SKLR().fit(X, Comparisons.from_labels(loop, 200, random_state=0))
initial = SKLR().fit(X)

# %%
# An index over the learned coordinates, searched for images that are new to it. Of the twenty nearest, how many are
# alike in the sense that people meant?


def share_alike(model):
    index = NearestNeighbors(n_neighbors=20).fit(model.transform(X))
    found = index.kneighbors(model.transform(X_new), return_distance=False)
    return (loop[found] == loop_new[:, None]).mean()


{"before": round(share_alike(initial), 3), "after": round(share_alike(model), 3)}

# %%
# One query, left, and its nearest images before (above) and after (below).

query = int(np.flatnonzero(y_new == 9)[4])
figure, panels = plt.subplots(2, 9, figsize=(9, 2.4), layout="constrained")
for row, (name, one) in zip(panels, {"before": initial, "after": model}.items(), strict=True):
    nearest = np.argsort(one.distance(X_new[[query]], X)[0])[:8]
    for panel, image in zip(row, [X_new[query], *X[nearest]], strict=True):
        panel.imshow(image.reshape(8, 8), cmap="gray_r")
        panel.set(xticks=[], yticks=[])
    row[0].set_ylabel(name)
    row[0].spines[:].set(color="C1", linewidth=3)
