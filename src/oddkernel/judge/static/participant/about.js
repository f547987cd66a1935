// A form with questions about the person: choices, numbers, texts. The browser checks what is entered.

import { el } from "../shared/dom.js";

const MOST_BUTTONS = 7; // more choices than that are a list to open

function choice({ name, ask, choices, optional }, words) {
  if (choices.length > MOST_BUTTONS) {
    const none = el("option", { value: "" }, words.say("about_choose"));
    const options = choices.map((text) => el("option", { value: text }, text));
    return labelled(ask, optional, words, el("select", { name, required: !optional }, none, options));
  }
  const buttons = choices.map((value) =>
    el("label", { class: "option" }, el("input", { type: "radio", name, value, required: !optional }), " ", value),
  );
  return el("fieldset", { class: "field" }, el("legend", {}, ask, hint(optional, words)), buttons);
}

function hint(optional, words) {
  return optional ? el("span", { class: "soft" }, ` ${words.say("about_optional")}`) : null;
}

function labelled(ask, optional, words, control) {
  return el("label", { class: "field" }, el("span", {}, ask, hint(optional, words)), control);
}

function field(question, words) {
  const { name, ask, kind, least, most, optional, longest } = question;
  if (kind === "choice") return choice(question, words);
  const required = !optional;
  const control =
    kind === "number"
      ? el("input", { type: "number", name, min: least, max: most, step: "any", inputmode: "decimal", required })
      : el("textarea", { name, maxlength: longest, rows: 2, required });
  return labelled(ask, optional, words, control);
}

function parsed(text, kind) {
  if (!text) return null; // skipped
  return kind === "number" ? Number(text) : text.replace(/\p{Surrogate}/gu, "\ufffd"); // no server takes half a character
}

/** The form, and a promise of what was entered: [{name, value}], where the value is null if a question was skipped. */
export function form(questions, words) {
  let settle;
  const entered = new Promise((resolve) => (settle = resolve));
  const submit = (event) => {
    event.preventDefault();
    const data = new FormData(event.target);
    settle(questions.map(({ name, kind }) => ({ name, value: parsed((data.get(name) ?? "").trim(), kind) })));
  };
  const send = el("button", { type: "submit", class: "button primary" }, words.say("about_send"));
  const fields = questions.map((question) => field(question, words));
  const element = el("form", { class: "about", submit }, fields, el("div", { class: "choices" }, send));
  return { element, entered };
}
