// Small charts as SVG, each with its numbers as a table, also for screen readers.

/** A chart in a frame: heading, sentence, picture, table. */
function chart(title, words, svg, head, rows) {
  const details = make("details", {}, make("summary", {}, "As a table"), make("div"));
  whenOpen(details, () => table(head, rows));
  return make("div", { class: "chart" }, make("h3", {}, title), words && make("p", {}, words), svg, details);
}

function picture(width, height, label) {
  return make("svg:svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

function label(x, y, words, attributes = {}) {
  return make("svg:text", { x, y, "text-anchor": "middle", ...attributes }, words);
}

/** A bar chart; `marked` is the highlighted bar. */
function bars(values, { labels, top = Math.max(...values), format, marked = -1, width = 420, height = 120, title }) {
  const [foot, head] = [20, 16];
  const svg = picture(width, height, title);
  const step = width / values.length;
  values.forEach((value, i) => {
    const tall = Math.max(0, (height - foot - head) * (value / (top || 1)));
    const colour = i === marked ? "var(--accent)" : "var(--dim)";
    svg.append(
      make("svg:rect", { x: i * step + step * 0.14, y: height - foot - tall, width: step * 0.72, height: tall, rx: 2, style: { fill: colour } }),
      label(i * step + step / 2, height - 5, labels[i], i === marked ? { class: "strong" } : {}),
    );
    if (values.length <= 12) svg.append(label(i * step + step / 2, height - foot - tall - 4, format(value), { "font-size": "10" }));
  });
  return svg;
}

/** Lines over a common axis; values on a logarithmic scale. Lines differ in dashes as well as in colour. */
function lines(series, { title, xWords }) {
  const [width, height, left, foot, head] = [520, 240, 46, 34, 22];
  const svg = picture(width, height, title);
  const all = series.flatMap(({ values }) => values).filter((value) => value > 0);
  if (!all.length) return make("p", { class: "soft" }, "Nothing to draw.");
  const [low, high] = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)) + 1e-9)];
  const span = Math.max(1, high - low);
  const longest = Math.max(...series.map(({ values }) => values.length));
  const x = (i) => left + (i / Math.max(1, longest - 1)) * (width - left - 10);
  const y = (value) => head + (1 - (Math.log10(value) - low) / span) * (height - head - foot);
  const every = Math.max(1, Math.ceil(span / 5));
  for (let power = low; power <= low + span; power += every) {
    const at = y(10 ** power);
    svg.append(
      make("svg:line", { x1: left, x2: width - 10, y1: at, y2: at, style: { stroke: "var(--line)" } }),
      label(left - 6, at + 4, power >= -2 && power <= 3 ? `${+(10 ** power).toPrecision(1)}` : `1e${power}`, { "text-anchor": "end" }),
    );
  }
  series.forEach(({ values, colour, dash, name }, s) => {
    const points = values.map((value, i) => (value > 0 ? `${x(i).toFixed(1)},${y(value).toFixed(1)}` : "")).filter(Boolean);
    svg.append(
      make("svg:polyline", { points: points.join(" "), style: { fill: "none", stroke: colour, strokeWidth: 2.2, strokeDasharray: dash ?? "none", strokeLinejoin: "round" } }),
      make("svg:line", { x1: left + 110 * s, x2: left + 110 * s + 22, y1: 8, y2: 8, style: { stroke: colour, strokeWidth: 2.2, strokeDasharray: dash ?? "none" } }),
      label(left + 110 * s + 28, 12, name, { "text-anchor": "start" }),
    );
  });
  svg.append(label(left, height - 16, "0", {}), label(width - 12, height - 16, `${longest - 1}`, {}), label((left + width) / 2, height - 4, xWords));
  return svg;
}
