// Both maps and their controls: colours, legend, search, tooltip, table.

const LISTED = 60; // groups in the legend
let currentColouring = null;

function colouring() {
  currentColouring ??= colourings[state.colour].get();
  return currentColouring;
}

/** Whether an item passes the filters of the legend and the search. */
function visible() {
  const { of } = colouring();
  const { alone, matches } = state;
  return (i) => (alone === null || of[i] === alone) && (matches === null || matches.has(i));
}

/** The text about an item. */
function describe(i) {
  return [
    nameOf(i),
    data.classes && data.classes.names[classOf[i]],
    `cluster ${clusterOf(i) + 1} of ${data.clusters.levels[state.level].k}`,
    judged[i] ? `judged ${plural(judged[i], "time")}` : "never judged",
  ].filter(Boolean);
}

function hover(i, x, y) {
  const tip = find("tip");
  if (i === null) tip.hidden = true;
  else {
    if (i !== state.hovered) {
      const [name, ...facts] = describe(i);
      const text = textOf(i);
      tip.replaceChildren(
        ...[
          thumbnail(i, 88),
          make(
            "div",
            {},
            make("strong", {}, shorten(name, 80)),
            text && text !== name && make("div", { class: "excerpt" }, shorten(text, 220)),
            ...facts.map((fact) => make("div", { class: "soft" }, fact)),
          ),
        ].filter(Boolean),
      );
    }
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(x + 16, window.innerWidth - width - 8))}px`;
    tip.style.top = `${y + 18 + height > window.innerHeight ? Math.max(8, y - height - 14) : y + 18}px`;
  }
  if (i !== state.hovered) update({ hovered: i });
}

// A fixed random order, so that the same items, from all over the map, are labelled each time.
const drawingOrder = Array.from({ length: data.n }, (_, i) => i).sort((i, j) => ((i * 7919) % 10007) - ((j * 7919) % 10007));

function startMaps() {
  const maps = [
    new MapView(find("map-before"), "before", "Map of the items before learning"),
    new MapView(find("map-after"), "after", "Map of the items after learning"),
  ];
  const chooser = find("colour");
  for (const [key, way] of Object.entries(colourings)) if (way) chooser.append(make("option", { value: key }, way.words));
  chooser.value = state.colour;
  chooser.addEventListener("change", () => update({ colour: chooser.value, alone: null }));
  finder(find("search"), find("found"), select, (matches) => update({ matches }));
  find("pictures").checked = state.pictures;
  find("pictures").addEventListener("change", (event) => update({ pictures: event.target.checked }));
  find("pictures-words").textContent = data.thumbnails ? "Show pictures" : "Show names";
  find("reset").addEventListener("click", () => {
    find("search").value = "";
    maps.forEach((map) => map.whole());
    update({ alone: null, matches: null, selected: null });
  });
  find("map-words").textContent =
    `Every dot is an item; items that are alike lie close together, as well as a flat map (${data.maps.method}) can show it. ` +
    `${data.maps.local ? "Neighbourhoods mean something, long distances little. " : ""}Pass over a dot to see the item in both maps, press it to keep it; ` +
    "draw a frame with the Shift key held to see the same items in both.";
  find("after-words").textContent = `with ${plural(data.answers.total, "answer")}`;

  const drawLegend = () => {
    const { title, groups, of } = colouring();
    const counts = new Array(groups.length).fill(0);
    for (const group of of) counts[group]++;
    find("legend").replaceChildren(
      make("span", { class: "soft" }, title),
      ...groups.slice(0, LISTED).map((group, g) =>
        make(
          "button",
          { type: "button", "aria-pressed": `${state.alone === g}`, onclick: () => update({ alone: state.alone === g ? null : g }) },
          make("span", { class: "dot", style: { backgroundColor: group.colour } }),
          `${shorten(group.label, 40)} `,
          make("span", { class: "soft" }, grouped(counts[g])),
        ),
      ),
      ...(groups.length > LISTED ? [make("span", { class: "soft" }, `and ${groups.length - LISTED} more`)] : []),
    );
  };
  const tell = () => {
    const shown = visible();
    let count = 0;
    for (let i = 0; i < data.n; i++) count += shown(i);
    const some = count < data.n ? `${grouped(count)} of ${plural(data.n, "item")} shown.` : `${plural(data.n, "item")}.`;
    const chosen = state.selected === null ? "" : ` Selected: ${nameOf(state.selected)}; lines lead to its nearest.`;
    find("map-status").textContent = some + chosen;
  };
  const refreshTable = whenOpen(find("items-table"), itemsTable);
  listeners.push((changes) => {
    if ("colour" in changes || ("level" in changes && state.colour === "cluster")) currentColouring = null;
    if ("colour" in changes || "level" in changes || "alone" in changes) drawLegend();
    const whole = ["colour", "level", "alone", "matches", "pictures", "theme"].some((name) => name in changes);
    for (const map of maps) {
      if (whole) map.redraw();
      else if (map.width && ("hovered" in changes || "selected" in changes)) map.drawOver();
    }
    if (whole || "selected" in changes) tell();
    if ("matches" in changes || "level" in changes) refreshTable();
  });
  for (const { image } of sheets) image.addEventListener("load", () => state.pictures && maps.forEach((map) => map.redraw()));
  drawLegend();
  tell();
}

const PAGE = 50; // rows of the table

/** The maps as a table, for screen readers: every item with its data. */
function itemsTable(start = 0) {
  const shown = [];
  for (let i = 0; i < data.n; i++) if (state.matches === null || state.matches.has(i)) shown.push(i);
  const rows = shown.slice(start, start + PAGE).map((i) => [
    nameOf(i),
    ...(data.classes ? [data.classes.names[classOf[i]]] : []),
    clusterOf(i) + 1,
    judged[i],
    nameOf(near.of("before", i)[0]),
    nameOf(near.of("after", i)[0]),
  ]);
  const turn = (to) => find("items-table").querySelector("div").replaceChildren(itemsTable(to));
  return make(
    "div",
    {},
    table(["Item", ...(data.classes ? ["Class"] : []), "Cluster", "Times judged", "Nearest before", "Nearest after"], rows),
    make(
      "div",
      { class: "pager" },
      make("button", { type: "button", disabled: start === 0, onclick: () => turn(start - PAGE) }, "Earlier"),
      `${shown.length ? start + 1 : 0} to ${Math.min(start + PAGE, shown.length)} of ${grouped(shown.length)}`,
      make("button", { type: "button", disabled: start + PAGE >= shown.length, onclick: () => turn(start + PAGE) }, "Later"),
    ),
  );
}
