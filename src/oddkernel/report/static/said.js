// What people said about the chosen item, or about both chosen items, the answers that the distances contradict first.

const FIRST = 12; // answers shown at first; chosen by hand

/** Places of the answers about all of these items: contradicted ones first, then the least probable. */
function answersAbout(items) {
  const { shown, after, probability, spread_after: spread, odd, kind } = columns;
  const places = [];
  for (let place = 0; place < data.answers.held; place++) {
    const about = (i) => shown[3 * place] === i || shown[3 * place + 1] === i || shown[3 * place + 2] === i;
    if (items.every(about)) places.push(place);
  }
  const kindAt = (place) => data.answers.kinds[kind[place]];
  const unclear = (place) => kindAt(place) === "equally_close" || (kindAt(place) === "odd_one_out" && odd[place] === 0);
  const rank = (place) => (after[place] < 3 ? 0 : unclear(place) && spread[place] > 100 * EQUAL ? 1 : after[place] <= 6 ? 2 : 3);
  return { places: places.sort((a, b) => rank(a) - rank(b) || probability[a] - probability[b]), unclear };
}

function startSaid() {
  let most = FIRST;
  const show = () => {
    const items = [state.selected, state.second].filter((i) => i !== null);
    find("said").hidden = !items.length;
    if (!items.length) return;
    const { places, unclear } = answersAbout(items);
    const names = items.map((i) => shorten(nameOf(i), 60)).join(" and ");
    find("said-title").textContent = `What people said about ${names}`;
    find("said-words").textContent = countWords(places, unclear, items.length > 1);
    find("said-list").replaceChildren(...places.slice(0, most).map((place) => answerCard(answerAt(place))));
    find("said-more").hidden = places.length <= most;
  };
  find("said-more").addEventListener("click", () => {
    most += 24;
    show();
  });
  listeners.push((changes) => {
    if (!("selected" in changes || "second" in changes)) return;
    most = FIRST;
    show();
  });
}

/** How many answers, and how the learned distances compare with them; the parts add up to the whole. */
function countWords(places, unclear, both) {
  const { total, held } = data.answers;
  const some = held < total ? ` The page holds ${grouped(held)} of ${grouped(total)} answers, mostly those least probable by the model.` : "";
  if (!places.length) return `${both ? "No answer is about both." : "No answer is about this item."}${some}`;
  const count = (wanted) => places.filter(wanted).length;
  const against = count((place) => columns.after[place] < 3);
  const agree = count((place) => columns.after[place] >= 3 && columns.after[place] <= 6);
  const cantTell = count(unclear);
  const parts = [
    against && `${distances} contradict ${grouped(against)}`,
    agree && `${against ? "agree" : `${distances} agree`} with ${grouped(agree)}`,
    cantTell && `${grouped(cantTell)} ${cantTell === 1 ? "says" : "say"} “can't tell”`,
    places.length - against - agree - cantTell && `${plural(places.length - against - agree - cantTell, "link")}`,
  ].filter(Boolean);
  return `${plural(places.length, "answer")}: ${parts.join(", ")}.${against ? " Contradicted ones come first." : ""}${some}`;
}
