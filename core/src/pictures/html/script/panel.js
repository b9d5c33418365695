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
    const lines = [`state at ${formatInstant(ns)}`, ...stateLines(app, run, stateAt(run, ns))];
    section.append(...lines.slice(0, MOST_LINES).map(lineOf));
    section.append(...rest(lines.length - MOST_LINES, "lines"));
    return section;
  });
  place.replaceChildren(...sections);
}

/** Why the selected operation waited, what it takes, and whom it waited for. */
function showSelected(app) {
  const place = document.getElementById("selected");
  if (!app.selected) {
    const hint = "Click a block, a bar or an arrow, or press o: why it waited, for whom, and what it takes.";
    place.replaceChildren(element("p", hint, { class: "quiet" }));
    return;
  }
  const { run, id } = app.selected;
  const lines = [element("h3", run.title(id))];
  const kernel = run.kernelOf(id);
  if (kernel && kernel.name !== kernel.title) lines.push(element("p", kernel.name, { class: "quiet name" }));
  const phases = run.phasesOf(id);
  for (const phase of phases) {
    const line = element("p", "", { class: "phase" });
    line.append(...withRule(app, phaseText(run, id, phase), phase.rule));
    line.style.borderColor = app.ruleLook(phase.rule).fill.background;
    lines.push(line);
  }
  if (!run.blocks_only && phases.length === 0) lines.push(element("p", "It did not wait."));
  lines.push(...operationText(run, id).slice(1).map((text) => element("p", text)));
  if (kernel) lines.push(...kernel.says.map((text) => element("p", text)));
  const others = [...new Set(phases.flatMap(({ blocking }) => blocking))];
  if (others.length > 0) {
    const chips = element("div", "", { class: "chips" });
    for (const other of others) {
      const button = element("button", run.title(other), { type: "button" });
      button.addEventListener("click", () => app.select(run, other));
      chips.append(button);
    }
    lines.push(element("p", "waited for:", { class: "quiet" }), chips);
  }
  place.replaceChildren(...lines);
}

/** What the height of bands stands for. */
function showResource(app) {
  const button = document.querySelector("[data-act=height]");
  button.textContent = app.runs[0].resource(app.resource).name;
  button.hidden = app.resources().length < 2;
}

/** A button that highlights; that of a kernel shows how it is filled. */
function highlightButton(app, kind, name) {
  const pressed = app.highlight.has(kind, name);
  const whole = kind === "kernel" ? app.fills.whole(name) : name;
  const button = element("button", "", { type: "button", "aria-pressed": String(pressed), "data-name": name, title: whole });
  if (kind === "kernel") button.append(element("img", "", { src: app.fills.swatch(app.fills.fill(name, app.theme), app.fills.again(name), app.colours.label), alt: "" }));
  const of = kind === "process" && app.runs.find((run) => run.turns && run.processes.includes(name));
  if (of) button.append(element("img", "", { src: app.fills.swatch(turnLook(app, of, of.processes.indexOf(name))), alt: "" }));
  button.append(element("span", name));
  button.addEventListener("click", () => app.toggleHighlight(kind, name));
  return button;
}

/** How blocks look while they wait for others, if any do. */
function waitingLegend(app) {
  const waits = app.runs.some((run) => run.stands.size > 0);
  if (!waits) return [];
  const line = element("p", "", { class: "quiet" });
  line.append(element("img", "", { src: app.fills.swatch(app.fills.waiting(app.fills.titles()[0], app.theme)), alt: "" }));
  line.append(element("span", " blocks wait for others, on their SM (dark, with dots)"));
  const still = app.runs.some((run) => run.still_until !== undefined);
  return still ? [line, element("p", "at the line across the figure the run stands still", { class: "quiet" })] : [line];
}

/** What kernels, streams, and processes with turns there are; each can be highlighted. */
function showLegend(app) {
  const streams = new Set(app.layout.rows.filter((row) => row.kind === "stream").map((row) => row.label));
  const fill = (id, kind, names) => {
    const buttons = names.slice(0, MOST_ENTRIES).map((name) => highlightButton(app, kind, name));
    document.getElementById(id).replaceChildren(...buttons, ...rest(names.length - MOST_ENTRIES, "that the search finds"));
  };
  fill("kernels", "kernel", app.fills.titles());
  document.getElementById("kernels").append(...waitingLegend(app));
  fill("streams", "stream", [...streams]);
  const processes = new Set(app.runs.filter((run) => run.turns).flatMap((run) => run.processes));
  fill("processes", "process", [...processes]);
  document.getElementById("whose").hidden = processes.size === 0;
}

/** How many finish times differ and how much, and what the figure leaves out. */
function differencesText(app, differing) {
  if (differing.length === 0) return [];
  const sizes = differing.map(({ upper_ns: upper, lower_ns: lower }) => BigInt(lower) - BigInt(upper)).map((by) => (by < 0n ? -by : by));
  const most = sizes.reduce((largest, by) => (by > largest ? by : largest), 0n);
  const texts = [`${differing.length} of ${app.finishes.length} differ, by ${formatTime(most)} at most`];
  if (differing.length > MOST_MARKS) texts.push(`not marked in the figure, as they are more than ${MOST_MARKS}`);
  return texts.map((text) => element("p", text, { class: "quiet" }));
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
    row.append(element("strong", finish.name), element("span", `${formatInstant(first)} → ${formatInstant(second)} (${signed})`));
    row.addEventListener("click", () => app.show(first < second ? first : second, first < second ? second : first));
    return row;
  });
  const heading = element("h2", differing.length === 0 ? "All finish times are equal" : `Finish: ${upper} → ${lower}`);
  place.replaceChildren(heading, ...differencesText(app, differing), ...rows, ...rest(differing.length - MOST_ENTRIES, "that differ"));
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
  if (found.kind === "counts") {
    const listed = found.counts.slice(0, 8).map(([title, count]) => `${count} blocks of ${title}`);
    const more = found.counts.length > 8 ? [`and of ${found.counts.length - 8} more kernels`] : [];
    return [`SM ${found.row.sm}, around ${formatInstant(found.from)}`, ...listed, ...more];
  }
  if (found.kind === "core") return coreLines(run, found);
  if (found.kind === "turn" || found.kind === "shares") return turnLines(run, found);
  if (found.kind === "occupancy") return occupancyLines(run, found.at);
  if (found.kind === "waiting" && found.ids.length === 1) {
    const [id] = found.ids;
    const now = run.instants.lastAt(found.at);
    const phases = run.phasesOf(id);
    const phase = phases.find(({ from, to }) => from <= now && now < to) ?? phases.at(-1);
    return [run.title(id), ...(phase ? [phaseText(run, id, phase)] : waitText(run, id, run.end))];
  }
  if (found.kind === "waiting") {
    const titles = found.ids.slice(0, 8).map((id) => run.title(id));
    const more = found.ids.length > 8 ? [`and ${found.ids.length - 8} more`] : [];
    return [`${found.ids.length} more operations wait here`, ...titles, ...more];
  }
  if (found.kind === "deadlines") {
    const texts = found.jobs.slice(0, 8).map((job) => run.deadlines.text[job]);
    const missed = found.jobs.filter((job) => run.deadlines.missed[job]).length;
    const head = found.jobs.length > 1 ? [`${found.jobs.length} deadlines, ${missed} of them missed`] : [];
    return [...head, ...texts, ...(found.jobs.length > 8 ? [`and ${found.jobs.length - 8} more`] : [])];
  }
  if (found.ids.length === 1) return operationText(run, found.ids[0]);
  const titles = found.ids.slice(0, 8).map((id) => run.title(id));
  const launched = formatInstant(run.instants.ns(run.operations.launched[found.ids[0]]));
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
