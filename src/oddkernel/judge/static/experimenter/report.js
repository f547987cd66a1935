// The report: made by the server in the background, opened on a page of its own.

import { get, post } from "../shared/api.js";

const ASK_MS = 700; // between two looks at how far it is

function about({ working, progress, problem, made_at: at, answers }) {
  if (working) return `Being made: ${progress} …`;
  if (problem) return problem;
  if (!at) return "Learns from the answers so far, and shows maps, clusters, neighbours and answers on one page.";
  const when = new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  return answers ? `Made on ${when} from ${answers} answers.` : `Made on ${when}.`;
}

/** A line that says how far it is, a button that makes the report, and a link that opens it. */
export class ReportCard {
  #line;
  #make;
  #open;
  #address;
  #said;

  /** `attempt` does what may fail and says so. */
  constructor(line, make, open, address, attempt) {
    [this.#line, this.#make, this.#open, this.#address] = [line, make, open, address];
    make.addEventListener("click", () => attempt(() => this.#begin()));
  }

  async refresh() {
    this.#show(await get(this.#address));
  }

  async #begin() {
    // A tab that is opened later, without a click, would be blocked.
    const tab = window.open("", "_blank");
    const show = (state) => {
      this.#show(state);
      if (tab && !tab.closed) tab.document.title = tab.document.body.textContent = about(state);
      return state;
    };
    try {
      let state = show(await post(this.#address));
      while (state.working) {
        await new Promise((resolve) => setTimeout(resolve, ASK_MS));
        state = show(await get(this.#address));
      }
      if (state.problem) tab?.close();
      else if (tab && !tab.closed) tab.location.replace(this.#open.href);
    } catch (error) {
      tab?.close();
      throw error;
    }
  }

  #show(state) {
    const text = about(state);
    if (text !== this.#said) this.#line.textContent = this.#said = text;
    this.#make.disabled = state.working;
    this.#make.textContent = state.made_at ? "Make anew" : "Make report";
    this.#open.hidden = !state.made_at;
  }
}
