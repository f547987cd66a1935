// How this browser gets into its sitting: with a key that it made itself. The key is kept before it is sent, so that the
// sitting can be opened again also when the reply that began it got lost.

import { post } from "../shared/api.js";
import { keep, recall } from "./storage.js";

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

  /** @param {string} search the part of the link that may name a participant or an invitation */
  constructor(search) {
    const link = new URLSearchParams(search);
    for (const name of ["participant", "invitation"]) if (link.has(name)) this.#body[name] = link.get(name);
    const place = `key.${this.#body.participant ?? ""}`;
    const key = uuid();
    if (recall(place) === null) keep(place, key);
    this.#body.key = recall(place) ?? key; // where nothing can be kept, the key lasts as long as the page
  }

  open() {
    return post("api/sitting", this.#body);
  }
}
