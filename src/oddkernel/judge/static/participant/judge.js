// The participant's page: consent, instructions, practice, questions, thanks. This file decides what comes next.

import { NotNow, Refused, delayMs, pause } from "../shared/api.js";
import { el, paragraphs } from "../shared/dom.js";
import { Entrance, uuid } from "./entrance.js";
import { Outbox } from "./outbox.js";
import { QuestionScreen } from "./question.js";
import { Progress, setNotice, showQuestion, showText } from "./screen.js";
import { keep, recall } from "./storage.js";
import { Supply } from "./supply.js";
import { Words, setLanguage } from "./words.js";

const HISTORY = 5; // answers that can be taken back, one after the other
const PAUSED_POLL_MS = 15_000;
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

const entrance = new Entrance(location.search);

function openSitting() {
  return persist(() => entrance.open());
}

class Sitting {
  #study;
  #sitting;
  #outbox;
  #supply;
  #view = new QuestionScreen(words);
  #progress = new Progress(words.say("progress"));
  #history; // {client_id, question} of the answers that can be taken back, the last one last
  #exhausted = false; // the server has fewer questions than it promised
  #over = false; // this sitting can't go on in this page

  constructor({ study, sitting }) {
    this.#study = study;
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
    const isOver = this.#sitting.state === "done" && !this.#outbox.size;
    if (this.#study.consent && !isOver) await this.#consent();
    this.#outbox.send();
    if (this.#sitting.state === "done") return this.#finish();
    if (this.#sitting.state === "paused") return this.#waitWhilePaused();
    if (this.#answered === 0) await this.#instruct();
    return this.#run();
  }

  /** Answers that are stored or will be once the outbox is empty. */
  get #answered() {
    return this.#sitting.answered + this.#outbox.balance;
  }

  async #consent() {
    const isLater = this.#answered > 0; // the study did not ask when this person began
    const title = words.say(isLater ? "consent_title_later" : "consent_title");
    const declined = words.say(isLater ? "declined_text_later" : "declined_text");
    const choices = { agree: words.say("consent_agree"), decline: words.say("consent_decline") };
    while ((await showText(title, paragraphs(this.#study.consent), choices)) !== "agree") {
      const back = { back: words.say("declined_back") };
      await showText(words.say("declined_title"), paragraphs(declined), back);
    }
    await persist(() => entrance.post("api/consent", { agreed: true }));
  }

  async #instruct() {
    const practise = this.#study.practice.length > 0 && !recall(`practised.${this.#sitting.tag}`);
    const content = [
      ...paragraphs(this.#study.instructions),
      el("p", { class: "prose" }, words.say("instructions_length", { total: this.#sitting.total })),
      el("p", { class: "prose soft for-keyboards" }, words.say("instructions_keys")),
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
    await this.#view.ask(question, elements, { text: this.#study.question, position, canUndo: false });
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
      const about = { text: this.#study.question, position, canUndo: this.#history.length > 0 };
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
    if (state === "paused" && !this.#over) this.#waitWhilePaused();
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
    if (this.#outbox.size) showText(words.say("finishing_title"), paragraphs(words.say("finishing_text")));
    await this.#outbox.emptied();
    if (this.#over) return undefined;
    const reply = await openSitting().catch((error) => {
      if (!(error instanceof Refused)) throw error;
      this.#shutOut(error);
    });
    if (!reply) return undefined;
    const { sitting, completion_code: code } = reply;
    const missing = sitting.total - sitting.answered;
    if (missing > 0 && !this.#exhausted) {
      // An answer was stored before, and its confirmation lost: it was counted twice until now.
      Object.assign(this.#sitting, sitting);
      return this.#run();
    }
    this.#over = true;
    const content = paragraphs(words.say("done_text"));
    if (code) content.push(completion(code));
    return showText(words.say("done_title"), content);
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
  words = await Words.load(new URL("words.en.json", import.meta.url));
  let reply;
  try {
    reply = await openSitting();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return showText(words.say("refused_title"), paragraphs(error.message));
  }
  words = words.with(reply.study.words ?? {});
  setLanguage(reply.study.language ?? "en");
  return new Sitting(reply).begin();
}

main();
