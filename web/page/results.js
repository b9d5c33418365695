// The library's tables.

/** Rows of a table, and lines of other text, that are shown. */
const MOST_ROWS = 200;

/** Elements for the library's text: a JSON value on each line, which is a text or a table. Names of rules lead to their
 * words. */
function rendered(lines, rules) {
  const parts = lines.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  return parts.flatMap((part) => (typeof part === "string" ? [filled("p", rules.linked(part))] : tableOf(part, rules)));
}

function filled(name, parts, attributes = {}) {
  const made = element(name, "", attributes);
  made.append(...parts);
  return made;
}

/** A table of its titles, each with whether its column stands to the left, and the cells of its rows. */
function tableOf({ titles, rows }, rules) {
  const table = element("table");
  // A kernel may be called as a rule is.
  const isLinked = titles.map(([title, isName]) => !isName || title === "rule");
  const add = (name, cells, isMissed) => {
    const row = table.insertRow();
    cells.forEach((cell, at) => {
      const parts = isLinked[at] && name === "td" ? rules.linked(cell) : [cell];
      row.append(filled(name, parts, { class: `${titles[at][1] ? "name" : ""} ${isMissed(cell) ? "missed" : ""}` }));
    });
  };
  add("th", titles.map(([title]) => title), () => false);
  for (const cells of rows.slice(0, MOST_ROWS)) add("td", cells, (cell) => cell === "missed" || cell === "no");
  const frame = element("div", "", { class: "scrolling", tabindex: "0" });
  frame.append(table);
  const left = rows.length - MOST_ROWS;
  return left > 0 ? [frame, element("p", `and ${left} more rows, which JSON has`, { class: "quiet" })] : [frame];
}

/** Notes of a run. */
function noted(notes) {
  const shown = notes.slice(0, MOST_ROWS).map((note) => element("p", `note: ${note}`, { class: "quiet" }));
  const left = notes.length - MOST_ROWS;
  return left > 0 ? [...shown, element("p", `and ${left} more notes, which JSON has`, { class: "quiet" })] : shown;
}
