// Bands of SMs with blocks too many to be told apart: how much of the SM each kernel takes, column by column.

const KEYS_OF_FILLS = 128;
/** Room that is kept from one band to the next. */
let counted = new Float32Array(0);

/** When the blocks of an SM begin and end, as numbers that are good enough to count by [ns]. */
function timesOf(run, blocks) {
  const { high, low } = run.instants;
  const ns = (number) => high[number] * HIGH + low[number];
  blocks.times64 ??= { begin: Float64Array.from(blocks.start, ns), until: Float64Array.from(blocks.end, ns) };
  return blocks.times64;
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
    if (!run.kernelOf(id)) continue;
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

/** Adds up what each fill takes in each column of pixels; tells which fills there are. */
function addUp(app, row, [from, to], columns) {
  const { run, blocks } = row;
  const { view } = app;
  blocks.decode();
  const [keys, units] = [fillKeys(app, run), unitsByOperation(app, run)];
  if (counted.length < columns * KEYS_OF_FILLS) counted = new Float32Array(columns * KEYS_OF_FILLS);
  const area = counted;
  const isUsed = new Uint8Array(KEYS_OF_FILLS);
  const { begin: begins, until: untils } = timesOf(run, blocks);
  const perNs = columns / view.span;
  const left = Number(view.start) + view.shift;
  const { operation, start, blocks: atOnce, chunkEnd } = blocks;
  const shares = run.turns && turnShares(app, run, columns);
  for (let chunk = 0; chunk < chunkEnd.length && start[chunk * CHUNK] <= to; chunk += 1) {
    if (chunkEnd[chunk] < from) continue;
    const end = Math.min((chunk + 1) * CHUNK, blocks.count);
    for (let position = chunk * CHUNK; position < end && start[position] <= to; position += 1) {
      const id = operation[position];
      const taken = units[id] * atOnce[position];
      const begin = Math.max(0, (begins[position] - left) * perNs);
      const until = Math.min(columns, (untils[position] - left) * perNs);
      if (taken === 0 || until < 0 || begin > columns) continue;
      const key = keys[id];
      isUsed[key] = 1;
      const line = key * columns;
      const first = Math.min(columns - 1, begin | 0);
      const last = Math.min(columns - 1, until | 0);
      // While it is not the turn of its context a block takes nothing.
      const share = shares && shares[run.processOf(id)];
      const part = (column) => (share ? share[column] : 1);
      if (first >= last) {
        area[line + first] += taken * part(first) * Math.max(until - begin, 1e-6);
        continue;
      }
      area[line + first] += taken * part(first) * (first + 1 - begin);
      if (share) for (let column = first + 1; column < last; column += 1) area[line + column] += taken * share[column];
      else for (let column = first + 1; column < last; column += 1) area[line + column] += taken;
      area[line + last] += taken * part(last) * (until - last);
    }
  }
  return [...isUsed.keys()].filter((key) => isUsed[key] === 1);
}

/** The mean of what is taken in each column of pixels, the kernels on top of one another. */
function countsImage(app, row, range, columns, height) {
  const used = addUp(app, row, range, columns);
  const image = new ImageData(columns, height);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(pixelOf(app.colours.band, app.colours.band, 1));
  const colours = app.fills.pixels(app.theme, app.colours.band);
  const perUnit = height / row.blocks.unitsOf(row.run, app.resource);
  const filled = new Float32Array(columns);
  const drawn = new Uint16Array(columns);
  for (const key of used) {
    const line = key * columns;
    for (let column = 0; column < columns; column += 1) {
      const amount = counted[line + column];
      if (amount === 0) continue;
      filled[column] += amount * perUnit;
      // However little is taken, it is seen.
      const top = Math.min(height, Math.max(Math.round(filled[column]), drawn[column] === 0 ? 1 : drawn[column]));
      for (let y = drawn[column]; y < top; y += 1) pixels[(height - 1 - y) * columns + column] = colours[key];
      drawn[column] = top;
    }
    counted.fill(0, line, line + columns);
  }
  return image;
}

/** Draws a band with blocks too many to be told apart; what has been drawn before is kept. */
function drawCounts(painter, row, from, to) {
  const { app, context, scale } = painter;
  const { view } = app;
  const columns = Math.max(1, Math.floor(view.width * scale));
  const height = Math.max(1, Math.round(row.height * scale));
  const faded = app.highlight.faded(row.run);
  const key = [view.start, view.shift, view.span, columns, height, app.theme, app.resource].join(" ");
  if (row.counts?.key !== key || row.counts.faded !== faded) {
    row.counts = { key, faded, image: countsImage(app, row, [from, to], columns, height) };
  }
  const y = Math.round((AXIS_HEIGHT - app.scroll() + row.top) * scale);
  context.putImageData(row.counts.image, Math.round(view.left * scale), y);
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
