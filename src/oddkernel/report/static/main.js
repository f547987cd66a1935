// The top of the page, and the start of all views.

function startOpening() {
  const { held_out: held } = data.fit;
  const { agreement, total, learned_from: learned } = data.answers;
  find("title").textContent = data.title;
  let asked = 0;
  for (const count of judged) asked += count > 0;
  find("lead").textContent = total
    ? `${plural(data.n, "item")}, ${plural(total, "answer")} about ${asked < data.n ? `${grouped(asked)} of them` : "them"}. ` +
      `From the answers a similarity was learned${asked < data.n ? " for all items, also for those that nobody was asked about" : ""}.`
    : `${plural(data.n, "item")}, compared by their features alone.`;
  const number = (words, value, detail) => make("div", {}, make("dt", {}, words), make("dd", {}, value, detail && make("small", {}, detail)));
  const arrow = (pair) => `${percent(pair[0])} → ${percent(pair[1])}`;
  let kept = 0;
  for (const count of near.kept) kept += count;
  const boxes = [
    held && number("Agrees with answers it has not seen", arrow([held.before, held.after]), `${grouped(held.n)} answers, ${held.how}`),
    agreement && number(learned ? "Agrees with the answers it learned from" : "Agrees with the answers shown here", arrow(agreement), "before → after learning"),
    number("Nearest neighbours that changed", percent(1 - kept / (data.n * data.neighbours.count), 0), `of the ${data.neighbours.count} nearest of every item`),
    number("A number of clusters to begin with", `${data.clusters.suggestion.k}`, "a hint; see Clusters"),
  ];
  find("numbers").append(...boxes.filter(Boolean));
}

function startTheme() {
  find("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.style.colorScheme ? root.style.colorScheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.style.colorScheme = dark ? "light" : "dark";
    update({ theme: root.style.colorScheme });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => update({ theme: null }));
}

/** Highlight the visible section in the navigation. */
function startNavigation() {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const watch = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const link of links.values()) link.removeAttribute("aria-current");
        links.get(entry.target.id).setAttribute("aria-current", "true");
      }
    },
    { rootMargin: "-30% 0px -65% 0px" },
  );
  for (const id of links.keys()) watch.observe(find(id));
  // In a notebook's frame, "#map" would lead to the notebook's own page.
  for (const link of document.querySelectorAll("nav a, .skip")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const part = document.querySelector(link.hash);
      part.scrollIntoView();
      part.tabIndex = -1;
      part.focus({ preventScroll: true });
    });
  }
}

startOpening();
startMaps();
startClusters();
startNeighbours();
startAnswers();
startFit();
startTheme();
startNavigation();
document.body.dataset.ready = "true";
