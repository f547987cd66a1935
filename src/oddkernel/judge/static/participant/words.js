// The words on the page: those of its language (words.en.json and its neighbours), replaced by those of the study.

import { NotNow, delayMs, get, pause } from "../shared/api.js";

export class Words {
  #texts;

  constructor(texts) {
    this.#texts = texts;
  }

  /** The words of a file; tried until it comes, as without words nothing could be said about the failure. */
  static async load(url) {
    for (let attempt = 0; ; attempt++) {
      try {
        return new Words(await get(url));
      } catch (error) {
        if (!(error instanceof NotNow)) throw error;
        await pause(delayMs(attempt));
      }
    }
  }

  /** These words with some replaced. */
  with(overrides) {
    return new Words({ ...this.#texts, ...overrides });
  }

  /** The text called `key`, with every {name} in it replaced by the value of that name. */
  say(key, values = {}) {
    const text = this.#texts[key];
    if (text === undefined) throw new Error(`There is no text called ${key}.`);
    return text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
  }
}

/** Tells browser and screen reader which language the page is in, and in which direction it is written. */
export function setLanguage(language) {
  document.documentElement.lang = language;
  let locale;
  try {
    locale = new Intl.Locale(language);
  } catch {
    return; // not a language tag; the words are shown all the same
  }
  document.documentElement.dir = (locale.getTextInfo?.() ?? locale.textInfo)?.direction ?? "ltr";
}
