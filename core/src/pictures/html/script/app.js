// What is shown: runs, view, cursor, highlights, what was found, and when it is drawn again.

const ZOOM_STEP = 1.4;
const PAN_STEP = 0.15;
/** How much higher SMs are made at once, and at most in all. */
const STRETCH_STEP = 2;
const MOST_STRETCH = 32;
/** A click this near to an instant at which something happened means that instant [pixels]. */
const SNAP = 4;
/** With so much room for the figure and what is told beside it, both are there at first [pixels]. */
const ROOM_FOR_DETAILS = 1200;
/** Narrower than this, what is told stands below the figure, as the style sheet has it [pixels]. */
const NARROW = 760;
/** Width of the figure on paper [CSS pixels]. */
const PRINT_WIDTH = 1000;

/** Which kernels, streams and processes stand out; everything else is pale. */
class Highlight {
  constructor() {
    this.clear();
  }

  get active() {
    return Object.values(this.names).some((names) => names.size > 0);
  }

  has(kind, name) {
    return this.names[kind].has(name);
  }

  toggle(kind, name) {
    if (!this.names[kind].delete(name)) this.names[kind].add(name);
    this.byRun.clear();
  }

  clear() {
    this.names = { kernel: new Set(), stream: new Set(), process: new Set() };
    this.byRun = new Map();
  }

  /** For each operation of a run 1 if it is pale. */
  faded(run) {
    if (!this.byRun.has(run)) {
      const faded = new Uint8Array(run.operationCount);
      for (let id = 0; this.active && id < run.operationCount; id += 1) {
        const names = [["kernel", run.title(id)], ["stream", run.streamOf(id).name], ["process", run.processes[run.processOf(id)]]];
        const chosen = names.some(([kind, name]) => this.has(kind, name));
        faded[id] = chosen ? 0 : 1;
      }
      this.byRun.set(run, faded);
    }
    return this.byRun.get(run);
  }
}

/** Black or white, whichever is read better on a colour. */
function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  const light = [red, green, blue].map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.18 ? "#000000" : "#ffffff";
}

class App {
  constructor(data) {
    /** What the height of a band stands for. */
    this.resource = "threads";
    this.highlight = new Highlight();
    this.stretch = 1;
    this.canvas = document.getElementById("figure");
    this.scroller = document.getElementById("scroller");
    this.size = { width: 1, height: 1 };
    this.painter = new Painter(this);
    this.waiting = { frame: false, state: false };
    this.cursor = { ns: null, pinned: false };
    this.details = document.querySelector("aside").offsetWidth + this.scroller.offsetWidth >= ROOM_FOR_DETAILS;
    this.readTheme();
    this.take(data);
  }

  /** Whether what was asked for is told beside the figure. */
  get details() {
    return !document.body.classList.contains("alone");
  }

  set details(isShown) {
    document.body.classList.toggle("alone", !isShown);
    document.querySelector("[data-act=details]").setAttribute("aria-pressed", String(isShown));
  }

  /** Takes runs in place of those that were shown before: what is seen of the time, cursor and highlights stay. */
  take(data) {
    clock.origin = BigInt(data.origin_ns);
    this.runs = data.runs;
    this.finishes = data.finishes;
    this.notes = data.notes;
    this.fills = new Fills(data.palette, data.runs);
    this.rules = new Map(data.rules.map((rule) => [rule.name, rule]));
    /** The operation that is explained, with its run. */
    this.selected = null;
    this.highlight.byRun.clear();
    this.layout = new Layout(this.runs);
    this.view = View.like(this.view, this.lastEnd());
    if (this.cursor.ns > this.view.end) this.cursor = { ns: null, pinned: false };
    if (!this.resources().includes(this.resource)) this.resource = "threads";
    this.hover = null;
    this.found = [];
    this.match = -1;
  }

  /** How a rule is filled, and the colour of text on it. */
  ruleLook(name) {
    const fill = this.rules.get(name)[this.theme];
    return { fill, ink: inkOn(fill.background) };
  }

  lastEnd() {
    // Blocks may reach beyond the end of a run that was cut off.
    const ends = this.runs.map((run) => run.shownNs());
    return ends.reduce((last, end) => (end > last ? end : last), 0n);
  }

  differences() {
    return this.finishes.filter((finish) => finish.upper_ns !== finish.lower_ns);
  }

  scroll() {
    return this.scroller.scrollTop;
  }

  readTheme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    this.theme = dark ? "dark" : "light";
    const probe = document.getElementById("figure");
    const colour = (name) => {
      probe.style.color = `var(--${name})`;
      return getComputedStyle(probe).color;
    };
    const names = ["page", "ink", "quiet", "band", "frame", "grid", "outline", "label", "accent"];
    this.colours = Object.fromEntries(names.map((name) => [name, colour(name)]));
    this.colours.copy = { "host-to-device": colour("copy-in"), "device-to-host": colour("copy-out"), "device-to-device": colour("copy-within") };
  }

  /** Draws at the next frame; with `state`, also tells the state at the cursor anew. */
  invalidate(state = false) {
    this.waiting.state ||= state;
    if (this.waiting.frame) return;
    this.waiting.frame = true;
    requestAnimationFrame(() => {
      this.waiting.frame = false;
      this.painter.draw();
      if (this.waiting.state) showState(this);
      this.waiting.state = false;
    });
  }

  resize() {
    const width = this.printing ? PRINT_WIDTH : this.scroller.clientWidth;
    // It is not to be seen.
    if (width === 0) return;
    const height = this.printing ? this.printedHeight() : this.scroller.clientHeight;
    // A page around it may show it larger than it is.
    const magnified = Number(document.documentElement.dataset.magnified ?? 1);
    const scale = this.printing ? 2 : (window.devicePixelRatio || 1) * magnified;
    this.size = { width, height };
    [this.canvas.width, this.canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.layout.resize(height - AXIS_HEIGHT, this.stretch);
    document.getElementById("room").style.height = `${Math.max(0, this.layout.height + AXIS_HEIGHT - height)}px`;
    const left = Math.min(110, Math.max(76, width * 0.12));
    this.view.resize(left, width - left - 10);
    // A new size clears the canvas: at the next frame would be too late for this one.
    this.painter.draw();
  }

  /** As much as the rows need, up to a page. */
  printedHeight() {
    this.layout.resize(PRINT_WIDTH / 2, 1);
    return Math.min(PRINT_WIDTH * 1.2, this.layout.height + AXIS_HEIGHT);
  }

  /** Makes SMs higher or lower; what is in the middle of the window stays there. */
  stretchBy(factor) {
    const middle = (this.scroll() + this.size.height / 2) / this.layout.height;
    this.stretch = Math.min(MOST_STRETCH, Math.max(1, this.stretch * factor));
    this.resize();
    this.scroller.scrollTop = middle * this.layout.height - this.size.height / 2;
  }

  setCursor(ns, pinned) {
    this.cursor = { ns, pinned };
    const field = document.getElementById("time");
    if (document.activeElement !== field) field.value = ns === null ? "" : formatInstant(ns);
    this.invalidate(true);
  }

  /** Moves the cursor to the next or the previous instant at which something happened. */
  step(direction) {
    const from = this.cursor.ns ?? this.view.start;
    const candidates = this.runs.map(({ instants }) => {
      const last = instants.lastAt(direction > 0 ? from : from - 1n);
      const number = direction > 0 ? last + 1 : last;
      return number >= 0 && number < instants.count ? instants.ns(number) : null;
    });
    const known = candidates.filter((ns) => ns !== null && ns <= this.view.end);
    if (known.length === 0) return;
    const next = known.reduce((best, ns) => ((direction > 0 ? ns < best : ns > best) ? ns : best));
    if (next < this.view.start || next > this.view.stop()) this.view.moveTo(next, -this.view.span / 2);
    this.setCursor(next, true);
  }

  /** The time at a place, or the nearest instant at which something happened if that is as good as there. */
  snapped(x) {
    const at = this.view.timeAt(x);
    let best = at;
    let least = SNAP;
    for (const { instants } of this.runs) {
      const last = instants.lastAt(at);
      for (const number of [last, last + 1]) {
        if (number < 0 || number >= instants.count) continue;
        const away = Math.abs(this.view.x(instants, number) - x);
        if (away <= least) [best, least] = [instants.ns(number), away];
      }
    }
    return best;
  }

  toggleHighlight(kind, name) {
    this.highlight.toggle(kind, name);
    showLegend(this);
    this.invalidate();
  }

  show(from, to) {
    this.view.show(from, to);
    this.setCursor(to, true);
  }

  search(text) {
    this.found = search(this.runs, text);
    this.match = -1;
    showFound(this, this.found);
  }

  /** Explains an operation, beside the figure. */
  select(run, id) {
    this.selected = { run, id };
    showSelected(this);
    if (!this.details && innerWidth > NARROW) {
      this.details = true;
      // The figure is narrower from now on, so that something else is under the pointer.
      this.forgetHover();
    }
    this.invalidate();
  }

  /** Explains the next or the previous operation in launch order, and brings it into view. */
  selectNext(direction) {
    const { run = this.runs.find((other) => !other.blocks_only) ?? this.runs[0], id = direction > 0 ? -1 : 0 } = this.selected ?? {};
    if (run.operationCount === 0) return;
    const next = (id + direction + run.operationCount) % run.operationCount;
    const [from, to] = [run.instants.ns(run.operations.launched[next]), run.instants.ns(run.endOf(next))];
    if (from < this.view.start || to > this.view.stop()) this.view.show(from, to);
    this.select(run, next);
  }

  /** What heights of bands may stand for: that of which blocks take some, where their places are known. */
  resources() {
    const runs = this.runs.filter((run) => !run.byStream);
    const known = (name) => runs.every((run) => run.sms.every((blocks) => blocks.places[name]));
    return this.runs[0].device.resources.map(({ key }) => key).filter((name) => name === "threads" || (known(name) && runs.some((run) => run.sms.length > 0)));
  }

  /** Lets heights of bands stand for the next resource. */
  nextResource() {
    const known = this.resources();
    this.resource = known[(known.indexOf(this.resource) + 1) % known.length];
    showResource(this);
    this.invalidate();
  }

  /** Shows a found operation from its launch to its end. */
  showMatch(index) {
    if (this.found.length === 0) return;
    this.match = (index + this.found.length) % this.found.length;
    const { run, id } = this.found[this.match];
    const { launched, first_start: firstStart } = run.operations;
    const launch = run.instants.ns(launched[id]);
    const start = firstStart[id] === NONE ? launch : run.instants.ns(firstStart[id]);
    this.highlight.clear();
    this.highlight.toggle("kernel", run.title(id));
    showLegend(this);
    this.view.show(launch, run.instants.ns(run.endOf(id)));
    this.select(run, id);
    this.setCursor(start, true);
  }

  clear() {
    this.highlight.clear();
    this.selected = null;
    showLegend(this);
    showSelected(this);
    this.setCursor(null, false);
  }

  /** For paper: light, and all of the figure as far as a page holds it. */
  print(isPrinting) {
    if (isPrinting) this.beforePrint = document.documentElement.dataset.theme ?? "";
    document.documentElement.dataset.theme = isPrinting ? "light" : this.beforePrint;
    this.printing = isPrinting;
    this.readTheme();
    showRules(this);
    this.resize();
  }

  forgetHover() {
    this.hover = null;
    showTip(this, 0, 0);
    this.invalidate();
  }

  toggleTheme() {
    document.documentElement.dataset.theme = this.theme === "dark" ? "light" : "dark";
    this.themeChanged();
  }

  themeChanged() {
    this.readTheme();
    showLegend(this);
    showSelected(this);
    showRules(this);
    this.invalidate();
  }

  /** What a key or a button of that name does. */
  act(name) {
    const middle = this.view.left + this.view.width / 2;
    const actions = {
      "zoom-in": () => this.view.zoom(1 / ZOOM_STEP, middle),
      "zoom-out": () => this.view.zoom(ZOOM_STEP, middle),
      fit: () => this.view.fit(),
      higher: () => this.stretchBy(STRETCH_STEP),
      lower: () => this.stretchBy(1 / STRETCH_STEP),
      left: () => this.view.pan(-PAN_STEP),
      right: () => this.view.pan(PAN_STEP),
      next: () => this.step(1),
      previous: () => this.step(-1),
      height: () => this.nextResource(),
      "next-operation": () => this.selectNext(1),
      "previous-operation": () => this.selectNext(-1),
      details: () => (this.details = !this.details),
      tables: () => document.getElementById("report").scrollIntoView({ behavior: "smooth" }),
      theme: () => this.toggleTheme(),
      help: () => document.getElementById("help").showModal(),
      find: () => document.getElementById("search").focus(),
      clear: () => this.clear(),
    };
    actions[name]();
    // It is no longer where it was.
    this.forgetHover();
  }
}
