// Data, state and the helpers that all views use. Data are inserted into the page as text only.

const data = JSON.parse(document.getElementById("data").textContent);

function decode({ array, bytes }) {
  const text = atob(bytes);
  const raw = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) raw[i] = text.charCodeAt(i);
  return new { Uint8Array, Uint16Array, Uint32Array }[array](raw.buffer);
}

const judged = decode(data.judged);
const classOf = data.classes && decode(data.classes.of);
const labelsAt = data.clusters.levels.map((level) => decode(level.labels));
const near = {
  before: decode(data.neighbours.before),
  after: decode(data.neighbours.after),
  kept: decode(data.neighbours.kept),
  of: (when, i) => near[when].subarray(i * data.neighbours.count, (i + 1) * data.neighbours.count),
};

const state = {
  level: Math.max(0, data.clusters.levels.findIndex((level) => level.k === data.clusters.suggestion.k)),
  colour: data.classes ? "class" : "cluster",
  alone: null, // the one group of the legend that is shown
  matches: null, // items that the search found, as a Set
  hovered: null,
  selected: null, // the item that was chosen
  second: null, // another one, to see the answers about both
  adding: false, // whether the next item chosen is the second
  framing: false, // whether the pointer draws a frame
  pictures: data.n <= (data.thumbnails ? 150 : data.names ? 60 : 0), // few items fit on the map; chosen by hand
};
const listeners = [];

/** Change the state and notify every view. */
function update(changes) {
  Object.assign(state, changes);
  for (const listener of listeners) listener(changes);
}

/** Make an element: attributes by name, `on…` as listeners, `style` as an object, children as nodes or text. */
function make(tag, attributes = {}, ...children) {
  const element = tag.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4))
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const distances = data.answers.learned ? "the learned distances" : "the distances";

// Fingers tap and have no Shift key.
const touch = matchMedia("(pointer: coarse)").matches;
const hoverWords = touch ? "Tap" : "Hover over";

const find = (id) => document.getElementById(id);
const percent = (share, digits = 1) => `${(100 * share).toFixed(share === 1 ? 0 : digits)}%`;
const grouped = (number) => number.toLocaleString("en");
const plural = (count, word) => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
/** At most so many characters; an emoji is never cut in half. */
const shorten = (text, length) => (text.length > length ? `${[...text.slice(0, 2 * length)].slice(0, length - 1).join("")}…` : text);
const nameOf = (i) => (data.names ? data.names[i] : `row ${i}`);
const textOf = (i) => (data.texts ? data.texts[i] : "");
const clusterOf = (i) => labelsAt[state.level][i];

/** Announce a text to screen readers. */
function say(sentence) {
  find("say").textContent = sentence;
}

const colourOf = (group) => data.palette[group % data.palette.length];

/** A colour of the style sheet in the current theme. */
function themed(name) {
  if (!themed.known.has(name)) {
    const probe = make("span", { style: { color: `var(${name})`, display: "none" } });
    document.body.append(probe);
    themed.known.set(name, getComputedStyle(probe).color);
    probe.remove();
  }
  return themed.known.get(name);
}
themed.known = new Map();
listeners.push((changes) => "theme" in changes && themed.known.clear());

const colourings = {
  cluster: {
    words: "by cluster",
    get: () => {
      const { k } = data.clusters.levels[state.level];
      const groups = Array.from({ length: k }, (_, c) => ({ label: `${c + 1}`, colour: colourOf(c) }));
      return { title: "Cluster", groups, of: labelsAt[state.level], named: true };
    },
  },
  class: data.classes && {
    words: "by class",
    get: () => {
      const groups = data.classes.names.map((label, c) => ({ label, colour: colourOf(c) }));
      return { title: "Class", groups, of: classOf, named: groups.length <= 30 };
    },
  },
  judged: { words: "by how often judged", get: () => stepped("Times judged", judged) },
  kept: {
    words: "by how many neighbours changed",
    get: () => stepped("Neighbours that changed", near.kept.map((kept) => data.neighbours.count - kept)),
  },
};

/** Numbers in up to six steps; zero has its own. */
function stepped(title, numbers) {
  let most = 0;
  for (const number of numbers) most = Math.max(most, number);
  const width = Math.max(1, Math.ceil(most / 5));
  const groups = [{ label: "0", colour: data.ramp[0] }];
  for (let low = 1, step = 1; low <= most; low += width, step++) {
    const high = Math.min(most, low + width - 1);
    groups.push({ label: low === high ? `${low}` : `${low}–${high}`, colour: data.ramp[step] });
  }
  return { title, groups, of: numbers.map((number) => (number ? Math.floor((number - 1) / width) + 1 : 0)), named: false };
}

// Pictures of items are on sheets; a sheet is decoded once, however often it is shown.
const sheets = (data.thumbnails ? data.thumbnails.sheets : []).map((bytes) => {
  const url = URL.createObjectURL(new Blob([decode({ array: "Uint8Array", bytes })], { type: "image/webp" }));
  const image = new Image();
  image.src = url;
  return { url, image };
});

/** Where an item's picture is: its sheet, and the column and row there. */
function pictureOf(i) {
  const { columns } = data.thumbnails;
  const place = i % (columns * columns);
  return { sheet: sheets[Math.floor(i / (columns * columns))], column: place % columns, row: Math.floor(place / columns) };
}

function thumbnail(i, size) {
  if (!data.thumbnails) return null;
  const { sheet, column, row } = pictureOf(i);
  const width = `${size}px`;
  return make("span", {
    class: data.thumbnails.exact ? "thumb exact" : "thumb",
    "aria-hidden": "true",
    style: {
      width,
      height: width,
      backgroundImage: `url(${sheet.url})`,
      backgroundSize: `${size * data.thumbnails.columns}px auto`,
      backgroundPosition: `${-size * column}px ${-size * row}px`,
    },
  });
}

/** An item as a button that selects it: picture, name and text, if available. */
function itemButton(i, size, ...extra) {
  const text = textOf(i);
  return make(
    "button",
    { type: "button", class: data.thumbnails ? "item" : "item wordy", title: nameOf(i), onclick: () => select(i) },
    thumbnail(i, size),
    make("span", { class: "caption" }, nameOf(i)),
    text && text !== nameOf(i) && make("span", { class: "excerpt" }, shorten(text, 160)),
    ...extra,
  );
}

/** Choose an item, or a second one beside it. */
function select(i, second = false) {
  if ((second || state.adding) && state.selected !== null && i !== state.selected) {
    update({ second: i, adding: false });
    say(`${nameOf(i)} chosen as second item; the answers about both are under Item by item.`);
  } else {
    update({ selected: i, second: null, adding: false });
    say(`${nameOf(i)} chosen; its neighbours and answers are under Item by item.`);
  }
}

/** A search field that lists what it finds; `pick` gets the item, `seen` all matches or null. */
function finder(input, list, pick, seen = () => {}) {
  const texts = Array.from({ length: data.n }, (_, i) => `${nameOf(i)}\n${textOf(i)}`.toLowerCase());
  const close = () => {
    list.hidden = true;
  };
  const choose = (i) => {
    close();
    pick(i);
  };
  const look = () => {
    const wanted = input.value.trim().toLowerCase();
    const matches = [];
    if (wanted) for (let i = 0; i < data.n; i++) if (texts[i].includes(wanted)) matches.push(i);
    // Order: an equal name, names that begin with the typed text, others.
    const place = (i) => (nameOf(i).toLowerCase() === wanted ? 0 : texts[i].startsWith(wanted) ? 1 : 2);
    matches.sort((i, j) => place(i) - place(j) || i - j);
    list.replaceChildren(
      ...matches.slice(0, 8).map((i) =>
        make("li", {}, make("button", { type: "button", onclick: () => choose(i) }, thumbnail(i, 28), shorten(nameOf(i), 60))),
      ),
    );
    if (wanted && matches.length !== Math.min(matches.length, 8)) {
      list.append(make("li", { class: "soft" }, `and ${grouped(matches.length - 8)} more`));
    }
    if (wanted && !matches.length) list.append(make("li", { class: "soft" }, "No item has this in its name or text."));
    list.hidden = !wanted;
    seen(wanted ? new Set(matches) : null);
    return matches;
  };
  input.addEventListener("input", look);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (event.key === "Enter") {
      const matches = look();
      if (matches.length) choose(matches[0]);
    }
    if (event.key === "ArrowDown" && !list.hidden) {
      event.preventDefault();
      list.querySelector("button")?.focus();
    }
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (step) {
      event.preventDefault();
      (document.activeElement.closest("li")[step]?.querySelector("button") ?? input).focus();
    }
    if (event.key === "Escape") {
      close();
      input.focus();
    }
  });
  document.addEventListener("pointerdown", (event) => {
    if (!input.contains(event.target) && !list.contains(event.target)) close();
  });
}

/** A table of text cells under a heading row. */
function table(head, rows) {
  return make(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": `Table: ${head.join(", ")}` },
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, ...head.map((cell) => make("th", { scope: "col" }, cell)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, `${cell}`))))),
    ),
  );
}

/** Fill the body of a <details> when it is first opened, and again after changes while it is open. */
function whenOpen(details, fill) {
  const body = details.querySelector("div");
  const refresh = () => details.open && body.replaceChildren(fill());
  details.addEventListener("toggle", refresh);
  return refresh;
}
