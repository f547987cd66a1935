// Items as elements, loaded before they are needed: the element itself waits, so showing it needs no network.

import { delayMs, pause } from "../shared/api.js";
import { el } from "../shared/dom.js";

const ATTEMPTS = 3;
const EAGER = 3; // questions whose items are loaded at once; those of others, to play on without a network, by and by
const SPACING_MS = 1000;
const SIDES = [320, 640, 1280, 2560]; // as in pictures.py

function loaded(element, events) {
  return new Promise((resolve, reject) => {
    for (const event of events) element.addEventListener(event, resolve, { once: true });
    element.addEventListener("error", () => reject(new Error("not loaded")), { once: true });
  });
}

/** The address of a picture that is as large as the screen has room for, whichever way the items are laid out. */
function fitting(url, n) {
  const stacked = matchMedia("(max-width: 60rem) and (orientation: portrait)").matches;
  let room = stacked ? [innerWidth, innerHeight / 3] : [innerWidth / 3, innerHeight];
  if (n > 3) room = [innerWidth / Math.min(n, 3), innerHeight / 3]; // a grid has three rows or more, or is one row
  const [w, h] = room.map((side) => SIDES.find((each) => each >= side * devicePixelRatio) ?? SIDES.at(-1));
  return `${url}${url.includes("?") ? "&" : "?"}w=${w}&h=${h}`;
}

async function loadOnce(item, n) {
  if (item.kind === "text") return el("span", { class: "text", dir: "auto" }, item.text);
  if (item.kind === "image") {
    const image = el("img", { alt: item.label, draggable: "false" });
    const ready = loaded(image, ["load"]);
    image.src = fitting(item.url, n);
    await ready;
    return image;
  }
  const player = el(item.kind, { controls: true, preload: "auto", playsinline: true, "aria-label": item.label });
  // Phones may decline to load sound before it is asked for; they say "suspend", and it is then loaded when played.
  const ready = loaded(player, ["canplaythrough", "suspend"]);
  player.src = item.url;
  await ready;
  return player;
}

/** Whether the server answers: if so, an item that can't be loaded is broken; if not, it will come in time. */
async function reachable(url) {
  try {
    return (await fetch(url)).status < 500;
  } catch {
    return false;
  }
}

async function load(item, n) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await loadOnce(item, n);
    } catch (error) {
      if (attempt + 1 >= ATTEMPTS && (await reachable(item.url))) throw error;
      await pause(delayMs(attempt));
    }
  }
}

/** Keeps the elements of the questions that come next. */
export class Media {
  #promises = new Map(); // by the question's id
  #wanted = [];
  #working = false;

  /** The elements of a question's items, as soon as all can be shown. Rejected when one of them can't be loaded. */
  ready(question) {
    if (!this.#promises.has(question.id)) {
      const promise = Promise.all(question.items.map((item, _, { length }) => load(item, length)));
      promise.catch(() => this.#promises.delete(question.id)); // the next call tries again
      this.#promises.set(question.id, promise);
    }
    return this.#promises.get(question.id);
  }

  /**
   * Loads questions in their order, one after the other, so that the next is never held up by later ones, and those that
   * are far ahead not all at once: many people may begin at the same time.
   */
  async prepare(questions) {
    this.#wanted = [...questions];
    if (this.#working) return;
    this.#working = true;
    const tried = new Set();
    const first = () => this.#wanted.findIndex(({ id }) => !tried.has(id));
    while (first() >= 0) {
      if (first() >= EAGER) await pause(SPACING_MS);
      const next = this.#wanted[first()];
      if (!next) break;
      tried.add(next.id);
      await this.ready(next).catch(() => null);
    }
    this.#working = false;
  }

  forget(question) {
    this.#promises.delete(question.id);
  }
}
