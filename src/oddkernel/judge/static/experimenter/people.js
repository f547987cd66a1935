// The table of people: a row for each, sorted by any column.

import { seconds } from "./charts.js";
import { el } from "../shared/dom.js";

function when(iso) {
  if (!iso) return "–";
  const time = new Date(iso);
  const today = time.toDateString() === new Date().toDateString();
  return today ? time.toLocaleTimeString(undefined, { timeStyle: "short" }) : time.toLocaleDateString();
}

function tally({ asked, right }) {
  return asked ? `${right} of ${asked}` : "–";
}

function rate({ asked, right }) {
  return asked ? right / asked : -1;
}

function median({ median_seconds: time }) {
  return time === null ? "–" : seconds(time);
}

function state({ done }) {
  return done ? "finished" : "answering";
}

function noticed({ simulated, flags }) {
  return simulated ? ["simulated", ...flags] : flags;
}

// Heading, what a cell says, what the column is sorted by.
const COLUMNS = [
  ["Person", (row) => row.participant, (row) => row.participant],
  ["Answers", (row) => `${row.answered} of ${row.total}`, (row) => row.answered],
  ["State", state, state],
  ["Can't tell", (row) => `${row.cant_tell}`, (row) => row.cant_tell],
  ["Median time", median, (row) => row.median_seconds ?? -1],
  ["Too fast", (row) => `${row.too_fast}`, (row) => row.too_fast],
  ["Catches", (row) => tally(row.catches), (row) => rate(row.catches)],
  ["Repeats", (row) => tally(row.repeats), (row) => rate(row.repeats)],
  ["Last answer", (row) => when(row.last_answer_at), (row) => row.last_answer_at ?? ""],
  ["Noticed", (row) => noticed(row).join("; ") || "–", (row) => noticed(row).length],
];
const LAST_ANSWER = 8;

export class PeopleTable {
  #place;
  #onDelete;
  #rows = [];
  #column = LAST_ANSWER;
  #descending = true;

  constructor(place, onDelete) {
    this.#place = place;
    this.#onDelete = onDelete;
  }

  show(rows) {
    this.#rows = rows;
    const focused = this.#place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    if (!rows.length) this.#place.replaceChildren(el("p", { class: "soft" }, "Nobody yet."));
    else this.#place.replaceChildren(el("table", {}, this.#head(), this.#body()));
    if (focused) this.#place.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  #head() {
    const cells = COLUMNS.map(([name], column) => {
      const sorted = column === this.#column ? (this.#descending ? "descending" : "ascending") : null;
      const click = () => this.#sortBy(column);
      const button = el("button", { type: "button", "data-key": `sort ${name}`, click }, name);
      return el("th", { scope: "col", "aria-sort": sorted }, button);
    });
    return el("thead", {}, el("tr", {}, cells, el("td")));
  }

  #body() {
    const by = COLUMNS[this.#column][2];
    const order = this.#descending ? -1 : 1;
    const sorted = this.#rows.toSorted((a, b) => {
      const [x, y] = [by(a), by(b)];
      return order * (typeof x === "string" ? x.localeCompare(y, undefined, { numeric: true }) : x - y);
    });
    return el("tbody", {}, sorted.map((row) => this.#row(row)));
  }

  #row(row) {
    const [name, ...cells] = COLUMNS.map(([, say]) => say(row));
    const remove = el(
      "button",
      {
        type: "button",
        class: "button small",
        "data-key": `delete ${row.participant}`,
        "aria-label": `Delete ${row.participant} …`,
        click: () => this.#onDelete(row),
      },
      "Delete …",
    );
    const header = el("th", { scope: "row", dir: "auto" }, name);
    return el("tr", {}, header, cells.map((cell) => el("td", {}, cell)), el("td", {}, remove));
  }

  #sortBy(column) {
    this.#descending = column === this.#column ? !this.#descending : false;
    this.#column = column;
    this.show(this.#rows);
  }
}
