// The state of the GPU at one instant, as `gpusched simulate --state-at T --format json` has it. Who is in which queue,
// and why each operation waits, is looked up in the data.

/** What is resident on an SM and what is free there after all events of instant number `now`. */
function smAt(run, sm, now) {
  const { device } = run;
  const blocks = run.sms[sm];
  let [warps, free, sharedMemory, registers] = [device.warps, device.blocks, device.shared_memory, device.registers];
  const counts = new Map();
  blocks.between(now, now, (position) => {
    const id = blocks.operation[position];
    const { demand } = run.kernelOf(id);
    if (blocks.end[position] <= now || !demand) return;
    const count = blocks.blocks[position];
    counts.set(id, (counts.get(id) ?? 0) + count);
    warps -= demand[0] * count;
    free -= count;
    sharedMemory -= demand[1] * count;
    registers -= demand[2] * count;
  });
  const residents = [...counts].sort((a, b) => a[0] - b[0]);
  return {
    sm,
    resident: residents.map(([id, count]) => ({ kernel: run.title(id), id, blocks: count })),
    // The clocks of a measured run differ, so that blocks may seem to take more than there is.
    free_threads: Math.max(0, warps) * device.warp_size,
    free_blocks: Math.max(0, free),
    free_shared_memory: Math.max(0, sharedMemory),
    free_registers: Math.max(0, registers),
  };
}

/** Why an operation waits at instant number `now`; null for what does not wait any more. */
function waitingAt(run, id, now) {
  const wait = run.waitAt(id, now);
  if (!wait) return null;
  const head = wait.queue === null ? undefined : wait.queue.at(now)[0];
  const why = head === undefined ? wait.why : `${wait.why} ${run.title(head)}`;
  return { operation: run.title(id), id, rule: wait.rule, why };
}

/** The state of a run after all events of the instant `ns`. */
function stateAt(run, ns) {
  const now = run.instants.lastAt(ns);
  const titles = (ids) => Array.from(ids, (id) => run.title(id));
  const content = (kind, number) => run.queue(kind, number)?.at(now) ?? [];
  const streams = run.queues.filter(({ kind }) => kind === "stream").map((queue) => [queue, [...queue.at(now)]]);
  const used = streams.filter(([, ids]) => ids.length > 0);
  const present = used.flatMap(([, ids]) => ids).sort((a, b) => a - b);
  const engines = Array.from({ length: run.device.copy_engines }, (_, engine) => engine);
  const served = (engine) => {
    if (run.device.shares_link) return titles(run.queue("copy-engine", engine)?.sharedAt(now) ?? []);
    return titles(content("copy-engine", engine))[0] ?? null;
  };
  const copies = engines.flatMap((engine) => run.queue("ce", engine)?.entriesAt(now) ?? []);
  copies.sort((a, b) => a.order - b.order);
  return {
    at_ns: ns,
    stream_queues: used.map(([{ name, number }, ids]) => ({ name, stream: number, operations: titles(ids) })),
    ee_queues: Object.fromEntries(run.device.priorities.map((priority) => [priority, titles(content("ee", priority))])),
    ce_queue: titles(copies.map(({ id }) => id)),
    ce_queues: engines.map((engine) => titles(content("ce", engine))),
    copy_engines: engines.map(served),
    sms: run.sms.map((_, sm) => smAt(run, sm, now)),
    waiting: present.map((id) => waitingAt(run, id, now)).filter((waiting) => waiting),
  };
}
