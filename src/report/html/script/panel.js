// Everything beside the figure: state, legend, search, differences, and what is shown under the pointer.

/** Lines beyond which a list is no longer something to read. */
const MOST_LINES = 400;
const MOST_ENTRIES = 200;
const MOST_CHARACTERS = 2000;

/** An element with text and attributes. */
function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function rest(count, what) {
  return count > 0 ? [element("p", `and ${count} more ${what}`, { class: "quiet" })] : [];
}

/** A line, or the beginning of a very long one. */
function lineOf(text) {
  return element("p", text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)} …` : text);
}

/** The state at the cursor, of each run. */
function showState(app) {
  const { ns } = app.cursor;
  const place = document.getElementById("state");
  if (ns === null) {
    place.replaceChildren(element("p", "Point at the figure, or type a time.", { class: "quiet" }));
    return;
  }
  const sections = app.runs.map((run) => {
    const section = element("section", "", { class: "run" });
    if (app.runs.length > 1) section.append(element("h3", run.name));
    const lines = [`state at ${formatTime(ns)}`, ...stateLines(run, stateAt(run, ns))];
    section.append(...lines.slice(0, MOST_LINES).map(lineOf));
    section.append(...rest(lines.length - MOST_LINES, "lines"));
    return section;
  });
  place.replaceChildren(...sections);
}

/** A button that highlights; that of a kernel shows how it is filled. */
function highlightButton(app, kind, name) {
  const pressed = app.highlight.has(kind, name);
  const button = element("button", "", { type: "button", "aria-pressed": String(pressed), "data-name": name });
  if (kind === "kernel") button.append(element("img", "", { src: app.fills.swatch(name, app.theme), alt: "" }));
  button.append(element("span", name));
  button.addEventListener("click", () => app.toggleHighlight(kind, name));
  return button;
}

/** What kernels and streams there are; each can be highlighted. */
function showLegend(app) {
  const streams = new Set(app.layout.rows.filter((row) => row.kind === "stream").map((row) => row.label));
  const fill = (id, kind, names) => {
    const buttons = names.slice(0, MOST_ENTRIES).map((name) => highlightButton(app, kind, name));
    document.getElementById(id).replaceChildren(...buttons, ...rest(names.length - MOST_ENTRIES, "that the search finds"));
  };
  fill("kernels", "kernel", app.fills.titles());
  fill("streams", "stream", [...streams]);
}

const RESPONSE_COLUMNS = ["jobs", "min", "mean", "95 %", "99 %", "max", "deadline", "misses"];

/** Response times of jobs, and which deadlines were missed. */
function showResponses(app) {
  const place = document.getElementById("responses");
  place.replaceChildren();
  for (const run of app.runs) {
    if (run.responses.length === 0) continue;
    place.append(element("h2", app.runs.length > 1 ? `Response times, ${run.name}` : "Response times"));
    const time = (ns) => (ns === null ? "-" : formatTime(BigInt(ns)));
    const table = element("table");
    const heads = element("tr");
    heads.append(...["jobs of", ...RESPONSE_COLUMNS].map((name) => element("th", name)));
    table.append(heads);
    for (const row of run.responses.slice(0, MOST_ENTRIES)) {
      const { misses } = row;
      const times = [row.min_ns, row.mean_ns, row.p95_ns, row.p99_ns, row.max_ns, row.deadline_ns].map(time);
      const line = element("tr", "", misses === null || BigInt(misses) === 0n ? {} : { class: "missed" });
      line.append(...[row.stream, row.jobs, ...times, misses ?? "-"].map((text) => element("td", String(text))));
      table.append(line);
      if (misses !== null && BigInt(misses) > 0n) {
        place.append(element("p", `${row.stream} misses its deadline in ${misses} of ${row.jobs} jobs`, { class: "missed" }));
      }
    }
    place.append(table, ...rest(run.responses.length - MOST_ENTRIES, "streams"));
    const leftOut = BigInt(run.deadlines.left_out);
    if (leftOut > 0n) place.append(element("p", `${leftOut} more jobs that had not begun have no mark in the figure`));
  }
  place.hidden = place.childElementCount === 0;
}

/** Finish times that differ between the runs; a click shows where. */
function showDifferences(app) {
  const differing = app.differences();
  const place = document.getElementById("differences");
  place.hidden = app.runs.length < 2;
  const [upper, lower] = app.runs.map((run) => run.name);
  const rows = differing.slice(0, MOST_ENTRIES).map((finish) => {
    const [first, second] = [BigInt(finish.upper_ns), BigInt(finish.lower_ns)];
    const signed = second > first ? `+${formatTime(second - first)}` : `−${formatTime(first - second)}`;
    const row = element("button", "", { type: "button" });
    row.append(element("strong", finish.name), element("span", `${formatTime(first)} → ${formatTime(second)} (${signed})`));
    row.addEventListener("click", () => app.show(first < second ? first : second, first < second ? second : first));
    return row;
  });
  const heading = element("h2", differing.length === 0 ? "All finish times are equal" : `Finish: ${upper} → ${lower}`);
  place.replaceChildren(heading, ...rows, ...rest(differing.length - MOST_ENTRIES, "that differ"));
}

/** What was found; a click shows where. */
function showFound(app, found) {
  const place = document.getElementById("found");
  const texts = document.getElementById("search").value.trim() === "" ? [] : [`${found.length} found`];
  const buttons = found.slice(0, MOST_ENTRIES).map((match, index) => {
    const { run, id } = match;
    const where = app.runs.length > 1 ? ` (${run.name})` : "";
    const button = element("button", `#${id} ${run.title(id)}, ${run.streamOf(id).name}${where}`, { type: "button" });
    button.addEventListener("click", () => app.showMatch(index));
    return button;
  });
  place.replaceChildren(...texts.map((text) => element("p", text, { class: "quiet" })), ...buttons);
  place.append(...rest(found.length - MOST_ENTRIES, "operations"));
}

/** What is said about something under the pointer. */
function hoverLines(found) {
  const { run } = found.row;
  if (found.kind === "block") return blockText(run, found.row.sm, found.position);
  if (found.kind === "deadlines") {
    const texts = found.jobs.slice(0, 8).map((job) => run.deadlines.text[job]);
    const missed = found.jobs.filter((job) => run.deadlines.missed[job]).length;
    const head = found.jobs.length > 1 ? [`${found.jobs.length} deadlines, ${missed} of them missed`] : [];
    return [...head, ...texts, ...(found.jobs.length > 8 ? [`and ${found.jobs.length - 8} more`] : [])];
  }
  if (found.ids.length === 1) return operationText(run, found.ids[0]);
  const titles = found.ids.slice(0, 8).map((id) => run.title(id));
  const launched = formatTime(run.instants.ns(run.operations.launched[found.ids[0]]));
  const more = found.ids.length > 8 ? [`and ${found.ids.length - 8} more`] : [];
  return [`${found.ids.length} operations launched at ${launched}`, ...titles, ...more];
}

/** Shows it beside the pointer, inside the window. */
function showTip(app, x, y) {
  const tip = document.getElementById("tip");
  tip.hidden = app.hover === null;
  if (tip.hidden) return;
  tip.replaceChildren(...hoverLines(app.hover).map((line) => element("p", line)));
  const { width, height } = tip.getBoundingClientRect();
  const [right, bottom] = [document.documentElement.clientWidth, document.documentElement.clientHeight];
  tip.style.left = `${Math.max(4, Math.min(x + 14, right - width - 4))}px`;
  tip.style.top = `${y + 18 + height > bottom ? Math.max(4, y - height - 12) : y + 18}px`;
}
