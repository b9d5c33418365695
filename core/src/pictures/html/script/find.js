// What is at a place, and what has a name.

/** How far from something narrow the pointer may be [pixels]. */
const REACH = 3;

/** How far `x` is from what reaches from `left` to `right`. */
function distance(x, left, right) {
  return x < left ? left - x : x > right ? x - right : 0;
}

/** The nearest block at a place within the band of an SM. */
function blockAt(app, row, x, y) {
  const { run, blocks } = row;
  const { view } = app;
  const unit = ((row.top + row.height - y) / row.height) * blocks.unitsOf(run, app.resource);
  // What is drawn higher than it is may be pointed at, too.
  const least = (LEAST_HEIGHT / row.height) * blocks.unitsOf(run, app.resource);
  const from = run.instants.lastAt(view.timeAt(x - REACH));
  const to = run.instants.lastAt(view.timeAt(x + REACH)) + 1;
  if (isCounted(app, row, view.range(run.instants))) {
    const counts = countsAt(app, row, x);
    return counts.length > 0 ? { kind: "counts", row, counts, from: view.timeAt(x - 1), to: view.timeAt(x + 1) } : null;
  }
  let best = null;
  blocks.between(from, to, (position) => {
    const parts = blocks.partsOf(run, position, app.resource);
    if (!parts.some(([low, high]) => low <= unit && unit <= Math.max(high, low + least))) return;
    const [start, until] = [blocks.start[position], blocks.end[position]];
    for (const [begin, stop] of run.partsOf(blocks.operation[position], start, until) ?? [[start, until]]) {
      const end = view.x(run.instants, stop);
      const away = distance(x, view.x(run.instants, begin), end);
      // What begins where another ends is on the right of the edge.
      const better = best === null || away < best.away || (away === best.away && end > x);
      if (away <= REACH && better) best = { kind: "block", row, position, away };
    }
  });
  return best;
}

/** What was launched, ran or was copied at a place within the row of a stream or a copy engine. */
function operationsAt(app, row, x, y) {
  const { run } = row;
  const { view } = app;
  const { launched, first_start: firstStart } = run.operations;
  const onArrow = row.kind === "stream" && y < row.top + ARROWS;
  if (row.kind === "stream" && !onArrow && y < row.top + row.height - RUNNING) return null;
  const away = (id) => {
    if (run.blocks_only && firstStart[id] === NONE) return Infinity;
    if (onArrow) return Math.abs(x - view.x(run.instants, launched[id]));
    if (firstStart[id] === NONE) return Infinity;
    return distance(x, view.x(run.instants, firstStart[id]), view.x(run.instants, run.endOf(id)));
  };
  const reach = onArrow ? REACH + 3 : REACH;
  const nearest = row.ids.reduce((least, id) => Math.min(least, away(id)), Infinity);
  if (nearest > reach) return null;
  const ids = row.ids.filter((id) => away(id) === nearest);
  return { kind: "operations", row, ids: onArrow ? ids : ids.slice(-1) };
}

/** The operation that waits at a place in the row of a stream, or stands there in a queue. */
function waitingAtPlace(app, row, x, y) {
  const { run } = row;
  const [top, height, lanes] =
    row.kind === "queue" ? [row.top, PLACE_HEIGHT, row.lanes.places] : [row.top + ARROWS, WAIT_LANE, row.waits.lanes];
  const lane = Math.floor((y - top) / height);
  const [from, to] = [run.instants.lastAt(app.view.timeAt(x - REACH)), run.instants.lastAt(app.view.timeAt(x + REACH)) + 1];
  const at = (time) => distance(x, app.view.x(run.instants, time.from), app.view.x(run.instants, time.to));
  if (lane >= 0 && lane < lanes.length) {
    let best = null;
    for (let index = firstAfter(lanes[lane], from); index < lanes[lane].length && lanes[lane][index].from <= to; index += 1) {
      const away = at(lanes[lane][index]);
      if (away <= REACH && (best === null || away <= best.away)) best = { id: lanes[lane][index].id, away };
    }
    return best && { kind: "waiting", row, ids: [best.id], at: app.view.timeAt(x) };
  }
  if (row.kind === "queue" || lane !== lanes.length || row.waits.others.length === 0) return null;
  const ids = row.waits.others.filter((wait) => wait.from <= to && wait.to > from).map(({ id }) => id);
  return ids.length > 0 && y < row.top + row.height - RUNNING ? { kind: "waiting", row, ids, at: app.view.timeAt(x) } : null;
}

/** The deadlines nearest to a place in the lower part of a stream's row, missed ones first; null if none is near. */
function deadlinesAt(app, row, x, y) {
  if (row.kind !== "stream" || y < row.top + row.height - 10) return null;
  const { run } = row;
  const near = (run.deadlinesByStream.get(row.stream) ?? []).filter((job) => Math.abs(x - app.view.xOf(run.dueNs[job])) <= REACH + 1);
  if (near.length === 0) return null;
  const { missed } = run.deadlines;
  return { kind: "deadlines", row, jobs: [...near.filter((job) => missed[job]), ...near.filter((job) => !missed[job])] };
}

/** What is at a place of the canvas. */
function findAt(app, x, y) {
  const { view, layout } = app;
  const inside = y - AXIS_HEIGHT + app.scroll();
  if (y < AXIS_HEIGHT || x < view.left || x > view.left + view.width) return null;
  const row = layout.between(inside, inside).find((other) => other.top <= inside && inside <= other.top + other.height);
  if (!row || row.kind === "title") return null;
  if (row.kind === "sm") return blockAt(app, row, x, inside);
  if (row.kind === "queue") return waitingAtPlace(app, row, x, inside);
  if (row.kind === "turns") return turnAt(app, row, x);
  if (row.kind === "core") return coreAt(app, row, x);
  if (row.kind === "occupancy") return { kind: "occupancy", row, at: view.timeAt(x) };
  if (row.kind === "copy") return operationsAt(app, row, x, inside);
  return deadlinesAt(app, row, x, inside) ?? waitingAtPlace(app, row, x, inside) ?? operationsAt(app, row, x, inside);
}

/** The operations that a text means: by number (`#12`), or by part of a name of kernel, stream or benchmark. */
function search(runs, text) {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const number = /^#(\d+)$/.exec(wanted);
  return runs.flatMap((run) => {
    const found = [];
    for (let id = 0; id < run.operationCount; id += 1) {
      const names = [run.title(id), run.kernelOf(id)?.name, run.streamOf(id).name, run.threads[run.operations.thread[id]]];
      const matches = number ? Number(number[1]) === id : names.some((name) => name?.toLowerCase().includes(wanted));
      if (matches) found.push({ run, id });
    }
    return found;
  });
}
