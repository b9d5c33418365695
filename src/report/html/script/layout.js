// Which rows there are, from top to bottom, and how high they are [pixels].

const AXIS_HEIGHT = 28;
const TITLE_HEIGHT = 24;
const LANE_HEIGHT = 20;
const STREAM_HEIGHT = 22;
const GAP = 4;
const LEAST_BAND = 12;
const MOST_BAND = 240;

/** The operations that each copy engine served, in order of time, by engine. */
function copiesByEngine(run) {
  const lanes = new Map();
  const { first_start: firstStart } = run.operations;
  for (let id = 0; id < run.operationCount; id += 1) {
    const copy = run.copyOf(id);
    if (!copy || firstStart[id] === NONE) continue;
    if (!lanes.has(copy.engine)) lanes.set(copy.engine, []);
    lanes.get(copy.engine).push(id);
  }
  for (const ids of lanes.values()) ids.sort((a, b) => firstStart[a] - firstStart[b]);
  return [...lanes].sort((a, b) => a[0] - b[0]);
}

/** The operations of each stream that was used or has deadlines, in launch order, by stream. */
function operationsByStream(run) {
  const rows = new Map([...run.deadlinesByStream.keys()].map((stream) => [stream, []]));
  for (let id = 0; id < run.operationCount; id += 1) {
    const stream = run.operations.stream[id];
    if (!rows.has(stream)) rows.set(stream, []);
    rows.get(stream).push(id);
  }
  return [...rows].sort((a, b) => a[0] - b[0]);
}

function rowsOf(run, several) {
  const rows = several ? [{ kind: "title", run, label: `${run.name} (${run.device.name})`, height: TITLE_HEIGHT }] : [];
  run.sms.forEach((blocks, sm) => rows.push({ kind: "sm", run, sm, blocks, label: `SM ${sm}`, height: 0 }));
  if (run.blocks_only) return rows;
  for (const [engine, ids] of copiesByEngine(run)) {
    const label = run.device.copy_engines > 1 ? `copy ${engine}` : "copies";
    rows.push({ kind: "copy", run, ids, label, height: LANE_HEIGHT });
  }
  for (const [stream, ids] of operationsByStream(run)) {
    rows.push({ kind: "stream", run, stream, ids, label: run.streams[stream].name, height: STREAM_HEIGHT });
  }
  return rows;
}

class Layout {
  constructor(runs) {
    this.rows = runs.flatMap((run) => rowsOf(run, runs.length > 1));
    this.height = 0;
  }

  /** Gives the bands of SMs what the other rows leave of `room`, made `stretch` times as high. */
  resize(room, stretch) {
    const bands = this.rows.filter((row) => row.kind === "sm");
    const others = this.rows.reduce((sum, row) => sum + (row.kind === "sm" ? 0 : row.height), 0);
    const share = (room - others - (this.rows.length + 1) * GAP) / Math.max(1, bands.length);
    const least = Math.max(LEAST_BAND, Math.min(64, 480 / Math.max(1, bands.length)));
    const height = Math.floor(Math.min(MOST_BAND, Math.max(least, share) * stretch));
    for (const band of bands) band.height = height;
    let top = GAP;
    for (const row of this.rows) {
      row.top = top;
      top += row.height + GAP;
    }
    this.height = top;
  }

  /** The rows that reach into the part from `top` to `bottom`. */
  between(top, bottom) {
    let [from, to] = [0, this.rows.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.rows[middle].top + this.rows[middle].height < top) from = middle + 1;
      else to = middle;
    }
    const rows = [];
    for (let index = from; index < this.rows.length && this.rows[index].top <= bottom; index += 1) rows.push(this.rows[index]);
    return rows;
  }
}
