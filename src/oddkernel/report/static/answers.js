// Answers: compared with the learned distances.

const LISTS = {
  influential: ["Most influential", "The answers with the largest influence on the kernel: without them it would change most."],
  surprising: ["Most surprising", "The answers that the model finds least likely. Are they mistakes, or does it miss something?"],
  disagree: ["Disagrees", `Answers that ${distances} contradict, the most surprising first.`],
  agree: ["Agrees", `Answers that ${distances} agree with, the least certain first.`],
  undecided: ["Can't tell", "Where people could not tell, the three should be equally far apart. The most unequal come first."],
  conflicts: ["Contradictions", "Answers about the same items that can't all be right, whatever the distances."],
};

// Three items count as equally far apart up to this ratio of the farthest to the closest pair. Chosen by hand.
const EQUAL = 1.25;

const columns = Object.fromEntries(Object.entries(data.answers.columns).map(([name, column]) => [name, decode(column)]));

/** The answer at a place in the columns; null stands for what is not known. */
function answerAt(place) {
  const value = (name, unknown, scale) => (columns[name][place] === unknown ? null : columns[name][place] / scale);
  return {
    row: columns.row[place],
    kind: data.answers.kinds[columns.kind[place]],
    shown: [...columns.shown.subarray(3 * place, 3 * place + 3)].filter((i) => i < data.n),
    odd: columns.odd[place] - 1,
    pick: columns.pick[place] - 1,
    before: value("before", 255, 6),
    after: value("after", 255, 6),
    probability: value("probability", 65535, 65534),
    spread: [value("spread_before", 65535, 100), value("spread_after", 65535, 100)],
    influence: columns.influence ? value("influence", 65535, 65534) : null,
    rater: columns.rater ? data.answers.raters[columns.rater[place]] : "",
  };
}

/** A ratio of distances; the largest that the page holds is 655.34, also where items coincide. */
const times = (ratio) => (ratio > 655 ? "over 655" : `${ratio}`);

function startAnswers() {
  const { total, decided, agreement, counts, spread, links } = data.answers;
  const unclear = counts.undecided;
  find("answers-words").textContent = total
    ? `${data.opening.answers[0]}: ${data.opening.answers[1]}. ` +
      (agreement
        ? `Of ${decided === 1 ? "the one that names" : `the ${grouped(decided)} that name`} an item, ` +
          (data.answers.learned
            ? `the distances before learning agree with ${percent(agreement[0])} and the learned ones with ${percent(agreement[1])}. `
            : `the distances agree with ${percent(agreement[1])}. `)
        : "") +
      (unclear || links ? `Distances can neither agree nor disagree with ${[unclear && "“can't tell”", links && "links"].filter(Boolean).join(" and ")}, so ${agreement ? "these are left out of the percentages" : "there is no percentage of agreement"}.` : "")
    : "There are no answers to show.";
  if (!total) {
    find("answer-list").hidden = true;
    return;
  }
  const overview = find("answers-overview");
  if (decided) {
    const ticks = data.answers.probabilities.map((_, i) => `${10 * i}–${10 * i + 10}%`);
    overview.append(
      make("div", { class: "card" },
        chart("How likely were the answers under the model?",
          "Number of decided answers, by the probability that the model gave them. Far right: as expected. Far left: surprises.",
          bars(data.answers.probabilities, { labels: ticks.map((tick) => tick.split("–")[0]), format: grouped, width: 560, title: "Answers by their probability" }),
          ["Probability", "Answers"], data.answers.probabilities.map((count, i) => [ticks[i], count]))),
    );
  }
  const rows = [["undecided", "“Can't tell”"], ["decided", "Decided"]].filter(([key]) => (key === "undecided" ? unclear : decided));
  if (unclear) {
    overview.append(
      make("div", { class: "card" },
        make("h3", {}, "Does the model find these items equally far apart?"),
        make("p", { class: "soft small" }, "Median ratio of the largest to the smallest distance among the three items. 1 is equally far."),
        table(["Answers", "Before", "After"], rows.map(([key, words]) => [words, `${spread[key][0] ?? "infinite"} ×`, `${spread[key][1] ?? "infinite"} ×`]))),
    );
  }
  const keys = Object.keys(LISTS).filter((key) => counts[key]);
  const tabs = keys.map((key) =>
    make("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": "answer-list", onclick: () => open(key) },
      LISTS[key][0], make("span", { class: "count" }, grouped(counts[key]))),
  );
  find("tabs").append(...tabs);
  find("tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  });
  const open = (key) => {
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", `${keys[i] === key}`);
      tab.tabIndex = keys[i] === key ? 0 : -1;
    });
    find("answer-list").setAttribute("aria-labelledby", `tab-${key}`);
    showAnswers(key, 12);
  };
  open(keys[0]);
}

function showAnswers(key, most) {
  const list = data.answers.lists[key].map(answerAt);
  const cards = make("div", { class: "cards" });
  let last = null;
  let total = 0;
  for (const answer of list.slice(0, most)) {
    if (key === "conflicts") {
      const question = [...answer.shown].sort((a, b) => a - b).join();
      if (question !== last) cards.append(make("h3", { class: "group" }, `Contradiction ${++total}`));
      last = question;
    }
    cards.append(answerCard(answer));
  }
  const more = list.length > most && make("button", { type: "button", onclick: () => showAnswers(key, most + 24) }, "Show more");
  const cut = !more && data.answers.counts[key] > list.length && make("p", { class: "soft small" }, `The first ${list.length} of ${grouped(data.answers.counts[key])}.`);
  find("answer-list").replaceChildren(...[make("p", { class: "soft" }, LISTS[key][1]), cards, more, cut].filter(Boolean));
}

const briefly = (i) => shorten(nameOf(i), 60);

const KINDS = {
  odd_one_out: (a) => (a.odd < 0 ? "People could not tell which is odd." : `People: ${briefly(a.shown[a.odd])} is the odd one.`),
  most_central: (a) => `People: ${briefly(a.shown[0])} is the most central.`,
  closer: (a) => `People: ${briefly(a.shown[0])} is more like ${briefly(a.shown[1])} than like ${briefly(a.shown[2])}.`,
  equally_close: (a) => `People could not tell which of the two is more like ${briefly(a.shown[0])}.`,
  must_link: () => "People: these two belong together.",
  cannot_link: () => "People: these two belong apart.",
};

function answerCard(answer) {
  const { kind, shown, odd, pick, probability, influence, after, before, spread, row, rater } = answer;
  const roles = { closer: ["this one", "closer", "farther"], equally_close: ["this one", "as close", "as close"] }[kind] ?? [];
  const [name, named] = { odd_one_out: ["odd", odd], most_central: ["central", 0] }[kind] ?? [];
  const three = make("div", { class: "three" });
  shown.forEach((i, position) => {
    const said = position === named;
    const model = name && position === pick && pick !== named && (named >= 0 || spread[1] > EQUAL);
    const words = said ? `${name}, people say` : model ? `${name}, the model says` : roles[position] ?? "";
    three.append(
      make("div", { class: said ? "said" : "" }, itemButton(i, 76), make("span", { class: `mark ${said ? "people" : model ? "model" : ""}` }, words)),
    );
  });
  const verdict = [];
  if (after !== null) {
    verdict.push(
      make("span", { class: after >= 0.5 ? "yes" : "no" }, after >= 0.5 ? "The model agrees" : "The model disagrees"),
      `${before >= 0.5 !== after >= 0.5 ? ", unlike before learning" : ""}. `,
    );
  } else if ((named < 0 || kind === "equally_close") && spread[1] !== null) {
    const close = spread[1] <= EQUAL;
    verdict.push(
      make("span", { class: close ? "yes" : "no" }, close ? "Equally far" : "Not equally far"),
      `: the farthest pair is ${times(spread[1])} times as far apart as the closest (${times(spread[0])} before learning). `,
    );
  }
  const meta = [
    probability !== null && `probability by the model ${percent(probability, probability < 0.01 ? 2 : 0)}`,
    influence !== null && influence > 0 && `influence ${percent(influence, 0)} of the largest`,
    `row ${row} of the answers`,
    rater && `by ${rater}`,
  ].filter(Boolean);
  return make("article", { class: "card answer" }, three, make("p", {}, `${KINDS[kind](answer)} `, ...verdict), make("p", { class: "meta" }, meta.join(" · ")));
}
