// Lists of tabs, of which one is chosen.

class Tabs {
  /** `chosen` hears which panel is to be shown. */
  constructor(id, chosen) {
    this.list = byId(id);
    this.told = chosen;
    this.list.addEventListener("click", (event) => {
      const { panel } = event.target.dataset;
      if (panel) this.choose(panel);
    });
    this.list.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      // Some are there in narrow windows alone.
      const seen = this.tabs.filter((tab) => tab.offsetWidth > 0);
      const next = seen[(seen.indexOf(document.activeElement) + step + seen.length) % seen.length];
      next.focus();
      this.choose(next.dataset.panel);
    });
  }

  get tabs() {
    return [...this.list.children];
  }

  choose(panel) {
    this.panel = panel;
    for (const tab of this.tabs) {
      const isChosen = tab.dataset.panel === panel;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
    this.told(panel);
  }
}
