"""
What similarity is made of: dimensions
======================================

A learned kernel says how similar items are. Its dimensions say in what respect: loadings that are never negative, and
whose products add up to the similarity. Three examples: words, handwritten digits, and photographs of cars.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from oddkernel import SKLR, Comparisons, formats
from oddkernel.dimensions import Dimensions

# %%
# A table of words. Someone who attends to what a thing is and to where it is found answers five hundred questions;
# simulated here by a table of both. The features are four columns that anyone could fill in.

THINGS = """
ant      land 0 6 1   bee     air  1 6 1   gull    air  1 2 40   owl   air  1 2 45    bat   air   1 2 10
rat      land 0 4 20  horse   land 0 4 200 cow     land 0 4 180  shark sea  0 0 300   cod   sea   0 0 80
crab     sea  0 8 15  kite    air  1 0 60  plane   air  1 0 3000 drone air  1 0 30    glider air  1 0 900
car      land 0 0 400 tractor land 0 0 450 bicycle land 0 0 170  train land 0 0 9000  ferry sea   0 0 8000
submarine sea 0 0 7000 canoe  sea  0 0 500 buoy    sea  0 0 100  truck land 0 0 800   whale sea   0 0 1500
"""
cells = np.array(THINGS.split()).reshape(-1, 5)
words = pd.DataFrame(cells[:, 2:].astype(float), index=cells[:, 0], columns=["wings", "legs", "centimetres"])
words["centimetres"] = np.log(words["centimetres"])
alive = np.isin(
    words.index, ["ant", "bee", "gull", "owl", "bat", "rat", "horse", "cow", "shark", "cod", "crab", "whale"]
)
words["machine"] = 1.0 - alive
meant = np.column_stack([alive, ~alive, *(cells[:, 1] == place for place in ("land", "air", "sea"))]).astype(float)
rng = np.random.default_rng(0)
shown = np.array([rng.permutation(len(words))[:3] for _ in range(500)])
pairs = np.stack([(meant[shown[:, p]] * meant[shown[:, q]]).sum(axis=1) for p, q in ((1, 2), (0, 2), (0, 1))], axis=1)
odd = np.argmax(3 * pairs + rng.gumbel(size=pairs.shape), axis=1)
said = Comparisons.odd_one_out(shown, odd, items=list(words.index))
model = SKLR(rank=None, loss="softmax", penalty=0.1, scaling="standard", random_state=0).fit(words, said)
found = Dimensions(5, random_state=0).fit(words, model=model)
pd.DataFrame(
    {
        "words that have most of it": [", ".join(words.index[np.argsort(-column)[:6]]) for column in found.loadings_.T],
        "weight": found.weight_.round(3),
        "between the halves": found.reproducibility_.round(2),
        "sure": found.reproducible_,
    },
    index=found.names_,
)

# %%
# Why are two alike, and why is one of three odd?

print("gull and owl:", found.explain("gull", "owl"))
three = found.explain("gull", "owl", "whale")
print(f"gull, owl, whale: {found.item_names_[three.odd]} is odd:", three)

# %%
# Handwritten digits, and six hundred answers by digit. Loadings of digits that nobody was asked about come from their
# pixels; the last row of pictures shows the new digits with the largest loading.

digits = load_digits(n_class=5)
asked, new = slice(0, 150), slice(150, 400)
said = Comparisons.from_labels(digits.target[asked], 600, noise=0.1, random_state=0)
model = SKLR(loss="softmax", penalty=0.1, random_state=0).fit(digits.data[asked], said)
found = Dimensions(5, random_state=0).fit(digits.data[asked], model=model)
loadings = found.transform(digits.data[new])
figure, panels = plt.subplots(5, 5, figsize=(6, 6), layout="constrained")
for k, column in enumerate(panels.T):
    best = np.argsort(-found.loadings_[:, k])[:4]
    pictures = [*digits.images[asked][best], digits.images[new][np.argmax(loadings[:, k])]]
    for panel, picture in zip(column, pictures, strict=True):
        panel.imshow(picture, cmap="gray_r")
        panel.set(xticks=[], yticks=[])
    column[0].set_title(f"{found.reproducibility_[k]:.2f}")
figure.suptitle("Digits with most of each dimension, and its reproducibility")

# %%
# Sixty cars without any features, and people's answers about them (Kleindessner and von Luxburg). The photographs are
# not part of the package: there is a picture only if ``ODDKERNEL_DATA`` names a folder that holds them.

folder = Path(os.environ.get("ODDKERNEL_DATA", "."))
if (folder / "cars60_survey.csv").exists():
    said = formats.read(folder / "cars60_survey.csv", format="central")
    nothing = np.arange(60.0)[:, None]
    model = SKLR("identity", rank=None, loss="softmax", penalty=0.05).fit(nothing, said)
    found = Dimensions(6, random_state=0).fit(nothing, model=model)
    figure, panels = plt.subplots(4, 6, figsize=(10, 5), layout="constrained")
    for k, column in enumerate(panels.T):
        for panel, row in zip(column, np.argsort(-found.loadings_[:, k])[:4], strict=True):
            panel.imshow(plt.imread(folder / "cars60_images" / f"{(said.items or range(1, 61))[row]}.jpg"))
            panel.set(xticks=[], yticks=[])
        column[0].set_title(f"{found.reproducibility_[k]:.2f}{'' if found.reproducible_[k] else ' unsure'}")
else:
    print("ODDKERNEL_DATA names no folder with cars60_survey.csv, so there is nothing to show here.")
