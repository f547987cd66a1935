// The participant's page: consent, instructions, practice, questions, thanks. This file decides what comes next.

import { NotNow, Refused, delayMs, pause } from "../shared/api.js";
import { el, paragraphs } from "../shared/dom.js";
import { form } from "./about.js";
import { Entrance, uuid } from "./entrance.js";
import { leaving } from "./leaving.js";
import { Outbox } from "./outbox.js";
import { QuestionScreen } from "./question.js";
import { Progress, setNotice, setStudy, showQuestion, showText } from "./screen.js";
import { keep, recall } from "./storage.js";
import { Supply } from "./supply.js";
import { Words, setLanguage } from "./words.js";

const HISTORY = 5; // answers that can be taken back, one after the other
const PAUSED_POLL_MS = 15_000;
// Title and text of the last screen by state. In all but the first no more is asked, though questions are left.
const LAST = {
  done: ["done_title", "done_text"],
  screened_out: ["screened_out_title", "screened_out_text"],
  timed_out: ["timed_out_title", "timed_out_text"],
  turned_away: ["turned_away_title", "turned_away_text"],
};
const isCut = (state) => state in LAST && state !== "done";
const LONGEST_MS = 7 * 24 * 3600 * 1000; // of a response, to the server

let words;

/** Asks until the server answers, and meanwhile says what the matter is. */
async function persist(ask) {
  for (let attempt = 0; ; attempt++) {
    try {
      const reply = await ask();
      if (attempt) setNotice("");
      return reply;
    } catch (error) {
      if (!(error instanceof NotNow)) throw error;
      setNotice(words.say(`${error.reason}_waiting`), { lasting: true });
      await pause(delayMs(attempt, error.retryAfterMs));
    }
  }
}

/** Begins anew; what comes after it in this page is never reached. */
function reload() {
  location.reload();
  return new Promise(() => {});
}

const entrance = new Entrance(location.search);

function openSitting() {
  return persist(() => entrance.open());
}

class Sitting {
  #study;
  #sitting;
  #outbox;
  #supply;
  #view;
  #progress = new Progress(words.say("progress"));
  #history; // {client_id, question} of the answers that can be taken back, the last one last
  #exhausted = false; // the server has fewer questions than it promised
  #over = false; // this sitting can't go on in this page

  constructor({ study, sitting }) {
    this.#study = study;
    this.#view = new QuestionScreen(words, Object.keys(study.questions));
    this.#sitting = sitting;
    this.#outbox = new Outbox(sitting.tag, entrance);
    this.#supply = new Supply(this.#outbox, { entrance, persist, onState: (state) => this.#setState(state) });
    this.#history = recall(`history.${sitting.tag}`) ?? [];
    this.#outbox.addEventListener("sent", ({ detail }) => this.#sent(detail));
    this.#outbox.addEventListener("refused", ({ detail }) => this.#refused(detail));
    this.#outbox.addEventListener("held", ({ detail }) => this.#shutOut(detail));
    this.#outbox.addEventListener("trouble", ({ detail: reason }) => {
      setNotice(words.say(reason ?? "sent_all"), { lasting: reason !== null });
    });
  }

  async begin() {
    const isOver = this.#sitting.state in LAST && !this.#outbox.size;
    if (this.#study.consent && !isOver) await this.#consent();
    this.#outbox.send();
    if (this.#sitting.state in LAST) return this.#finish();
    if (this.#sitting.state === "paused") return this.#waitWhilePaused();
    await this.#askAbout("start", words.say("about_start_title"));
    if (this.#over || isCut(this.#sitting.state)) return undefined;
    if (this.#answered === 0) await this.#instruct();
    return this.#run();
  }

  /** Answers that are stored or will be once the outbox is empty. */
  get #answered() {
    return this.#sitting.answered + this.#outbox.balance;
  }

  get #isComplete() {
    return !isCut(this.#sitting.state) && this.#answered >= this.#sitting.total;
  }

  async #consent() {
    const isLater = this.#answered > 0; // the study did not ask when this person began
    const title = words.say(isLater ? "consent_title_later" : "consent_title");
    const declined = words.say(isLater ? "declined_text_later" : "declined_text");
    const choices = { agree: words.say("consent_agree"), decline: words.say("consent_decline") };
    const ask = () => showText(title, paragraphs(this.#study.consent), choices, { enter: false }); // never by accident
    while ((await ask()) !== "agree") {
      if (!isLater) await persist(() => entrance.post("api/decline"));
      const back = { back: words.say("declined_back") };
      const content = paragraphs(declined);
      if (this.#study.declined) content.push(leaving({ ...this.#study.declined, seconds: 0 }, words));
      await showText(words.say("declined_title"), content, back);
      if (!isLater) await reload();
    }
    await persist(() => entrance.post("api/consent", { agreed: true }));
  }

  /** Questions about the person that have no reply yet. What is entered goes to the server like every answer. */
  async #askAbout(at, title) {
    const waiting = this.#outbox.replied;
    const questions = this.#study.about.filter((question) => question.at === at && !waiting.has(question.name));
    if (!questions.length) return;
    const { element, entered } = form(questions, words);
    showText(title, [element]);
    for (const { name, value } of await entered) {
      this.#outbox.add("about", { client_id: uuid(), name, value, answered_at: new Date().toISOString() });
    }
    this.#study.about = this.#study.about.filter((question) => !questions.includes(question));
    if (!questions.some(({ decides }) => decides)) return;
    showText(words.say("finishing_title"), paragraphs(words.say("finishing_text")));
    await this.#outbox.emptied(); // the reply may end this person's part
  }

  /** The text above the items; the study may have got another form since this page was opened. */
  #text({ form, picks }) {
    const key = form === "odd" ? "study_question" : `study_question_${form}`;
    return this.#study.questions[form] ?? words.say(key, { picks });
  }

  /** The text on the keys: that of the study's form, or of the one with most keys if there are several. */
  get #keysText() {
    const [form, ...others] = Object.keys(this.#study.questions);
    return others.length || form === "odd" ? "instructions_keys" : `instructions_keys_${form}`;
  }

  async #instruct() {
    const practise = this.#study.practice.length > 0 && !recall(`practised.${this.#sitting.tag}`);
    const content = [
      ...paragraphs(this.#study.instructions),
      el("p", { class: "prose" }, words.say("instructions_length", { total: this.#sitting.total })),
      el("p", { class: "prose soft for-keyboards" }, words.say(this.#keysText)),
    ];
    await showText(words.say("instructions_title"), content, { go: words.say(practise ? "begin_practice" : "begin") });
    if (practise) await this.#practise();
  }

  async #practise() {
    const { practice } = this.#study;
    const over = () =>
      showText(words.say("practice_title"), paragraphs(words.say("practice_text")), {
        go: words.say("begin"),
        again: words.say("practice_again"),
      });
    do {
      showQuestion(this.#study.title, this.#view, this.#progress);
      this.#view.showLoading(this.#study.question);
      for (const [place, question] of practice.entries()) {
        const position = words.say("practice_position", { position: place + 1, total: practice.length });
        this.#progress.set(place, practice.length, position);
        await this.#practiseOne(question, position);
      }
    } while ((await over()) === "again");
    keep(`practised.${this.#sitting.tag}`, true);
  }

  async #practiseOne(question, position) {
    const elements = await this.#supply.elements(question).catch(() => null);
    if (!elements) return; // practice is no reason to stop a sitting
    await this.#view.ask(question, elements, { text: this.#text(question), position, canUndo: false });
  }

  async #run() {
    showQuestion(this.#study.title, this.#view, this.#progress);
    for (;;) {
      const { total } = this.#sitting;
      const done = Math.min(this.#answered, total);
      const position = words.say("position", { position: Math.min(done + 1, total), total });
      this.#progress.set(done, total, position);
      const next = await this.#next(total - done);
      if (this.#over) return undefined;
      if (!next) {
        this.#exhausted = done < total;
        break;
      }
      const about = { text: this.#text(next.question), position, canUndo: this.#history.length > 0 };
      const said = await this.#view.ask(next.question, next.elements, about);
      if (said.undo) this.#undo();
      else this.#answer(next.question, said);
    }
    return this.#supply.hasUnshown && this.#exhausted ? this.#offerUnshown() : this.#finish();
  }

  async #next(remaining) {
    try {
      return await this.#supply.next(remaining, () => this.#view.showLoading(this.#study.question));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#shutOut(error);
      return null;
    }
  }

  #answer(question, { answer, responseMs }) {
    const clientId = uuid();
    this.#outbox.add("answer", {
      client_id: clientId,
      question: question.id,
      answer,
      response_ms: Math.min(responseMs, LONGEST_MS),
      answered_at: new Date().toISOString(),
    });
    this.#history.push({ client_id: clientId, question });
    if (this.#history.length > HISTORY) this.#supply.forget(this.#history.shift().question);
    keep(`history.${this.#sitting.tag}`, this.#history);
  }

  #undo() {
    const { client_id: of, question } = this.#history.pop();
    this.#outbox.add("undo", { client_id: uuid(), of });
    keep(`history.${this.#sitting.tag}`, this.#history);
    this.#supply.putBack(question);
    setNotice(words.say("undone"));
  }

  #sent({ answered, total, state }) {
    Object.assign(this.#sitting, { answered, total });
    this.#setState(state);
  }

  /** An answer that can't be stored: 409 where another page of this sitting has answered the question. */
  #refused(error) {
    if (error.status === 409) this.#stop(words.say("twice_title"), words.say("twice_text"), words.say("twice_again"));
    else setNotice(words.say("not_accepted", { reason: error.message }), { lasting: true });
  }

  /** The server wants nothing of this sitting, at least until the page is opened again. */
  #shutOut(error) {
    if (error.status === 401) this.#stop(words.say("gone_title"), words.say("gone_text"), words.say("gone_again"));
    else this.#stop(words.say("stopped_title"), error.message, words.say("try_again"));
  }

  /** Nothing but a fresh start helps. */
  async #stop(title, text, again) {
    if (this.#over) return;
    this.#over = true;
    await showText(title, paragraphs(text), { again });
    location.reload();
  }

  #setState(state) {
    this.#sitting.state = state;
    if (state === "paused" && !this.#over) this.#waitWhilePaused();
    // Who has answered everything may take their time with the questions at the end.
    const late = state === "timed_out" && (this.#isComplete || this.#exhausted);
    if (isCut(state) && !late && !this.#over) this.#finish();
  }

  /** Begins anew when the study goes on: a reload continues where the sitting was. */
  async #waitWhilePaused() {
    this.#over = true;
    showText(words.say("paused_title"), paragraphs(words.say("paused_text")));
    try {
      do {
        await pause(PAUSED_POLL_MS);
        this.#view.showLoading(this.#study.question);
      } while ((await openSitting()).sitting.state === "paused");
    } catch (error) {
      if (!(error instanceof Refused)) throw error; // the fresh start will say what the matter is
    }
    location.reload();
  }

  async #offerUnshown() {
    const again = { again: words.say("try_again") };
    await showText(words.say("unshown_title"), paragraphs(words.say("unshown_text")), again);
    this.#supply.retryUnshown();
    return this.#run();
  }

  /** Waits until everything is stored, and says thanks. */
  async #finish() {
    if (this.#isComplete || this.#exhausted) await this.#askAbout("end", words.say("about_end_title"));
    if (this.#outbox.size) showText(words.say("finishing_title"), paragraphs(words.say("finishing_text")));
    await this.#outbox.emptied();
    if (this.#over) return undefined;
    const reply = await openSitting().catch((error) => {
      if (!(error instanceof Refused)) throw error;
      this.#shutOut(error);
    });
    if (!reply) return undefined;
    const { sitting, completion_code: code, leave } = reply;
    if (isCut(sitting.state)) return this.#end(sitting.state, leave);
    const missing = sitting.total - sitting.answered;
    if (missing > 0 && !this.#exhausted) {
      // An answer was stored before, and its confirmation lost: it was counted twice until now.
      Object.assign(this.#sitting, sitting);
      return this.#run();
    }
    return this.#end("done", leave, code);
  }

  /** The last screen. The state may be told several times; the screen is shown once. */
  #end(state, leave, code) {
    if (this.#over) return undefined;
    this.#over = true;
    const [title, text] = LAST[state];
    const content = paragraphs(words.say(state === "done" && leave ? "leave_text" : text));
    if (code) content.push(completion(code));
    if (leave) content.push(leaving(leave, words));
    return showText(words.say(title), content);
  }
}

function completion(code) {
  const shown = el("output", { class: "code", "aria-labelledby": "code-title" }, code);
  const copy = async () => {
    getSelection().selectAllChildren(shown);
    try {
      await navigator.clipboard.writeText(code);
      setNotice(words.say("code_copied"));
    } catch {
      // Without HTTPS there is no clipboard; the code is selected, ready for Ctrl-C.
    }
  };
  const button = el("button", { type: "button", class: "button", click: copy }, words.say("code_copy"));
  return el("section", { class: "completion" }, el("h2", { id: "code-title" }, words.say("code_title")), shown, button);
}

async function main() {
  words = await Words.load(new URL(`words.${document.documentElement.dataset.words}.json`, import.meta.url));
  if (entrance.isPreview) return showText(words.say("preview_title"), paragraphs(words.say("preview_text")));
  let reply;
  try {
    reply = await openSitting();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return showText(words.say("refused_title"), paragraphs(error.message));
  }
  words = words.with(reply.study.words ?? {});
  setLanguage(reply.study.language ?? "en");
  setStudy(reply.study.title ?? "");
  return new Sitting(reply).begin();
}

main();
