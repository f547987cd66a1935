// Measures how long something was on the screen: time in which the page was hidden doesn't count.

export class Stopwatch {
  #since = null; // when the current stretch began; null while hidden or stopped
  #before = 0; // ms of earlier stretches
  #running = false;

  constructor() {
    document.addEventListener("visibilitychange", () => {
      if (!this.#running) return;
      if (document.hidden) {
        this.#before = this.read(performance.now());
        this.#since = null;
      } else {
        this.#since = performance.now();
      }
    });
  }

  start(now) {
    this.#running = true;
    this.#before = 0;
    this.#since = document.hidden ? null : now;
  }

  /** ms until `now`, a time of performance.now() or of an event. */
  read(now) {
    return this.#before + (this.#since === null ? 0 : Math.max(0, now - this.#since));
  }
}
