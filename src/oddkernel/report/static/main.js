// The top of the page, and the start of all views.

function startOpening() {
  const { headline, lead, question, people, answers, items, levels } = data.opening;
  find("headline").textContent = headline;
  find("lead").textContent = lead;
  if (data.title) {
    find("title").textContent = data.title;
    find("title").hidden = false;
  }
  if (question) {
    find("question").append(make("small", {}, "People were asked"), question);
    find("question").hidden = false;
  }
  find("numbers").append(...[people, answers, items].map(([count, detail]) => make("div", {}, make("dt", {}, count), make("dd", {}, detail))));
  if (!levels.length) return;
  find("levels").append(
    make("h2", {}, "How well unseen answers are predicted"),
    make("dl", {}, ...levels.map(({ name, share, detail }) =>
      make("div", {},
        make("dt", {}, make("span", {}, name), make("span", {}, share === null ? "not known" : percent(share))),
        make("dd", {},
          share !== null && make("div", { class: "level", "aria-hidden": "true" },
            make("span", { class: name === "Learned" ? "learned" : "", style: { width: percent(share) } })),
          detail)))),
  );
  if (data.fit.held_out) find("levels").append(make("p", { class: "soft small" }, heldWords(data.fit.held_out)));
}

/** What the bars count, and what they leave out. */
function heldWords({ n, how, undecided, links }) {
  const rest = [undecided && `${plural(undecided, "answer")} “can't tell”`, links && plural(links, "link")].filter(Boolean).join(" and ");
  return `Measured on ${plural(n, "answer")}, ${how}.${rest ? ` Left out, as there is no item to predict: ${rest}.` : ""}`;
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
startDimensions();
startNeighbours();
startAnswers();
startSaid();
startFit();
startTheme();
startNavigation();
document.body.dataset.ready = "true";
