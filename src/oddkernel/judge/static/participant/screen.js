// What stands on the screen: pages of text with buttons, the strip with the progress, the notice at the bottom.

import { el } from "../shared/dom.js";

const NOTICE_MS = 5000;

const top = document.getElementById("top");
const screen = document.getElementById("screen");
const notice = document.getElementById("notice");
let noticeTimer;

/** A line at the bottom that screen readers read out when they are free; it goes by itself unless it is to last. */
export function setNotice(text, { lasting = false } = {}) {
  clearTimeout(noticeTimer);
  notice.textContent = text;
  if (text && !lasting) noticeTimer = setTimeout(() => (notice.textContent = ""), NOTICE_MS);
}

/** Shows a page of text; resolved with the name of the button that was pressed, the first of which is the main one. */
export function showText(title, content, buttons = {}) {
  const heading = el("h1", { tabindex: "-1" }, title);
  return new Promise((resolve) => {
    const row = Object.entries(buttons).map(([name, text], place) =>
      el("button", { type: "button", class: place ? "button" : "button primary", click: () => resolve(name) }, text),
    );
    top.hidden = true;
    screen.className = "text-screen";
    screen.replaceChildren(
      el("article", {}, heading, ...content, row.length ? el("div", { class: "choices" }, row) : null),
    );
    document.title = title;
    heading.focus();
    scrollTo(0, 0);
  });
}

/** Shows the screen of a question, below the strip with the progress. */
export function showQuestion(title, question, progress) {
  top.replaceChildren(...progress.elements);
  top.hidden = false;
  screen.className = "question-screen";
  screen.replaceChildren(...question.elements);
  document.title = title;
}

export class Progress {
  #bar;
  #text = el("span", { class: "count" });

  constructor(label) {
    this.#bar = el("progress", { "aria-label": label });
    this.elements = [this.#bar, this.#text];
  }

  set(done, total, text) {
    Object.assign(this.#bar, { max: total, value: done });
    this.#text.textContent = text;
  }
}
