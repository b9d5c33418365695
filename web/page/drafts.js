// What was edited or opened: kept when something else is opened, and in the browser's own storage where there is one.

const STORED = "gpusched edits";

class Drafts {
  constructor() {
    /** By the name in the list of scenarios: `{file, text | bytes, asked, original}`. */
    this.known = new Map(Object.entries(this.read()));
    /** Whether the browser keeps what is edited when the page is closed. */
    this.isStored = true;
  }

  read() {
    try {
      return JSON.parse(localStorage.getItem(STORED)) ?? {};
    } catch {
      // There is no storage, as in some browsers for files, or it holds something else.
      return {};
    }
  }

  keep(name, draft) {
    this.known.set(name, draft);
    // What was only opened is still where it came from, as is what cannot be edited.
    this.store((all) => (draft.isEdited && !draft.bytes ? all.set(name, draft) : all.delete(name)));
  }

  forget(name) {
    if (this.known.delete(name)) this.store((all) => all.delete(name));
  }

  /** Changes what is stored, which another window may have changed too. */
  store(change) {
    try {
      const all = new Map(Object.entries(this.read()));
      change(all);
      localStorage.setItem(STORED, JSON.stringify(Object.fromEntries(all)));
      this.isStored = true;
    } catch {
      this.isStored = false;
    }
  }

  /** A name under which nothing of the user's is kept that would be lost. */
  free(file) {
    const isFree = (name) => !this.known.get(name)?.isEdited;
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? file : `${file} (${number})`;
      if (isFree(name)) return name;
    }
  }

  get isAtRisk() {
    return !this.isStored && [...this.known.values()].some(({ isEdited }) => isEdited);
  }
}
