"""
Texts, by topic or by mood
==========================

What is similar depends on what people look at. The same thirty-two short reviews are learned from twice: once from
people who attend to the topic, once from people who attend to the mood. The features are the same plain word counts.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from oddkernel import SKLR, Comparisons, KernelKMeans
from oddkernel.report import flat_map

TEXTS = """
hotel good | The hotel room was clean and the staff were lovely
hotel good | A wonderful hotel with a quiet room and a great breakfast
hotel good | Lovely room, comfortable bed, great view from the hotel
hotel good | The bed was comfortable and the hotel staff were wonderful
hotel good | Clean hotel, great location, lovely breakfast in the room
hotel good | We enjoyed our quiet room and the wonderful hotel pool
hotel good | Great staff at the hotel, and such a comfortable room
hotel good | A clean and lovely room; we enjoyed the hotel breakfast
hotel bad | The hotel room was dirty and the staff were rude
hotel bad | A terrible hotel with a noisy room and an awful breakfast
hotel bad | Dirty room, broken bed, terrible view from the hotel
hotel bad | The bed was broken and the hotel staff were awful
hotel bad | Noisy hotel, terrible location, awful breakfast in the room
hotel bad | We regretted our noisy room and the dirty hotel pool
hotel bad | Rude staff at the hotel, and such a broken room
hotel bad | A dirty and awful room; we regretted the hotel breakfast
film good | The film had a lovely story and the actors were great
film good | A wonderful film with a clever plot and a great ending
film good | Clever story, lovely music, great actors in this film
film good | The plot was clever and the actors were wonderful
film good | Great film, lovely scenes, and a wonderful story
film good | We enjoyed the clever plot and the wonderful music
film good | Great actors in the film, and such a lovely ending
film good | A clever and lovely story; we enjoyed the film to its ending
film bad | The film had a boring story and the actors were awful
film bad | A terrible film with a silly plot and an awful ending
film bad | Silly story, awful music, terrible actors in this film
film bad | The plot was silly and the actors were terrible
film bad | Boring film, awful scenes, and a terrible story
film bad | We regretted the silly plot and the terrible music
film bad | Awful actors in the film, and such a boring ending
film bad | A boring and awful story; we regretted the film to its ending
"""
rows = [line.split(" | ") for line in TEXTS.strip().splitlines()]
topic, mood = (np.array(column) for column in zip(*(label.split() for label, _ in rows), strict=True))
texts = [text for _, text in rows]
X = TfidfVectorizer(sublinear_tf=True).fit_transform(texts).toarray()

# %%
# Two groups of people are shown three reviews at a time. Sixty answers from each suffice.

asked = {"topic": topic, "mood": mood}
models = {
    what: SKLR("linear", rank=None).fit(X, Comparisons.from_labels(labels, 60, random_state=0))
    for what, labels in asked.items()
}
initial = SKLR("linear", rank=None).fit(X)

# %%
# Two clusters of each kernel, held against topic and mood: Adjusted Rand index, 1 is perfect and 0 is chance.

print("kernel learned from      matches topic  matches mood")
for name, model in {"words alone": initial, **{f"answers on {what}": m for what, m in models.items()}}.items():
    found = KernelKMeans(n_clusters=2, random_state=0).fit_predict(model.kernel_matrix(X))
    print(f"{name:24} {adjusted_rand_score(topic, found):13.2f} {adjusted_rand_score(mood, found):13.2f}")

# %%
# And for a review that nobody has seen, "Great pool", the nearest one by each of the two.

new = TfidfVectorizer(sublinear_tf=True).fit(texts).transform(["Great pool"]).toarray()
for what, model in models.items():
    print(f"by {what}: {texts[int(np.argmin(model.distance(new, X)))]}")

# %%
# The same reviews on two maps. Colour tells the topic, and a cross a bad mood: each map keeps what its people saw.

figure, panels = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for panel, (what, model) in zip(panels, models.items(), strict=True):
    flat = flat_map(model.transform(X))
    for one, colour in (("hotel", "C0"), ("film", "C1")):
        for other, marker in (("good", "o"), ("bad", "x")):
            panel.scatter(*flat[(topic == one) & (mood == other)].T, c=colour, marker=marker, label=f"{one}, {other}")
    panel.set(title=f"learned from answers on {what}", xticks=[], yticks=[], aspect="equal")
panels[0].legend(frameon=False)
