// The state of the GPU at one instant, as `gpusched simulate --state-at T --format json` has it.

const RESOURCES = ["threads", "block slots", "bytes of shared memory", "registers"];
const RULE_ABOUT = ["R2", "R2", "R3", "registers"];
const NULL_STREAM = 0;

class Snapshot {
  constructor(run, ns) {
    this.run = run;
    this.ns = ns;
    this.now = run.instants.lastAt(ns);
    const { launched, finish, stream } = run.operations;
    /** Submitted and not completed, in launch order. */
    this.present = [];
    /** The first operation of each stream queue, by stream. */
    this.heads = new Map();
    for (let id = 0; id < run.operationCount; id += 1) {
      if (launched[id] > this.now || this.reached(finish[id])) continue;
      this.present.push(id);
      if (!this.heads.has(stream[id])) this.heads.set(stream[id], id);
    }
    this.streamsInUse = [...this.heads.keys()].sort((a, b) => a - b);
    this.settle();
    this.fillQueues();
  }

  reached(number) {
    return number !== NONE && number <= this.now;
  }

  /** Puts the resident blocks on their SMs. */
  settle() {
    const { run, now } = this;
    const device = run.device;
    const { launched, finish } = run.operations;
    this.resident = [];
    this.free = run.sms.map((sm) => {
      const free = { warps: device.warps, blocks: device.blocks, sharedMemory: device.shared_memory, registers: device.registers };
      const counts = new Map();
      sm.between(now, now, (position) => {
        const id = sm.operation[position];
        if (sm.end[position] <= now || launched[id] > now || this.reached(finish[id])) return;
        const demand = run.kernelOf(id).demand;
        if (!demand) return;
        counts.set(id, (counts.get(id) ?? 0) + 1);
        free.warps -= demand[0];
        free.blocks -= 1;
        free.sharedMemory -= demand[1];
        free.registers -= demand[2];
      });
      this.resident.push([...counts].sort((a, b) => a[0] - b[0]));
      return free;
    });
  }

  fillQueues() {
    const { run } = this;
    const { queued, last_start: lastStart, queue_order: order } = run.operations;
    const inQueue = this.present.filter((id) => this.reached(queued[id]) && !this.reached(lastStart[id]));
    inQueue.sort((a, b) => order[a] - order[b]);
    this.ceQueue = inQueue.filter((id) => run.copyOf(id));
    /** EE queues by stream priority. */
    this.eeQueues = new Map();
    for (const id of inQueue.filter((other) => run.kernelOf(other))) {
      const priority = run.streamOf(id).priority;
      if (!this.eeQueues.has(priority)) this.eeQueues.set(priority, []);
      this.eeQueues.get(priority).push(id);
    }
    /** The copy that each engine serves. */
    this.served = new Map();
    for (const id of this.present) {
      const engine = run.copyOf(id)?.engine;
      if (engine === undefined || !this.reached(run.operations.first_start[id])) continue;
      if (!this.served.has(engine)) this.served.set(engine, id);
    }
  }

  eeQueue(priority) {
    return this.eeQueues.get(priority) ?? [];
  }

  /** The head of the highest EE queue above a priority that is not empty. */
  holderAbove(priority) {
    const higher = this.run.device.priorities.find((other) => other < priority && this.eeQueue(other).length > 0);
    return higher === undefined ? undefined : this.eeQueue(higher)[0];
  }

  /** The operation because of which N1 or N2 hold the head of a stream. */
  heldBy(id) {
    const { streams, operations } = this.run;
    const own = operations.stream[id];
    const concerns = (stream) =>
      own === NULL_STREAM ? streams[stream].blocking : stream === NULL_STREAM && streams[own].blocking;
    const stream = this.streamsInUse.find((other) => concerns(other) && this.heads.get(other) < id);
    return stream === undefined ? undefined : this.heads.get(stream);
  }

  /** What a block of a kernel lacks on each SM that it may use: [SM, [[resource, how much], ...]]. */
  shortages(id) {
    const { run } = this;
    const kernel = run.kernelOf(id);
    if (!kernel?.demand) return [];
    const [warps, sharedMemory, registers] = kernel.demand;
    const warpSize = run.device.warp_size;
    const allowed = kernel.allowed ?? run.streamOf(id).allowed ?? this.free.map((_, sm) => sm);
    return allowed.map((sm) => {
      const free = this.free[sm];
      const by = [(warps - free.warps) * warpSize, 1 - free.blocks, sharedMemory - free.sharedMemory, registers - free.registers];
      return [sm, by.map((amount, resource) => [resource, amount]).filter(([, amount]) => amount > 0)];
    });
  }

  /** The rule that holds an operation, and what it waits for; null for what is completely on the GPU. */
  waiting(id) {
    const { run } = this;
    const { operations } = run;
    if (this.reached(operations.last_start[id])) return null;
    const behind = (relation, other) => (other === undefined ? relation : `${relation} ${run.title(other)}`);
    const copy = run.copyOf(id);
    const stream = operations.stream[id];
    const head = this.heads.get(stream);
    if (head !== id) return [copy ? "C1" : "G2", behind("in its stream, behind", head)];
    if (!this.reached(operations.queued[id])) {
      const earlier = this.heldBy(id);
      if (earlier === undefined) return ["channel", "until a hardware channel is free"];
      const [rule, whose] = stream === NULL_STREAM ? ["N1", "a blocking stream"] : ["N2", "the NULL stream"];
      return [rule, behind(`until an earlier operation of ${whose} completes:`, earlier)];
    }
    if (copy) return ["C2", behind("until its copy engine is idle, which serves", this.served.get(copy.engine))];
    const priority = run.streamOf(id).priority;
    const [first] = this.eeQueue(priority);
    if (first !== id) return ["X1", behind("in its EE queue, behind", first)];
    const holder = this.holderAbove(priority);
    if (holder !== undefined) return ["A2", behind("while an EE queue of higher priority holds", holder)];
    return this.lacking(id);
  }

  /** Which of R2 and R3 holds the head of its EE queue, and what is missing on the SM that comes nearest. */
  lacking(id) {
    const shortages = this.shortages(id);
    const broken = shortages.map(([, lacks]) => lacks[0]?.[0] ?? NONE);
    const rule = RULE_ABOUT[Math.max(0, ...broken)];
    if (shortages.length === 0) return [rule, ""];
    const sum = (lacks) => lacks.reduce((total, [, amount]) => total + amount, 0);
    const nearest = shortages.reduce((best, next) => {
      const difference = next[1].length - best[1].length || sum(next[1]) - sum(best[1]);
      return difference < 0 ? next : best;
    });
    const list = nearest[1].map(([resource, amount]) => `${amount} ${RESOURCES[resource]}`).join(" and ");
    return [rule, `no SM has room for its next block; SM ${nearest[0]} comes nearest and lacks ${list}`];
  }

  state() {
    const { run } = this;
    const titles = (ids) => ids.map((id) => run.title(id));
    const inStream = new Map(this.streamsInUse.map((stream) => [stream, []]));
    for (const id of this.present) inStream.get(run.operations.stream[id]).push(id);
    const engines = Array.from({ length: run.device.copy_engines }, (_, engine) => engine);
    const waiting = this.present.map((id) => [id, this.waiting(id)]).filter(([, held]) => held);
    return {
      at_ns: this.ns,
      stream_queues: [...inStream].map(([stream, ids]) => ({
        name: run.streams[stream].name,
        stream: run.streams[stream].number,
        operations: titles(ids),
      })),
      ee_queues: Object.fromEntries(run.device.priorities.map((priority) => [priority, titles(this.eeQueue(priority))])),
      ce_queue: titles(this.ceQueue),
      ce_queues: engines.map((engine) => titles(this.ceQueue.filter((id) => run.copyOf(id).engine === engine))),
      copy_engines: engines.map((engine) => (this.served.has(engine) ? run.title(this.served.get(engine)) : null)),
      sms: this.free.map((free, sm) => ({
        sm,
        resident: this.resident[sm].map(([id, blocks]) => ({ kernel: run.title(id), id, blocks })),
        free_threads: free.warps * run.device.warp_size,
        free_blocks: free.blocks,
        free_shared_memory: free.sharedMemory,
        free_registers: free.registers,
      })),
      waiting: waiting.map(([id, [rule, why]]) => ({ operation: run.title(id), id, rule, why })),
    };
  }
}

/** The state of a run after all events of the instant `ns`. */
function stateAt(run, ns) {
  return new Snapshot(run, ns).state();
}
