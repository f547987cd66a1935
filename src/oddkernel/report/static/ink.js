// What a map is drawn with: a canvas, or SVG elements for a file. Both take the same calls, in pixels of the page.

const FONT = "system-ui, sans-serif";

class CanvasInk {
  constructor(brush) {
    this.brush = brush;
    brush.textBaseline = "middle";
    brush.lineJoin = "round";
    brush.imageSmoothingEnabled = !data.thumbnails?.exact;
  }

  /** Dots of one colour, as one path, which is fast for many dots; `places` holds x and y in turn. */
  dots(places, radius, colour, opacity) {
    const path = new Path2D();
    const round = data.n <= 8000;
    for (let p = 0; p < places.length; p += 2) {
      const [x, y] = [places[p], places[p + 1]];
      if (round) {
        path.moveTo(x + radius, y);
        path.arc(x, y, radius, 0, 7);
      } else path.rect(x - radius, y - radius, 2 * radius, 2 * radius);
    }
    this.brush.globalAlpha = opacity;
    this.brush.fillStyle = colour;
    this.brush.fill(path);
    this.brush.globalAlpha = 1;
  }

  /** Text with a halo, centred at a point, or to the right of it. */
  label(words, x, y, { size, weight = 400, halo = null, align = "center" }) {
    const { brush } = this;
    brush.font = `${weight} ${size}px ${FONT}`;
    brush.textAlign = align;
    if (halo) {
      brush.lineWidth = size / 3.6;
      brush.strokeStyle = halo;
      brush.strokeText(words, x, y);
    }
    brush.fillStyle = themed("--text");
    brush.fillText(words, x, y);
  }

  /** An item's picture in a frame of a colour. */
  picture(i, x, y, size, colour) {
    const { brush } = this;
    const { sheet, column, row } = pictureOf(i);
    const { side } = data.thumbnails;
    const corner = [x - size / 2, y - size / 2, size, size];
    brush.fillStyle = themed("--card");
    brush.fillRect(...corner);
    if (sheet.image.complete) brush.drawImage(sheet.image, column * side, row * side, side, side, ...corner);
    brush.lineWidth = 2;
    brush.strokeStyle = colour;
    brush.strokeRect(...corner);
  }

  ground(width, height, colour) {
    this.brush.fillStyle = colour;
    this.brush.fillRect(0, 0, width, height);
  }
}

class SvgInk {
  constructor(width, height) {
    this.root = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, width, height, "font-family": FONT });
  }

  dots(places, radius, colour, opacity) {
    const group = make("svg:g", { fill: colour, "fill-opacity": opacity });
    for (let p = 0; p < places.length; p += 2) {
      group.append(make("svg:circle", { cx: places[p].toFixed(1), cy: places[p + 1].toFixed(1), r: radius.toFixed(1) }));
    }
    this.root.append(group);
  }

  label(words, x, y, { size, weight = 400, halo = null, align = "center" }) {
    const outline = halo ? { stroke: halo, "stroke-width": (size / 3.6).toFixed(1), "paint-order": "stroke", "stroke-linejoin": "round" } : {};
    this.root.append(
      make("svg:text", {
        x: x.toFixed(1), y: y.toFixed(1), "font-size": size, "font-weight": weight, fill: themed("--text"),
        "text-anchor": align === "center" ? "middle" : "start", "dominant-baseline": "central", ...outline,
      }, printable(words)),
    );
  }

  picture(i, x, y, size, colour) {
    const { side } = data.thumbnails;
    const canvas = make("canvas", { width: side, height: side });
    const { sheet, column, row } = pictureOf(i);
    if (sheet.image.complete) canvas.getContext("2d").drawImage(sheet.image, -column * side, -row * side);
    const box = { x: (x - size / 2).toFixed(1), y: (y - size / 2).toFixed(1), width: size.toFixed(1), height: size.toFixed(1) };
    this.root.append(
      make("svg:image", { ...box, href: canvas.toDataURL("image/png") }),
      make("svg:rect", { ...box, fill: "none", stroke: colour, "stroke-width": 2 }),
    );
  }

  ground(width, height, colour) {
    this.root.append(make("svg:rect", { width, height, fill: colour }));
  }

  /** The file: an XML document in which names are escaped. */
  text() {
    return new XMLSerializer().serializeToString(this.root);
  }
}

/** Text without the characters that XML forbids. */
function printable(words) {
  // eslint-disable-next-line no-control-regex
  return words.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}
