// One map: a canvas with the dots, and an overlay canvas for what changes while the pointer moves.

const EDGE = 18; // pixels between the outermost dots and the frame
const REACH = 16; // pixels within which the pointer finds a dot
const FARTHEST = 60; // zoom

class MapView {
  constructor(holder, when, words) {
    this.when = when;
    this.points = Float32Array.from(decode(data.maps[when]), (value) => value / 65535);
    this.zoom = 1;
    this.centre = [0.5, 0.5];
    this.fingers = new Map();
    this.canvas = make("canvas", {
      tabindex: "0",
      role: "application",
      "aria-label": `${words}. Arrow keys go from item to item, Enter selects, plus and minus zoom, 0 shows all.`,
    });
    this.over = make("canvas", { class: "over", "aria-hidden": "true" });
    const buttons = make(
      "div",
      { class: "zoom" },
      make("button", { type: "button", "aria-label": `Zoom in, ${when}`, onclick: () => this.zoomBy(1.6) }, "+"),
      make("button", { type: "button", "aria-label": `Zoom out, ${when}`, onclick: () => this.zoomBy(1 / 1.6) }, "−"),
    );
    holder.append(this.canvas, this.over, buttons);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(holder);
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      this.fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
      this.moved = 0;
      this.frame = event.shiftKey ? [event.offsetX, event.offsetY, event.offsetX, event.offsetY] : null;
      if (event.pointerType !== "touch" || this.zoom > 1) canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel", "pointerleave"]) {
      canvas.addEventListener(kind, (event) => {
        const held = this.fingers.delete(event.pointerId);
        if (kind === "pointerup" && held && this.moved < 6) this.press(event);
        else if (kind === "pointerup" && this.frame) update({ matches: this.within(), alone: null });
        this.frame = null;
        if (kind === "pointerleave" && event.pointerType !== "touch") hover(null);
      });
    }
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
    this.scale = (Math.min(this.width, this.height) - 2 * EDGE) * this.zoom;
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
    // A finger that moves down the page scrolls it, unless the map is enlarged and there is somewhere to go.
    this.canvas.style.touchAction = this.zoom > 1 ? "none" : "pan-y";
    this.redraw();
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
    if (i !== null) select(i);
    else if (state.selected !== null) update({ selected: null });
    hover(i, event.clientX, event.clientY); // a finger doesn't pass over things before it presses them
  }

  /** The items inside the selection rectangle. */
  within() {
    const [left, right] = [this.frame[0], this.frame[2]].sort((a, b) => a - b);
    const [top, bottom] = [this.frame[1], this.frame[3]].sort((a, b) => a - b);
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
    } else if (event.key === "Enter" && here !== null) select(here);
    else if (event.key === "+" || event.key === "=") this.zoomBy(1.6);
    else if (event.key === "-") this.zoomBy(1 / 1.6);
    else if (event.key === "0") this.whole();
    else if (event.key === "Escape") {
      hover(null);
      update({ selected: null, matches: null });
    }
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
    const { groups, of, named } = colouring();
    const shown = visible();
    const filtered = state.alone !== null || state.matches !== null;
    if (filtered) this.dots(brush, (i) => !shown(i), () => "dim", [["dim", themed("--dim")]], 0.55);
    this.dots(brush, shown, (i) => of[i], groups.map((group, g) => [g, group.colour]), 0.85);
    if (state.pictures) this.drawItems(brush, shown);
    else if (named) this.drawNames(brush, groups, of, shown);
  }

  /** Dots, as one path for each colour, which is fast for many dots. */
  dots(brush, wanted, keyOf, colours, opacity) {
    const paths = new Map(colours.map(([key]) => [key, new Path2D()]));
    const r = this.radius;
    const round = data.n <= 8000;
    for (let i = 0; i < data.n; i++) {
      if (!wanted(i)) continue;
      const [x, y] = [this.x(i), this.y(i)];
      if (x < -r || y < -r || x > this.width + r || y > this.height + r) continue;
      const path = paths.get(keyOf(i));
      if (round) {
        path.moveTo(x + r, y);
        path.arc(x, y, r, 0, 7);
      } else path.rect(x - r, y - r, 2 * r, 2 * r);
    }
    brush.globalAlpha = opacity;
    for (const [key, colour] of colours) {
      brush.fillStyle = colour;
      brush.fill(paths.get(key));
    }
    brush.globalAlpha = 1;
  }

  /** The name of a group, at the centre of its items. */
  drawNames(brush, groups, of, shown) {
    const places = groups.map(() => [[], []]);
    for (let i = 0; i < data.n; i++) {
      if (shown(i)) {
        places[of[i]][0].push(this.x(i));
        places[of[i]][1].push(this.y(i));
      }
    }
    const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];
    brush.font = `650 ${groups.every((group) => group.label.length < 3) ? 17 : 13}px system-ui, sans-serif`;
    brush.textAlign = "center";
    brush.textBaseline = "middle";
    brush.lineJoin = "round";
    groups.forEach((group, g) => {
      if (!places[g][0].length) return;
      const [x, y] = places[g].map(middle);
      const label = shorten(group.label, 22);
      brush.lineWidth = 4.5;
      brush.strokeStyle = themed("--sunk");
      brush.strokeText(label, x, y);
      brush.fillStyle = themed("--text");
      brush.fillText(label, x, y);
    });
  }

  /** Pictures or names of items, as many as fit without covering one another. */
  drawItems(brush, shown) {
    // Few items leave room for larger pictures.
    const room = Math.sqrt((this.width * this.height) / data.n);
    const size = Math.max(22, Math.min(72, 0.62 * room) * this.zoom ** 0.3);
    const taken = [];
    const free = (left, top, right, bottom) =>
      taken.every((box) => box[0] >= right || box[2] <= left || box[1] >= bottom || box[3] <= top);
    brush.font = "12px system-ui, sans-serif";
    brush.textAlign = "center";
    brush.textBaseline = "middle";
    brush.imageSmoothingEnabled = !(data.thumbnails && data.thumbnails.exact);
    for (const i of drawingOrder) {
      if (taken.length > 700) break;
      const [x, y] = [this.x(i), this.y(i)];
      if (!shown(i) || x < 0 || y < 0 || x > this.width || y > this.height) continue;
      if (data.thumbnails) {
        if (!free(x - size / 2, y - size / 2, x + size / 2, y + size / 2)) continue;
        taken.push([x - size / 2, y - size / 2, x + size / 2, y + size / 2]);
        const { sheet, column, row } = pictureOf(i);
        const { side } = data.thumbnails;
        const { groups, of } = colouring();
        brush.fillStyle = themed("--card");
        brush.fillRect(x - size / 2, y - size / 2, size, size);
        if (sheet.image.complete) {
          brush.drawImage(sheet.image, column * side, row * side, side, side, x - size / 2, y - size / 2, size, size);
        }
        brush.lineWidth = 2;
        brush.strokeStyle = groups[of[i]].colour;
        brush.strokeRect(x - size / 2, y - size / 2, size, size);
      } else {
        const label = shorten(data.names ? nameOf(i) : textOf(i) || nameOf(i), 22);
        const half = brush.measureText(label).width / 2 + 3;
        if (!free(x - half, y - 8, x + half, y + 8)) continue;
        taken.push([x - half, y - 8, x + half, y + 8]);
        brush.lineWidth = 3.5;
        brush.strokeStyle = themed("--sunk");
        brush.strokeText(label, x, y - 1);
        brush.fillStyle = themed("--text");
        brush.fillText(label, x, y - 1);
      }
    }
  }

  /** Rings around the item under the pointer and the selected item, and lines to the neighbours of the latter. */
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
    }
    if (state.hovered !== null) ring(state.hovered, this.radius + 4, 2.5, text);
    if (this.frame) {
      const [left, top, right, bottom] = this.frame;
      brush.lineWidth = 1.5;
      brush.strokeStyle = themed("--accent");
      brush.strokeRect(left, top, right - left, bottom - top);
    }
  }
}
