// Workers that run the module: one question at a time, of those that wait only the last.

/** A run that has taken longer is ended when there is something newer to run [ms]. */
const PATIENCE = 250;

/** The compiled module, from the text of the page. */
async function compiledModule() {
  const place = byId("module");
  const packed = fromBase64(place.textContent.trim());
  place.remove();
  return WebAssembly.compile(await through(new DecompressionStream("gzip"), packed));
}

class Engine {
  constructor(module) {
    this.module = module;
    this.script = URL.createObjectURL(new Blob([byId("worker").textContent], { type: "text/javascript" }));
    this.id = 0;
    this.current = null;
    this.next = null;
    this.worker = null;
  }

  /** Since when it is at work [ms]; null: it is not. */
  get since() {
    return this.current?.begin ?? null;
  }

  /**
   * Asks about a file. `told` hears of each answer: `{want, bytes, ms}`, `{refused}` or `{broken}`. Gives whether all was
   * answered: not if it was stopped, refused, or replaced by another question.
   */
  ask(question, told) {
    this.next?.resolve(false);
    return new Promise((resolve) => {
      this.next = { question, told, resolve };
      if (!this.current) this.begin();
      else if (performance.now() - this.current.begin > PATIENCE) this.stop();
      else this.timer ??= setTimeout(() => this.hurry(), PATIENCE);
    });
  }

  hurry() {
    this.timer = null;
    if (this.current && this.next) this.stop();
  }

  begin() {
    if (!this.next) return;
    this.current = { ...this.next, begin: performance.now() };
    this.next = null;
    this.id += 1;
    const isNew = !this.worker;
    if (isNew) this.start();
    const { content, settings, wants } = this.current.question;
    // A worker keeps the content that it was sent last.
    const known = content === this.content;
    this.content = content;
    this.worker.postMessage({ id: this.id, module: isNew ? this.module : null, content: known ? null : content, settings, wants });
  }

  start() {
    this.content = null;
    this.worker = new Worker(this.script);
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.hear({ id: this.id, broken: event.message });
    };
  }

  hear({ id, done, ...answer }) {
    if (id !== this.id || !this.current) return;
    const { told, resolve } = this.current;
    if (!done) told(answer);
    if (answer.broken !== undefined) this.end();
    if (!done && answer.broken === undefined && !answer.refused) return;
    if (answer.refused) {
      this.refused = true;
      return;
    }
    const isWhole = Boolean(done) && !this.refused;
    this.refused = false;
    this.current = null;
    resolve(isWhole);
    this.begin();
  }

  end() {
    this.worker?.terminate();
    this.worker = null;
  }

  /** Ends what is at work; what waits begins. */
  stop() {
    const stopped = this.current;
    this.end();
    this.refused = false;
    this.current = null;
    stopped?.resolve(false);
    this.begin();
  }

  /** Ends everything. */
  stopAll() {
    this.next?.resolve(false);
    this.next = null;
    this.stop();
  }
}
