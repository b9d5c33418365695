// The tables and pictures below the figure.

/** A picture that was drawn before, as part of the page. */
function picture(svg) {
  const frame = element("div", "", { class: "picture" });
  frame.append(document.importNode(new DOMParser().parseFromString(svg, "text/html").querySelector("svg"), true));
  return frame;
}

function scrolling(table) {
  const frame = element("div", "", { class: "scrolling", tabindex: "0" });
  frame.append(table);
  return frame;
}

/** A table whose first columns are names. */
function tableOf(heads, rows, names) {
  const table = element("table");
  const line = (texts, kind) => {
    const made = element("tr");
    made.append(...texts.map((text, index) => element(kind, text, index < names ? { class: "name" } : {})));
    return made;
  };
  table.append(line(heads, "th"), ...rows.map((row) => line(row, "td")));
  return table;
}

/** Who made whom wait, by stream and by kernel. */
function blameOf(app, run) {
  const place = element("section");
  if (run.blocks_only) return place;
  place.append(element("h2", app.runs.length > 1 ? `Who made whom wait, ${run.name}` : "Who made whom wait"));
  if (!run.blame) {
    place.append(element("p", "Queues are too long to sum this up here; gpusched simulate --blame does.", { class: "quiet" }));
    return place;
  }
  const total = formatTime(BigInt(run.blame.total_ns));
  place.append(element("p", `Kernels and copies waited ${total} in all, from their launches until they began.`));
  place.append(picture(run.blame.figure));
  for (const [of, list] of [["stream", run.blame.streams], ["kernel", run.blame.kernels]]) {
    const rows = list.rows.map(({ waiting, blocking, rule, wait_ns: ns }) => [waiting, blocking ?? "nobody", rule, formatTime(BigInt(ns))]);
    const details = element("details");
    details.append(element("summary", `By ${of}: ${list.rows.length + list.more} rows`));
    details.append(scrolling(tableOf([`waiting ${of}`, `blocking ${of}`, "rule", "waited"], rows, 3)));
    if (list.more > 0) details.append(element("p", `and ${list.more} more rows with ${formatTime(BigInt(list.more_ns))}`, { class: "quiet" }));
    place.append(details);
  }
  return place;
}

/** What each kernel of a run takes, alone and in all, and how many kernels there are. */
function demandsOf(run) {
  const counts = new Map();
  for (let id = 0; id < run.operationCount; id += 1) {
    const kernel = run.kernelOf(id);
    if (kernel) counts.set(kernel, (counts.get(kernel) ?? 0) + 1);
  }
  const rows = [...counts].slice(0, MOST_ENTRIES).map(([kernel, count]) => {
    const [resident, limit, waves] = kernel.alone;
    return [kernel.title, limit, count, kernel.blocks, ...kernel.takes, resident, waves];
  });
  return { rows, count: counts.size };
}

/** What each kernel takes, once for all runs in which that is the same. */
function kernelsOf(app) {
  const known = new Map();
  for (const run of app.runs) {
    const demands = demandsOf(run);
    const key = JSON.stringify(demands);
    if (known.has(key)) known.get(key).names.push(run.name);
    else known.set(key, { ...demands, names: [run.name] });
  }
  const heads = ["kernel", "limited by", "launches", "blocks", "threads", "shared memory", "registers", "on an SM at once", "waves"];
  return [...known.values()].map(({ rows, count, names }) => {
    const place = element("section");
    const details = element("details");
    details.append(element("summary", `What a block of each kernel takes${known.size > 1 ? `, ${names.join(", ")}` : ""}`));
    details.append(scrolling(tableOf(heads, rows, 2)), ...rest(count - rows.length, "kernels"));
    place.append(details);
    return place;
  });
}

/** Every operation of a run, for those who read rather than look. */
function operationsOf(app, run) {
  const place = element("details");
  const shown = Math.min(run.operationCount, MOST_ENTRIES);
  place.append(element("summary", `All operations${app.runs.length > 1 ? `, ${run.name}` : ""}`));
  place.addEventListener("toggle", () => {
    if (place.childElementCount > 1) return;
    const at = (number) => (number === NONE ? "-" : formatInstant(run.instants.ns(number)));
    const { launched, first_start: firstStart, finish } = run.operations;
    const rows = Array.from({ length: shown }, (_, id) => {
      const why = run.blocks_only ? "not known" : run.phasesOf(id).map((phase) => phaseText(run, id, phase)).join(" ");
      const isLaunchKnown = !run.blocks_only || (run.byStream && firstStart[id] !== NONE);
      return [run.title(id), run.streamOf(id).name, why, at(isLaunchKnown ? launched[id] : NONE), at(firstStart[id]), at(finish[id])];
    });
    const table = tableOf(["operation", "stream", "why it waited", "launched", "started", "finished"], rows, 3);
    for (const row of table.rows) row.cells[2].classList.add("long");
    place.append(scrolling(table));
    place.append(...rest(run.operationCount - shown, "that the search finds"));
  });
  return place;
}

const RESPONSE_COLUMNS = ["jobs", "min", "mean", "95 %", "99 %", "max", "deadline", "misses"];

/** Response times of jobs, and which deadlines were missed. */
function responsesOf(app) {
  const place = element("section");
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
    place.append(scrolling(table), ...rest(run.responses.length - MOST_ENTRIES, "streams"));
    if (run.response_figure) place.append(picture(run.response_figure));
    const leftOut = BigInt(run.deadlines.left_out);
    if (leftOut > 0n) place.append(element("p", `${leftOut} more jobs that had not begun have no mark in the figure`));
  }
  return place;
}

/** What the colours of bars mean. */
function rulesOf(app) {
  const place = element("section", "", { class: "rules" });
  const used = new Set(app.runs.flatMap((run) => run.phases.said.map(({ rule }) => rule)));
  if (used.size > 0) place.append(element("h2", "Why operations waited: colours of the bars"));
  for (const { name, meaning } of app.rules.values()) {
    if (!used.has(name)) continue;
    const line = element("p");
    const mark = element("img", "", { class: "mark", src: app.fills.swatch(app.ruleLook(name).fill), alt: "" });
    line.append(mark, ruleButton(app, name), `: ${meaning}`);
    place.append(line);
  }
  return place;
}

/** The same in the colours of another theme. */
function showRules(app) {
  document.querySelector("#report .rules")?.replaceWith(rulesOf(app));
}

/** Everything below the figure. */
function showReport(app) {
  const each = (part) => app.runs.map((run) => part(app, run));
  const parts = [...each(blameOf), ...kernelsOf(app), ...each(operationsOf)];
  document.getElementById("report").replaceChildren(rulesOf(app), responsesOf(app), ...parts);
}
