// Which rows there are, from top to bottom, and how high they are [pixels].

const AXIS_HEIGHT = 28;
const TITLE_HEIGHT = 24;
const LANE_HEIGHT = 20;
const OCCUPANCY_HEIGHT = 44;
/** The band of turns. */
const TURNS_HEIGHT = 18;
/** One place in a queue. */
const PLACE_HEIGHT = 15;
/** The arrows of launches, one lane of waiting operations, and what runs. */
const ARROWS = 10;
const WAIT_LANE = 13;
const RUNNING = 14;
const OVERFLOW = 6;
const GAP = 4;
const LEAST_BAND = 14;
const MOST_BAND = 240;
/** With more SMs, streams and queues stand above them, so that they are seen without scrolling. */
const FEW_SMS = 8;

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

/** The operations of a stream that waited, in their lanes, and those that found none. */
function waitLanes(run, ids) {
  const [lanes, others] = [[], []];
  for (const id of ids) {
    const [first, after] = [run.firstPhase[id], run.firstPhase[id + 1]];
    if (first === after) continue;
    const lane = run.waitLane[id];
    const waits = lane === NONE ? others : (lanes[lane] ??= []);
    waits.push({ id, from: run.phases.from[first], to: run.phases.to[after - 1] });
  }
  return { lanes, others };
}

function streamRows(run) {
  return operationsByStream(run).map(([stream, ids]) => {
    const waits = waitLanes(run, ids);
    const height = ARROWS + waits.lanes.length * WAIT_LANE + (waits.others.length > 0 ? OVERFLOW : 0) + RUNNING;
    return { kind: "stream", run, stream, ids, waits, label: run.streams[stream].name, height };
  });
}

function queueRows(run) {
  return run.lanes.map((lanes) => ({ kind: "queue", run, lanes, label: lanes.label, height: lanes.places.length * PLACE_HEIGHT }));
}

function copyRows(run) {
  return (run.copy_lanes ?? []).map(([engine, ids], index, all) => {
    const name = run.device.copy_engines > 1 ? `copy ${engine}` : "copies";
    const label = index > 0 && all[index - 1][0] === engine ? "" : name;
    return { kind: "copy", run, ids, label, height: LANE_HEIGHT };
  });
}

function rowsOf(run, several) {
  const title = several ? [{ kind: "title", run, label: `${run.name} (${run.device.name})`, height: TITLE_HEIGHT }] : [];
  const turns = run.turns ? [{ kind: "turns", run, label: "turn", height: TURNS_HEIGHT }] : [];
  const cores = run.coreLanes.map((lane) => ({ kind: "core", run, lane, label: `core ${lane.core}`, height: LANE_HEIGHT }));
  // Beside hosts that only work, SMs are nothing to look at.
  const isIdle = cores.length > 0 && run.operationCount === 0;
  const sms = run.wholeKernels || isIdle ? [] : run.sms.map((blocks, sm) => ({ kind: "sm", run, sm, blocks, label: `SM ${sm}`, height: 0 }));
  const has = run.sms.some((blocks) => blocks.count > 0);
  const occupancy = has && run.occupancy.length > 0 ? [{ kind: "occupancy", run, label: "in use", height: OCCUPANCY_HEIGHT }] : [];
  if (run.byStream) return [...title, ...streamRows(run)];
  if (run.blocks_only) return [...title, ...occupancy, ...sms];
  const others = [...streamRows(run), ...queueRows(run), ...copyRows(run)];
  return run.wholeKernels || run.sms.length > FEW_SMS ? [...title, ...cores, ...others, ...occupancy, ...turns, ...sms] : [...title, ...cores, ...turns, ...sms, ...copyRows(run), ...occupancy, ...queueRows(run), ...streamRows(run)];
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

  /** The row of a stream. */
  streamRow(run, stream) {
    return this.rows.find((row) => row.kind === "stream" && row.run === run && row.stream === stream);
  }

  /** The rows that reach into the part from `top` to `bottom`. */
  between(top, bottom) {
    const from = firstWhere(this.rows.length, (index) => this.rows[index].top + this.rows[index].height >= top);
    const rows = [];
    for (let index = from; index < this.rows.length && this.rows[index].top <= bottom; index += 1) rows.push(this.rows[index]);
    return rows;
  }
}
