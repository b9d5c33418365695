// Draws what is visible.

/** Boxes that are narrower or lower than this have neither hatch nor outline [pixels]. */
const SMALL = 6;
const FADED = 0.13;
/** However little a block takes, it is drawn this high [pixels]. */
const LEAST_HEIGHT = 1.5;
/** Pixels of a band for each of its blocks below which it shows how many there are; it does in any case if blocks are
 * more than columns of pixels times the other number. */
const LEAST_ROOM = 100;
const MOST_PER_COLUMN = 1.5;
/** Equal blocks that are drawn one by one. */
const MOST_PARTS = 256;
const TINY_FONT = "10px system-ui, sans-serif";
const FONT = "12px system-ui, sans-serif";
const SMALL_FONT = "11px system-ui, sans-serif";
/** Launches, and deadlines that were met, closer than this are a strip: their heads would touch [pixels]. */
const LEAST_APART = 9;
/** Finish times that differ are marked in the figure up to this number of them. */
const MOST_MARKS = 100;

/** Whether a band shows how many blocks there are rather than each of them, which would be hardly seen. */
function isCounted(app, row, range) {
  const { view } = app;
  // Where turns are hardly seen, neither are the parts of blocks in them.
  if (row.run.turns && turnsInView(app, row.run).narrow) return true;
  return row.blocks.countBetween(...range) > view.width * Math.min(MOST_PER_COLUMN, row.height / LEAST_ROOM);
}

/** Places, divided into those that are drawn one by one and the strips of those that are too close. */
function apartOrClose(unsorted) {
  const places = [...unsorted].sort((one, other) => one - other);
  const [apart, strips] = [[], []];
  for (let first = 0, last = 0; first < places.length; first = last + 1) {
    last = first;
    while (last + 1 < places.length && places[last + 1] - places[last] < LEAST_APART) last += 1;
    // Two that touch are still told apart.
    if (last - first < 2) apart.push(...places.slice(first, last + 1));
    else strips.push([places[first], places[last] - places[first]]);
  }
  return { apart, strips };
}

class Painter {
  constructor(app) {
    this.app = app;
    this.context = app.canvas.getContext("2d");
    this.widths = new Map();
  }

  draw() {
    const { app, context } = this;
    const { view, layout, canvas } = app;
    this.scale = canvas.width / app.size.width;
    context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    context.fillStyle = app.colours.page;
    context.fillRect(0, 0, app.size.width, app.size.height);
    this.ticks = this.ticksInView();

    context.save();
    context.beginPath();
    context.rect(0, AXIS_HEIGHT, app.size.width, app.size.height - AXIS_HEIGHT);
    context.clip();
    context.translate(0, AXIS_HEIGHT - app.scroll());
    const bottom = Math.min(layout.height, app.scroll() + app.size.height);
    this.gridLines(app.scroll(), bottom);
    for (const row of layout.between(app.scroll(), app.scroll() + app.size.height)) this.row(row);
    for (const run of app.runs) if (run.chain) drawChain(this, run);
    this.marks();
    this.stills();
    this.hovered();
    drawSelection(this);
    context.restore();
    this.axis();
    this.cursor();
  }

  /** Ticks so far apart that their labels have room. */
  ticksInView() {
    const { view } = this.app;
    this.context.font = SMALL_FONT;
    const most = (room) => Math.max(2, Math.floor(view.width / room));
    const ticks = timeTicks(view.start, view.stop(), most(70));
    const widest = Math.max(0, ...ticks.at.map(([, text]) => this.context.measureText(text).width));
    return widest < 60 ? ticks : timeTicks(view.start, view.stop(), most(widest + 20));
  }

  gridLines(top, bottom) {
    const { app, context } = this;
    context.fillStyle = app.colours.grid;
    for (const [at] of this.ticks.at) context.fillRect(Math.round(app.view.xOf(at)), top, 1, bottom - top);
  }

  row(row) {
    const { app, context } = this;
    const { left, width } = app.view;
    const middle = row.top + row.height / 2;
    context.textBaseline = "middle";
    context.fillStyle = app.colours.ink;
    if (row.kind === "title") {
      context.font = `bold ${FONT}`;
      context.textAlign = "left";
      context.fillText(row.label, 6, middle);
      return;
    }
    context.font = FONT;
    context.textAlign = "right";
    const labelAt = row.kind === "queue" ? row.top + PLACE_HEIGHT / 2 : middle;
    context.fillText(this.shortened(row.label, left - 12), left - 6, labelAt);
    this.scaleMarks(row);
    context.save();
    context.beginPath();
    // A launch at the very beginning has its arrow on the edge.
    const beside = row.kind === "stream" ? 5 : 0;
    context.rect(left - beside, row.top, width + beside, row.height);
    context.clip();
    if (row.kind !== "stream") {
      context.fillStyle = app.colours.band;
      context.fillRect(left, row.top, width, row.height);
    }
    const passes = app.highlight.active ? [true, false] : [false];
    for (const faded of passes) {
      context.globalAlpha = faded ? FADED : 1;
      if (row.kind === "sm") this.blocks(row, faded);
      else if (row.kind === "queue") drawQueue(this, row, faded);
      else if (row.kind === "occupancy") drawOccupancy(this, row);
      else if (row.kind === "core") drawCore(this, row);
      else if (row.kind === "turns") {
        if (!faded) drawTurns(this, row);
      }
      else this.operations(row, faded);
    }
    context.globalAlpha = 1;
    if (row.kind === "stream") {
      drawWaits(this, row);
      this.deadlines(row);
    }
    if (row.kind === "sm") this.overfull(row);
    context.restore();
    context.strokeStyle = app.colours.frame;
    context.lineWidth = 1;
    if (row.kind !== "stream") context.strokeRect(left + 0.5, row.top + 0.5, width - 1, row.height - 1);
  }

  /** Beside a band that is high enough: what its height stands for. */
  scaleMarks(row) {
    const { app, context } = this;
    if (row.height < 34 || !["sm", "occupancy"].includes(row.kind)) return;
    const full = row.kind === "sm" ? row.blocks.heightText(row.run, app.resource) : "100 %";
    context.font = TINY_FONT;
    context.fillStyle = app.colours.quiet;
    context.fillText(full, app.view.left - 6, row.top + 6);
    context.fillText("0", app.view.left - 6, row.top + row.height - 6);
  }

  /** A line at what an SM has, where more than that is taken. */
  overfull(row) {
    const { app, context } = this;
    const { overfull } = row.blocks.places[app.resource];
    if (overfull === null) return;
    const y = row.top + row.height * (1 - row.run.resource(app.resource).capacity / overfull);
    context.strokeStyle = app.colours.accent;
    context.lineWidth = 1.5;
    context.setLineDash([6, 3]);
    context.beginPath();
    context.moveTo(app.view.left, y);
    context.lineTo(app.view.left + app.view.width, y);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = app.colours.accent;
    context.font = TINY_FONT;
    context.textAlign = "left";
    context.fillText("more than the SM has", app.view.left + 4, Math.max(row.top + 6, y - 6));
  }

  /** The text, shortened in its middle to what fits: names often differ at their ends. */
  shortened(text, room) {
    if (this.widthOf(text) <= room) return text;
    for (let kept = text.length - 1; kept > 1; kept -= 1) {
      const short = `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(text.length - Math.floor(kept / 2))}`;
      if (this.context.measureText(short).width <= room) return short;
    }
    return "";
  }

  /** Blocks of one SM, those that are faded or those that are not; where they are many, how many. */
  blocks(row, faded) {
    const { app } = this;
    const { run, blocks } = row;
    const { view, fills, theme, resource } = app;
    const { instants } = run;
    const { what } = run.operations;
    const isFaded = app.highlight.faded(run);
    const [from, to] = view.range(instants);
    if (isCounted(app, row, [from, to])) {
      // All of them at once.
      if (!faded) drawCounts(this, row, from, to);
      return;
    }
    const unit = row.height / blocks.unitsOf(run, resource);
    const bottom = row.top + row.height;
    const right = view.left + view.width;
    const small = new Map();
    const smallWaits = [];
    const pauses = [];
    const placeOf = (start, end) => {
      const x = Math.max(view.left - 4, view.x(instants, start));
      return [x, Math.min(right + 4, view.x(instants, end)) - x];
    };
    const draw = (position, start, end) => {
      const id = blocks.operation[position];
      const stands = run.standsOf(blocks, position).filter((stand) => stand.from < end && stand.to > start);
      const waits = stands.map((stand) => placeOf(Math.max(start, stand.from), Math.min(end, stand.to)));
      const [x, width] = placeOf(start, end);
      const kernel = run.kernels[what[id]];
      for (const [low, high] of blocks.partsOf(run, position, resource)) {
        // However little a block takes, it is seen.
        const height = Math.max(LEAST_HEIGHT, (high - low) * unit);
        const area = [x, Math.max(row.top, Math.min(bottom - high * unit, bottom - height)), Math.max(1, width), height];
        const count = blocks.blocks[position];
        const [columns, rows] = [blocks.times[position], high - low > 0 ? count : 1];
        const isLarge = area[2] / columns >= SMALL && area[3] / rows >= SMALL;
        if (isLarge && columns * rows > 1 && columns * rows < MOST_PARTS) this.parts(area, columns, rows, kernel.title, waits);
        else if (area[2] >= SMALL && area[3] >= SMALL) {
          this.box(area, kernel.title, () => blockLabels(blocks, kernel, position), waits);
          continue;
        }
        if (small.has(kernel.title)) small.get(kernel.title).push(area);
        else small.set(kernel.title, [area]);
        for (const [from, length] of waits) smallWaits.push([kernel.title, [from, area[1], length, area[3]]]);
      }
    };
    blocks.between(from, to, (position) => {
      const id = blocks.operation[position];
      if ((isFaded[id] === 1) !== faded) return;
      const [start, end] = [blocks.start[position], blocks.end[position]];
      const parts = run.partsOf(id, start, end);
      if (!parts) {
        draw(position, start, end);
        return;
      }
      for (const [begin, until] of parts) if (until >= from && begin <= to) draw(position, begin, until);
      const [low, high] = blocks.partsOf(run, position, resource)[0];
      pauses.push(...pausesOf(this, run, id, [start, end], parts, [bottom - high * unit, (high - low) * unit]));
    });
    for (const [title, areas] of small) {
      this.context.fillStyle = fills.small(title, theme);
      for (const area of areas) this.context.fillRect(...area);
    }
    for (const [title, area] of smallWaits) this.plain(area, fills.waiting(title, theme).background);
    drawPauses(this, pauses);
  }

  /** Blocks that do the same, each with its box. */
  parts([x, y, width, height], columns, rows, title, waits) {
    for (let column = 0; column < columns; column += 1) {
      for (let line = 0; line < rows; line += 1) {
        const area = [x + (width * column) / columns, y + (height * line) / rows, width / columns, height / rows];
        this.box(area, title, () => [title], waits);
      }
    }
  }

  /** A box with a hatch, an outline, and what fits of its labels; where it waits for others, which is from and as far as
   * `waits` say, dark with dots. */
  box([x, y, width, height], title, labels, waits = []) {
    const { context, app } = this;
    context.fillStyle = app.fills.large(context, title, app.theme, this.scale);
    context.fillRect(x, y, width, height);
    context.strokeStyle = app.colours.outline;
    context.lineWidth = 0.75;
    context.strokeRect(x + 0.375, y + 0.375, width - 0.75, height - 0.75);
    context.fillStyle = app.fills.hatched(context, app.fills.waiting(title, app.theme), this.scale);
    for (const [from, length] of waits) {
      context.fillRect(from, y, length, height);
      context.strokeRect(from + 0.375, y + 0.375, length - 0.75, height - 0.75);
    }
    const [left, right] = [Math.max(x, app.view.left), Math.min(x + width, app.view.left + app.view.width)];
    if (right - left < 14 || height < 13) return;
    context.font = SMALL_FONT;
    const text = [...labels(), app.fills.again(title)].find((label) => this.widthOf(label) + 8 <= right - left);
    if (!text) return;
    const middle = [(left + right) / 2, y + height / 2];
    context.fillStyle = app.fills.fill(title, app.theme).background;
    context.fillRect(middle[0] - this.widthOf(text) / 2 - 2, middle[1] - 6, this.widthOf(text) + 4, 12);
    context.fillStyle = app.colours.label;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(text, middle[0], middle[1] + 0.5);
  }

  widthOf(text) {
    if (this.widths.size > 10000) this.widths.clear();
    if (!this.widths.has(text)) this.widths.set(text, this.context.measureText(text).width);
    return this.widths.get(text);
  }

  /** Copies of one engine, or what ran of one stream and when it was launched. */
  operations(row, faded) {
    const { app, context } = this;
    const { run } = row;
    const { view } = app;
    const { first_start: firstStart } = run.operations;
    const isFaded = app.highlight.faded(run);
    const right = view.left + view.width;
    // The outline of what reaches beyond the edge is outside; a stream's row is not clipped there.
    const beside = row.kind === "stream" ? 0 : 4;
    let drawnTo = -1;
    let arrowAt = -1;
    const arrows = [];
    for (const id of row.ids) {
      if ((isFaded[id] === 1) !== faded) continue;
      // When records and waits were submitted was not recorded.
      if (row.kind === "stream" && (!run.blocks_only || firstStart[id] !== NONE)) {
        const at = view.x(run.instants, run.operations.launched[id]);
        if (at >= view.left - 6 && at <= right + 6 && Math.floor(at) !== arrowAt) {
          arrowAt = Math.floor(at);
          arrows.push(arrowAt);
        }
      }
      if (firstStart[id] === NONE) continue;
      const x = Math.max(view.left - beside, view.x(run.instants, firstStart[id]));
      const end = Math.min(right + 4, view.x(run.instants, run.endOf(id)));
      if (x > right || end < view.left || Math.max(end, x + 1) <= drawnTo) continue;
      drawnTo = Math.floor(Math.max(end, x + 1));
      const [top, height] = row.kind === "stream" ? [row.top + row.height - RUNNING, RUNNING - 2] : [row.top + 2, row.height - 4];
      const parts = arePausesSeen(app, run) ? run.partsOf(id, firstStart[id], run.endOf(id)) : null;
      if (!parts) {
        this.operation(run, id, [x, top, Math.max(1, end - x), height]);
        continue;
      }
      for (const [begin, until] of parts) {
        const from = Math.max(view.left - beside, view.x(run.instants, begin));
        const to = Math.min(right + 4, view.x(run.instants, until));
        if (from <= right && to >= view.left) this.operation(run, id, [from, top, Math.max(1, to - from), height]);
      }
      drawPauses(this, pausesOf(this, run, id, [firstStart[id], run.endOf(id)], parts, [top, height]));
    }
    this.arrows(arrows, row.top);
    context.globalAlpha = 1;
  }

  /** What ran in a stream or on a copy engine. */
  operation(run, id, area) {
    const { app } = this;
    if (run.kernelOf(id)) {
      if (area[2] >= SMALL) this.box(area, run.title(id), () => [run.title(id)]);
      else this.plain(area, app.fills.small(run.title(id), app.theme));
    } else this.plain(area, app.colours.copy[run.copyOf(id)?.direction] ?? app.colours.frame);
  }

  plain(area, colour) {
    this.context.fillStyle = colour;
    this.context.fillRect(...area);
  }

  /** Launches; where they are too close to be told apart, a strip. */
  arrows(places, top) {
    const { context, app } = this;
    const { apart, strips } = apartOrClose(places);
    for (const [x, width] of strips) this.plain([x, top + 6, width, 3], app.colours.quiet);
    context.fillStyle = app.colours.ink;
    context.beginPath();
    for (const x of apart) {
      context.moveTo(x - 4, top + 9);
      context.lineTo(x + 4, top + 9);
      context.lineTo(x, top + 1);
      context.closePath();
    }
    context.fill();
  }

  /** Deadlines: arrows downwards, crossed out where missed. Of several on one pixel a missed one is drawn; met ones too
   * close to be told apart are a strip. */
  deadlines(row) {
    const { app } = this;
    const { run } = row;
    const places = new Map();
    for (const job of run.deadlinesByStream.get(row.stream) ?? []) {
      const x = Math.floor(app.view.xOf(run.dueNs[job]));
      if (x < app.view.left - 6 || x > app.view.left + app.view.width + 6) continue;
      places.set(x, places.get(x) || run.deadlines.missed[job]);
    }
    const at = (missed) => [...places.keys()].filter((x) => places.get(x) === missed);
    const { apart, strips } = apartOrClose(at(false));
    for (const [x, width] of strips) this.plain([x, row.top + 1, width, 3], app.colours.quiet);
    for (const x of apart) this.deadline(x, row.top, row.top + row.height, false);
    for (const x of at(true)) this.deadline(x, row.top, row.top + row.height, true);
  }

  deadline(x, top, bottom, missed) {
    const { context, app } = this;
    context.strokeStyle = missed ? app.colours.accent : app.colours.ink;
    context.fillStyle = missed ? app.colours.accent : app.colours.page;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, bottom - 8);
    if (missed) {
      context.moveTo(x - 4, top + 3);
      context.lineTo(x + 4, top + 11);
      context.moveTo(x + 4, top + 3);
      context.lineTo(x - 4, top + 11);
    }
    context.stroke();
    context.beginPath();
    context.moveTo(x - 4, bottom - 8);
    context.lineTo(x + 4, bottom - 8);
    context.lineTo(x, bottom - 1);
    context.closePath();
    context.fill();
    context.stroke();
  }

  /** When the same kernel finished in both runs, where that differs. */
  marks() {
    const { app, context } = this;
    const differing = app.differences();
    if (differing.length > MOST_MARKS) return;
    context.fillStyle = app.colours.accent;
    // On both sides in rows of one kind.
    const kind = app.runs.some((run) => run.byStream) ? "stream" : "sm";
    app.runs.forEach((run, index) => {
      const rows = app.layout.rows.filter((row) => row.run === run && row.kind === kind);
      if (rows.length === 0) return;
      const [top, last] = [rows[0], rows[rows.length - 1]];
      for (const finish of differing) {
        const x = app.view.xOf(BigInt(index === 0 ? finish.upper_ns : finish.lower_ns));
        if (x >= app.view.left) context.fillRect(x - 1, top.top, 2, last.top + last.height - top.top);
      }
    });
  }

  /** An outline around the block under the pointer. */
  hovered() {
    const { app, context } = this;
    if (app.hover?.kind !== "block") return;
    const { row, position } = app.hover;
    const { run, blocks } = row;
    const unit = row.height / blocks.unitsOf(run, app.resource);
    const parts = blocks.partsOf(run, position, app.resource);
    const x = Math.max(app.view.left, app.view.x(run.instants, blocks.start[position]));
    const end = Math.min(app.view.left + app.view.width, app.view.x(run.instants, blocks.end[position]));
    context.strokeStyle = app.colours.accent;
    context.lineWidth = 2;
    for (const [low, high] of parts) {
      context.strokeRect(x, row.top + row.height - high * unit, Math.max(2, end - x), Math.max(2, (high - low) * unit));
    }
  }

  /** Where runs end that stand still: nothing happens from there on. */
  stills() {
    const { app, context } = this;
    for (const run of app.runs.filter(({ still_until: until }) => until !== undefined)) {
      const rows = app.layout.rows.filter((row) => row.run === run);
      const x = Math.round(app.view.xOf(run.endNs()));
      if (rows.length === 0 || x < app.view.left || x > app.view.left + app.view.width) continue;
      const [first, last] = [rows[0], rows[rows.length - 1]];
      this.plain([x, first.top, 1.5, last.top + last.height - first.top], app.colours.accent);
    }
  }

  axis() {
    const { app, context } = this;
    const { view } = app;
    context.fillStyle = app.colours.page;
    context.fillRect(0, 0, app.size.width, AXIS_HEIGHT);
    context.fillStyle = app.colours.frame;
    context.fillRect(view.left, AXIS_HEIGHT - 1, view.width, 1);
    context.font = SMALL_FONT;
    context.textBaseline = "middle";
    context.fillStyle = app.colours.ink;
    context.textAlign = "right";
    const unit = view.left < 90 ? `[${this.ticks.unit}]` : `time [${this.ticks.unit}]`;
    context.fillText(unit, view.left - 12, AXIS_HEIGHT / 2);
    for (const [at, text] of this.ticks.at) {
      const x = Math.round(view.xOf(at));
      context.fillRect(x, AXIS_HEIGHT - 5, 1, 5);
      const half = this.context.measureText(text).width / 2;
      context.textAlign = "center";
      context.fillText(text, Math.max(view.left + half - 8, Math.min(x, app.size.width - half - 1)), AXIS_HEIGHT / 2);
    }
  }

  cursor() {
    const { app, context } = this;
    const { view } = app;
    if (app.cursor.ns === null) return;
    const x = view.xOf(app.cursor.ns);
    if (x < view.left - 1 || x > view.left + view.width + 1) return;
    context.fillStyle = app.cursor.pinned ? app.colours.accent : app.colours.ink;
    context.fillRect(Math.round(x) - (app.cursor.pinned ? 1 : 0), 0, app.cursor.pinned ? 2 : 1, app.size.height);
  }
}
