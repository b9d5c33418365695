// The state of the GPU at one instant, as `gpusched simulate --state-at T --format json` has it. Who is in which queue,
// and why each operation waits, is looked up in the data; what is free on an SM is what the data says that it has, without
// what the data says that the blocks on it take.

/** What is resident on an SM and what is free there after all events of instant number `now`. Adds up what is suspended. */
function smAt(run, sm, now, suspended) {
  const { resources } = run.device;
  const blocks = run.sms[sm];
  const free = resources.map(({ capacity }) => capacity);
  const counts = new Map();
  const stands = new Map();
  blocks.between(now, now, (position) => {
    const id = blocks.operation[position];
    const { demand } = run.kernelOf(id);
    if (blocks.end[position] <= now) return;
    const count = blocks.blocks[position];
    if (run.isSuspended(id, now)) {
      suspended.set(id, (suspended.get(id) ?? 0) + count);
      return;
    }
    counts.set(id, (counts.get(id) ?? 0) + count);
    for (const stand of run.standsOf(blocks, position)) {
      if (stand.from > now || stand.to <= now) continue;
      if (!stands.has(id)) stands.set(id, new Map());
      const waiting = stands.get(id);
      waiting.set(stand.what, { stand, blocks: (waiting.get(stand.what)?.blocks ?? 0) + count });
    }
    demand.forEach((units, place) => {
      free[place] -= units * count;
    });
  });
  const residents = [...counts].sort((a, b) => a[0] - b[0]);
  return {
    sm,
    resident: residents.map(([id, count]) => ({
      kernel: run.title(id),
      id,
      blocks: count,
      ...(stands.has(id) && { waits: waitingBlocks([...stands.get(id).values()], now >= run.end) }),
    })),
    // The clocks of a measured run differ, so that blocks may seem to take more than there is.
    ...Object.fromEntries(resources.map(({ key, unit }, place) => [`free_${key}`, Math.max(0, free[place]) * unit])),
  };
}

/** Blocks that wait for others, by what they wait for; what a counter holds is known when the run has ended. */
function waitingBlocks(waiting, isOver) {
  return waiting
    .sort((one, other) => one.stand.point - other.stand.point)
    .map(({ stand: { counter, value, grid, last }, blocks }) => ({
      blocks,
      ...(counter === undefined ? { grid } : { counter, value, ...(isOver && { is: last }) }),
    }));
}

/** A text with the values of its places. */
function filledIn(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** What is said of a wait for a turn behind its cause. */
function otherTurn(run, id, now) {
  const { turns } = run;
  const { words } = turns;
  const next = turns.nextOf(run.processOf(id), now);
  const told = next === NONE ? "" : filledIn(words.next, { next: formatInstant(run.instants.ns(next)) });
  const turn = turns.at(now);
  if (turn === NONE) return told + words.nobody;
  const process = run.processes[turns.process[turn]];
  if (now < turns.start[turn]) return told + filledIn(words.switching, { process });
  return told + filledIn(words.now, { process, until: formatInstant(run.instants.ns(turns.end[turn])) });
}

/** Whose turn it is. */
function turnState(run, now) {
  const { turns, instants } = run;
  const turn = turns.at(now);
  if (turn === NONE) return { process: null, switching: false, from_ns: null, to_ns: null };
  const switching = now < turns.start[turn];
  const [from, to] = switching ? [turns.switchFrom[turn], turns.start[turn]] : [turns.start[turn], turns.end[turn]];
  return { process: run.processes[turns.process[turn]], switching, from_ns: instants.ns(from), to_ns: instants.ns(to) };
}

/** Why an operation waits at instant number `now`; null for what does not wait any more. */
function waitingAt(run, id, now) {
  const wait = run.waitAt(id, now);
  if (!wait) return null;
  const head = wait.ahead ?? wait.queue?.headAt(now);
  const turn = wait.for_turn ? otherTurn(run, id, now) : "";
  const why = head === undefined ? wait.why + turn : `${wait.why} ${run.title(head)}`;
  return { operation: run.title(id), id, rule: wait.rule, why };
}

/** Who has EE queues: green contexts, or processes that take turns; null where there is one. */
function queueOwners(run) {
  return run.queue_owners ?? (run.turns ? run.processes : null);
}

/** The state of a run after all events of the instant `ns`. */
function stateAt(run, ns) {
  const now = run.instants.lastAt(ns);
  const titles = (ids) => Array.from(ids, (id) => run.title(id));
  const content = (kind, number, process = null) => run.queue(kind, number, process)?.at(now) ?? [];
  const streams = run.queues.filter(({ kind }) => kind === "stream").map((queue) => [queue, queue.at(now)]);
  const used = streams.filter(([, ids]) => ids.length > 0);
  const present = used.flatMap(([, ids]) => ids).sort((a, b) => a - b);
  const engines = Array.from({ length: run.device.copy_engines }, (_, engine) => engine);
  const served = (engine) => {
    const copies = titles(content("copy-engine", engine));
    return run.device.shares_link ? copies : (copies[0] ?? null);
  };
  const copies = engines.flatMap((engine) => run.queue("ce", engine)?.entriesAt(now) ?? []);
  copies.sort((a, b) => a.order - b.order);
  const eeQueues = (process) =>
    Object.fromEntries(run.device.priorities.map((priority) => [priority, titles(content("ee", priority, process))]));
  const suspended = new Map();
  const sms = run.sms.map((_, sm) => smAt(run, sm, now, suspended));
  const suspendedBlocks = [...suspended]
    .sort((a, b) => a[0] - b[0])
    .map(([id, blocks]) => ({ process: run.processes[run.processOf(id)], kernel: run.title(id), id, blocks }));
  const onEngines = new Set(engines.flatMap((engine) => Array.from(content("copy-engine", engine))));
  const { first_start: firstStart } = run.operations;
  const begun = (id) => firstStart[id] !== NONE && firstStart[id] <= now;
  const suspendedCopies = present
    .filter((id) => !run.kernelOf(id) && begun(id) && !onEngines.has(id))
    .map((id) => ({ process: run.processes[run.processOf(id)], copy: run.title(id), id }));
  return {
    at_ns: ns,
    ...(run.turns && { turn: turnState(run, now), suspended: suspendedBlocks, suspended_copies: suspendedCopies }),
    stream_queues: used.map(([{ name, number }, ids]) => ({ name, stream: run.streams[number + 1].number, operations: titles(ids) })),
    ee_queues: queueOwners(run) ? Object.fromEntries(queueOwners(run).map((name, owner) => [name, eeQueues(owner)])) : eeQueues(null),
    ce_queue: titles(copies.map(({ id }) => id)),
    ce_queues: engines.map((engine) => titles(content("ce", engine))),
    copy_engines: engines.map(served),
    sms,
    waiting: present.map((id) => waitingAt(run, id, now)).filter((waiting) => waiting),
  };
}
