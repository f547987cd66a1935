// Files that the page makes: names and clusters as CSV, maps as PNG and SVG. Nothing leaves the computer.

function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = make("a", { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60000); // a slow disk may still be reading it
  say(`Saved ${name}.`);
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const FORMULA = /^'*[=+\-@\t\r\n]/;

/** A cell of a CSV file. Text that a spreadsheet would run as a formula gets an apostrophe, as in oddkernel's own files. */
function cell(value) {
  let text = `${value}`;
  if (typeof value === "string" && FORMULA.test(text) && !NUMBER.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv(head, rows) {
  // The byte order mark tells Excel that the file is UTF-8.
  return `\ufeff${[head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}

const itemHead = () => ["item", ...(data.classes ? ["class"] : [])];
const itemCells = (i) => [data.names ? nameOf(i) : i, ...(data.classes ? [data.classes.names[classOf[i]]] : [])];

/** What "Save names" saves: the items shown if the map is filtered, else the chosen ones, else all. */
function namesToSave() {
  const all = Array.from({ length: data.n }, (_, i) => i);
  if (state.alone !== null || state.matches !== null) return all.filter(visible());
  const chosen = [state.selected, state.second].filter((i) => i !== null);
  return chosen.length ? chosen : all;
}

function saveNames() {
  const { k } = data.clusters.levels[state.level];
  const rows = namesToSave().map((i) => [...itemCells(i), clusterOf(i) + 1]);
  save("oddkernel-items.csv", csv([...itemHead(), `cluster of ${k}`], rows), "text/csv");
}

function saveGroups() {
  const head = [...itemHead(), ...data.clusters.levels.map((level) => `cluster of ${level.k}`)];
  const rows = Array.from({ length: data.n }, (_, i) => [...itemCells(i), ...labelsAt.map((labels) => labels[i] + 1)]);
  save("oddkernel-clusters.csv", csv(head, rows), "text/csv");
}

const SHARPNESS = 3; // pixels of the PNG for each pixel of the page, for print; chosen by hand
const [HEAD, LINE, SIDE] = [40, 22, 14]; // heights of heading and a legend line, and the margin, in pixels; chosen by hand

/** Draw a map as a figure with a heading and a legend. Returns the figure's height if there is no ink yet. */
function figure(view, ink) {
  const { title, groups, of, named } = colouring();
  const measure = document.createElement("canvas").getContext("2d");
  measure.font = `400 12px ${FONT}`;
  const present = new Set(of);
  const entries = groups.map((group, g) => ({ ...group, g })).filter(({ g }) => present.has(g)).slice(0, LISTED);
  let [x, y] = [SIDE, HEAD + view.height + LINE];
  const legend = [{ label: `${title}:`, colour: null }, ...entries].map((entry) => {
    const words = shorten(entry.label, 40);
    const wide = measure.measureText(words).width + (entry.colour ? 34 : 14);
    if (x + wide > view.width) [x, y] = [SIDE, y + LINE];
    x += wide;
    return { ...entry, words, x: x - wide, y };
  });
  const height = y + LINE;
  if (!ink) return height;
  ink.ground(view.width, height, themed("--card"));
  ink.label(shorten(`${view.when === "before" ? `Before: ${data.before}` : afterWords()} (${data.maps.method})`, 90), SIDE, HEAD / 2, { size: 14, weight: 600, align: "left" });
  view.paint(ink, HEAD, named);
  for (const { words, colour, x: left, y: top } of legend) {
    if (colour) ink.dots([left + 6, top], 5, colour, 1);
    ink.label(words, left + (colour ? 16 : 0), top, { size: 12, align: "left" });
  }
  return height;
}

function saveMap(view, kind) {
  const name = `oddkernel-map-${view.when}.${kind}`;
  const height = figure(view, null);
  if (kind === "svg") {
    const ink = new SvgInk(view.width, height);
    figure(view, ink);
    save(name, ink.text(), "image/svg+xml");
    return;
  }
  const canvas = make("canvas", { width: Math.round(view.width * SHARPNESS), height: Math.round(height * SHARPNESS) });
  const brush = canvas.getContext("2d");
  brush.scale(SHARPNESS, SHARPNESS);
  figure(view, new CanvasInk(brush));
  canvas.toBlob((blob) => save(name, blob), "image/png");
}
