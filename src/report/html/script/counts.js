// Bands of SMs with more blocks than pixels: how much of the SM each kernel takes, column by column.

const KEYS_OF_FILLS = 128;
/** Room that is kept from one band to the next. */
let counted = new Float32Array(0);

/** All instants as numbers, good enough to count by [ns]. */
function placesOfInstants(run) {
  const { count, high, low } = run.instants;
  run.places ??= Float64Array.from({ length: count }, (_, number) => high[number] * HIGH + low[number]);
  return run.places;
}

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
  if (counted.length < size) counted = new Float32Array(size);
  const area = counted;
  const isUsed = new Uint8Array(KEYS_OF_FILLS);
  const places = placesOfInstants(run);
  const perNs = columns / view.span;
  const left = Number(view.start) + view.shift;
  const { operation, start, end, blocks: atOnce } = blocks;
  blocks.between(from, to, (position) => {
    const id = operation[position];
    const taken = units[id] * atOnce[position];
    if (taken === 0) return;
    const begin = Math.max(0, (places[start[position]] - left) * perNs);
    const until = Math.min(columns, (places[end[position]] - left) * perNs);
    const key = keys[id];
    isUsed[key] = 1;
    const row = key * columns;
    const first = Math.min(columns - 1, begin | 0);
    const last = Math.min(columns - 1, until | 0);
    if (first >= last) {
      area[row + first] += taken * Math.max(until - begin, 1e-6);
      return;
    }
    area[row + first] += taken * (first + 1 - begin);
    for (let column = first + 1; column < last; column += 1) area[row + column] += taken;
    area[row + last] += taken * (until - last);
  });

  const image = new ImageData(columns, height);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(pixelOf(app.colours.band, app.colours.band, 1));
  const colours = app.fills.pixels(app.theme, app.colours.band);
  const perUnit = height / blocks.unitsOf(run, app.resource);
  const used = [...isUsed.keys()].filter((key) => isUsed[key] === 1);
  for (let column = 0; column < columns; column += 1) {
    let [filled, drawn] = [0, 0];
    for (const key of used) {
      const amount = area[key * columns + column];
      if (amount === 0) continue;
      filled += amount * perUnit;
      // However little is taken, it is seen.
      const top = Math.min(height, Math.max(Math.round(filled), drawn === 0 ? 1 : drawn));
      for (; drawn < top; drawn += 1) pixels[(height - 1 - drawn) * columns + column] = colours[key];
    }
  }
  for (const key of used) area.fill(0, key * columns, (key + 1) * columns);
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
