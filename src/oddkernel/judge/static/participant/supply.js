// The questions that come next: asked for in good time, with their items loaded, so that a lost network is not noticed.

import { NotNow, Refused } from "../shared/api.js";
import { Media } from "./media.js";

const AHEAD = 14; // so that ten can be answered without a network
const REFILL_BELOW = 12;
const LATE_MS = 300;

export class Supply {
  #upcoming = [];
  #unshown = []; // questions with an item that can't be loaded
  #current = null;
  #taken; // ids of questions that were answered here and not taken back
  #media = new Media();
  #fetching = null;
  #entrance;
  #outbox;
  #persist;
  #onState;

  /**
   * @param outbox what was answered and is not sent yet
   * @param entrance sends requests as part of the sitting
   * @param persist repeats a request until the server answers it
   * @param onState is told the state of the sitting, which comes with the questions
   */
  constructor(outbox, { entrance, persist, onState }) {
    this.#entrance = entrance;
    this.#outbox = outbox;
    this.#persist = persist;
    this.#onState = onState;
    this.#taken = outbox.answeredQuestions;
  }

  /** The elements of a practice question. */
  elements(question) {
    return this.#media.ready(question);
  }

  /**
   * {question, elements} of the next question, or null if there is none. Calls `onLate` if it takes a while.
   * `remaining` is how many the sitting still has.
   */
  async next(remaining, onLate) {
    if (this.#current) this.#taken.add(this.#current.id);
    this.#current = null;
    const timer = setTimeout(onLate, LATE_MS);
    try {
      while (remaining > 0) {
        if (!this.#upcoming.length && !(await this.#findMore())) return null;
        const question = this.#upcoming.shift();
        this.#current = question;
        if (this.#upcoming.length < Math.min(REFILL_BELOW, remaining - 1)) this.#fetchQuietly();
        try {
          const elements = await this.#media.ready(question);
          this.#media.prepare(this.#upcoming);
          return { question, elements };
        } catch {
          this.#unshown.push(question);
          this.#current = null;
        }
      }
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The question that was answered last is asked again, and then the one that is being asked now. */
  putBack(question) {
    if (this.#current) this.#upcoming.unshift(this.#current);
    this.#current = null;
    this.#taken.delete(question.id);
    this.#upcoming.unshift(question);
  }

  forget(question) {
    this.#media.forget(question);
  }

  get hasUnshown() {
    return this.#unshown.length > 0;
  }

  retryUnshown() {
    this.#upcoming.push(...this.#unshown.splice(0));
  }

  /** Waits for questions that are new; answers still on their way may be all that the server waits for. */
  async #findMore() {
    for (;;) {
      const unsent = this.#outbox.size > 0;
      await this.#persist(() => this.#fetch());
      if (this.#upcoming.length) return true;
      if (!unsent) return false;
      await this.#outbox.emptied();
    }
  }

  async #fetchQuietly() {
    try {
      await this.#fetch();
    } catch (error) {
      if (!(error instanceof NotNow || error instanceof Refused)) throw error; // the next attempt will tell
    }
  }

  #fetch() {
    this.#fetching ??= this.#entrance
      .get(`api/questions?count=${AHEAD}`)
      .then(({ questions, state }) => {
        const known = new Set([...this.#taken, ...[...this.#upcoming, ...this.#unshown].map(({ id }) => id)]);
        if (this.#current) known.add(this.#current.id);
        this.#upcoming.push(...questions.filter(({ id }) => !known.has(id)));
        this.#media.prepare(this.#upcoming);
        this.#onState(state);
      })
      .finally(() => (this.#fetching = null));
    return this.#fetching;
  }
}
