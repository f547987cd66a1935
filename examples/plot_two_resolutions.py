"""
Clusters at two resolutions
===========================

One learned kernel can be cut into few clusters or into many. Four kinds of items lie mixed up in the plane; people
find two pairs of kinds alike, and each kind most like itself. This is the situation of the paper's first figure.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from oddkernel import SKLR, Comparisons, KernelKMeans

# %%
# The features put kinds 0 and 3 side by side, and 1 and 2; people see 0 and 1 as one family and 2 and 3 as another.

rng = np.random.default_rng(0)
kind = np.repeat([0, 1, 2, 3], 40)
family = kind // 2
places = np.array([[0.0, 0.0], [4.0, 0.0], [4.6, 1.2], [0.6, 1.2]])
X = places[kind] + 0.32 * rng.normal(size=(160, 2))

# %%
# Half of the questions show two families, half show two kinds of one family. Nobody needs to be told what a family is.

between_families = Comparisons.from_labels(family, 100, random_state=0)
within = [Comparisons.from_labels(np.where(family == f, kind, -1), 50, random_state=f) for f in (0, 1)]
said = between_families + within[0] + within[1]

before = SKLR(rank=0.99).fit(X)
after = SKLR(rank=0.99).fit(X, said)

# %%
# The same kernel gives both clusterings. The number after each is the Adjusted Rand index; 1 is perfect.

for name, model in {"before": before, "after": after}.items():
    K = model.kernel_matrix(X)
    for words, true, k in (("2 families", family, 2), ("4 kinds", kind, 4)):
        found = KernelKMeans(n_clusters=k, random_state=0).fit_predict(K)
        print(f"{name:6}  {words}: {adjusted_rand_score(true, found):.2f}")

# %%
# Colour tells the kind, shape the family: crosses and dots end up on two sides, each side in two groups.

figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
learned = after.transform(X)
centred = learned - learned.mean(axis=0)
_, _, axes = np.linalg.svd(centred, full_matrices=False)
for panel, points, title in ((panels[0], X, "the features"), (panels[1], centred @ axes[:2].T, "what was learned")):
    for one in range(4):
        panel.scatter(*points[kind == one].T, c=f"C{one}", marker="xo"[one // 2], s=26)
    panel.set(title=title, xticks=[], yticks=[])
