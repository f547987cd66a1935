// Talking to the server: JSON both ways, and one kind of error for "not now" as against "no".

const PATIENCE_MS = 15_000;

/** The request may succeed later: no network, or a server that is busy, restarting or can't write. */
export class NotNow extends Error {
  /** @param {"offline"|"busy"} reason */
  constructor(reason, retryAfterMs = 0) {
    super(reason);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The server refuses. `study` is the tag of the study that says so for good, or null: then who knows who answered. */
export class Refused extends Error {
  constructor(status, sentence, study) {
    super(sentence);
    this.status = status;
    this.study = study;
  }
}

async function request(path, options) {
  let response;
  let body;
  try {
    response = await fetch(path, { ...options, cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
    body = await response.json().catch((error) => {
      if (response.ok) throw error; // half an answer is none
      return {};
    });
  } catch {
    throw new NotNow("offline");
  }
  if (response.ok) return body;
  if (response.status === 429 || response.status >= 500) {
    throw new NotNow("busy", 1000 * (Number(response.headers.get("Retry-After")) || 0));
  }
  throw new Refused(response.status, body.error ?? "", body.study ?? null);
}

export function get(path, headers = {}) {
  return request(path, { headers });
}

/** `keepalive` lets a request finish that was under way when the page was closed. */
export function post(path, body = {}, headers = {}) {
  const typed = { "Content-Type": "application/json", ...headers };
  return request(path, { method: "POST", headers: typed, body: JSON.stringify(body), keepalive: true });
}

/** Waiting times between attempts: 1 s, 2 s, 4 s, … 15 s, or what the server asks for. */
export function delayMs(attempt, retryAfterMs = 0) {
  return Math.max(retryAfterMs, Math.min(15_000, 1000 * 2 ** attempt));
}

/** Waits, but not beyond the moment when the network comes back. */
export function pause(ms) {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      removeEventListener("online", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    addEventListener("online", wake);
  });
}
