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
  const unit = ((row.top + row.height - y) / row.height) * run.device.warps;
  const from = run.instants.lastAt(view.timeAt(x - REACH));
  const to = run.instants.lastAt(view.timeAt(x + REACH)) + 1;
  let best = null;
  blocks.between(from, to, (position) => {
    const warps = run.kernelOf(blocks.operation[position]).demand?.[0] ?? 0;
    const parts = blocks.split.get(position) ?? [[blocks.low[position], blocks.low[position] + warps]];
    if (!parts.some(([low, high]) => low <= unit && unit <= high)) return;
    const end = view.x(run.instants, blocks.end[position]);
    const away = distance(x, view.x(run.instants, blocks.start[position]), end);
    // What begins where another ends is on the right of the edge.
    const better = best === null || away < best.away || (away === best.away && end > x);
    if (away <= REACH && better) best = { kind: "block", row, position, away };
  });
  return best;
}

/** What was launched, ran or was copied at a place within the row of a stream or a copy engine. */
function operationsAt(app, row, x, y) {
  const { run } = row;
  const { view } = app;
  const { launched, first_start: firstStart } = run.operations;
  const onArrow = row.kind === "stream" && y < row.top + 10;
  const away = (id) => {
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
  return row.kind === "sm" ? blockAt(app, row, x, inside) : (deadlinesAt(app, row, x, inside) ?? operationsAt(app, row, x, inside));
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
