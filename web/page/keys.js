// Keys of the page; all others are the timeline's, wherever the focus is.

const KEY_LIST = [
  ["→ ←, Page Down, Page Up", "in a presentation: next or previous scene"],
  ["a", "in a presentation: the answer"],
  ["Esc", "ends a presentation"],
  ["f", "begins a presentation"],
  ["e", "hides or shows the editor"],
  ["1 to 6", "scenario, timeline, waits, tables, analysis, rules"],
  ["Ctrl and space", "in the editor: what may stand here"],
  ["?", "this list"],
  ["+ −, 0, wheel", "in the timeline: zoom, all of the time"],
  [". ,", "next or previous event"],
  ["o O", "explains the next or previous operation"],
  ["i", "hides or shows what is told beside the timeline"],
  ["h", "heights: threads, shared memory, registers"],
  ["/", "search"],
  ["t", "light or dark"],
];

class Keys {
  constructor(page) {
    this.page = page;
    byId("key-list").replaceChildren(...KEY_LIST.map(([keys, does]) => {
      const row = element("tr");
      row.append(element("td", keys), element("td", does));
      return row;
    }));
    byId("list-keys").addEventListener("click", () => byId("keys").showModal());
    document.addEventListener("keydown", (event) => {
      if (this.isTaken(event)) return;
      if (!this.take(event)) this.page.passOn(event);
    });
  }

  /** Keys of the timeline's own window come first to the page. */
  listenIn(window) {
    const isAsking = () => window.document.querySelector("dialog[open]");
    window.addEventListener("keydown", (event) => !isAsking() && !this.isTaken(event) && this.take(event) && event.stopImmediatePropagation(), true);
  }

  /** Whether a key belongs to what has the focus. */
  isTaken(event) {
    const { tagName } = event.target;
    const isField = ["INPUT", "TEXTAREA", "SELECT"].includes(tagName);
    const isPressed = ["BUTTON", "SUMMARY"].includes(tagName) && ["Enter", " "].includes(event.key);
    return isField || isPressed || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || byId("keys").open;
  }

  take(event) {
    const { page } = this;
    const { presentation } = page;
    const views = ["input", "timeline", "waits", "simulated", "analysed", "rules"];
    const actions = {
      "?": () => byId("keys").showModal(),
      e: () => page.splitter.toggle(),
      f: () => presentation.begin(),
    };
    const own = () => {
      if (Object.hasOwn(actions, event.key)) return actions[event.key];
      const view = views[Number(event.key) - 1];
      if (!view || !/^[1-6]$/.test(event.key)) return null;
      return view === "input" && innerWidth > NARROW ? () => page.goToEditor() : () => page.views.choose(view);
    };
    const act = presentation.isOn ? presentation.actionOf(event.key) ?? (event.key === "?" ? actions["?"] : null) : own();
    if (!act) return false;
    event.preventDefault();
    act();
    return true;
  }
}
