"""
A support vector machine on the learned kernel
==============================================

Every kernel method of scikit-learn takes a learned kernel as ``kernel="precomputed"``. Where labels are few, what
people said about similarity makes them go further.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from oddkernel import SKLR, Comparisons

X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = X[:800], X[800:], y[:800], y[800:]
known = np.concatenate([np.flatnonzero(y == digit)[:2] for digit in range(10)])  # two labelled images of each digit

# %%
# Three hundred odd-one-out answers about the first 800 images; they name no digit.

said = Comparisons.from_labels(y, 300, random_state=0)
models = {"before": SKLR().fit(X), "after": SKLR().fit(X, said)}

# %%
# The machine sees a kernel matrix and twenty labels. What share of the images that nobody was asked about does it get
# right?

right = {}
for name, model in models.items():
    machine = SVC(kernel="precomputed").fit(model.kernel_matrix(X[known]), y[known])
    right[name] = round(machine.score(model.kernel_matrix(X_new, X[known]), y_new), 3)
right

# %%
# The kernel between the twenty labelled images shows why: after learning, the two of a digit (neighbours along the
# diagonal) stand out.

figure, panels = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for panel, (name, model) in zip(panels, models.items(), strict=True):
    panel.imshow(model.kernel_matrix(X[known]), cmap="viridis")
    panel.set(title=f"{name}: {right[name]:.0%} right", xticks=range(0, 20, 2), yticks=range(0, 20, 2))
    panel.set_xticklabels(range(10))
    panel.set_yticklabels(range(10))
