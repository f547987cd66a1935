// What stands on the screen: pages of text with buttons, the strip with the progress, the notice at the bottom.

import { el } from "../shared/dom.js";

const NOTICE_MS = 5000;

const top = document.getElementById("top");
const screen = document.getElementById("screen");
const notice = document.getElementById("notice");
let noticeTimer;
let study = "";
let listening = new AbortController(); // to Enter, until the next page of text

/** A line at the bottom that screen readers read out when they are free; it goes by itself unless it is to last. */
export function setNotice(text, { lasting = false } = {}) {
  clearTimeout(noticeTimer);
  notice.textContent = text;
  if (text && !lasting) noticeTimer = setTimeout(() => (notice.textContent = ""), NOTICE_MS);
}

/** What the study is called, above every page of text. */
export function setStudy(title) {
  study = title;
}

/** Enter presses the main button, wherever the focus is but on something that takes the key itself. */
function pressOnEnter(button) {
  listening = new AbortController();
  const press = (event) => {
    const taken = event.target.closest("button, summary, input, select, textarea, a") !== null;
    if (event.key === "Enter" && !event.repeat && !taken && button.isConnected) button.click();
  };
  document.addEventListener("keydown", press, { signal: listening.signal });
}

/**
 * Shows a page of text; resolved with the name of the button that was pressed, the first of which is the main one.
 * Enter presses that one unless `enter` is false.
 */
export function showText(title, content, buttons = {}, { enter = true } = {}) {
  const heading = el("h1", { tabindex: "-1" }, title);
  return new Promise((resolve) => {
    const row = Object.entries(buttons).map(([name, text], place) =>
      el("button", { type: "button", class: place ? "button" : "button primary", click: () => resolve(name) }, text),
    );
    listening.abort();
    if (row.length && enter) pressOnEnter(row[0]);
    top.hidden = true;
    screen.className = "text-screen";
    const above = study ? el("p", { class: "study soft" }, study) : null;
    screen.replaceChildren(
      el("article", {}, above, heading, ...content, row.length ? el("div", { class: "choices" }, row) : null),
    );
    document.title = study ? `${title} – ${study}` : title;
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
