"""
Choosing settings by held-out answers
=====================================

scikit-learn's own searches put items into folds. Here items stay, and the answers are put into folds:
`oddkernel.SearchCV` does that for any parameter of any pipeline that ends with `SKLR`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oddkernel import SKLR, Comparisons, SearchCV

X, y = load_wine(return_X_y=True)

# %%
# People make mistakes: one answer in five names the wrong bottle.

said = Comparisons.from_labels(y, 250, noise=0.2, random_state=0)

# %%
# The pipeline scales the features, turns them, and learns. Both a preprocessing step and the penalty are searched over.

pipeline = make_pipeline(StandardScaler(), PCA(), SKLR(loss="softmax"))
penalties = [0.01, 0.1, 1.0, 10.0]
search = SearchCV(pipeline, {"pca__n_components": [2, 8], "sklr__penalty": penalties}, random_state=0).fit(X, said)
search.best_params_

# %%
# The score of a setting is its mean agreement with the answers of each fold, learned from the others. With a fifth of
# the answers wrong, 0.8 is about the best that anything can reach.

mean = np.array(search.cv_results_["mean_test_score"]).reshape(2, -1)
error = np.array(search.cv_results_["std_test_score"]).reshape(2, -1)
figure, panel = plt.subplots(figsize=(6, 3.6), layout="constrained")
for row, components in enumerate((2, 8)):
    panel.errorbar(
        penalties, mean[row], error[row] / np.sqrt(5), marker="o", capsize=3, label=f"{components} components"
    )
panel.set(xscale="log", xlabel="penalty", ylabel="agreement with held-out answers")
panel.legend(frameon=False)

# %%
# Answers without mistakes, none of which it has seen, tell how much was understood.

truth = Comparisons.from_labels(y, 1000, random_state=1)
round(search.score(X, truth), 3)
