// The items and the question, in one of several forms: shows them, and takes one answer once all are on the screen.

import { el } from "../shared/dom.js";
import { arrange } from "./grid.js";
import { keep, recall } from "./storage.js";
import { Stopwatch } from "./stopwatch.js";

const GUARD_MS = 200; // nobody judges three items faster; what comes earlier was meant for the question before
const FLASH_MS = 130; // long enough to see what was picked

export const CANT_TELL = -1;
// By form: the position of the first item that can be picked, and whether can't tell is an answer.
const FORMS = {
  odd: { first: 0, cantTell: true },
  anchor: { first: 1, cantTell: true },
  central: { first: 0, cantTell: false },
  grid: { first: 1, cantTell: false },
};
const KEYS = "123456789ABCDEFGHIJK"; // of the items that can be picked, as in participant.py

function painted() {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
}

function wait(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function onControl(event) {
  return event.target.closest("button, summary, input, a, audio, video") !== null;
}

/** The digit or letter of a key; the code helps where digits need the shift key, as on French keyboards. */
function character({ key, code }) {
  if (/^[0-9]$/.test(key)) return key;
  return /^(?:Digit|Numpad)([0-9])$/.exec(code)?.[1] ?? key.toUpperCase();
}

function heading(...content) {
  return el("h1", { class: "question", id: "question", tabindex: "-1" }, ...content);
}

export class QuestionScreen {
  #words;
  #form = FORMS.odd;
  #stopwatch = new Stopwatch();
  #open = false;
  #settle = null; // of the question that is being asked
  #flash = Promise.resolve();
  #heading;
  #items;
  #cantTell;
  #count; // how many items of a grid are picked
  #picks = 1;
  #picked = new Set(); // positions in a grid
  #undo;
  #keys;
  #controls;

  /** `forms` are those of the study: the list of keys names only what they take. */
  constructor(words, forms) {
    this.#words = words;
    this.#heading = heading("");
    this.#items = el("div", { class: "items", role: "group", "aria-labelledby": "question" });
    this.#cantTell = el(
      "button",
      {
        type: "button",
        class: "button cant-tell",
        "aria-keyshortcuts": "0",
        click: (event) => this.#pointed(event, CANT_TELL),
      },
      words.say("cant_tell"),
    );
    this.#count = el("p", { class: "picked soft", role: "status" });
    this.#undo = el(
      "button",
      {
        type: "button",
        class: "button quiet undo",
        "aria-keyshortcuts": "U",
        click: (event) => event.detail <= 1 && this.#takeBack(),
      },
      words.say("undo"),
    );
    this.#keys = this.#keysPanel(forms);
    this.#controls = el("div", { class: "controls" }, this.#undo, this.#cantTell, this.#count, this.#keys);
    document.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#arrange()).observe(this.#items);
  }

  /**
   * Shows a question, whose items are loaded, and waits for what is said: {answer, responseMs}, or {undo: true} when the
   * answer before is to be taken back. The answer is a position or, of a grid, a list of them.
   */
  async ask(question, elements, { text, position, canUndo }) {
    await this.#flash;
    this.#close();
    this.#undo.disabled = !canUndo;
    this.#form = FORMS[question.form];
    this.#cantTell.disabled = false;
    this.#cantTell.hidden = !this.#form.cantTell;
    this.#picks = question.form === "grid" ? question.picks : 0;
    this.#picked.clear();
    this.#count.hidden = this.#picks < 2;
    this.#tellPicked();
    await Promise.all(elements.map((element) => element.decode?.().catch(() => null)));
    this.#items.replaceChildren(...elements.map((element, place) => this.#card(element, question.items[place], place)));
    this.#items.dataset.kind = question.items[0].kind;
    this.#items.dataset.form = question.form;
    this.#arrange();
    this.#setHeading(el("span", { class: "visually-hidden" }, `${position}. `), text);
    this.#heading.focus({ preventScroll: true });
    scrollTo(0, 0);
    await painted();
    this.#stopwatch.start(performance.now());
    const said = new Promise((resolve) => (this.#settle = resolve));
    await wait(GUARD_MS);
    this.#open = true;
    this.#items.dataset.open = question.id;
    return said;
  }

  /** Nothing to answer just now: the next items are on their way. */
  showLoading(text) {
    this.#close();
    this.#undo.disabled = true;
    this.#cantTell.disabled = true;
    this.#count.hidden = true;
    this.#setHeading(text);
    this.#items.replaceChildren(el("p", { class: "loading" }, this.#words.say("loading")));
  }

  get elements() {
    return [this.#heading, this.#items, this.#controls];
  }

  /** A new heading each time: only an element that newly takes the focus is read out. */
  #setHeading(...content) {
    const old = this.#heading;
    this.#heading = heading(...content);
    old.replaceWith(this.#heading);
  }

  #arrange() {
    if (this.#items.dataset.form === "grid" && this.#items.querySelector(".item")) arrange(this.#items);
  }

  #tellPicked() {
    this.#count.textContent = this.#words.say("picked", { picked: this.#picked.size, total: this.#picks });
  }

  #close() {
    this.#open = false;
    delete this.#items.dataset.open;
  }

  #card(element, item, place) {
    if (place < this.#form.first) return this.#anchor(element, item);
    const shown = KEYS[place - this.#form.first]; // what people see and press
    const number = el("span", { class: "place", "aria-hidden": "true" }, shown);
    const click = (event) => this.#pointed(event, place);
    const pick = { type: "button", class: "pick", "aria-keyshortcuts": shown, click };
    if (this.#picks) pick["aria-pressed"] = "false";
    if (item.kind === "image") return el("div", { class: "item" }, el("button", pick, element, number));
    if (item.kind === "text") {
      const spoken = el("span", { class: "visually-hidden" }, `${item.label}: `);
      return el("div", { class: "item" }, el("button", pick, spoken, element, number));
    }
    this.#playAlone(element);
    const button = el("button", { ...pick, class: "pick button" }, this.#words.say("pick", { place: shown }));
    return el("div", { class: "item player" }, el("div", { class: "medium" }, element), button);
  }

  /** The item that the others are compared with, which can't be picked. */
  #anchor(element, item) {
    if (item.kind === "image") return el("div", { class: "item anchor" }, el("div", { class: "still" }, element));
    if (item.kind === "text") {
      const spoken = el("span", { class: "visually-hidden" }, `${item.label}: `);
      return el("div", { class: "item anchor" }, el("div", { class: "still" }, spoken, element));
    }
    this.#playAlone(element);
    return el("div", { class: "item anchor player" }, el("div", { class: "medium" }, element));
  }

  #playAlone(element) {
    element.addEventListener("play", () => {
      for (const other of this.#items.querySelectorAll("audio, video")) if (other !== element) other.pause();
    });
  }

  #pointed(event, answer) {
    if (event.detail <= 1) this.#answer(answer, event.timeStamp); // the second click of a double click is no answer
  }

  #answer(answer, now) {
    if (!this.#open || !this.#takes(answer)) return;
    const chosen = answer === CANT_TELL ? this.#cantTell : this.#items.children[answer].querySelector(".pick");
    if (this.#picks && !this.#pick(answer, chosen)) return;
    this.#close();
    const responseMs = Math.round(this.#stopwatch.read(now));
    for (const player of this.#items.querySelectorAll("audio, video")) player.pause();
    this.#keys.open = false; // it covers part of an item
    chosen.classList.add("chosen");
    this.#flash = wait(FLASH_MS).then(() => chosen.classList.remove("chosen"));
    this.#settle({ answer: this.#picks ? [...this.#picked].sort((a, b) => a - b) : answer, responseMs });
  }

  /** Picks an item of a grid, or no longer if it was picked; whether as many are picked as there should be. */
  #pick(place, button) {
    const isNew = !this.#picked.delete(place);
    if (isNew) this.#picked.add(place);
    button.setAttribute("aria-pressed", String(isNew));
    button.classList.toggle("chosen", isNew);
    this.#tellPicked();
    return this.#picked.size === this.#picks;
  }

  /** Whether this is an answer to the question's form. */
  #takes(answer) {
    return answer === CANT_TELL ? this.#form.cantTell : answer < this.#items.children.length;
  }

  #takeBack() {
    if (!this.#open || this.#undo.disabled) return;
    this.#close();
    this.#settle({ undo: true });
  }

  #key(event) {
    const modified = event.ctrlKey || event.altKey || event.metaKey;
    if (!this.#heading.isConnected || modified || event.repeat || recall("keys_off")) return;
    const pressed = character(event);
    const place = KEYS.slice(0, this.#items.children.length - this.#form.first).indexOf(pressed);
    if (place >= 0) this.#answer(place + this.#form.first, event.timeStamp);
    else if (pressed === "0" || (event.key === " " && !onControl(event))) this.#answer(CANT_TELL, event.timeStamp);
    else if (event.key === "Backspace" || pressed === "U") this.#takeBack();
    else return;
    event.preventDefault();
  }

  // Shortcuts of a single character must be possible to turn off (WCAG 2.1.4): speech control may type them unmeant.
  #keysPanel(forms) {
    const most = forms.includes("grid") ? "1 2 3 …" : "1 2 3";
    const rows = [
      [forms.every((form) => form === "anchor") ? "1 2" : most, "keys_pick"],
      ...(forms.some((form) => FORMS[form].cantTell) ? [["0 ␣", "keys_cant_tell"]] : []),
      ["u ⌫", "keys_undo"],
    ].map(([keys, key]) => [
      el("dt", {}, ...keys.split(" ").flatMap((one) => [el("kbd", {}, one), " "])),
      el("dd", {}, this.#words.say(key)),
    ]);
    const box = el("input", { type: "checkbox", change: () => keep("keys_off", !box.checked) });
    box.checked = !recall("keys_off");
    return el(
      "details",
      { class: "keys" },
      el("summary", { class: "button quiet" }, this.#words.say("keys")),
      el("div", { class: "panel" }, el("dl", {}, rows), el("label", {}, box, " ", this.#words.say("keys_use"))),
    );
  }
}
