// Whose turn it is, and what follows for what is drawn: when blocks and copies pause. With which turns rounds begin is in
// the data; how many of these rounds are seen as one depends on the width of the window, and so is decided here.

/** Narrower turns are not told from their neighbours [pixels]. */
const LEAST_TURN = 3;
/** Where more turns than this are as narrow, shares of time are shown. */
const MOST_NARROW = 20;
/** Shares are means over whole rounds of turns that are at least so wide [pixels]. */
const LEAST_ROUND = 12;
/** A round that is wider than this is divided. */
const MOST_ROUND = 48;
/** A turn that is so wide belongs to no round [pixels]. */
const WIDE_TURN = 8;

/** The turns of the contexts of a run, and for each process the times that it has. */
class Turns {
  constructor({ process, switch_from: switchFrom, start, length, ended_by: endedBy, ends, served, has_copies: hasCopies, words, rounds, light, dark }) {
    Object.assign(this, { endedBy, ends, hasCopies, words, looks: { light, dark } });
    this.count = process.length;
    this.process = Uint32Array.from(process);
    for (const name of ["switchFrom", "start", "end"]) this[name] = new Uint32Array(this.count);
    let last = 0;
    for (let turn = 0; turn < this.count; turn += 1) {
      this.switchFrom[turn] = last + switchFrom[turn];
      this.start[turn] = this.switchFrom[turn] + start[turn];
      last = this.end[turn] = this.start[turn] + length[turn];
    }
    /** For each turn whether a round begins with it. */
    this.beginsRound = new Uint8Array(this.count);
    rounds.reduce((before, step) => {
      this.beginsRound[before + step] = 1;
      return before + step;
    }, 0);
    this.served = served.map(([start, lengths]) => {
      let at = 0;
      const from = new Uint32Array(start.length);
      const to = new Uint32Array(start.length);
      start.forEach((step, index) => {
        from[index] = at + step;
        at = to[index] = from[index] + lengths[index];
      });
      return { from, to };
    });
  }

  /** The number of the turn that is on, or whose switch is, after all events of instant number `now`; or NONE. */
  at(now) {
    const turn = firstWhere(this.count, (index) => this.end[index] > now);
    return turn < this.count && this.switchFrom[turn] <= now ? turn : NONE;
  }

  /** The number of the first time of a process that ends after instant number `now`. */
  firstOf(process, now) {
    const { to } = this.served[process];
    return firstWhere(to.length, (index) => to[index] > now);
  }

  /** Whether it is the turn of a process after all events of instant number `now`. */
  isOf(process, now) {
    const { from } = this.served[process];
    const index = this.firstOf(process, now);
    return index < from.length && from[index] <= now;
  }

  /** When the next turn of a process begins, as the number of an instant, or NONE. */
  nextOf(process, now) {
    const { from } = this.served[process];
    const index = this.firstOf(process, now);
    const next = index < from.length && from[index] <= now ? index + 1 : index;
    return next < from.length ? from[next] : NONE;
  }

  /** Calls `visit` with each part of a time that a process has. */
  each(process, begin, end, visit) {
    const { from, to } = this.served[process];
    for (let index = this.firstOf(process, begin); index < from.length && from[index] < end; index += 1) {
      visit(Math.max(begin, from[index]), Math.min(end, to[index]));
    }
  }
}

/** Turns and switches in view, in order: of whom (the number of processes stands for switches), and from and to which place. */
function spansInView(run, view) {
  const { turns, instants } = run;
  const [from, to] = view.range(instants);
  const nobody = run.processes.length;
  const spans = [];
  const add = (owner, begin, end, turn) => {
    if (begin === end) return;
    const [x, until] = [view.x(instants, begin), view.x(instants, end)];
    const last = spans.at(-1);
    // Turns of one process that follow one another at once are one.
    if (last && last.owner === owner && last.end === begin) Object.assign(last, { end, until });
    else spans.push({ owner, begin, end, turn, x, until });
  };
  for (let turn = firstWhere(turns.count, (index) => turns.end[index] >= from); turn < turns.count && turns.switchFrom[turn] <= to; turn += 1) {
    add(nobody, turns.switchFrom[turn], turns.start[turn], turn);
    add(turns.process[turn], turns.start[turn], turns.end[turn], turn);
  }
  return spans;
}

/** Puts spans together to whole rounds, each wide enough to be seen; a turn that is wide is one of its own. */
function roundsOf({ turns }, spans, nobody) {
  const rounds = [];
  let open = null;
  let pending = [];
  const close = (x) => {
    if (open) rounds.push({ x: open.x, until: x, spans: open.spans });
    open = null;
  };
  for (const span of spans) {
    // A switch belongs to the turn behind it.
    if (span.owner === nobody) {
      pending.push(span);
      continue;
    }
    const own = [...pending, span];
    pending = [];
    if (span.until - span.x >= WIDE_TURN) {
      if (open) open.spans.push(...own.slice(0, -1));
      else if (own.length > 1) open = { x: own[0].x, spans: own.slice(0, -1) };
      close(span.x);
      rounds.push({ x: span.x, until: span.until, spans: [span] });
      continue;
    }
    const width = open ? own[0].x - open.x : 0;
    if (open && (width >= MOST_ROUND || (width >= LEAST_ROUND && turns.beginsRound[span.turn]))) close(own[0].x);
    open ??= { x: own[0].x, spans: [] };
    open.spans.push(...own);
  }
  if (open) open.spans.push(...pending);
  if (open) close(open.spans.at(-1).until);
  return rounds;
}

/** How turns are seen in the part of the time in view: one by one, or where they are too narrow, for each process (and
 * behind them for switches) the share of each column of pixels. What has been found before is kept. */
function turnsInView(app, run) {
  const { view } = app;
  const key = [view.start, view.shift, view.span, view.width].join(" ");
  if (run.turnsSeen?.key === key) return run.turnsSeen;
  const spans = spansInView(run, view);
  const narrow = spans.filter(({ owner, x, until }) => owner < run.processes.length && until - x < LEAST_TURN).length > MOST_NARROW;
  run.turnsSeen = { key, spans, narrow, shares: new Map() };
  return run.turnsSeen;
}

/** For each process, and behind them for switches, its share of each of `columns` columns over the width of the view. */
function turnShares(app, run, columns) {
  const seen = turnsInView(app, run);
  if (seen.shares.has(columns)) return seen.shares.get(columns);
  const { view } = app;
  const shares = Array.from({ length: run.processes.length + 1 }, () => new Float32Array(columns));
  const scale = columns / view.width;
  const pieces = seen.narrow ? roundsOf(run, seen.spans, run.processes.length) : seen.spans.map((span) => ({ x: span.x, until: span.until, spans: [span] }));
  for (const { x, until, spans } of pieces) {
    const [from, to] = [Math.max(0, (x - view.left) * scale), Math.min(columns, (until - view.left) * scale)];
    const parts = new Float32Array(shares.length);
    for (const span of spans) parts[span.owner] += (span.until - span.x) / (until - x);
    for (let column = Math.floor(from); column < to; column += 1) {
      const covered = Math.min(to, column + 1) - Math.max(from, column);
      parts.forEach((part, owner) => {
        shares[owner][column] += part * covered;
      });
    }
  }
  seen.shares.set(columns, shares);
  return shares;
}

/** How turns of a process, or switches, look. */
function turnLook(app, run, owner) {
  return run.turns.looks[app.theme][owner];
}

/** The band of turns. */
function drawTurns(painter, row) {
  const { app, context } = painter;
  const { run } = row;
  const { view } = app;
  const { spans, narrow } = turnsInView(app, run);
  if (narrow) {
    const columns = Math.max(1, Math.floor(view.width * painter.scale));
    const shares = turnShares(app, run, columns);
    const below = new Float32Array(columns);
    shares.forEach((share, owner) => {
      context.fillStyle = turnLook(app, run, owner).small;
      share.forEach((part, column) => {
        if (part === 0) return;
        const top = below[column] + part;
        context.fillRect(view.left + column / painter.scale, row.top + row.height * (1 - top), 1 / painter.scale, row.height * part);
        below[column] = top;
      });
    });
    return;
  }
  for (const { owner, x: from, until } of spans) {
    const [x, end] = [Math.max(view.left - 2, from), Math.min(view.left + view.width + 2, until)];
    if (end < x) continue;
    const look = turnLook(app, run, owner);
    const isLarge = end - x >= SMALL;
    context.fillStyle = isLarge ? app.fills.hatched(context, look, painter.scale) : look.small;
    context.fillRect(x, row.top, Math.max(1, end - x), row.height);
    if (owner === run.processes.length || !isLarge) continue;
    context.strokeStyle = app.colours.outline;
    context.lineWidth = 0.5;
    context.strokeRect(x, row.top + 0.5, end - x, row.height - 1);
    const [left, right] = [Math.max(x, view.left), Math.min(end, view.left + view.width)];
    context.font = SMALL_FONT;
    const name = run.processes[owner];
    if (painter.widthOf(name) + 8 > right - left) continue;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = look.background;
    const width = painter.widthOf(name);
    context.fillRect((left + right - width) / 2 - 2, row.top + 2, width + 4, row.height - 4);
    context.fillStyle = inkOn(look.background);
    context.fillText(name, (left + right) / 2, row.top + row.height / 2 + 0.5);
  }
}

/** Lines across pauses have so many places, so that those of several processes do not become one. */
const PAUSE_PLACES = 3;

/** Whether pauses are wide enough to be seen. */
function arePausesSeen(app, run) {
  return !run.turns || !turnsInView(app, run).narrow;
}

/** The lines across the pauses of something that is drawn from `top` on with a height. */
function pausesOf(painter, run, id, [start, end], parts, [top, height]) {
  const { app } = painter;
  const { view } = app;
  const { instants } = run;
  const colour = run.kernelOf(id) ? app.fills.fill(run.title(id), app.theme).ink : app.colours.ink;
  const y = top + height * (1 - (1 + (run.processOf(id) % PAUSE_PLACES)) / (2 * (PAUSE_PLACES + 1)));
  const lines = [];
  let last = start;
  for (const [begin, until] of [...parts, [Math.min(end, run.end), end]]) {
    const from = Math.max(view.left, view.x(instants, last));
    const to = Math.min(view.left + view.width, view.x(instants, begin));
    if (from < to) lines.push({ from, to, y, colour });
    last = until;
  }
  return lines;
}

/** Dotted lines from where something stops to where it goes on; those of several processes have places of their own. */
function drawPauses(painter, lines) {
  const { context } = painter;
  context.save();
  context.lineWidth = 1;
  context.setLineDash([2, 3]);
  for (const { from, to, y, colour } of lines) {
    context.strokeStyle = colour;
    context.beginPath();
    context.moveTo(from, y);
    context.lineTo(to, y);
    context.stroke();
  }
  context.restore();
}

/** The turn or switch, or where they are narrow the shares of time, at a place of the band. */
function turnAt(app, row, x) {
  const { run } = row;
  const { spans, narrow } = turnsInView(app, run);
  if (narrow) {
    const columns = Math.max(1, Math.floor(app.view.width));
    const column = Math.min(columns - 1, Math.max(0, Math.floor(x - app.view.left)));
    const shares = turnShares(app, run, columns).map((share) => share[column]);
    return { kind: "shares", row, shares, at: app.view.timeAt(x) };
  }
  const span = spans.find(({ x: from, until }) => from - 1 <= x && x <= until + 1);
  return span ? { kind: "turn", row, span } : null;
}

/** What is said of it. */
function turnLines(run, found) {
  const name = (owner) => (owner < run.processes.length ? `turn of ${run.processes[owner]}` : "switch of contexts");
  if (found.kind === "shares") {
    const told = found.shares.flatMap((share, owner) => (share > 0 ? [`${name(owner)}: ${(100 * share).toFixed(1)} %`] : []));
    return [`shares of time around ${formatInstant(found.at)}`, ...told];
  }
  const { owner, begin, end } = found.span;
  const turn = run.turns.at(end - 1);
  const ended = owner < run.processes.length && turn !== NONE ? [`ended by: ${run.turns.ends[run.turns.endedBy[turn]]}`] : [];
  return [name(owner), spanText(run, begin, end), ...ended];
}

/** How long something paused between two instants, if it did. */
function pausesText(run, id, from, to) {
  const parts = run.partsOf(id, from, Math.min(to, run.end));
  if (parts === null) return [];
  const ns = (number) => run.instants.ns(number);
  const whole = ns(Math.min(to, run.end)) - ns(from);
  const ran = parts.reduce((sum, [begin, end]) => sum + ns(end) - ns(begin), 0n);
  if (ran === whole) return [];
  const turns = run.kernelOf(id) || run.turns?.hasCopies ? ` in turns of ${run.processes[run.processOf(id)]}` : "";
  const last = parts.length > 0 ? parts.at(-1)[1] : from;
  const pauses = Math.max(0, parts.length - 1) + (last < Math.min(to, run.end) ? 1 : 0);
  return [`ran for ${formatTime(ran)}${turns}, paused ${pauses === 1 ? "once" : `${pauses} times`} for ${formatTime(whole - ran)} in all`];
}
