// Cores that hosts share: who has each of them when.

/** How much paler a host is that keeps its core while it waits. */
const SPINNING = 0.4;

/** One core. */
class CoreLane {
  constructor({ core, thread, job, spins, start, length }) {
    Object.assign(this, { core, thread, job, spins });
    this.from = new Uint32Array(start.length);
    this.to = new Uint32Array(start.length);
    let at = 0;
    start.forEach((step, index) => {
      this.from[index] = at + step;
      at = this.to[index] = this.from[index] + length[index];
    });
  }

  /** Calls `visit` with the number of each time in view, and from and to which place it is. */
  each(run, view, visit) {
    const [first, last] = view.range(run.instants);
    const { from, to } = this;
    for (let index = firstWhere(to.length, (other) => to[other] >= first); index < to.length && from[index] <= last; index += 1) {
      visit(index, view.x(run.instants, from[index]), view.x(run.instants, to[index]));
    }
  }
}

/** The lane of a core. */
function drawCore(painter, row) {
  const { app, context } = painter;
  const { run, lane } = row;
  const { view } = app;
  context.font = SMALL_FONT;
  context.textAlign = "center";
  context.textBaseline = "middle";
  lane.each(run, view, (index, from, until) => {
    const [x, end] = [Math.max(view.left - 2, from), Math.min(view.left + view.width + 2, until)];
    if (end < x) return;
    const look = run.cores[app.theme][lane.thread[index]];
    const isLarge = end - x >= SMALL;
    context.globalAlpha = lane.spins[index] ? SPINNING : 1;
    context.fillStyle = isLarge && !lane.spins[index] ? app.fills.hatched(context, look, painter.scale) : look.small;
    context.fillRect(x, row.top, Math.max(1, end - x), row.height);
    context.globalAlpha = 1;
    if (!isLarge) return;
    context.strokeStyle = app.colours.outline;
    context.lineWidth = 0.5;
    context.strokeRect(x, row.top + 0.5, end - x, row.height - 1);
    const [left, right] = [Math.max(x, view.left), Math.min(end, view.left + view.width)];
    const name = run.threads[lane.thread[index]];
    const width = painter.widthOf(name);
    if (width + 8 > right - left) return;
    context.fillStyle = look.background;
    context.fillRect((left + right - width) / 2 - 2, row.top + 2, width + 4, row.height - 4);
    context.fillStyle = inkOn(look.background);
    context.fillText(name, (left + right) / 2, row.top + row.height / 2 + 0.5);
  });
}

/** Who has a core at a place, or null. */
function coreAt(app, row, x) {
  let found = null;
  row.lane.each(row.run, app.view, (index, from, until) => {
    if (from - 1 <= x && x <= until + 1) found ??= { kind: "core", row, index };
  });
  return found;
}

/** What is said about that. */
function coreLines(run, { row, index }) {
  const { lane } = row;
  const does = lane.spins[index] ? "spins" : "works";
  return [`${run.threads[lane.thread[index]]} ${does} on core ${lane.core}, job ${lane.job[index]}`, spanText(run, lane.from[index], lane.to[index])];
}
