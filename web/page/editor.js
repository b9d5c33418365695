// The text of the scenario, with numbers of lines, the line of an error, and what may stand at the cursor.

/** Entries that are listed at most. */
const MOST_COMPLETIONS = 40;

class Editor {
  constructor(changed) {
    this.text = byId("text");
    this.list = byId("completions");
    this.schema = null;
    this.found = [];
    this.chosen = 0;
    this.changed = changed;
    this.text.addEventListener("input", (event) => {
      this.resize();
      this.changed();
      // Where something begins that the schema may know.
      const typed = event.data ?? "";
      if (typed === '"' || (typed !== "" && !this.list.hidden)) this.suggest();
      else if (!/^[\w-]$/.test(typed) || this.list.hidden) this.close();
    });
    this.text.addEventListener("keydown", (event) => this.key(event));
    this.text.addEventListener("blur", () => this.close());
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const item = event.target.closest("li");
      if (item) this.accept(Number(item.dataset.index));
    });
  }

  get value() {
    return this.text.value;
  }

  set value(text) {
    this.text.value = text;
    this.text.readOnly = false;
    this.close();
    this.resize();
    byId("editor").scrollTo(0, 0);
  }

  /** Shows that there is a file which is no text to be edited. */
  refuse(text) {
    this.value = text;
    this.text.readOnly = true;
  }

  /** Gives the text the room that it takes: what is around it scrolls. */
  resize() {
    const lines = this.value.split("\n");
    const widest = lines.reduce((most, line) => Math.max(most, line.length), 0);
    this.text.style.height = `${lines.length + 1}lh`;
    this.text.style.width = `max(100%, ${widest + 4}ch)`;
    if (this.lines !== lines.length) {
      this.lines = lines.length;
      byId("gutter").textContent = lines.map((_, index) => index + 1).join("\n");
    }
  }

  /** Marks a line, from 1; none: no line. */
  mark(line) {
    const mark = byId("mark");
    mark.hidden = line === null || line > this.lines;
    if (!mark.hidden) mark.style.top = `calc(var(--pad) + ${line - 1} * 1lh)`;
    this.text.setAttribute("aria-invalid", String(line !== null));
  }

  /** Puts the cursor at a line and column, from 1. */
  go(line, column) {
    const lines = this.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const at = before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
    this.text.focus();
    this.text.setSelectionRange(at, at);
    const height = this.text.getBoundingClientRect().height / (lines.length + 1);
    byId("editor").scrollTop = Math.max(0, (line - 3) * height);
  }

  key(event) {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      this.suggest();
      return;
    }
    if (this.list.hidden) return;
    const keys = {
      ArrowDown: () => this.choose(this.chosen + 1),
      ArrowUp: () => this.choose(this.chosen - 1),
      Enter: () => this.accept(this.chosen),
      Tab: () => this.accept(this.chosen),
      Escape: () => this.close(),
    };
    if (!(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  }

  close() {
    this.list.hidden = true;
  }

  suggest() {
    if (!this.schema || this.text.readOnly) return;
    const at = this.text.selectionStart;
    this.place = placeIn(this.value, at);
    this.found = this.schema.complete(this.place).slice(0, MOST_COMPLETIONS);
    this.list.hidden = this.found.length === 0;
    if (this.list.hidden) return;
    this.list.replaceChildren(...this.found.map(({ label, about }, index) => {
      const item = element("li", "", { role: "option", "data-index": index });
      item.append(element("code", label), element("span", about, { class: "quiet" }));
      return item;
    }));
    const before = this.value.slice(0, this.place.from);
    const line = before.split("\n").length;
    const column = this.place.from - (before.lastIndexOf("\n") + 1);
    this.list.style.top = `calc(var(--pad) + ${line} * 1lh)`;
    // Below its token, as far as the window of the editor reaches.
    const { scrollLeft, clientWidth } = byId("editor");
    const most = scrollLeft + clientWidth - this.list.offsetWidth - 8;
    this.list.style.left = `${Math.max(scrollLeft + 4, Math.min(this.placeOf(column), most))}px`;
    this.list.scrollTop = 0;
    this.choose(0);
  }

  /** Where a column is [pixels]. */
  placeOf(column) {
    const letters = element("span", "0".repeat(100));
    byId("paper").append(letters);
    const width = letters.getBoundingClientRect().width / 100;
    letters.remove();
    return byId("gutter").offsetWidth + column * width;
  }

  choose(index) {
    this.chosen = (index + this.found.length) % this.found.length;
    [...this.list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === this.chosen)));
    // Nothing but the list: the text stays where it is.
    const { offsetTop: top, offsetHeight: height } = this.list.children[this.chosen];
    const { scrollTop, clientHeight } = this.list;
    this.list.scrollTop = Math.min(top, Math.max(scrollTop, top + height - clientHeight));
  }

  accept(index) {
    const { text, cursor } = this.found[index];
    const { from, to, isKey } = this.place;
    const after = this.value.slice(to);
    // A key that has its value already keeps it.
    const written = isKey && /^\s*:/.test(after) ? JSON.stringify(this.found[index].label) : text;
    this.text.setRangeText(written, from, to, "end");
    const end = from + Math.min(cursor, written.length);
    this.text.setSelectionRange(end, end);
    this.close();
    this.resize();
    this.changed();
  }
}
