// Small charts, drawn as SVG from the numbers.

import { el, svg } from "../shared/dom.js";

const WIDTH = 360;
const HEIGHT = 130;
const FOOT = 20;

export function seconds(value) {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
}

/** A histogram of seconds. `edges` are the lower ends of the bins, which are drawn equally wide; the last is open. */
export function drawHistogram(edges, counts, tooFast, label) {
  const most = Math.max(...counts);
  const step = WIDTH / counts.length;
  const bars = counts.map((value, bin) => {
    const height = value ? Math.max(2, (HEIGHT * value) / most) : 0;
    const last = bin + 1 === edges.length;
    const span = last ? `${seconds(edges[bin])} or more` : `${seconds(edges[bin])} to ${seconds(edges[bin + 1])}`;
    const look = !last && edges[bin + 1] <= tooFast ? "bar fast" : "bar";
    return svg(
      "rect",
      { x: bin * step + 1, y: HEIGHT - height, width: step - 2, height, rx: 2, class: look },
      svg("title", {}, `${span}: ${value}`),
    );
  });
  const ticks = edges.map((edge, bin) =>
    svg("text", { x: bin * step, y: HEIGHT + FOOT - 5, class: "tick" }, String(edge)),
  );
  const axis = svg("line", { x1: 0, x2: WIDTH, y1: HEIGHT + 0.5, y2: HEIGHT + 0.5, class: "axis" });
  const frame = { viewBox: `-8 0 ${WIDTH + 8} ${HEIGHT + FOOT}`, role: "img", "aria-label": label, class: "chart" };
  return svg("svg", frame, bars, axis, ticks);
}

const KINDS = {
  listed: "List",
  random: "Random",
  adaptive: "Adaptive",
  repeat: "Repeats",
  catch: "Catches",
  holdout: "Hold-out",
  odd: "Odd one out",
  anchor: "More like the one above",
  central: "Most central",
};

/** One bar for each kind, or form, of question, with its name and number. */
export function drawBars(byKind) {
  const order = Object.keys(KINDS);
  const rows = Object.entries(byKind).sort(([one], [other]) => order.indexOf(one) - order.indexOf(other));
  if (!rows.length) return el("p", { class: "soft" }, "No answers yet.");
  const most = Math.max(...rows.map(([, value]) => value));
  return el(
    "dl",
    { class: "bars" },
    rows.map(([kind, value]) => [
      el("dt", {}, KINDS[kind] ?? kind),
      el(
        "dd",
        {},
        svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
          svg("rect", { width: Math.max(1, (100 * value) / most), height: 10, rx: 1, class: "bar" })),
        el("span", {}, String(value)),
      ),
    ]),
  );
}
