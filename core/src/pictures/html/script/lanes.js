// Queues, occupancy, and the operations that wait in each stream, with what they wait for.

/** The first of some times that end after instant number `from`; they follow one another. */
function firstAfter(times, from) {
  return firstWhere(times.length, (index) => times[index].to > from);
}

/** Calls `visit` with each of some times, which follow one another, that is in view, and where it is. Of several on one
 * pixel it is the first. */
function eachInView(app, run, times, visit) {
  const { view } = app;
  const [from, to] = view.range(run.instants);
  let drawnTo = -1;
  for (let index = firstAfter(times, from); index < times.length && times[index].from <= to; index += 1) {
    const x = Math.max(view.left - 2, view.x(run.instants, times[index].from));
    const end = Math.min(view.left + view.width + 2, view.x(run.instants, times[index].to));
    if (Math.max(end, x + 1) <= drawnTo) continue;
    drawnTo = Math.floor(Math.max(end, x + 1));
    visit(times[index], x, Math.max(1, end - x));
  }
}

/** The parts of a bar in the colours of the rules that held the operation; the rule is named where there is room. */
function drawPhases(painter, run, id, [from, to], top, height) {
  const { app, context } = painter;
  const { view } = app;
  const { phases, firstPhase } = run;
  for (let phase = firstPhase[id]; phase < firstPhase[id + 1]; phase += 1) {
    if (phases.to[phase] <= from || phases.from[phase] >= to) continue;
    const x = Math.max(view.left - 2, view.x(run.instants, Math.max(phases.from[phase], from)));
    const end = Math.min(view.left + view.width + 2, view.x(run.instants, Math.min(phases.to[phase], to)));
    if (end < x) continue;
    const { rule } = phases.said[phases.reason[phase]];
    const look = app.ruleLook(rule);
    const isLarge = height >= 9 && end - x >= SMALL;
    context.fillStyle = isLarge ? app.fills.hatched(context, look.fill, painter.scale) : look.fill.background;
    context.fillRect(x, top, Math.max(1, end - x), height);
    if (height < 9 || end - x < 20) continue;
    context.font = TINY_FONT;
    context.textAlign = "left";
    context.textBaseline = "middle";
    const texts = [`${run.title(id)}: ${rule}`, rule];
    const text = texts.find((candidate) => painter.widthOf(candidate) + 6 <= end - x);
    if (!text) continue;
    const textAt = Math.max(x, view.left) + 3;
    if (look.fill.hatch !== "plain") {
      context.fillStyle = look.fill.background;
      context.fillRect(textAt - 2, top, painter.widthOf(text) + 4, height);
    }
    context.fillStyle = look.ink;
    context.fillText(text, textAt, top + height / 2 + 0.5);
  }
}

/** A bar from launch to start for each operation that waited. */
function drawWaits(painter, row) {
  const { app, context } = painter;
  const { run, waits } = row;
  const faded = app.highlight.faded(run);
  waits.lanes.forEach((lane, index) => {
    const top = row.top + ARROWS + index * WAIT_LANE;
    eachInView(app, run, lane, ({ id, from, to }, x, width) => {
      context.globalAlpha = faded[id] ? FADED : 1;
      drawPhases(painter, run, id, [from, to], top + 1, WAIT_LANE - 2);
      if (width < 3) return;
      context.strokeStyle = app.colours.outline;
      context.lineWidth = 0.5;
      context.strokeRect(x, top + 1, width, WAIT_LANE - 2);
    });
  });
  context.globalAlpha = 1;
  if (waits.others.length === 0) return;
  // Those without a lane: a strip wherever there are some.
  const top = row.top + ARROWS + waits.lanes.length * WAIT_LANE;
  context.fillStyle = app.colours.frame;
  let drawnTo = -1;
  for (const { from, to } of waits.others) {
    const x = Math.max(app.view.left, app.view.x(run.instants, from), drawnTo);
    const end = Math.min(app.view.left + app.view.width, app.view.x(run.instants, to));
    if (end <= x) continue;
    context.fillRect(x, top + 1, Math.max(1, end - x), OVERFLOW - 2);
    drawnTo = end;
  }
}

/** Who is at each place of a queue; below the head, the rule that holds it. */
function drawQueue(painter, row, faded) {
  const { app } = painter;
  const { run, lanes } = row;
  const isFaded = app.highlight.faded(run);
  lanes.places.forEach((times, position) => {
    const top = row.top + position * PLACE_HEIGHT;
    eachInView(app, run, times, ({ id, from, to }, x, width) => {
      if ((isFaded[id] === 1) !== faded) return;
      const area = [x, top, width, PLACE_HEIGHT];
      const title = run.title(id);
      if (!run.kernelOf(id)) painter.plain(area, app.colours.copy[run.copyOf(id)?.direction] ?? app.colours.frame);
      else if (width >= SMALL) painter.box(area, title, () => [title]);
      else painter.plain(area, app.fills.small(title, app.theme));
      if (position === 0) drawPhases(painter, run, id, [from, to], top + PLACE_HEIGHT - 4, 4);
    });
  });
}

const DASHES = { threads: [], "shared memory": [6, 3], registers: [2, 2] };

/** How much of a resource is taken in each column of pixels on average, as a share of what there is. */
function meansOf(app, run, { capacity, at, amount }) {
  const { view } = app;
  const columns = Math.max(1, Math.floor(view.width));
  const sums = new Float64Array(columns);
  const count = amount.length;
  const end = view.xOf(run.endNs()) - view.left;
  const step = (end - (view.xOf(0n) - view.left)) / Math.max(1, count);
  const x = (index) => {
    if (index >= count) return end;
    return at.length > 0 ? view.x(run.instants, at[index]) - view.left : end - (count - index) * step;
  };
  const first = Math.max(0, firstWhere(count, (index) => x(index) > 0) - 1);
  for (let index = first, left = Math.max(0, x(first)); index < count && left < columns; index += 1) {
    const right = Math.min(columns, Math.max(left, x(index + 1)));
    const share = Number(amount[index]) / Number(capacity);
    for (let from = left; from < right; ) {
      const column = Math.floor(from);
      const to = Math.min(right, column + 1);
      sums[column] += share * (to - from);
      from = to;
    }
    left = right;
  }
  return sums;
}

/** How much of all SMs is taken: a line for each resource. */
function drawOccupancy(painter, row) {
  const { app, context } = painter;
  const { run } = row;
  const { view } = app;
  const bottom = row.top + row.height - 1;
  for (const curve of run.occupancy) {
    context.beginPath();
    let last = -1;
    meansOf(app, run, curve).forEach((share, column) => {
      const y = bottom - (row.height - 2) * Math.min(1, share);
      const x = view.left + column;
      if (column === 0) context.moveTo(x, y);
      else if (Math.abs(y - last) > 0.2) {
        context.lineTo(x, last);
        context.lineTo(x, y);
      }
      last = y;
    });
    context.lineTo(view.left + view.width, last);
    context.strokeStyle = app.colours.ink;
    context.lineWidth = curve.resource === "threads" ? 1.5 : 1;
    context.setLineDash(DASHES[curve.resource] ?? []);
    context.stroke();
  }
  context.setLineDash([]);
  if (run.occupancy.length > 1 && view.width > 360) occupancyKey(painter, row);
}

/** Which line is which resource, above all lines. */
function occupancyKey(painter, row) {
  const { app, context } = painter;
  context.font = TINY_FONT;
  context.textAlign = "left";
  context.strokeStyle = app.colours.ink;
  let at = app.view.left + 6;
  for (const { resource } of row.run.occupancy) {
    const width = painter.widthOf(resource);
    context.fillStyle = app.colours.band;
    context.fillRect(at - 3, row.top + 1, width + 30, 12);
    context.lineWidth = resource === "threads" ? 1.5 : 1;
    context.setLineDash(DASHES[resource] ?? []);
    context.beginPath();
    context.moveTo(at, row.top + 7);
    context.lineTo(at + 18, row.top + 7);
    context.stroke();
    context.fillStyle = app.colours.ink;
    context.fillText(resource, at + 22, row.top + 7);
    at += 34 + width;
  }
  context.setLineDash([]);
}

/** Where an operation runs, or else waits, in the row of its stream, at an instant. */
function placeOf(app, run, id, instant, running) {
  const row = app.layout.streamRow(run, run.operations.stream[id]);
  if (!row) return null;
  const x = app.view.x(run.instants, instant);
  if (running) return { x, y: row.top + row.height - RUNNING / 2 };
  const lane = row.waits.lanes.findIndex((times) => times.some((wait) => wait.id === id));
  const lanes = lane < 0 ? row.waits.lanes.length : lane + 0.5;
  return { x, y: row.top + ARROWS + lanes * WAIT_LANE };
}

/** An arrow from one place to another, curved so that it is seen where both are above one another. */
function drawArrow(painter, from, to) {
  const { context } = painter;
  const aside = Math.min(40, 12 + Math.abs(to.y - from.y) / 6);
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.bezierCurveTo(from.x + aside, from.y, to.x + aside, to.y, to.x + 5, to.y);
  context.stroke();
  context.beginPath();
  context.moveTo(to.x, to.y);
  context.lineTo(to.x + 8, to.y - 4);
  context.lineTo(to.x + 8, to.y + 4);
  context.fill();
}

/** Frames the selected operation and shows, by arrows, who let it go on. */
function drawSelection(painter) {
  const { app, context } = painter;
  if (!app.selected) return;
  const { run, id } = app.selected;
  context.save();
  context.beginPath();
  context.rect(app.view.left - 6, 0, app.view.width + 12, app.layout.height);
  context.clip();
  context.strokeStyle = context.fillStyle = app.colours.accent;
  context.lineWidth = 2;
  const row = app.layout.streamRow(run, run.operations.stream[id]);
  const { first_start: firstStart, launched } = run.operations;
  const begin = app.view.x(run.instants, launched[id]);
  const start = firstStart[id] === NONE ? run.end : firstStart[id];
  const startAt = app.view.x(run.instants, start);
  if (row) {
    const lane = row.waits.lanes.findIndex((times) => times.some((wait) => wait.id === id));
    if (lane >= 0) context.strokeRect(begin, row.top + ARROWS + lane * WAIT_LANE, startAt - begin, WAIT_LANE);
    const end = app.view.x(run.instants, run.endOf(id));
    context.strokeRect(startAt, row.top + row.height - RUNNING - 1, Math.max(2, end - startAt), RUNNING);
  }
  for (const phase of run.phasesOf(id)) {
    const last = phase.blocking.at(-1);
    phase.blocking.forEach((blocking) => {
      const until = Math.min(run.endOf(blocking), phase.to);
      const [from, to] = [placeOf(app, run, blocking, until, true), placeOf(app, run, id, until, false)];
      if (!from || !to) return;
      context.globalAlpha = blocking === last ? 1 : 0.45;
      drawArrow(painter, from, to);
    });
  }
  context.restore();
}

/** The longest way of data through a chain: a line from where each job reads to where it has written, and on to the next
 * one, which ends in an arrow. */
function drawChain(painter, run) {
  const { app, context } = painter;
  const { view, layout } = app;
  const rowOf = ({ core, stream }) =>
    layout.rows.find((row) => row.run === run && row.kind === "core" && row.lane.core === core) ?? layout.streamRow(run, stream);
  const placed = run.chain.jobs.map((job) => ({ ...job, row: rowOf(job) })).filter(({ row }) => row);
  const places = placed.flatMap(({ row, read, written }) => [read, written].map((at) => ({ x: view.x(run.instants, at), y: row.top + row.height / 2 })));
  if (places.length === 0) return;
  context.save();
  context.beginPath();
  context.rect(view.left - 6, 0, view.width + 12, layout.height);
  context.clip();
  context.strokeStyle = context.fillStyle = app.colours.accent;
  context.lineWidth = 1.5;
  context.setLineDash([5, 3]);
  context.beginPath();
  places.forEach(({ x, y }, index) => (index === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.stroke();
  context.setLineDash([]);
  for (let index = 1; index < places.length; index += 1) {
    const [from, to] = [places[index - 1], places[index]];
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    if (length < 1) continue;
    const [along, up] = [(to.x - from.x) / length, (to.y - from.y) / length];
    context.beginPath();
    context.moveTo(to.x, to.y);
    context.lineTo(to.x - 8 * along + 4 * up, to.y - 8 * up - 4 * along);
    context.lineTo(to.x - 8 * along - 4 * up, to.y - 8 * up + 4 * along);
    context.fill();
  }
  context.restore();
}
