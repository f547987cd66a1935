// Answers on their way to the server. Each is in the browser's storage before the page moves on and leaves it only
// when the server has confirmed it, or when its study says for good that it can't be stored. So a lost network, a reload,
// a full disk on the other side or another study at the same address loses nothing.
// The server stores a client_id once, so sending again is harmless.

import { NotNow, Refused, delayMs, pause } from "../shared/api.js";

const PREFIX = "oddkernel.outbox.";
const PATHS = { answer: "api/answers", undo: "api/undo", about: "api/about" };
const COUNTS = { answer: 1, undo: -1, about: 0 }; // in answers
const NOT_IN = [401, 403]; // the sitting can't be opened, or not before the person has agreed

/**
 * Events: `sent` (detail: the server's reply), `refused` (detail: a Refused; that answer is gone), `held` (detail: a
 * Refused; all answers are kept, and nothing is sent until `send` is called again), `trouble` (detail: "offline", "busy"
 * or null when it is over), `empty`.
 */
export class Outbox extends EventTarget {
  #entrance;
  #prefix;
  #entries = new Map(); // in the order of sending
  #lastStamp = 0;
  #sending = false;
  #trouble = null;
  durable = true;

  /**
   * @param {string} tag names the sitting: on a shared computer nobody's answers are sent as somebody else's.
   * @param entrance sends requests as part of that sitting
   */
  constructor(tag, entrance) {
    super();
    this.#entrance = entrance;
    this.#prefix = `${PREFIX}${tag}.`;
    try {
      const keys = Object.keys(localStorage).filter((key) => key.startsWith(this.#prefix));
      for (const key of keys.sort()) this.#entries.set(key, JSON.parse(localStorage.getItem(key)));
    } catch {
      this.durable = false;
    }
    addEventListener("beforeunload", (event) => {
      if (!this.durable && this.#entries.size) event.preventDefault();
    });
  }

  get size() {
    return this.#entries.size;
  }

  /** How many answers more, or fewer after undos, the server will have once all of this is sent. */
  get balance() {
    return [...this.#entries.values()].reduce((sum, { kind }) => sum + COUNTS[kind], 0);
  }

  /** Questions whose answer waits here and was not taken back. */
  get answeredQuestions() {
    const questions = new Map();
    for (const { kind, body } of this.#entries.values()) {
      if (kind === "answer") questions.set(body.client_id, body.question);
      else if (kind === "undo") questions.delete(body.of);
    }
    return new Set(questions.values());
  }

  /** Names of the questions about the person whose reply waits here. */
  get replied() {
    const replies = [...this.#entries.values()].filter(({ kind }) => kind === "about");
    return new Set(replies.map(({ body }) => body.name));
  }

  /** Resolved when nothing waits any more. */
  async emptied() {
    if (this.size) await new Promise((resolve) => this.addEventListener("empty", resolve, { once: true }));
  }

  /** @param {"answer"|"undo"|"about"} kind */
  add(kind, body) {
    this.#lastStamp = Math.max(this.#lastStamp + 1, Date.now());
    const key = `${this.#prefix}${String(this.#lastStamp).padStart(15, "0")}.${body.client_id}`;
    const entry = { kind, body };
    this.#entries.set(key, entry);
    try {
      localStorage.setItem(key, JSON.stringify(entry));
    } catch {
      this.durable = false; // storage is full or forbidden: the page warns before it is closed
    }
    this.send();
  }

  /** Sends what is here, one by one and in order, until nothing is left. */
  async send() {
    if (this.#sending) return;
    this.#sending = true;
    let attempt = 0;
    while (this.#entries.size) {
      const [key, { kind, body }] = this.#entries.entries().next().value;
      try {
        const reply = await this.#entrance.post(PATHS[kind], body);
        this.#drop(key);
        this.#say("sent", reply);
      } catch (error) {
        if (!(error instanceof NotNow || error instanceof Refused)) throw error;
        if (error instanceof Refused && this.#entrance.isFinal(error)) {
          this.#drop(key);
          this.#say("refused", error);
        } else if (error instanceof Refused && NOT_IN.includes(error.status)) {
          this.#sending = false;
          this.#say("held", error);
          return;
        } else {
          this.#setTrouble(error.reason ?? "busy");
          await pause(delayMs(attempt++, error.retryAfterMs));
          continue;
        }
      }
      attempt = 0;
    }
    this.#sending = false;
    this.#setTrouble(null);
    this.#say("empty");
  }

  #drop(key) {
    this.#entries.delete(key);
    try {
      localStorage.removeItem(key);
    } catch {
      this.durable = false;
    }
  }

  #setTrouble(reason) {
    if (reason === this.#trouble) return;
    this.#trouble = reason;
    this.#say("trouble", reason);
  }

  #say(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
