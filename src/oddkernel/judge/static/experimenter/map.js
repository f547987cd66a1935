// The learned map: items where the model puts them, pictures as far as there is room, groups by colour and number.

import { el, svg } from "../shared/dom.js";

const WIDTH = 860;
const HEIGHT = 760;
const EDGE = 44;
const SIZE = 52;
const OVERLAP = 8; // pictures may cover each other's margins so far
const MOST_PICTURES = 120;
const COLOURS = 8;
const LONGEST = 26;

function shorten(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

function groupClass(cluster) {
  return `group-${cluster % COLOURS}`;
}

/** The same scale both ways, as distances are what the map is about. */
function placer(items) {
  const [xs, ys] = [items.map(({ x }) => x), items.map(({ y }) => y)];
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = Math.min((WIDTH - 2 * EDGE) / (right - left || 1), (HEIGHT - 2 * EDGE) / (high - low || 1));
  return ({ x, y }) => [
    WIDTH / 2 + scale * (x - (left + right) / 2),
    HEIGHT / 2 - scale * (y - (low + high) / 2),
  ];
}

/** The address of a picture in the smallest size that the server makes. */
function small(url) {
  return `${url}${url.includes("?") ? "&" : "?"}w=320&h=320`;
}

function picture(item, x, y) {
  const frame = { x: x - SIZE / 2, y: y - SIZE / 2, width: SIZE, height: SIZE };
  return svg(
    "g",
    { class: `thumbnail ${groupClass(item.cluster)}` },
    svg("image", { ...frame, href: small(item.url), preserveAspectRatio: "xMidYMid slice" }),
    svg("rect", { ...frame, rx: 7 }),
    svg("circle", { cx: x - SIZE / 2 + 3, cy: y - SIZE / 2 + 3, r: 9 }),
    svg("text", { x: x - SIZE / 2 + 3, y: y - SIZE / 2 + 3 }, String(item.cluster + 1)),
    svg("title", {}, item.name),
  );
}

function dot(item, x, y, label) {
  return svg(
    "g",
    { class: `dot ${groupClass(item.cluster)}` },
    svg("circle", { cx: x, cy: y, r: 6 }),
    label ? svg("text", { x: x + 10, y }, shorten(item.text ?? item.name)) : null,
    svg("title", {}, item.text ?? item.name),
  );
}

/** Pictures and labels go where nothing stands yet; the other items are dots. */
export function drawMap(items) {
  const place = placer(items);
  const taken = [];
  const claim = (left, up, width, height) => {
    const free = !taken.some(([l, u, w, h]) => left < l + w && l < left + width && up < u + h && u < up + height);
    if (free) taken.push([left, up, width, height]);
    return free;
  };
  const [dots, large] = [[], []];
  for (const item of items) {
    const [x, y] = place(item);
    if (item.kind === "image") {
      const room = large.length < MOST_PICTURES && claim(x - SIZE / 2, y - SIZE / 2, SIZE - OVERLAP, SIZE - OVERLAP);
      if (room) large.push(picture(item, x, y));
      else dots.push(dot(item, x, y, false));
    } else {
      dots.push(dot(item, x, y, claim(x - 6, y - 10, 16 + 7.5 * shorten(item.text ?? item.name).length, 20)));
    }
  }
  const label = `A map of ${items.length} items; the lists below say which belong together.`;
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, large, dots);
}

function member(item) {
  if (item.kind === "image") {
    return el("li", {}, el("img", { src: item.url, alt: item.name, title: item.name, loading: "lazy" }));
  }
  return el("li", { dir: "auto" }, item.text ?? item.name);
}

/** The groups for those who can't see the map, or look for an item. */
export function listGroups(items) {
  const groups = Map.groupBy(items, ({ cluster }) => cluster);
  return [...groups.keys()]
    .sort((a, b) => a - b)
    .map((cluster) => {
      const members = groups.get(cluster);
      const number = el("span", {}, ` ${members.length} items`);
      const heading = el("h3", { class: groupClass(cluster) }, `Group ${cluster + 1}`, number);
      return el("section", {}, heading, el("ul", { class: "members" }, members.map(member)));
    });
}
