// Item by item: one item, and its nearest items before and after learning. What people said about it is in said.js.

function startNeighbours() {
  const go = (i) => {
    find("pick").value = "";
    select(i);
  };
  finder(find("pick"), find("picked"), go);
  finder(find("pick-second"), find("picked-second"), (i) => {
    find("pick-second").value = "";
    select(i, true);
  });
  find("second").addEventListener("click", () => {
    update({ adding: !state.adding });
    if (state.adding) say("The next item you choose is the second one.");
  });
  find("clear").addEventListener("click", () => update({ selected: null, second: null, adding: false }));
  find("any").addEventListener("click", () => go(Math.floor(Math.random() * data.n)));
  const byChange = Array.from({ length: data.n }, (_, i) => i).sort((i, j) => near.kept[i] - near.kept[j] || judged[j] - judged[i]);
  let next = 0;
  find("changed").addEventListener("click", () => go(byChange[next++ % Math.max(1, Math.ceil(data.n / 10))]));
  const enable = () => {
    for (const id of ["second", "clear", "pick-second"]) find(id).disabled = state.selected === null;
    find("second").setAttribute("aria-pressed", `${state.adding}`);
  };
  listeners.push((changes) => {
    if ("selected" in changes || "level" in changes) showNeighbours();
    if ("selected" in changes || "adding" in changes) enable();
  });
  showNeighbours();
  enable();
}

function showNeighbours() {
  const view = find("neighbour-view");
  const i = state.selected;
  if (i === null) {
    view.replaceChildren(make("p", { class: "soft" }, "No item is chosen yet."));
    return;
  }
  const kept = near.kept[i];
  const { count } = data.neighbours;
  const [name, ...facts] = describe(i);
  const sets = { before: new Set(near.of("before", i)), after: new Set(near.of("after", i)) };
  const column = (when, title, other, word) => {
    const list = make("ol", { class: data.thumbnails ? "" : data.texts ? "wordy" : "named" });
    for (const j of near.of(when, i)) {
      const stays = sets[other].has(j);
      const family = data.classes && shorten(data.classes.names[classOf[j]], 18);
      const words = [family, stays ? "" : word].filter(Boolean).join(" · ");
      list.append(make("li", {}, itemButton(j, 68, make("span", { class: stays ? "tag" : `tag ${word}` }, words))));
    }
    return make("div", {}, make("h3", {}, title), list);
  };
  view.replaceChildren(
    make(
      "div",
      { class: "chosen" },
      ...[
        thumbnail(i, 96),
        make(
          "div",
          {},
          make("h3", {}, shorten(name, 200)),
          textOf(i) && textOf(i) !== name && make("div", { class: "excerpt" }, shorten(textOf(i), 500)),
          make("div", { class: "soft" }, facts.join(" · ")),
          make("div", { class: "soft" }, `${kept} of its ${count} nearest ${kept === 1 ? "is" : "are"} the same before and after.`),
        ),
      ].filter(Boolean),
    ),
    make("div", { class: "two" }, column("before", data.blank ? "Before: all are equally far" : "Nearest before", "after", "gone"), column("after", "Nearest after", "before", "new")),
  );
}
