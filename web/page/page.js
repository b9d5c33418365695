// The page: what is shown follows from the file and what is set beside it, and is made anew when either changes.

const FIRST = "rtss2017/figure-3.json";
/** Characters of a file that are shown as text. */
const MOST_TEXT = 2_000_000;
/** After which time a run is said to be under way, and can be stopped [ms]. */
const SOON = 300;
/** How long nothing is typed before the address and the analysis follow [ms]. */
const QUIET = 350;

class Page {
  constructor(module, scenarios) {
    this.scenarios = new Map(scenarios);
    this.timeline = new Engine(module);
    this.analysis = new Engine(module);
    this.editor = new Editor(() => {
      this.content = null;
      this.remark = null;
      this.changed();
    });
    this.settings = new Settings(() => this.changed());
    this.frame = byId("timeline");
    /** How many times the timeline was drawn, and how long the last time took from the change on [ms]. */
    this.drawn = 0;
    this.drawnIn = null;
    this.listen();
  }

  listen() {
    const offered = [...this.scenarios.keys()].map((name) => element("option", name, { value: name }));
    byId("scenario").replaceChildren(element("option", "own", { value: "" }), ...offered);
    byId("scenario").addEventListener("change", (event) => event.target.value && this.open(event.target.value));
    byId("open").addEventListener("click", () => byId("file").click());
    byId("file").addEventListener("change", (event) => {
      this.take(event.target.files);
      event.target.value = "";
    });
    byId("stop").addEventListener("click", () => this.stop());
    byId("again").addEventListener("click", () => this.changed());
    byId("share").addEventListener("click", () => this.share());
    for (const button of document.querySelectorAll("[data-download]")) {
      button.addEventListener("click", () => this.download(button.dataset.download));
    }
    byId("message").addEventListener("click", () => this.wrong && this.editor.go(this.wrong.line, this.wrong.column ?? 1));
    window.addEventListener("hashchange", () => location.hash.slice(1) !== this.address && this.restore());
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
      this.take(event.dataTransfer.files);
    });
  }

  /** Opens a shipped scenario. */
  open(name) {
    this.settings.asked = {};
    this.put(name.split("/").pop(), encoder.encode(this.scenarios.get(name)));
  }

  /** Opens a file of the user's. */
  async take(files) {
    if (files.length === 0) return;
    if (files.length > 1) {
      this.refuse({ message: `these are ${files.length} files; the page takes one at a time` });
      return;
    }
    const [file] = files;
    let bytes;
    try {
      bytes = new Uint8Array(await file.arrayBuffer());
    } catch (error) {
      // A folder, or what is gone meanwhile.
      this.refuse({ message: `cannot read ${file.name}: ${error.message}` });
      return;
    }
    this.settings.asked = {};
    this.put(file.name, bytes);
  }

  put(file, bytes) {
    this.file = file;
    this.remark = null;
    let text = null;
    if (bytes.length <= MOST_TEXT) {
      try {
        text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
      } catch {
        // It is compressed, or no text.
      }
    }
    if (text === null || text.includes("\r")) {
      // Not as it was once it is in the editor.
      this.content = bytes;
      if (text === null) this.editor.refuse(`${file}: ${bytes.length} bytes, which cannot be edited here`);
      else this.editor.value = text;
    } else {
      this.content = null;
      this.editor.value = text;
    }
    this.changed();
  }

  /** Makes everything anew. */
  async changed() {
    const begin = performance.now();
    clearTimeout(this.later);
    const content = this.content ?? encoder.encode(this.editor.value);
    this.question = { content, settings: { file: this.file, ...this.settings.asked } };
    byId("scenario").value = this.shipped() ?? "";
    byId("command").textContent = this.settings.command(this.file);
    this.stopped = null;
    byId("again").hidden = true;
    this.isBusy = true;
    const isFirst = !this.frame.contentWindow?.gpusched;
    const wants = ["outline", isFirst ? "html" : "data", "tables"];
    const question = this.question;
    const whole = await this.timeline.ask({ ...question, wants }, (answer) => this.hear(answer, begin));
    if (this.question !== question) return;
    this.isBusy = false;
    this.later = setTimeout(() => this.follow(question, whole), QUIET);
  }

  /** What needs not be at once. */
  async follow(question, whole) {
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
      this.said = `${outline.name}: ${outline.blocks} blocks on ${outline.device}, ${outline.placement} placement`;
    } else if (want === "html") {
      this.load(decoder.decode(bytes), begin);
    } else if (want === "data") {
      this.frame.contentWindow.gpusched.show(decoder.decode(bytes));
      this.wasDrawn(begin);
      this.said += `; drawn in ${Math.round(performance.now() - begin)} ms`;
    } else {
      byId("simulated").replaceChildren(...rendered(decoder.decode(bytes)));
    }
  }

  /** Loads a timeline, which takes the data of all later runs. */
  load(html, begin) {
    this.frame.srcdoc = html;
    this.frame.addEventListener("load", () => {
      this.listenToDrops(this.frame.contentWindow);
      this.wasDrawn(begin);
    }, { once: true });
  }

  wasDrawn(begin) {
    requestAnimationFrame(() => {
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
    place.replaceChildren(...rendered(text.slice(end)), ...noted(notes));
  }

  /** Shows what is wrong, if anything is; what was drawn before stays, pale. */
  refuse(refusal, isBroken = false) {
    const message = byId("message");
    message.hidden = refusal === null;
    const [said, ...excerpt] = (refusal ? (isBroken ? refusal.message : `error: ${refusal.message}`) : "").split("\n");
    message.replaceChildren(element("p", said), ...(excerpt.length > 0 ? ["\n", element("pre", excerpt.join("\n"))] : []));
    // It may be of a device file, whose lines are not shown.
    this.wrong = refusal?.line && refusal.file === this.file ? refusal : null;
    this.editor.mark(this.wrong?.line ?? null);
    byId("output").classList.toggle("stale", refusal !== null);
    if (refusal) this.said = isBroken ? "the run broke; the page goes on" : "not simulated";
    if (refusal) byId("analysed").replaceChildren();
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
    if (byId("status").textContent !== text) byId("status").textContent = text;
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

  /** The name under which what is shown is shipped, if nothing was changed in it. */
  shipped() {
    const text = this.editor.value;
    const same = [...this.scenarios].find(([name, own]) => name.endsWith(`/${this.file}`) && own === text);
    return same && !this.content ? same[0] : null;
  }

  /** All that is set. */
  get state() {
    const shipped = this.shipped();
    const content = shipped ? { shipped } : this.content ? { bytes: toBase64(this.content) } : { text: this.editor.value };
    const { asked } = this.settings;
    const isSet = (value) => value !== null && Object.keys(value).length > 0;
    return { file: this.file, ...content, ...Object.fromEntries(Object.entries(asked).filter(([, value]) => isSet(value))) };
  }

  async keepAddress() {
    const address = await toAddress(this.state);
    this.isTooLarge = address === null;
    // What is there may be an address that was refused.
    if (address === null || address === location.hash.slice(1)) return;
    this.address = address;
    // Not one step back for each letter typed.
    location.replace(`#${address}`);
  }

  async share() {
    await this.keepAddress();
    const field = byId("share");
    if (this.isTooLarge) {
      field.textContent = "too large for an address";
    } else {
      // Where nothing may be copied the address is still the one to share.
      field.textContent = await navigator.clipboard.writeText(location.href).then(() => "copied", () => "address is above");
    }
    setTimeout(() => (field.textContent = "share"), 2000);
  }

  /** Takes what an address holds. */
  async restore() {
    let state = null;
    let content;
    let wrong = null;
    try {
      state = await fromAddress(location.hash);
      const { shipped, bytes, text } = state ?? {};
      const own = shipped ? this.scenarios.get(shipped) : text;
      content = bytes !== undefined ? fromBase64(bytes) : own !== undefined ? encoder.encode(own) : null;
      if (state !== null && content === null) wrong = `the address names a scenario that this page does not have: ${shipped}`;
    } catch (error) {
      wrong = error instanceof AddressError ? error.message : "the address holds nothing that can be read; was it cut off?";
    }
    if (wrong && this.file) {
      this.refuse({ message: wrong });
      return;
    }
    const { file, shipped: _shipped, bytes: _bytes, text: _text, ...asked } = (!wrong && state) || {};
    this.address = location.hash.slice(1);
    this.settings.asked = asked;
    if (content) this.put(file, content);
    else this.open(FIRST);
    this.remark = wrong;
  }

  /** A file to download, as the worker makes it. */
  async made(kind) {
    const [want, ending, type] = {
      svg: ["svg", "svg", "image/svg+xml"],
      png: ["svg", "png", "image/png"],
      json: ["simulate", "json", "application/json"],
      analysis: ["analyze", "analysis.json", "application/json"],
      html: ["html", "html", "text/html"],
      scenario: ["scenario", "scenario.json", "application/json"],
    }[kind];
    let bytes = null;
    const engine = kind === "analysis" ? this.analysis : this.timeline;
    await engine.ask({ ...this.question, wants: [want] }, (answer) => {
      if (answer.bytes) ({ bytes } = answer);
      else this.refuse(answer.refused ?? { message: `the run broke: ${answer.broken}` }, Boolean(answer.broken));
    });
    if (bytes === null) return null;
    if (kind === "analysis") bytes = bytes.subarray(0, bytes.indexOf(10) + 1);
    const blob = kind === "png" ? await pixels(bytes) : new Blob([bytes], { type });
    return { blob, name: `${this.file.replace(/\.\w+$/, "")}.${ending}` };
  }

  async download(kind) {
    const made = await this.made(kind);
    if (made) save(made.blob, made.name);
  }
}

async function start() {
  const module = await compiledModule();
  const page = new Page(module, JSON.parse(byId("scenarios").textContent));
  // For scripts and tests.
  window.gpusched = { page, Engine, module };
  await page.analysis.ask({ settings: {}, wants: ["choices"] }, ({ bytes }) => {
    const choices = JSON.parse(decoder.decode(bytes));
    page.settings.offer(choices);
    page.editor.schema = new Schema(choices.schema);
  });
  await page.restore();
}

start().catch((error) => {
  byId("status").textContent = `this browser cannot run the page: ${error.message}`;
});
