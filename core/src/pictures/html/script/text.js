// What is said about a run in words.

function list(names) {
  return names.length > 0 ? names.join(", ") : "empty";
}

function residentText({ kernel, blocks, waits = [] }) {
  const told = waits.map(({ blocks: count, counter, value, grid, is }) => {
    const who = `${count === blocks ? "" : `${count} of them `}${count === 1 ? "waits" : "wait"} for`;
    if (counter === undefined) return `${who} all ${grid} blocks of its grid`;
    return `${who} counter ${counter}, ${is === undefined ? `${value} or more` : `${is} of ${value}`}`;
  });
  return `${blocks} x ${kernel}${told.length > 0 ? ` (${told.join("; ")})` : ""}`;
}

function smLine(run, sm) {
  const residents = list(sm.resident.map(residentText));
  return `SM ${sm.sm}: ${residents}; free: ${run.device.resources.map(({ key, words }) => `${sm[`free_${key}`]} ${words}`).join(", ")}`;
}

/** What runs in each stream of a run of which nothing else is known. */
function runningLines(run, ns) {
  const now = run.instants.lastAt(ns);
  const running = new Map();
  const { stream, first_start: firstStart } = run.operations;
  for (let id = 0; id < run.operationCount; id += 1) {
    if (firstStart[id] === NONE || firstStart[id] > now || run.endOf(id) <= now) continue;
    running.set(stream[id], [...(running.get(stream[id]) ?? []), run.title(id)]);
  }
  const lines = [...running].sort((a, b) => a[0] - b[0]).map(([index, titles]) => `${streamText(run.streams[index].name)} runs ${list(titles)}`);
  return lines.length > 0 ? lines : ["nothing runs"];
}

/** Whose turn it is, in words. */
function turnLine({ process, switching, from_ns: from, to_ns: to }) {
  if (process === null) return "turn: nobody's";
  return `${switching ? "switch to" : "turn:"} ${process}, from ${formatInstant(from)} to ${formatInstant(to)}`;
}

/** The lines of `gpusched simulate --state-at T`; of a run of which only blocks are known, those about SMs. */
function stateLines(app, run, state) {
  const sms = state.sms.map((sm) => smLine(run, sm));
  if (run.byStream) return runningLines(run, state.at_ns);
  if (run.blocks_only) return sms;
  const isBehind = ({ rule }) => app.rules.get(rule).is_behind_in_stream;
  const eeLines = (queues, of) => run.device.priorities.map((priority) => `EE queue${of}, priority ${priority}: ${list(queues[priority])}`);
  return [
    ...(state.turn ? [turnLine(state.turn)] : []),
    // Why the heads of queues wait is asked for most; what stands behind them in its stream is told after that.
    ...[...state.waiting.filter((waiting) => !isBehind(waiting)), ...state.waiting.filter(isBehind)].map(
      (waiting) => `${waiting.operation} waits (${waiting.rule}): ${waiting.why}`,
    ),
    ...state.stream_queues.map((queue) => `${streamText(queue.name)}: ${list(queue.operations)}`),
    ...(queueOwners(run)?.flatMap((name) => eeLines(state.ee_queues[name], ` of ${name}`)) ?? eeLines(state.ee_queues, "")),
    ...state.ce_queues.flatMap((queue, engine) => [
      `CE queue ${engine}: ${list(queue)}`,
      `copy engine ${engine}: ${[state.copy_engines[engine] ?? []].flat().join(", ") || "idle"}`,
    ]),
    ...(run.wholeKernels ? runningLines(run, state.at_ns) : sms),
    ...(state.suspended ?? []).map(({ process, kernel, blocks }) => `suspended, of ${process}: ${blocks} x ${kernel}`),
    ...(state.suspended_copies ?? []).map(({ process, copy }) => `suspended, of ${process}: ${copy}`),
  ];
}

/** From when to when, and how long. */
function spanText(run, start, end) {
  const [from, to] = [run.instants.ns(start), run.instants.ns(end)];
  if (end > run.end) return `from ${formatInstant(from)} on; it had not ended when the run did, at ${formatInstant(run.endNs())}`;
  return `from ${formatInstant(from)} to ${formatInstant(to)} (${formatTime(to - from)})`;
}

/** A stream by its name, which may say that it is one. */
function streamText(name) {
  return /stream/i.test(name) ? name : `stream ${name}`;
}

/** When an operation was launched, and which rules made it wait until instant `until`, each with its whole time. */
function waitText(run, id, until) {
  if (run.blocks_only && !run.byStream) return ["measured: launch and waits are not known"];
  if (run.byStream && run.operations.first_start[id] === NONE) return [];
  const launched = run.instants.ns(run.operations.launched[id]);
  const launch = `launched at ${formatInstant(launched)} in ${streamText(run.streamOf(id).name)}`;
  if (run.byStream) return [launch, "recorded: SMs and waits are not known"];
  const sums = new Map();
  let last = null;
  for (const wait of run.waitsOf(id)) {
    if (wait.from >= until) continue;
    const to = Math.min(wait.to, until);
    const time = run.instants.ns(to) - run.instants.ns(wait.from);
    sums.set(wait.rule, (sums.get(wait.rule) ?? 0n) + time);
    last = to === until ? wait.rule : null;
  }
  const waited = [...sums].map(([rule, time]) => `${formatTime(time)} (${rule})`).join(", ");
  const lines = [launch, waited ? `waited ${waited}` : "did not wait"];
  if (last && sums.size > 1) lines.push(`last held by ${last}`);
  return lines;
}

/** What is written on a box of blocks, the best first. */
function blockLabels(blocks, kernel, position) {
  if (blocks.index) return [`${kernel.title}:${blocks.index[position]}`, kernel.title];
  return [`${kernel.title} (${blocks.blocksOf(position)})`, kernel.title];
}

/** Names, and how many more there are before the last. */
function namesText(run, ids, more) {
  const names = ids.map((id) => run.title(id));
  if (more > 0) names.splice(-1, 0, `${more} more`);
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : (names[0] ?? "");
}

/** How much of all SMs is taken at a time. */
function occupancyLines(run, ns) {
  const now = run.instants.lastAt(ns);
  const lines = run.occupancy.map(({ resource, capacity, at, amount }) => {
    const step = run.endNs() > 0n ? Number((ns * BigInt(amount.length)) / run.endNs()) : 0;
    const index = at.length > 0 ? firstWhere(at.length, (place) => at[place] > now) - 1 : Math.min(amount.length - 1, step);
    const taken = index < 0 ? 0 : Number(amount[index]);
    return `${resource}: ${((100 * taken) / Number(capacity)).toFixed(1)} %${at.length > 0 ? "" : " on average"}`;
  });
  return [`in use at ${formatInstant(ns)}`, ...lines];
}

/** A phase of waiting as a sentence, which is in the data but for names and times. */
function phaseText(run, id, phase) {
  const parts = {
    operation: run.title(id),
    from: formatInstant(run.instants.ns(phase.from)),
    to: formatInstant(run.instants.ns(phase.to)),
    blocking: namesText(run, phase.blocking, phase.more),
  };
  return phase.text.replace(/\{(operation|from|to|blocking)\}/g, (_, name) => parts[name]);
}

/** Times in which a block waits for others that are told one by one. */
const MOST_STANDS = 8;

/** When a block waits for others on its SM, and until what. */
function standsText(run, blocks, position) {
  const at = (number) => formatInstant(run.instants.ns(number));
  const stands = run.standsOf(blocks, position);
  const told = stands.slice(0, MOST_STANDS).map(({ until, from, to }) => `waits from ${at(from)} ${to === OPEN ? "on" : `to ${at(to)}`} ${until}`);
  return stands.length > MOST_STANDS ? [...told, `and ${stands.length - MOST_STANDS} more times`] : told;
}

/** A block: which, where, from when to when, and what made it wait. */
function blockText(run, sm, position) {
  const blocks = run.sms[sm];
  const id = blocks.operation[position];
  const kernel = run.kernelOf(id);
  const count = blocks.blocksOf(position);
  const which = blocks.index ? `block ${blocks.index[position]} of ${kernel.blocks}` : `${count} of ${kernel.blocks} blocks`;
  const turns = blocks.times[position] > 1 ? [`${blocks.blocks[position]} at one time, ${blocks.times[position]} times`] : [];
  return [
    `${kernel.title}, ${which}, SM ${sm}`,
    ...turns,
    spanText(run, blocks.start[position], blocks.end[position]),
    ...standsText(run, blocks, position),
    ...pausesText(run, id, blocks.start[position], blocks.end[position]),
    ...waitText(run, id, blocks.start[position]),
  ];
}

/** An operation as a whole. */
function operationText(run, id) {
  const { first_start: firstStart, finish } = run.operations;
  const copy = run.copyOf(id);
  const size = copy && copy.bytes !== null ? `, ${copy.bytes} bytes` : "";
  const until = firstStart[id] === NONE ? run.end : firstStart[id];
  const never = run.blocks_only ? `not seen when it was ${run.name}` : "has not started";
  const running = firstStart[id] === NONE ? never : spanText(run, firstStart[id], run.endOf(id));
  const unfinished = firstStart[id] !== NONE && finish[id] === NONE ? ["has not finished when the run ends"] : [];
  const paused = firstStart[id] === NONE ? [] : pausesText(run, id, firstStart[id], run.endOf(id));
  return [`${run.title(id)}${size}`, running, ...unfinished, ...paused, ...waitText(run, id, until)];
}
