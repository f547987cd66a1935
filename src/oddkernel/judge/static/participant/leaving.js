// The way back to the panel that sent this person: a button, and after a few seconds by itself unless the person stays.

import { el } from "../shared/dom.js";

function follow({ url, fields }) {
  if (!fields) return location.assign(url);
  const inputs = Object.entries(fields).map(([name, value]) => el("input", { type: "hidden", name, value }));
  const form = el("form", { method: "post", action: url }, inputs);
  document.body.append(form);
  return form.submit();
}

/** @param leave {url, fields, seconds} of the server, where `fields` is null unless a form is to be sent */
export function leaving(leave, words) {
  const go = el("button", { type: "button", class: "button primary", click: () => follow(leave) }, words.say("leave"));
  if (!leave.seconds) return el("div", { class: "choices leaving" }, go);
  const counting = el("p", { class: "soft" });
  const tell = (seconds) => (counting.textContent = words.say("leave_soon", { seconds }));
  let left = leave.seconds;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0 && go.isConnected) return tell(left);
    clearInterval(timer);
    if (go.isConnected) follow(leave);
    return undefined;
  }, 1000);
  const stay = () => {
    clearInterval(timer);
    counting.remove();
    button.remove();
    go.focus();
  };
  const button = el("button", { type: "button", class: "button", click: stay }, words.say("leave_stay"));
  tell(left);
  return el("section", { class: "leaving" }, counting, el("div", { class: "choices" }, go, button));
}
