// Both maps and their controls: colours, legend, search, tooltip, table.

const LISTED = 60; // groups in the legend; chosen by hand
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
    new MapView(find("map-still"), "after", `Map of the items by the learned distances. The part called Map has the same map for the keyboard.`, true),
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
    update({ alone: null, matches: null, selected: null, second: null, adding: false, framing: false });
  });
  find("frame").addEventListener("click", () => update({ framing: !state.framing }));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    hover(null);
    update({ adding: false, framing: false });
  });
  find("save-names").addEventListener("click", saveNames);
  find("save-groups").addEventListener("click", saveGroups);
  const method = `${data.maps.method}${data.maps.local ? ": near neighbours stay together, long distances mean little" : ""}`;
  find("map-words").textContent =
    `Every dot is an item, and items that are alike lie close together, as well as a flat map can show it (${method}). ` +
    `${hoverWords} a dot to see the item in both maps${touch ? "" : ", and click to choose it"}. ` +
    `${touch ? "Use “Draw a frame” and drag" : "Drag with the Shift key held, or after “Draw a frame”,"} to see the same items in both.`;
  find("before-words").textContent = `by ${data.before}`;
  find("after-words").textContent = afterWords().replace("After: ", "");
  find("still-words").textContent = `Items that are alike ${data.answers.learned ? "by the learned distances" : `by ${data.before}`} lie close together (${data.maps.method}).`;

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
    const chosen = state.selected === null ? "" : ` Chosen: ${shorten(nameOf(state.selected), 80)}; lines lead to its nearest.`;
    const second = state.second === null ? "" : ` Second: ${shorten(nameOf(state.second), 80)}.`;
    find("map-status").textContent = some + chosen + second;
    const saved = namesToSave().length;
    const which = saved === data.n ? "all " : count < data.n ? "the shown " : "the chosen ";
    find("save-names").textContent = `Save ${which}${plural(saved, "name")} (CSV)`;
  };
  const refreshTable = whenOpen(find("items-table"), itemsTable);
  listeners.push((changes) => {
    if ("colour" in changes || ("level" in changes && state.colour === "cluster")) currentColouring = null;
    if ("colour" in changes || "level" in changes || "alone" in changes) drawLegend();
    const whole = ["colour", "level", "alone", "matches", "pictures", "theme"].some((name) => name in changes);
    for (const map of maps) {
      if (whole) map.redraw();
      else if (map.width && ("hovered" in changes || "selected" in changes || "second" in changes)) map.drawOver();
      if ("framing" in changes) {
        map.corner = null;
        map.steer();
      }
    }
    if ("framing" in changes) find("frame").setAttribute("aria-pressed", `${state.framing}`);
    if (whole || "selected" in changes || "second" in changes) tell();
    if ("matches" in changes || "level" in changes) refreshTable();
  });
  for (const { image } of sheets) image.addEventListener("load", () => state.pictures && maps.forEach((map) => map.redraw()));
  drawLegend();
  tell();
}

/** What the second map shows. */
function afterWords() {
  const { learned, learned_from: from, total } = data.answers;
  if (!learned) return "After: the same, as nothing was learned";
  return from ? `After: learned from ${plural(total, "answer")}` : "After: by the learned distances";
}

const PAGE = 50; // rows of the table; chosen by hand

/** The maps as a table, for screen readers: every item with its data. */
function itemsTable(start = 0) {
  const shown = [];
  for (let i = 0; i < data.n; i++) if (state.matches === null || state.matches.has(i)) shown.push(i);
  const brief = (words) => shorten(words, 80);
  const rows = shown.slice(start, start + PAGE).map((i) => [
    brief(nameOf(i)),
    ...(data.classes ? [brief(data.classes.names[classOf[i]])] : []),
    clusterOf(i) + 1,
    judged[i],
    brief(nameOf(near.of("before", i)[0])),
    brief(nameOf(near.of("after", i)[0])),
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
