// How many answers the study needs: simulated by the server in the background.

import { get, post } from "../shared/api.js";
import { el } from "../shared/dom.js";

const ASK_MS = 700; // between two looks at how far it is

const percent = (share) => `${Math.round(100 * share)}%`;

function about({ working, progress, problem, plan }) {
  if (working) return `Simulating: ${progress} …`;
  if (problem) return problem;
  if (!plan) return "Simulates people who answer about these items. It takes about a minute, and nothing is stored.";
  return `No model can agree with more than ${percent(plan.ceiling)} of such answers, because of the guesses.`;
}

function row({ n_answers: answers, n_people: people, agreement, low, high, n_draws: draws }) {
  const range = draws > 1 ? `${Math.round(100 * low)}–${percent(high)}` : "";
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, String(answers)),
    [String(people), percent(agreement), range].map((text) => el("td", {}, text)),
  );
}

function table({ rows, before, assumed }) {
  const heads = ["Answers", "People", "Agreement", "Range"].map((text) => el("th", { scope: "col" }, text));
  const first = { n_answers: 0, n_people: 0, agreement: before, n_draws: 1 };
  return [
    el("table", { class: "plan" }, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, [first, ...rows].map(row))),
    el("p", { class: "soft" }, "Assumed: ", assumed.join(" ")),
  ];
}

/** A line that says how far it is, a button that begins, and what came of it. */
export class PlanCard {
  #line;
  #make;
  #result;
  #address;
  #said;
  #shown = "null";

  /** `attempt` does what may fail and says so. */
  constructor(line, make, result, address, attempt) {
    [this.#line, this.#make, this.#result, this.#address] = [line, make, result, address];
    make.addEventListener("click", () => attempt(() => this.#begin()));
  }

  async refresh() {
    this.#show(await get(this.#address));
  }

  async #begin() {
    let state = await post(this.#address);
    for (;;) {
      this.#show(state);
      if (!state.working) return;
      await new Promise((resolve) => setTimeout(resolve, ASK_MS));
      state = await get(this.#address);
    }
  }

  #show(state) {
    const text = about(state);
    if (text !== this.#said) this.#line.textContent = this.#said = text;
    this.#make.disabled = state.working;
    const plan = JSON.stringify(state.plan ?? null);
    if (plan === this.#shown) return;
    this.#shown = plan;
    this.#result.replaceChildren(...(state.plan ? table(state.plan) : []));
  }
}
