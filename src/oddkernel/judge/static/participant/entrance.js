// How this page gets into its sitting: with a key that it made itself. The key is kept before it is sent, so that the
// sitting can be opened again also when the reply that began it got lost. From then on every request names the sitting.

import { Refused, get, post } from "../shared/api.js";
import { keep, recall } from "./storage.js";

const ATTEMPTS = 3;
const MOST_PARAMETERS = 30; // of a link; panels have up to four
const LONGEST_PARAMETER = 200;
const PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"; // of a task on Amazon Mechanical Turk that nobody has accepted yet

/** A random UUID; crypto.randomUUID is missing where the page is not served by HTTPS or from this computer. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

export class Entrance {
  #body = {};
  #headers = {};
  #study = null;

  /** @param {string} search the part of the link that may name a participant or an invitation */
  constructor(search) {
    const link = new URLSearchParams(search);
    // A panel may call the participant otherwise; the page says how.
    const { content: named } = document.querySelector('meta[name="oddkernel-participant"]');
    if (link.get(named)) this.#body.participant = link.get(named);
    if (link.has("invitation")) this.#body.invitation = link.get("invitation");
    const others = [...link].filter(([, value]) => value.length <= LONGEST_PARAMETER).slice(0, MOST_PARAMETERS);
    this.#body.link = Object.fromEntries(others); // the server keeps those that the study names
    this.isPreview = link.get("assignmentId") === PREVIEW;
    const place = `key.${this.#body.participant ?? ""}`;
    const key = uuid();
    if (recall(place) === null) keep(place, key);
    this.#body.key = recall(place) ?? key; // where nothing can be kept, the key lasts as long as the page
  }

  /** Opens the sitting; once it was open, that one and no other. */
  async open() {
    const reply = await post("api/sitting", this.#body, this.#headers);
    this.#headers = { "Oddkernel-Sitting": reply.sitting.tag, "Oddkernel-Pass": reply.pass };
    this.#study = reply.study.tag;
    return reply;
  }

  get(path) {
    return this.#insist(() => get(path, this.#headers));
  }

  post(path, body) {
    return this.#insist(() => post(path, body, this.#headers));
  }

  /** Whether this is what our study says for good: not another one at the same address, and not for the moment. */
  isFinal(error) {
    return error.study !== null && error.study === this.#study;
  }

  /** The cookie may be another person's by now, whose link was opened in this browser: then the key opens ours again. */
  async #insist(ask) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof Refused) || error.status !== 401 || attempt === ATTEMPTS) throw error;
        await this.open();
      }
    }
  }
}
