// Clusters: a slider over resolutions, an alluvial diagram, and the members of each cluster.

function startClusters() {
  const { levels, suggestion } = data.clusters;
  const slider = find("k");
  slider.max = levels.length - 1;
  slider.disabled = levels.length < 2;
  slider.value = state.level;
  find("k-ticks").append(...levels.map((_, i) => make("option", { value: i })));
  slider.addEventListener("input", () => update({ level: Number(slider.value) }));
  const hinted = levels.findIndex((level) => level.k === suggestion.k);
  find("suggestion").append(
    make("strong", {}, `A place to begin: ${suggestion.k}`),
    suggestion.reason,
    make("br"),
    make("button", { type: "button", onclick: () => update({ level: hinted }) }, `Show ${suggestion.k} clusters`),
  );
  const refreshTable = whenOpen(find("flows-table"), flowsTable);
  const show = () => {
    const { k, stability } = levels[state.level];
    slider.value = state.level;
    slider.setAttribute("aria-valuetext", `${k} clusters`);
    find("k-value").textContent = k;
    find("stability").replaceChildren(
      chart(
        "How stable are the clusters?",
        `Agreement (Adjusted Rand) between random subsets of the items: ${stability.toFixed(2)} with ${k} clusters, 1 is perfect.`,
        bars(levels.map((level) => Math.max(0, level.stability)), {
          labels: levels.map((level) => `${level.k}`),
          top: 1,
          format: (value) => value.toFixed(2).replace(/^0/, ""),
          marked: state.level,
          title: "Stability for each number of clusters",
        }),
        ["Clusters", "Stability"],
        levels.map((level) => [level.k, level.stability.toFixed(2)]),
      ),
    );
    find("alluvial").replaceChildren(alluvial(levels));
    find("cluster-cards").replaceChildren(...levels[state.level].order.map((c) => clusterCard(levels[state.level], c)));
    refreshTable();
  };
  listeners.push((changes) => "level" in changes && show());
  show();
}

/** An alluvial diagram: a column of clusters for each resolution; the width of a ribbon is its number of items. */
function alluvial(levels) {
  const [width, height, head, bar] = [1100, 400, 26, 13];
  const svg = picture(width, height, `How ${levels[0].k} clusters split into ${levels[levels.length - 1].k}, column by column`);
  const left = (l) => 8 + (levels.length > 1 ? (l / (levels.length - 1)) * (width - bar - 16) : 0);
  const gap = 5;
  const tops = levels.map(({ order, sizes }) => {
    const scale = (height - head - gap * (order.length - 1)) / data.n;
    const top = [];
    let y = head;
    for (const c of order) {
      top[c] = { y, tall: sizes[c] * scale, scale };
      y += sizes[c] * scale + gap;
    }
    return top;
  });
  const focus = (wanted) => {
    svg.classList.toggle("focus", wanted !== null);
    for (const ribbon of svg.querySelectorAll(".ribbon")) ribbon.classList.toggle("on", wanted !== null && wanted(ribbon.dataset));
  };
  data.clusters.flows.forEach((flow, l) => {
    const from = levels[l].order.reduce((all, c) => ((all[c] = tops[l][c].y), all), []);
    const to = levels[l + 1].order.reduce((all, c) => ((all[c] = tops[l + 1][c].y), all), []);
    const [x0, x1] = [left(l) + bar, left(l + 1)];
    const middle = (x0 + x1) / 2;
    for (const a of levels[l].order) {
      for (const b of levels[l + 1].order) {
        const count = flow[a][b];
        if (!count) continue;
        const [h0, h1] = [count * tops[l][a].scale, count * tops[l + 1][b].scale];
        const [y0, y1] = [from[a], to[b]];
        from[a] += h0;
        to[b] += h1;
        const path = make("svg:path", {
          class: "ribbon",
          d: `M${x0} ${y0}C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}L${x1} ${y1 + h1}C${middle} ${y1 + h1} ${middle} ${y0 + h0} ${x0} ${y0 + h0}Z`,
          style: { fill: colourOf(b) },
          "data-from": `${l}:${a}`,
          "data-to": `${l + 1}:${b}`,
        });
        path.append(make("svg:title", {}, `${plural(count, "item")} from ${a + 1} of ${levels[l].k} to ${b + 1} of ${levels[l + 1].k}`));
        svg.append(path);
      }
    }
  });
  levels.forEach(({ k, order, sizes }, l) => {
    const chosen = l === state.level;
    if (chosen) {
      svg.prepend(make("svg:rect", { x: left(l) - 7, y: 2, width: bar + 14, height: height + 4, rx: 7, style: { fill: "var(--accent-soft)" } }));
    }
    svg.append(label(left(l) + bar / 2, 17, `${k}`, chosen ? { class: "strong" } : {}));
    for (const c of order) {
      const { y, tall } = tops[l][c];
      const node = make("svg:rect", {
        class: "node",
        x: left(l),
        y,
        width: bar,
        height: Math.max(1, tall),
        rx: 2,
        style: { fill: colourOf(c), cursor: "pointer" },
        onclick: () => update({ level: l }),
        onpointerenter: () => focus((d) => d.from === `${l}:${c}` || d.to === `${l}:${c}`),
        onpointerleave: () => focus(null),
      });
      node.append(make("svg:title", {}, `Cluster ${c + 1} of ${k}: ${plural(sizes[c], "item")}`));
      svg.append(node);
      if (chosen && tall > 13) {
        svg.append(
          make("svg:text", {
            x: left(l) + bar / 2, y: y + tall / 2 + 4, "text-anchor": "middle", "pointer-events": "none",
            style: { fill: "#fff", fontWeight: 700, fontSize: "10px", stroke: "#0008", strokeWidth: "2px", paintOrder: "stroke" },
          }, `${c + 1}`),
        );
      }
    }
  });
  return svg;
}

function flowsTable() {
  const { levels, flows } = data.clusters;
  const rows = flows.flatMap((flow, l) =>
    levels[l].order.map((a) => [
      `${a + 1} of ${levels[l].k}`,
      grouped(levels[l].sizes[a]),
      levels[l + 1].order
        .filter((b) => flow[a][b])
        .sort((b, c) => flow[a][c] - flow[a][b])
        .map((b) => `${b + 1} of ${levels[l + 1].k} (${grouped(flow[a][b])})`)
        .join(", "),
    ]),
  );
  return table(["Cluster", "Items", "Its items go to"], rows);
}

function clusterCard(level, c) {
  const card = make(
    "article",
    { class: "card" },
    make(
      "h3",
      {},
      make("span", { class: "dot", style: { backgroundColor: colourOf(c) } }),
      `Cluster ${c + 1}`,
      make("small", {}, plural(level.sizes[c], "item")),
    ),
  );
  if (data.classes) card.append(...mixture(c));
  const size = data.thumbnails ? 52 : 0;
  card.append(make("h4", {}, "Typical members"), make("div", { class: "items" }, ...level.typical[c].map((i) => itemButton(i, size))));
  if (level.odd[c].length) {
    card.append(make("h4", {}, "Odd members"), make("div", { class: "items" }, ...level.odd[c].map((i) => itemButton(i, size))));
  }
  return card;
}

/** Which classes a cluster consists of: a bar, and the largest in words. */
function mixture(c) {
  const counts = new Map();
  const labels = labelsAt[state.level];
  for (let i = 0; i < data.n; i++) if (labels[i] === c) counts.set(classOf[i], (counts.get(classOf[i]) ?? 0) + 1);
  const largest = [...counts].sort((a, b) => b[1] - a[1]);
  const total = largest.reduce((sum, [, count]) => sum + count, 0);
  const words = largest.slice(0, 3).map(([of, count]) => `${shorten(data.classes.names[of], 24)} (${percent(count / total, 0)})`);
  return [
    make("div", { class: "mix", "aria-hidden": "true" },
      ...largest.map(([of, count]) => make("span", { style: { flex: `${count}`, backgroundColor: colourOf(of) } }))),
    make("div", { class: "soft small" }, `${words.join(", ")}${largest.length > 3 ? ", …" : ""}`),
  ];
}
