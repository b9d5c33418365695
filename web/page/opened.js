// What is open: a shipped scenario or a file of the user's. Its edits are kept when another one is opened.

/** Characters of a file that are shown as text. */
const MOST_TEXT = 2_000_000;

/** The text of some bytes, if it stays the same in the editor. */
function editable(bytes) {
  if (bytes.length > MOST_TEXT) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // It is compressed, or no text.
    return null;
  }
}

class Opened {
  constructor(page, scenarios) {
    this.page = page;
    this.scenarios = new Map(scenarios);
    this.drafts = new Drafts();
    /** What the list of scenarios calls it, and messages. */
    this.name = null;
    this.file = null;
    /** The bytes of what is not in the editor as it is; null: its text is. */
    this.content = null;
    /** What the editor had at first. */
    this.original = "";
    /** What was put back to what it was at first, by name. */
    this.reverted = new Map();
    byId("scenario").addEventListener("change", (event) => this.open(event.target.value));
    byId("open").addEventListener("click", () => byId("file").click());
    byId("file").addEventListener("change", (event) => {
      this.take([...event.target.files]);
      event.target.value = "";
    });
    byId("revert").addEventListener("click", () => this.revert());
    window.addEventListener("pagehide", () => this.keep());
    window.addEventListener("beforeunload", (event) => {
      this.keep();
      if (this.drafts.isAtRisk) event.preventDefault();
    });
  }

  get text() {
    return this.page.editor.value;
  }

  get bytes() {
    return this.content ?? encoder.encode(this.text);
  }

  get isShipped() {
    return this.scenarios.has(this.name);
  }

  /** Whether the text is that of the shipped scenario. */
  get isAsShipped() {
    return this.isShipped && !this.content && this.text === this.scenarios.get(this.name);
  }

  get isEdited() {
    return this.text !== this.original || Object.keys(this.page.settings.asked).length > 0;
  }

  /** Where the command finds what is open. */
  get path() {
    return this.isAsShipped ? `scenarios/${this.name}` : this.file;
  }

  /** All that there is of it. */
  get draft() {
    const content = this.content ? { bytes: this.content } : { text: this.text };
    return { file: this.file, ...content, original: this.original, asked: this.page.settings.asked, isEdited: this.isEdited };
  }

  keep() {
    if (this.name === null) return;
    const { draft } = this;
    if (this.isShipped && !draft.isEdited) this.drafts.forget(this.name);
    else this.drafts.keep(this.name, draft);
    this.list();
  }

  /** Lists what can be opened; what was edited says so. */
  list() {
    const { known } = this.drafts;
    const option = (name) => element("option", known.get(name)?.isEdited ? `${name} (edited)` : name, { value: name });
    const shipped = [...this.scenarios.keys()];
    const own = [...known.keys()].filter((name) => !this.scenarios.has(name));
    const texts = JSON.stringify([shipped, own].map((names) => names.map((name) => option(name).textContent)));
    if (texts !== this.listed) {
      this.listed = texts;
      const group = (label, names) => {
        const made = element("optgroup", "", { label });
        made.append(...names.map(option));
        return made;
      };
      byId("scenario").replaceChildren(...(own.length > 0 ? [group("yours", own)] : []), group("shipped", shipped));
    }
    byId("scenario").value = this.name;
    const revert = byId("revert");
    revert.hidden = !this.isEdited && !this.reverted.has(this.name);
    revert.textContent = this.isEdited ? (this.isShipped ? "as shipped" : "as opened") : "my edits";
    revert.title = this.isEdited ? "Without edits, which can be put back" : "With the edits that there were";
  }

  /** Opens what the list has, with the edits that it was left with. */
  open(name) {
    if (name === this.name) return;
    this.keep();
    const draft = this.drafts.known.get(name) ?? { file: name.split("/").pop(), text: this.scenarios.get(name) };
    this.put(name, draft, draft.isEdited ? "with your edits" : null);
  }

  /** Opens a file of the user's. */
  async take(files) {
    const { page } = this;
    if (files.length === 0) return;
    if (files.length > 1) {
      page.refuse({ message: `these are ${files.length} files; the page takes one at a time` });
      return;
    }
    const [file] = files;
    let bytes;
    try {
      bytes = new Uint8Array(await file.arrayBuffer());
    } catch (error) {
      // A folder, or what is gone meanwhile.
      page.refuse({ message: `cannot read ${file.name}: ${error.message}` });
      return;
    }
    this.keep();
    this.put(this.drafts.free(file.name), { file: file.name, bytes });
    this.keep();
  }

  put(name, { file, bytes = null, text = bytes && editable(bytes), original = null, asked = {} }, remark = null) {
    const { page } = this;
    [this.name, this.file] = [name, file];
    page.remark = remark;
    if (text === null) page.editor.refuse(`${file}: ${bytes.length} bytes, which cannot be edited here`);
    else page.editor.value = text;
    // Line ends are others once they are in the editor.
    this.content = bytes && (text === null || text.includes("\r")) ? bytes : null;
    this.original = this.scenarios.get(name) ?? original ?? this.text;
    page.settings.asked = asked;
    page.changed();
  }

  /** Puts the edits aside, or puts them back. */
  revert() {
    const { name, file, draft } = this;
    if (this.isEdited) {
      this.reverted.set(name, draft);
      this.put(name, { file, ...(draft.bytes ? { bytes: draft.bytes } : { text: this.original }), original: this.original });
    } else {
      this.put(name, this.reverted.get(name));
      this.reverted.delete(name);
    }
    this.keep();
  }

  /** All that an address says of it. */
  get state() {
    const { name, file, content, text } = this;
    const held = this.isAsShipped ? { shipped: name } : content ? { bytes: toBase64(content) } : { text, ...(this.isShipped && { from: name }) };
    return { file, ...held, ...this.page.settings.asked };
  }

  /** Opens what an address says. */
  restore({ file, shipped, from, bytes, text = this.scenarios.get(shipped), ...asked }) {
    if (shipped !== undefined && text === undefined) {
      throw new AddressError(`the address names a scenario that this page does not have: ${shipped}`);
    }
    this.keep();
    const held = bytes === undefined ? { text } : { bytes: fromBase64(bytes) };
    const wanted = shipped ?? (this.scenarios.has(from) ? from : file);
    const kept = this.drafts.known.get(wanted);
    const isSame = kept && kept.text === text && JSON.stringify(kept.asked) === JSON.stringify(copied(asked));
    // Edits that the address does not have stay where they are.
    const name = !kept?.isEdited || isSame ? wanted : this.drafts.free(file);
    this.put(name, { file, ...held, original: isSame ? kept.original : null, asked });
  }
}
