// The experimenter's page: what has come in so far, and what can be done about it.

import { NotNow, Refused, get, post } from "../shared/api.js";
import { drawBars, drawHistogram, seconds } from "./charts.js";
import { el } from "../shared/dom.js";
import { drawMap, listGroups } from "./map.js";
import { PeopleTable } from "./people.js";
import { PlanCard } from "./plan.js";
import { ReportCard } from "./report.js";

const SUMMARY_MS = 4000;
const MAP_MS = 10_000;
const REST = 20; // the page waits so many times as long as the last reply took, if that is longer
const API = "experimenter/api/";

const byId = (id) => document.getElementById(id);
const count = new Intl.NumberFormat("en");

let latest = null; // the summary that is shown
let mapShown = null; // which map is shown

let troubled = false;

function setNotice(text, { trouble = false } = {}) {
  troubled = trouble;
  if (byId("notice").textContent !== text) byId("notice").textContent = text;
}

/** Fetches and shows; what goes wrong is said, and the next round tries again. */
async function attempt(work) {
  try {
    await work();
    if (troubled) setNotice("");
    return true;
  } catch (error) {
    if (!(error instanceof NotNow || error instanceof Refused)) throw error;
    const away = "The server can't be reached just now; what you see may be old.";
    setNotice(error instanceof NotNow ? away : error.message, { trouble: true });
    return false;
  }
}

function percent(share) {
  return share === null || Number.isNaN(share) ? "–" : `${Math.round(100 * share)}%`;
}

function tile(name, value, note) {
  return el("div", { class: "card" }, el("dt", {}, name), el("dd", {}, value), el("dd", { class: "soft note" }, note));
}

function tallyTile(name, { asked, right }) {
  return tile(name, asked ? percent(right / asked) : "–", `${count.format(right)} of ${count.format(asked)}`);
}

function agreementTile(agreement) {
  if (!agreement) return tile("Agreement", "–", "no question had two people yet");
  const { share, low, high, questions } = agreement;
  return tile("Agreement", percent(share), `${percent(low)} to ${percent(high)}, ${count.format(questions)} questions`);
}

function showTiles({ answers, simulated, people, finished, opened, cant_tell: cantTell, catches, repeats, agreement }) {
  const came = `${count.format(finished)} finished` + (opened ? `, ${count.format(opened)} more opened the page` : "");
  byId("tiles").replaceChildren(
    tile("Answers", count.format(answers), simulated ? `${count.format(simulated)} of them simulated` : "stored"),
    tile("People", count.format(people), came),
    tile("Can't tell", percent(cantTell), "of all answers"),
    tallyTile("Catches passed", catches),
    tallyTile("Repeats alike", repeats),
    agreementTile(agreement),
  );
}

function showState(state) {
  const paused = state === "paused";
  byId("state").textContent = paused ? "Paused" : "Collecting answers";
  byId("state").classList.toggle("paused", paused);
  byId("toggle").textContent = paused ? "Resume" : "Pause";
  byId("toggle").disabled = false;
}

function showTimes({ response_times: { edges, counts, median }, too_fast: tooFast, too_fast_seconds: limit }) {
  if (median === null) return byId("times").replaceChildren(el("p", { class: "soft" }, "No answers yet."));
  const text =
    `Half of the answers took less than ${seconds(median)}; ` +
    `${percent(tooFast)} took less than ${seconds(limit)}, which counts as too fast.`;
  return byId("times").replaceChildren(drawHistogram(edges, counts, limit, text), el("p", { class: "soft" }, text));
}

const people = new PeopleTable(byId("people"), askToWithdraw);

async function refresh() {
  const summary = await get(`${API}summary`);
  const same = JSON.stringify(summary) === JSON.stringify(latest);
  latest = summary;
  if (same) return; // nothing is redrawn under the reader's eyes or fingers without need
  document.title = summary.title;
  byId("title").textContent = summary.title;
  byId("about").textContent = [
    `“${summary.question}”`,
    `${count.format(summary.items)} items`,
    `${count.format(summary.questions_per_person)} questions for each person`,
  ].join(" · ");
  showState(summary.state);
  showTiles(summary);
  showTimes(summary);
  const forms = Object.keys(summary.by_form);
  const byForm = forms.some((form) => form !== "odd") ? [drawBars(summary.by_form)] : [];
  byId("kinds").replaceChildren(drawBars(summary.by_kind), ...byForm);
  people.show(summary.persons);
}

function aboutMap({ problem, computing, answers_needed: needed, computed_at: at, answers_used: used, holdout }) {
  if (problem) return problem;
  if (!at && needed) return `The first map comes after ${needed} more answers.`;
  if (!at) return computing ? "The first map is being made …" : "There is no map yet.";
  const learned =
    `Learned at ${new Date(at).toLocaleTimeString()} from ${count.format(used)} answers: ` +
    "the closer two items, the more alike. Colours and numbers are groups.";
  if (!holdout?.answers) return learned;
  const { agrees, answers, chance } = holdout;
  const told = `It agrees with ${percent(agrees)} of ${count.format(answers)} answers held out`;
  return `${learned} ${told}; chance is ${percent(chance)}.`;
}

async function refreshMap() {
  const map = await get(`${API}map`);
  byId("map-about").textContent = aboutMap(map);
  if (!map.computed_at || map.computed_at === mapShown) return;
  mapShown = map.computed_at;
  byId("map").replaceChildren(drawMap(map.items));
  byId("groups").hidden = false;
  byId("groups").querySelector("div").replaceChildren(...listGroups(map.items));
}

async function askToWithdraw({ participant, answered }) {
  const dialog = byId("withdraw");
  byId("withdraw-title").textContent = `Delete ${participant} and all ${count.format(answered)} answers?`;
  dialog.returnValue = "keep";
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  if (dialog.returnValue !== "delete") return;
  let lingers = false;
  const done = await attempt(async () => {
    ({ lingers } = await post(`${API}withdraw`, { participant }));
    await refresh();
  });
  const traces = lingers ? " Another program is reading the file of answers; traces of the name leave it after that." : "";
  if (done) setNotice(`${participant} is deleted.${traces}`);
}

byId("toggle").addEventListener("click", () =>
  attempt(async () => {
    await post(`${API}${latest.state === "paused" ? "resume" : "pause"}`);
    await refresh();
  }),
);

/** Repeats, but not while nobody looks. */
async function keepDoing(work, ms) {
  for (;;) {
    const began = performance.now();
    if (!document.hidden) await attempt(work);
    const rest = Math.max(ms, REST * (performance.now() - began));
    await new Promise((resolve) => setTimeout(resolve, rest));
  }
}

const report = new ReportCard(byId("report-about"), byId("make-report"), byId("open-report"), `${API}report`, attempt);

const plan = new PlanCard(byId("plan-about"), byId("make-plan"), byId("plan"), `${API}plan`, attempt);

keepDoing(refresh, SUMMARY_MS);
keepDoing(() => plan.refresh(), SUMMARY_MS);
keepDoing(() => report.refresh(), SUMMARY_MS);
keepDoing(refreshMap, MAP_MS);
