// What is said about a run in words.

function list(names) {
  return names.length > 0 ? names.join(", ") : "empty";
}

function smLine(sm) {
  const residents = list(sm.resident.map((resident) => `${resident.blocks} x ${resident.kernel}`));
  return (
    `SM ${sm.sm}: ${residents}; free: ${sm.free_threads} threads, ${sm.free_blocks} block slots, ` +
    `${sm.free_shared_memory} bytes of shared memory, ${sm.free_registers} registers`
  );
}

/** The lines of `gpusched simulate --state-at T`; of a run of which only blocks are known, those about SMs. */
function stateLines(run, state) {
  const sms = state.sms.map(smLine);
  if (run.blocks_only) return sms;
  const priorities = run.device.priorities;
  return [
    ...state.stream_queues.map((queue) => `stream ${queue.name}: ${list(queue.operations)}`),
    ...priorities.map((priority) => `EE queue, priority ${priority}: ${list(state.ee_queues[priority])}`),
    ...state.ce_queues.flatMap((queue, engine) => [
      `CE queue ${engine}: ${list(queue)}`,
      `copy engine ${engine}: ${state.copy_engines[engine] ?? "idle"}`,
    ]),
    ...sms,
    ...state.waiting.map((waiting) => `${waiting.operation} waits (${waiting.rule}): ${waiting.why}`),
  ];
}

/** From when to when, and how long. */
function spanText(run, start, end) {
  const [from, to] = [run.instants.ns(start), run.instants.ns(end)];
  return `from ${formatTime(from)} to ${formatTime(to)} (${formatTime(to - from)})`;
}

/** When an operation was launched, and which rules made it wait until instant `until`, each with its whole time. */
function waitText(run, id, until) {
  if (run.blocks_only) return ["measured: launch and waits are not known"];
  const launched = run.instants.ns(run.operations.launched[id]);
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
  const lines = [`launched at ${formatTime(launched)} in stream ${run.streamOf(id).name}`, waited ? `waited ${waited}` : "did not wait"];
  if (last && sums.size > 1) lines.push(`last held by ${last}`);
  return lines;
}

/** A block: which, where, from when to when, and what made it wait. */
function blockText(run, sm, position) {
  const blocks = run.sms[sm];
  const id = blocks.operation[position];
  const kernel = run.kernelOf(id);
  return [
    `${kernel.title}, block ${blocks.index[position]} of ${kernel.blocks}, SM ${sm}`,
    spanText(run, blocks.start[position], blocks.end[position]),
    ...waitText(run, id, blocks.start[position]),
  ];
}

/** An operation as a whole. */
function operationText(run, id) {
  const { first_start: firstStart, finish } = run.operations;
  const copy = run.copyOf(id);
  const size = copy ? `, ${copy.bytes} bytes` : "";
  const until = firstStart[id] === NONE ? run.end : firstStart[id];
  const running = firstStart[id] === NONE ? "has not started" : spanText(run, firstStart[id], run.endOf(id));
  const unfinished = firstStart[id] !== NONE && finish[id] === NONE ? ["has not finished when the run ends"] : [];
  return [`${run.title(id)}${size}`, running, ...unfinished, ...waitText(run, id, until)];
}
