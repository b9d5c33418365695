// What rules say, to be read where their names stand.

/** The name of a rule, which shows its words. */
function ruleButton(app, name) {
  const { says, source } = app.rules.get(name);
  const button = element("button", name, { type: "button", class: "rule", title: says });
  button.addEventListener("click", () => {
    const dialog = document.getElementById("rule");
    const [heading, words, from] = dialog.querySelectorAll("h2, p");
    [heading.textContent, words.textContent, from.textContent] = [`Rule ${name}`, says, source];
    dialog.showModal();
  });
  return button;
}

/** A text in which the last mention of a rule shows its words. */
function withRule(app, text, name) {
  const at = text.lastIndexOf(name);
  return at < 0 ? [text] : [text.slice(0, at), ruleButton(app, name), text.slice(at + name.length)];
}
