// Where the items of a grid stand: the first in the middle of the window, the others around it in rows.

const LESS_ROWS = 0.9; // two more rows have to make the items larger by more than a tenth
const MOST_IN_LINE = 4; // more items around the middle one stand on all sides of it
const LONGEST = 1.5; // longer side of an item, in lengths of the other

/**
 * How many items are in each row: an odd number of rows, and in the one in the middle as many on either side of the item
 * in the middle. Of all such, the one with the largest squares in a room of this size, and then with the most even rows.
 *
 * @param {number} n items around the one in the middle
 */
export function rowsOf(n, width, height) {
  let best = null;
  for (let halves = n > MOST_IN_LINE ? 1 : 0; halves <= n / 2; halves++) {
    for (let beside = 0; beside <= n / 2; beside++) {
      const others = n - 2 * beside;
      if (halves ? others < 2 * halves : others > 0) continue;
      // Of items that don't divide evenly, the rows above get one more.
      const rows = Array.from({ length: 2 * halves }, (_, row) => Math.ceil((others - row) / (2 * halves)));
      rows.splice(halves, 0, 2 * beside + 1);
      const side = Math.min(width / Math.max(...rows), height / rows.length) * LESS_ROWS ** halves;
      const uneven = Math.max(...rows) - Math.min(...rows);
      if (!best || side > best.side || (side === best.side && uneven < best.uneven)) best = { rows, side, uneven };
    }
  }
  return best.rows;
}

/** Places items, of which the first is the one in the middle, in the rows of their container. */
export function arrange(container) {
  const [middle, ...around] = container.children;
  const { clientWidth: width, clientHeight: height } = container;
  const rows = rowsOf(around.length, width, height);
  const most = Math.max(...rows);
  container.style.setProperty("--columns", 2 * most); // of half an item, so that shorter rows are centred
  container.style.setProperty("--rows", rows.length);
  container.style.setProperty("--widest", `${((LONGEST / 2) * height) / rows.length}px`); // of half an item
  container.style.setProperty("--tallest", `${(LONGEST * width) / most}px`);
  rows.forEach((length, row) => {
    for (let place = 0; place < length; place++) {
      const isMiddle = 2 * row + 1 === rows.length && 2 * place + 1 === length;
      const item = isMiddle ? middle : around.shift();
      item.style.gridArea = `${row + 1} / ${most - length + 2 * place + 1} / span 1 / span 2`;
    }
  });
}
