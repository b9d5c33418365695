// Bands of SMs with more blocks than pixels: how much of the SM each kernel takes, column by column.

const KEYS_OF_FILLS = 128;
/** Room that is kept from one band to the next. */
const counted = { area: new Float32Array(0), touched: new Int32Array(0) };

/** A CSS colour as the bytes of a pixel, mixed with another. */
function pixelOf(colour, under, share) {
  const parts = (text) => {
    if (text.startsWith("#")) return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
    return text.match(/[\d.]+/g).slice(0, 3).map(Number);
  };
  const [over, below] = [parts(colour), parts(under)];
  const [red, green, blue] = over.map((part, index) => Math.round(part * share + below[index] * (1 - share)));
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** For each launch the number of its fill, above that of all fills if it is pale. */
function fillKeys(app, run) {
  const faded = app.highlight.faded(run);
  if (run.fillKeys?.faded === faded) return run.fillKeys.keys;
  const keys = new Uint8Array(run.operationCount);
  for (let id = 0; id < run.operationCount; id += 1) {
    if (run.operations.kind[id] !== KERNEL) continue;
    keys[id] = app.fills.number(run.title(id)) + (faded[id] ? KEYS_OF_FILLS / 2 : 0);
  }
  run.fillKeys = { faded, keys };
  return keys;
}

/** What one unit of each launch's demand is, by operation. */
function unitsByOperation(app, run) {
  run.unitsBy ??= {};
  run.unitsBy[app.resource] ??= Float32Array.from({ length: run.operationCount }, (_, id) => run.takes(id, app.resource));
  return run.unitsBy[app.resource];
}

/** Draws the mean of what is taken in each column of pixels, the kernels on top of one another. */
function drawCounts(painter, row, from, to) {
  const { app, context, scale } = painter;
  const { run, blocks } = row;
  const { view } = app;
  const columns = Math.max(1, Math.floor(view.width * scale));
  const height = Math.max(1, Math.round(row.height * scale));
  const [keys, units] = [fillKeys(app, run), unitsByOperation(app, run)];
  const size = columns * KEYS_OF_FILLS;
  if (counted.area.length < size) {
    counted.area = new Float32Array(size);
    counted.touched = new Int32Array(size);
  }
  const { area, touched } = counted;
  let count = 0;
  const add = (column, key, amount) => {
    const place = column * KEYS_OF_FILLS + key;
    if (area[place] === 0) touched[count++] = place;
    area[place] += amount;
  };
  const { high, low } = run.instants;
  const perNs = columns / view.span;
  const base = view.base.high * HIGH + view.base.low;
  const exact = base < Number.MAX_SAFE_INTEGER;
  const place = (number) => {
    const since = exact ? high[number] * HIGH + low[number] - base : run.instants.since(view.base, number);
    return Math.min(columns, Math.max(0, (since - view.shift) * perNs));
  };
  const { operation, start, end, blocks: atOnce } = blocks;
  blocks.between(from, to, (position) => {
    const id = operation[position];
    const taken = units[id] * atOnce[position];
    if (taken === 0) return;
    const [left, right] = [place(start[position]), place(end[position])];
    const key = keys[id];
    const first = Math.min(columns - 1, Math.floor(left));
    const last = Math.min(columns - 1, Math.floor(right));
    if (first === last) {
      add(first, key, taken * Math.max(right - left, 1e-6));
      return;
    }
    add(first, key, taken * (first + 1 - left));
    for (let column = first + 1; column < last; column += 1) add(column, key, taken);
    if (right > last) add(last, key, taken * (right - last));
  });

  const image = new ImageData(columns, height);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(pixelOf(app.colours.band, app.colours.band, 1));
  const colours = app.fills.pixels(app.theme, app.colours.band);
  const perUnit = height / blocks.unitsOf(run, app.resource);
  const order = touched.subarray(0, count).sort();
  let [column, filled, drawn] = [-1, 0, 0];
  for (const at of order) {
    const own = Math.floor(at / KEYS_OF_FILLS);
    if (own !== column) [column, filled, drawn] = [own, 0, 0];
    filled += area[at] * perUnit;
    area[at] = 0;
    // However little is taken, it is seen.
    const top = Math.min(height, Math.max(Math.round(filled), drawn === 0 ? 1 : drawn));
    const colour = colours[at % KEYS_OF_FILLS];
    for (let line = drawn; line < top; line += 1) pixels[(height - 1 - line) * columns + column] = colour;
    drawn = top;
  }
  const y = Math.round((AXIS_HEIGHT - app.scroll() + row.top) * scale);
  context.putImageData(image, Math.round(view.left * scale), y);
}

/** The launches with blocks on an SM near a place, each with how many, the most first; and how many blocks in all. */
function countsAt(app, row, x) {
  const { run, blocks } = row;
  const from = run.instants.lastAt(app.view.timeAt(x - 1));
  const to = run.instants.lastAt(app.view.timeAt(x + 1));
  const counts = new Map();
  blocks.between(from, to, (position) => {
    const title = run.title(blocks.operation[position]);
    counts.set(title, (counts.get(title) ?? 0) + blocks.blocksOf(position));
  });
  return [...counts].sort((a, b) => b[1] - a[1]);
}
