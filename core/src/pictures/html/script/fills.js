// Colours and hatches, as canvas patterns.

/** Side of a hatch's tile [pixels]. */
const TILE = 8;
const TURN = { rising: 45, falling: -45, crossed: 45 };

/** One tile of a hatch over its background, with its strokes in the middle, so that tiles show no seams. */
function hatchTile(fill, scale) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = Math.round(TILE * scale);
  const context = tile.getContext("2d");
  context.scale(tile.width / TILE, tile.height / TILE);
  context.fillStyle = fill.background;
  context.fillRect(0, 0, TILE, TILE);
  context.strokeStyle = context.fillStyle = fill.ink;
  context.lineWidth = 1;
  const middle = TILE / 2;
  context.beginPath();
  if (fill.hatch === "dots") {
    context.arc(middle, middle, 1.2, 0, 2 * Math.PI);
    context.fill();
    return tile;
  }
  if (["horizontal", "crossed", "grid"].includes(fill.hatch)) {
    context.moveTo(0, middle);
    context.lineTo(TILE, middle);
  }
  if (["vertical", "rising", "falling", "crossed", "grid"].includes(fill.hatch)) {
    context.moveTo(middle, 0);
    context.lineTo(middle, TILE);
  }
  context.stroke();
  return tile;
}

/** How kernels are filled, by title, as in figures. */
class Fills {
  constructor(palette, runs) {
    this.palette = palette;
    this.names = new Map();
    this.patterns = new Map();
    this.numbers = new Map();
    this.repeats = new Map();
    for (const run of runs) {
      for (let id = 0; id < run.operationCount; id += 1) {
        const kernel = run.kernelOf(id);
        if (!kernel || this.numbers.has(kernel.title)) continue;
        this.names.set(kernel.title, kernel.name);
        this.numbers.set(kernel.title, kernel.series);
        if (kernel.repeat) this.repeats.set(kernel.title, String(kernel.repeat));
      }
    }
  }

  /** The titles of all kernels that were launched. */
  titles() {
    return [...this.numbers.keys()];
  }

  /** The number of a kernel's fill. */
  number(title) {
    return this.numbers.get(title) % this.palette.light.length;
  }

  /** The colours of small areas as pixels, and again for those that are pale. */
  pixels(theme, band) {
    const key = `${theme} ${band}`;
    if (this.pixelsFor?.key !== key) {
      const colours = this.palette[theme].map(({ small }) => small);
      const both = [...colours.map((colour) => pixelOf(colour, band, 1)), ...colours.map((colour) => pixelOf(colour, band, FADED))];
      this.pixelsFor = { key, colours: Uint32Array.from(both) };
    }
    return this.pixelsFor.colours;
  }

  /** The whole name of the function behind a title, the first one of several. */
  whole(title) {
    return this.names.get(title) ?? title;
  }

  fill(title, theme) {
    return this.palette[theme][this.numbers.get(title) % this.palette[theme].length];
  }

  /** For areas that are too small for a hatch. */
  small(title, theme) {
    return this.fill(title, theme).small;
  }

  /** The same while it waits for others on its SM. */
  waiting(title, theme) {
    const { background, ink } = this.fill(title, theme);
    return { background: ink, hatch: "dots", ink: background };
  }

  /** A number in areas of a kernel that tells it from others with its hatch; empty for the first eight. */
  again(title) {
    return this.repeats.get(title) ?? "";
  }

  /** What a canvas fills an area of a kernel with. */
  large(context, title, theme, scale) {
    return this.hatched(context, this.fill(title, theme), scale);
  }

  /** What a canvas fills an area with. */
  hatched(context, fill, scale) {
    if (fill.hatch === "plain") return fill.background;
    const key = `${fill.background} ${fill.hatch} ${fill.ink} ${scale}`;
    if (!this.patterns.has(key)) {
      const pattern = context.createPattern(hatchTile(fill, scale), "repeat");
      pattern.setTransform(new DOMMatrix().rotate(TURN[fill.hatch] ?? 0).scale(1 / scale));
      this.patterns.set(key, pattern);
    }
    return this.patterns.get(key);
  }

  /** An image of a fill for lists, with a number in it or none, as the source of an `img`. */
  swatch(fill, again = "", ink = "") {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [36, 24];
    const context = canvas.getContext("2d");
    context.fillStyle = this.hatched(context, fill, 2);
    context.scale(2, 2);
    context.fillRect(0, 0, 18, 12);
    if (again) {
      context.font = TINY_FONT;
      context.textAlign = "center";
      context.textBaseline = "middle";
      const width = context.measureText(again).width + 2;
      context.fillStyle = fill.background;
      context.fillRect(9 - width / 2, 1, width, 10);
      context.fillStyle = ink;
      context.fillText(again, 9, 6.5);
    }
    return canvas.toDataURL();
  }
}
