// Dimensions of the similarity: who has most of each, what one item is, why two are alike, why one of three is odd.

const MOST = 8; // items shown for a dimension; chosen by hand
const NONE = 3; // items shown that have none of it; chosen by hand
const BARS = 8; // dimensions shown of an item, or of a similarity; chosen by hand

/** Rows by their loading on a dimension: those that have most of it, and some that have none, spread over all. */
function examples(loading) {
  const all = Array.from({ length: data.n }, (_, i) => i).sort((i, j) => loading(j) - loading(i) || i - j);
  const none = all.filter((i) => loading(i) === 0).sort((i, j) => i - j);
  const step = Math.max(1, Math.floor(none.length / NONE));
  return { top: all.slice(0, MOST).filter((i) => loading(i) > 0), none: none.filter((_, place) => place % step === 0).slice(0, NONE) };
}

/** What each dimension adds: the loading of one item; of two the product; of three what speaks for the closest pair. */
function contributions(items, at, count) {
  const over = (of) => Array.from({ length: count }, (_, k) => of(k));
  if (items.length === 1) return { parts: over((k) => at(items[0], k)), odd: null };
  const product = (i, j) => over((k) => at(i, k) * at(j, k));
  if (items.length === 2) return { parts: product(...items), odd: null };
  const pairs = items.map((_, place) => product(...items.filter((__, other) => other !== place)));
  const whole = pairs.map((pair) => pair.reduce((sum, part) => sum + part, 0));
  const odd = whole.indexOf(Math.max(...whole));
  const [one, other] = pairs.filter((_, place) => place !== odd);
  return { parts: pairs[odd].map((part, k) => part - (one[k] + other[k]) / 2), odd: items[odd] };
}

function startDimensions() {
  const found = data.dimensions;
  if (!found) return;
  find("dimensions").hidden = false;
  find("dimensions-link").hidden = false;
  const count = found.names.length;
  const numbers = decode(found.loadings);
  const at = (i, k) => numbers[i * count + k] * found.unit;
  const names = [...found.names];
  let third = null;

  const why = () => {
    const view = find("why");
    const items = [state.selected, state.second, third].filter((i, place, all) => i !== null && all.indexOf(i) === place);
    if (state.selected === null) {
      view.replaceChildren(make("p", { class: "soft" }, "No item is chosen yet: choose one here, on a map, or by its picture."));
      return;
    }
    const { parts, odd } = contributions(items, at, count);
    const positive = parts.reduce((sum, part) => sum + Math.max(0, part), 0) || 1;
    const order = parts.map((_, k) => k).sort((k, j) => parts[j] - parts[k]);
    const shown = order.filter((k) => parts[k] >= 0.005 * positive).slice(0, BARS);
    const called = items.map((i) => shorten(nameOf(i), 40));
    const title =
      items.length === 1 ? `What ${called[0]} is` : items.length === 2 ? `Why ${called[0]} and ${called[1]} are alike` : `Why ${shorten(nameOf(odd), 40)} is the odd one`;
    const against = order.filter((k) => parts[k] < -0.005 * positive).reverse().slice(0, 3);
    view.replaceChildren(
      make("div", {},
        make("h3", {}, title),
        make("dl", { class: "bars" }, ...shown.flatMap((k) => [
          make("dt", {}, make("span", {}, names[k]), make("span", {}, percent(parts[k] / positive, 0))),
          make("dd", {}, make("div", { class: "level", "aria-hidden": "true" }, make("span", { class: found.sure[k] ? "learned" : "", style: { width: percent(parts[k] / positive) } }))),
        ])),
        !shown.length && make("p", { class: "soft" }, "No dimension: they have nothing in common."),
        against.length > 0 && make("p", { class: "soft small" }, `Against it: ${against.map((k) => `${names[k]} ${percent(-parts[k] / positive, 0)}`).join(", ")}.`)),
      make("div", { class: "items" }, ...items.map((i) => itemButton(i, 68, i === odd && make("span", { class: "tag gone" }, "odd")))),
    );
  };

  const card = (k) => {
    const { top, none } = examples((i) => at(i, k));
    const size = data.thumbnails ? 56 : 0;
    const field = make("input", { type: "text", value: names[k], maxlength: 60, "aria-label": `Name of dimension ${k + 1}` });
    field.addEventListener("change", () => {
      names[k] = field.value.trim() || found.names[k];
      field.value = names[k];
      why();
    });
    const weight = `weight ${(1000 * found.weight[k]).toFixed(1)} ± ${(1000 * found.error[k]).toFixed(1)}`;
    return make("article", { class: found.sure[k] ? "card" : "card unsure" },
      make("h3", {}, field),
      make("p", { class: "soft small" }, `${found.sure[k] ? "" : "Unsure: "}${found.reproducibility[k].toFixed(2)} between the halves, ${weight}`),
      make("div", { class: "items" }, ...top.map((i) => itemButton(i, size))),
      ...(none.length ? [make("h4", {}, "None of it"), make("div", { class: "items" }, ...none.map((i) => itemButton(i, size)))] : []));
  };

  const sure = found.sure.filter(Boolean).length;
  find("dimensions-words").textContent =
    `Two items are as similar as the sum over dimensions of the products of their loadings. ${plural(count, "dimension")}; ${grouped(sure)} ${sure === 1 ? "is" : "are"} found again in either half of the answers and help to predict the other half. ${sure < count ? "Don't interpret the others. " : ""}`;
  find("dimension-cards").append(...names.map((_, k) => card(k)));
  find("save-dimensions").addEventListener("click", () =>
    save("oddkernel-dimension-names.csv", csv(["dimension", "name"], names.map((name, k) => [k + 1, name])), "text/csv"));
  const go = (id, list, then) => finder(find(id), find(list), (i) => {
    find(id).value = "";
    then(i);
  });
  go("why-first", "why-first-found", (i) => select(i));
  go("why-second", "why-second-found", (i) => select(i, true));
  go("why-third", "why-third-found", (i) => {
    third = i;
    why();
  });
  listeners.push((changes) => {
    if (!("selected" in changes || "second" in changes)) return;
    if ("selected" in changes) third = null;
    for (const id of ["why-second", "why-third"]) find(id).disabled = state.selected === null;
    find("why-third").disabled = state.second === null;
    why();
  });
  for (const id of ["why-second", "why-third"]) find(id).disabled = true;
  why();
}
