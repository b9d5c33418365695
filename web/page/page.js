// The page: what is shown follows from what is open and what is set beside it, and is made anew when either changes.

const FIRST = "rtss2017/figure-3.json";
/** After which time a run is said to be under way, and can be stopped [ms]. */
const SOON = 300;
/** How long nothing is typed before the address and the analysis follow [ms]. */
const QUIET = 350;
/** Windows that are narrower than this show one thing at a time [pixels], as the style sheet has it. */
const NARROW = 860;

class Page {
  constructor(module, scenarios) {
    this.timeline = new Engine(module);
    this.analysis = new Engine(module);
    this.editor = new Editor(() => {
      this.opened.content = null;
      this.remark = null;
      this.changed();
    });
    this.settings = new Settings(() => this.changed());
    this.opened = new Opened(this, scenarios);
    this.frame = byId("timeline");
    /** How many times the timeline was drawn, and how long the last time took from the change on [ms]. */
    this.drawn = 0;
    this.drawnIn = null;
    this.splitter = new Splitter();
    this.parts = new Tabs("parts", (panel) => {
      for (const id of ["editor", "changes", "options"]) byId(id).hidden = id !== panel;
    });
    this.views = new Tabs("views", (panel) => this.show(panel));
    this.rules = new Rules(() => this.views.choose("rules"));
    this.presentation = new Presentation(this);
    this.keys = new Keys(this);
    this.parts.choose("editor");
    this.views.choose("timeline");
    this.listen();
  }

  listen() {
    byId("stop").addEventListener("click", () => this.stop());
    byId("again").addEventListener("click", () => this.changed());
    byId("share").addEventListener("click", () => this.share());
    byId("copy").addEventListener("click", () => copyText(byId("copy"), byId("command").textContent, "select it"));
    listenToDownloads(this);
    byId("message").addEventListener("click", () => this.goToMistake());
    window.addEventListener("hashchange", () => location.hash.slice(1) !== this.address && this.restore());
    window.addEventListener("resize", () => innerWidth > NARROW && this.views.panel === "input" && this.views.choose("timeline"));
    this.listenToDrops(window);
    setInterval(() => this.tell(), 100);
  }

  listenToDrops(target) {
    const show = (isShown) => (byId("drop").hidden = !isShown);
    target.addEventListener("dragover", (event) => {
      event.preventDefault();
      show(true);
    });
    target.addEventListener("dragleave", (event) => event.relatedTarget === null && show(false));
    target.addEventListener("drop", (event) => {
      event.preventDefault();
      show(false);
      this.opened.take([...event.dataTransfer.files]);
    });
  }

  /** Opens what the list of scenarios has. */
  open(name) {
    this.opened.open(name);
  }

  /** Shows the timeline, what it tells of waits, or one of the tables; in a wide window the editor is beside it. */
  show(panel) {
    document.body.dataset.view = panel;
    const id = ["waits", "input"].includes(panel) ? "timeline" : panel;
    for (const view of byId("output").children) view.classList.toggle("shown", view.id === id);
    const root = this.frame.contentDocument?.documentElement;
    if (root) root.dataset.view = panel === "waits" ? "report" : "figure";
  }

  /** To the text, in a window that has the editor beside the timeline. */
  goToEditor() {
    this.splitter.isHidden = false;
    this.parts.choose("editor");
    this.editor.text.focus();
  }

  /** Shows the timeline larger, for those who sit further away. */
  magnify(factor) {
    this.magnified = factor;
    const share = `${100 / factor}%`;
    Object.assign(this.frame.style, { width: share, height: share, transform: factor === 1 ? "" : `scale(${factor})` });
    const root = this.frame.contentDocument?.documentElement;
    if (root && factor !== 1) root.dataset.magnified = String(factor);
    else delete root?.dataset.magnified;
  }

  /** A key that the page has no use for is the timeline's. */
  passOn({ key, target }) {
    const isElsewhere = target.closest?.("#input, .tables");
    if (this.views.panel !== "timeline" || isElsewhere) return;
    this.frame.contentDocument?.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
  }

  /** Makes everything anew. */
  async changed() {
    const begin = performance.now();
    clearTimeout(this.later);
    const { opened } = this;
    const question = { content: opened.bytes, settings: { file: opened.file, ...this.settings.asked } };
    this.question = question;
    this.describe();
    this.stopped = null;
    byId("again").hidden = true;
    this.isBusy = true;
    const wants = ["outline", this.frame.contentWindow?.gpusched ? "data" : "html", "tables"];
    const whole = await this.timeline.ask({ ...question, wants }, (answer) => this.hear(answer, begin));
    if (this.question !== question) return;
    this.isBusy = false;
    this.later = setTimeout(() => this.follow(question, whole), QUIET);
  }

  /** What needs not be at once. */
  async follow(question, whole) {
    this.opened.keep();
    this.keepAddress();
    if (!whole) return;
    byId("analysed").setAttribute("aria-busy", "true");
    await this.analysis.ask({ ...question, wants: ["analyze"] }, (answer) => this.hearAnalysis(answer));
    byId("analysed").removeAttribute("aria-busy");
  }

  hear({ want, bytes, refused, broken }, begin) {
    if (refused || broken !== undefined) {
      this.refuse(refused ?? { message: `the run broke: ${broken}` }, broken !== undefined);
      return;
    }
    if (want === "outline") {
      const outline = JSON.parse(decoder.decode(bytes));
      this.refuse(null);
      this.settings.outline(outline);
      this.tool = outline.command;
      this.describe();
      this.title = outline.name;
      this.presentation.named();
      this.said = `${outline.name}: ${outline.blocks} blocks on ${outline.device}, ${outline.placement} placement`;
    } else if (want === "html") {
      this.load(decoder.decode(bytes), begin);
    } else if (want === "data") {
      this.frame.contentWindow.gpusched.show(decoder.decode(bytes));
      this.wasDrawn(begin);
      this.said += `; drawn in ${Math.round(performance.now() - begin)} ms`;
    } else {
      byId("simulated").replaceChildren(...rendered(decoder.decode(bytes), this.rules));
    }
  }

  /** Loads a timeline, which takes the data of all later runs. */
  load(html, begin) {
    // It has no heading of its own here, and its tables are behind a tab.
    this.frame.srcdoc = html.replace("<html ", '<html data-embedded="" ');
    this.frame.addEventListener("load", () => {
      this.listenToDrops(this.frame.contentWindow);
      this.keys.listenIn(this.frame.contentWindow);
      // The figure has all of the room until something is asked for.
      this.frame.contentWindow.gpusched.app.details = false;
      this.show(this.views.panel);
      this.magnify(this.magnified ?? 1);
      this.wasDrawn(begin);
    }, { once: true });
  }

  wasDrawn(begin) {
    requestAnimationFrame(() => {
      if (this.drawn === 0) performance.mark("timeline");
      this.drawn += 1;
      this.drawnIn = performance.now() - begin;
    });
  }

  hearAnalysis({ bytes, refused, broken }) {
    const place = byId("analysed");
    if (refused || broken !== undefined) {
      place.replaceChildren(element("p", refused ? refused.message : `the analysis broke: ${broken}`, { class: "missed" }));
      return;
    }
    const text = decoder.decode(bytes);
    const end = text.indexOf("\n") + 1;
    const { notes } = JSON.parse(text.slice(0, end));
    place.replaceChildren(...rendered(text.slice(end), this.rules), ...noted(notes));
  }

  /** Shows what is wrong, if anything is; what was drawn before stays, pale. */
  refuse(refusal, isBroken = false) {
    const message = byId("message");
    message.hidden = refusal === null;
    const [said, ...excerpt] = (refusal ? (isBroken ? refusal.message : `error: ${refusal.message}`) : "").split("\n");
    message.replaceChildren(element("p", said), ...(excerpt.length > 0 ? ["\n", element("pre", excerpt.join("\n"))] : []));
    // It may be of a device file, whose lines are not shown.
    this.wrong = refusal?.line && refusal.file === this.opened.file ? refusal : null;
    this.editor.mark(this.wrong?.line ?? null);
    byId("output").classList.toggle("stale", refusal !== null);
    if (refusal) this.said = isBroken ? "the run broke; the page goes on" : `not simulated: ${said.replace("error: ", "")}`;
    if (refusal) byId("analysed").replaceChildren();
  }

  goToMistake() {
    if (!this.wrong) return;
    this.parts.choose("editor");
    this.editor.go(this.wrong.line, this.wrong.column ?? 1);
  }

  /** Says what is going on. */
  tell() {
    const now = performance.now();
    const [run, analysis] = [this.timeline.since, this.analysis.since].map((since) => (since === null ? 0 : now - since));
    const isLong = run > SOON || analysis > SOON;
    byId("stop").hidden = !isLong;
    const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
    const doing = run > SOON ? `simulating, ${seconds(run)}` : analysis > SOON ? `${this.said ?? ""}; analysing, ${seconds(analysis)}` : null;
    const text = doing ?? this.stopped ?? [this.remark, this.said].filter(Boolean).join("; ");
    const status = byId("status");
    if (status.textContent !== text) [status.textContent, status.title] = [text, text];
  }

  /** Says what is open, and which command does the same. */
  describe() {
    this.opened.list();
    const { path, isAsShipped, file } = this.opened;
    byId("where").textContent = `The same by the command, where ${isAsShipped ? "the project" : `${file} (download: text)`} is:`;
    byId("command").textContent = commandOf(this.tool ?? "simulate", path, this.settings.options);
  }

  stop() {
    const [run, analysis] = [this.timeline.since, this.analysis.since];
    const seconds = ((performance.now() - (run ?? analysis ?? performance.now())) / 1000).toFixed(1);
    this.timeline.stopAll();
    this.analysis.stopAll();
    clearTimeout(this.later);
    this.stopped = `the ${run === null ? "analysis" : "simulation"} was stopped after ${seconds} s`;
    if (run !== null) byId("output").classList.add("stale");
    byId("again").hidden = false;
    this.tell();
  }

  async keepAddress() {
    const address = await toAddress(this.opened.state);
    this.isTooLarge = address === null;
    // What is there may be an address that was refused.
    if (address === null || address === location.hash.slice(1)) return;
    this.address = address;
    // Not one step back for each letter typed.
    location.replace(`#${address}`);
  }

  async share() {
    await this.keepAddress();
    if (this.isTooLarge) remark(byId("share"), "too large for an address");
    else await copyText(byId("share"), location.href, "address is above");
  }

  /** Takes what an address holds. */
  async restore() {
    let wrong = null;
    try {
      const state = await fromAddress(location.hash, this.settings.known);
      this.address = location.hash.slice(1);
      if (state !== null) {
        this.opened.restore(state);
        return;
      }
    } catch (error) {
      wrong = error instanceof AddressError ? error.message : "the address holds nothing that can be read; was it cut off?";
    }
    if (wrong && this.opened.name !== null) {
      this.refuse({ message: wrong });
      return;
    }
    this.open(FIRST);
    this.remark = wrong;
  }
}

async function start() {
  const compiled = compiledModule();
  const page = new Page(await compiled, JSON.parse(byId("scenarios").textContent));
  // For scripts and tests.
  window.gpusched = { page, Engine, module: await compiled, made: (kind) => made(page, kind) };
  await page.analysis.ask({ settings: {}, wants: ["choices"] }, ({ bytes }) => {
    const choices = JSON.parse(decoder.decode(bytes));
    page.settings.offer(choices);
    page.rules.offer(choices.rules);
    page.presentation.scenes = choices.scenes.map((scene) => ({ ...scene, scenario: scene.scenario.replace("scenarios/", "") }));
    page.editor.schema = new Schema(choices.schema);
  });
  await page.restore();
}

start().catch((error) => {
  byId("status").textContent = `this browser cannot run the page: ${error.message}`;
});
