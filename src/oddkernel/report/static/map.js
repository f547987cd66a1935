// One map: a canvas with the dots, and an overlay canvas for what changes while the pointer moves.

const EDGE = 18; // pixels between the outermost dots and the frame; chosen by hand
const REACH = 16; // pixels within which the pointer finds a dot; chosen by hand
const FARTHEST = 60; // largest zoom; chosen by hand
const UNNAMED = 12; // up to this many items, names of groups would hide dots; chosen by hand
const PICTURED = 700; // most pictures or names on a map, to bound the time; chosen by hand

class MapView {
  /** A still map has no zoom and no keys; the pointer finds its dots all the same. */
  constructor(holder, when, words, still = false) {
    this.when = when;
    this.still = still;
    this.points = Float32Array.from(decode(data.maps[when]), (value) => value / 65535);
    this.zoom = 1;
    this.centre = [0.5, 0.5];
    this.fingers = new Map();
    this.frame = null; // its corners in pixels, while a pointer draws it
    this.corner = null; // the item at its first corner, while keys draw it
    this.canvas = still
      ? make("canvas", { role: "img", "aria-label": words })
      : make("canvas", {
          tabindex: "0",
          role: "application",
          "aria-label": touch ? words : `${words}. Arrow keys go from item to item, Enter chooses one, Shift and Enter a second one, plus and minus zoom, 0 shows all. After “Draw a frame”, Enter chooses the items at two opposite corners.`,
        });
    this.over = make("canvas", { class: "over", "aria-hidden": "true" });
    holder.append(this.canvas, this.over);
    if (!still) this.addButtons();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(holder);
  }

  /** Buttons stand above the map, where they cover no dots. */
  addButtons() {
    const button = (words, label, act) => make("button", { type: "button", "aria-label": label, title: label, onclick: act }, words);
    find(`buttons-${this.when}`).append(
      button("+", `Zoom in, ${this.when}`, () => this.zoomBy(1.6)),
      button("−", `Zoom out, ${this.when}`, () => this.zoomBy(1 / 1.6)),
      button("PNG", `Save the map ${this.when} as PNG`, () => saveMap(this, "png")),
      button("SVG", `Save the map ${this.when} as SVG`, () => saveMap(this, "svg")),
    );
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      this.fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
      this.moved = 0;
      const framing = !this.still && (event.shiftKey || state.framing);
      this.frame = framing ? [event.offsetX, event.offsetY, event.offsetX, event.offsetY] : null;
      if (event.pointerType !== "touch" || this.zoom > 1 || framing) canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel", "pointerleave"]) {
      canvas.addEventListener(kind, (event) => {
        const held = this.fingers.delete(event.pointerId);
        if (kind === "pointerup" && held && this.moved < 6) this.press(event);
        else if (kind === "pointerup" && this.frame) update({ matches: this.within(), alone: null, framing: false });
        this.frame = null;
        if (kind === "pointerleave" && event.pointerType !== "touch") hover(null);
      });
    }
    if (this.still) return;
    canvas.addEventListener(
      "wheel",
      (event) => {
        // The wheel scrolls the page until the map is clicked.
        if (!event.ctrlKey && document.activeElement !== canvas) return;
        event.preventDefault();
        this.zoomBy(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), event.offsetX, event.offsetY);
      },
      { passive: false },
    );
    canvas.addEventListener("dblclick", (event) => this.zoomBy(2, event.offsetX, event.offsetY));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => hover(null));
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    [this.width, this.height] = [width, height];
    this.measure();
    for (const canvas of [this.canvas, this.over]) {
      canvas.width = Math.round(width * this.ratio);
      canvas.height = Math.round(height * this.ratio);
    }
    this.redraw();
  }

  /** Compute the number of pixels per unit of the map once, as it is used for every dot. */
  measure() {
    const edge = data.thumbnails ? Math.max(EDGE, this.pictureSize() / 2 + 2) : EDGE; // no picture is cut off
    this.scale = (Math.min(this.width, this.height) - 2 * edge) * this.zoom;
  }

  /** Width and height of the pictures on the whole map, in pixels. */
  pictureSize() {
    return Math.max(22, Math.min(72, 0.62 * Math.sqrt((this.width * this.height) / data.n)));
  }

  x(i) {
    return this.width / 2 + (this.points[2 * i] - this.centre[0]) * this.scale;
  }

  y(i) {
    return this.height / 2 - (this.points[2 * i + 1] - this.centre[1]) * this.scale;
  }

  zoomBy(factor, x = this.width / 2, y = this.height / 2) {
    const zoom = Math.min(FARTHEST, Math.max(1, this.zoom * factor));
    const [dx, dy] = [x - this.width / 2, y - this.height / 2];
    // Zoom around the pointer.
    const before = this.scale;
    this.zoom = zoom;
    this.measure();
    this.centre[0] += dx / before - dx / this.scale;
    this.centre[1] -= dy / before - dy / this.scale;
    this.settle();
  }

  settle() {
    if (this.zoom <= 1.001) [this.zoom, this.centre] = [1, [0.5, 0.5]];
    this.centre = this.centre.map((value) => Math.min(1, Math.max(0, value)));
    this.measure();
    this.steer();
    this.redraw();
  }

  /** A finger that moves down the page scrolls it, unless the map is enlarged or a frame is being drawn. */
  steer() {
    this.canvas.style.touchAction = !this.still && (this.zoom > 1 || state.framing) ? "none" : "pan-y";
  }

  move(event) {
    const [x, y] = [event.offsetX, event.offsetY];
    const last = this.fingers.get(event.pointerId);
    if (last && this.frame) {
      this.frame.splice(2, 2, x, y);
      this.moved = Infinity;
      this.drawOver();
    } else if (last) {
      const others = [...this.fingers].filter(([id]) => id !== event.pointerId);
      if (others.length) {
        const [ox, oy] = others[0][1];
        this.zoomBy(Math.hypot(x - ox, y - oy) / Math.max(1, Math.hypot(last[0] - ox, last[1] - oy)), ox, oy);
      } else if (this.zoom > 1) {
        this.centre[0] -= (x - last[0]) / this.scale;
        this.centre[1] += (y - last[1]) / this.scale;
        this.settle();
      }
      this.moved += Math.hypot(x - last[0], y - last[1]);
      this.fingers.set(event.pointerId, [x, y]);
    }
    if (!last || this.moved < 6) hover(this.at(x, y), event.clientX, event.clientY);
  }

  press(event) {
    const i = this.at(event.offsetX, event.offsetY);
    if (i !== null) select(i, event.shiftKey);
    else if (state.selected !== null) update({ selected: null, second: null, adding: false });
    hover(i, event.clientX, event.clientY); // a finger doesn't pass over things before it presses them
  }

  /** The corners of the selection rectangle in pixels, or null. */
  framed() {
    const to = state.hovered ?? state.selected;
    if (this.corner === null || to === null) return this.frame;
    return [this.x(this.corner), this.y(this.corner), this.x(to), this.y(to)];
  }

  /** The items inside the selection rectangle. */
  within() {
    const frame = this.framed();
    const [left, right] = [frame[0], frame[2]].sort((a, b) => a - b);
    const [top, bottom] = [frame[1], frame[3]].sort((a, b) => a - b);
    const inside = (i) => this.x(i) >= left && this.x(i) <= right && this.y(i) >= top && this.y(i) <= bottom;
    return new Set(Array.from({ length: data.n }, (_, i) => i).filter(inside));
  }

  /** The item at a position, or null. */
  at(x, y) {
    let [best, nearest] = [REACH * REACH, null];
    const shown = visible();
    for (let i = 0; i < data.n; i++) {
      const distance = (this.x(i) - x) ** 2 + (this.y(i) - y) ** 2;
      if (distance < best && shown(i)) [best, nearest] = [distance, i];
    }
    return nearest;
  }

  key(event) {
    const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const here = state.hovered ?? state.selected;
    if (event.key in directions) {
      event.preventDefault();
      const next = here === null ? this.at(this.width / 2, this.height / 2) ?? 0 : this.beyond(here, directions[event.key]);
      const frame = this.canvas.getBoundingClientRect();
      hover(next, frame.left + this.x(next), frame.top + this.y(next));
      say(describe(next).join(", "));
    } else if (event.key === "Enter" && here !== null && state.framing) {
      if (this.corner !== null) return update({ matches: this.within(), alone: null, framing: false });
      this.corner = here;
      say(`${nameOf(here)} is at a corner; choose the item at the opposite one.`);
    } else if (event.key === "Enter" && here !== null) select(here, event.shiftKey);
    else if (event.key === "+" || event.key === "=") this.zoomBy(1.6);
    else if (event.key === "-") this.zoomBy(1 / 1.6);
    else if (event.key === "0") this.whole();
    else if (event.key === "Escape") update({ selected: null, second: null, matches: null });
  }

  /** The nearest item that lies in a direction, within 45 degrees of it. */
  beyond(from, [dx, dy]) {
    let [best, next] = [Infinity, from];
    const shown = visible();
    for (let i = 0; i < data.n; i++) {
      const [x, y] = [this.x(i) - this.x(from), this.y(i) - this.y(from)];
      const along = x * dx + y * dy;
      const distance = x * x + y * y;
      if (i !== from && along > 0 && along * along >= distance / 2 && distance < best && shown(i)) [best, next] = [distance, i];
    }
    return next;
  }

  whole() {
    this.zoom = 1;
    this.settle();
  }

  redraw() {
    if (this.waiting || !this.width) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
      this.drawOver();
    });
  }

  get radius() {
    const plain = data.n <= 150 ? 5.5 : data.n <= 600 ? 4.2 : data.n <= 3000 ? 3 : data.n <= 8000 ? 2.2 : 1.6;
    return Math.min(9, plain * this.zoom ** 0.35) * Math.min(1, Math.max(0.75, this.width / 480));
  }

  draw() {
    const brush = this.canvas.getContext("2d");
    brush.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    brush.clearRect(0, 0, this.width, this.height);
    this.paint(new CanvasInk(brush), 0, colouring().named);
  }

  /** Dots, and names of groups or items, on ink whose map begins `top` pixels down. */
  paint(ink, top, named) {
    const { groups, of } = colouring();
    const shown = visible();
    const places = groups.map(() => []);
    const dim = [];
    const r = this.radius;
    for (let i = 0; i < data.n; i++) {
      const [x, y] = [this.x(i), this.y(i)];
      if (x < -r || y < -r || x > this.width + r || y > this.height + r) continue;
      (shown(i) ? places[of[i]] : dim).push(x, y + top);
    }
    if (dim.length) ink.dots(dim, r, themed("--dim"), 0.55);
    groups.forEach((group, g) => places[g].length && ink.dots(places[g], r, group.colour, 0.85));
    if (state.pictures) this.paintItems(ink, top, shown);
    else if (named && data.n > UNNAMED) this.paintNames(ink, groups, places);
  }

  /** The name of a group, at the centre of its items. */
  paintNames(ink, groups, places) {
    const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];
    const size = groups.every((group) => group.label.length < 3) ? 17 : 13;
    groups.forEach((group, g) => {
      if (!places[g].length) return;
      const [x, y] = [0, 1].map((axis) => middle(places[g].filter((_, p) => p % 2 === axis)));
      ink.label(shorten(group.label, 22), x, y, { size, weight: 650, halo: themed("--sunk") });
    });
  }

  /** Pictures or names of items, as many as fit without covering one another. */
  paintItems(ink, top, shown) {
    // Few items leave room for larger pictures.
    const size = this.pictureSize() * this.zoom ** 0.3;
    const { groups, of } = colouring();
    const measure = this.canvas.getContext("2d");
    measure.font = `400 12px ${FONT}`;
    const taken = [];
    const take = (x, y, halfWidth, halfHeight) => {
      const box = [x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight];
      const free = taken.every((other) => other[0] >= box[2] || other[2] <= box[0] || other[1] >= box[3] || other[3] <= box[1]);
      if (free) taken.push(box);
      return free;
    };
    for (const i of drawingOrder) {
      if (taken.length > PICTURED) break;
      const [x, y] = [this.x(i), this.y(i)];
      if (!shown(i) || x < 0 || y < 0 || x > this.width || y > this.height) continue;
      if (data.thumbnails) {
        if (take(x, y, size / 2, size / 2)) ink.picture(i, x, y + top, size, groups[of[i]].colour);
        continue;
      }
      const words = shorten(data.names ? nameOf(i) : textOf(i) || nameOf(i), 22);
      if (take(x, y, measure.measureText(words).width / 2 + 3, 8)) ink.label(words, x, y + top - 1, { size: 12, halo: themed("--sunk") });
    }
  }

  /** Rings around the item under the pointer and the chosen ones, and lines from the first to its neighbours. */
  drawOver() {
    const brush = this.over.getContext("2d");
    brush.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    brush.clearRect(0, 0, this.width, this.height);
    const text = themed("--text");
    const ring = (i, r, width, colour) => {
      brush.beginPath();
      brush.arc(this.x(i), this.y(i), r, 0, 7);
      brush.lineWidth = width;
      brush.strokeStyle = colour;
      brush.stroke();
    };
    if (state.selected !== null) {
      brush.lineWidth = 1;
      brush.strokeStyle = text;
      brush.globalAlpha = 0.45;
      for (const i of near.of(this.when, state.selected)) {
        brush.beginPath();
        brush.moveTo(this.x(state.selected), this.y(state.selected));
        brush.lineTo(this.x(i), this.y(i));
        brush.stroke();
      }
      brush.globalAlpha = 1;
      for (const i of near.of(this.when, state.selected)) ring(i, this.radius + 2, 1.5, text);
      ring(state.selected, this.radius + 5, 3, themed("--accent"));
      if (state.second !== null) ring(state.second, this.radius + 5, 3, themed("--look"));
    }
    if (state.hovered !== null) ring(state.hovered, this.radius + 4, 2.5, text);
    if (this.framed()) {
      const [left, top, right, bottom] = this.framed();
      brush.lineWidth = 1.5;
      brush.strokeStyle = themed("--accent");
      brush.strokeRect(left, top, right - left, bottom - top);
    }
  }
}
