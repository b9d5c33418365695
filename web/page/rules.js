// What the rules say: their names in tables lead to their words, which are the library's own.

class Rules {
  /** `shown` is told when a rule is to be read. */
  constructor(shown) {
    this.shown = shown;
    this.names = [];
    document.addEventListener("click", (event) => {
      const name = event.target.closest?.("[data-rule]")?.dataset.rule;
      if (name) this.go(name);
    });
  }

  offer(rules) {
    this.names = rules.map(({ name }) => name);
    const parts = rules.map(({ name, says, waits, source, section, example }) => {
      const part = element("article", "", { id: `rule-${name}` });
      part.append(element("h2", name), element("p", says));
      if (waits) part.append(element("p", `What waits under it: ${waits}.`));
      const from = element("p", `${source}; docs/model.md#${section}`, { class: "quiet" });
      const command = element("p", "", { class: "quiet" });
      command.append("to be seen in ", element("code", example));
      part.append(from, command);
      return part;
    });
    byId("rules").replaceChildren(element("p", "What makes operations wait, or lets them go on, by the names that tables and bars have.", { class: "quiet" }), ...parts);
  }

  go(name) {
    this.shown();
    const part = byId(`rule-${name}`);
    document.querySelector("#rules .chosen")?.classList.remove("chosen");
    part?.classList.add("chosen");
    part?.scrollIntoView({ block: "center" });
  }

  /** A text in which each rule is a button that leads to its words: (R3), or R3 and nothing else. */
  linked(text) {
    const isName = (part) => this.names.includes(part);
    const isCode = (part) => isName(part) && /^[A-Z]/.test(part);
    const parts = isName(text) ? [text] : text.split(/\b/);
    if (!parts.some((part) => isName(text) || isCode(part))) return [text];
    return parts.map((part) => (isName(text) || isCode(part) ? element("button", part, { type: "button", class: "rule", "data-rule": part }) : part));
  }
}
