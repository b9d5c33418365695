// The embedded data, in a form that can be searched. The scripts know no rule of the GPU: what an SM has, what a block of a
// kernel takes, who waits under which rule, and with which turns rounds begin is all in the data (`html/data.rs`). What
// depends on the instant under the cursor or on the width of the window is added up from that, as it would make the file
// many times as long.

const NONE = -1;
/** Blocks that are skipped together where all of them have ended. */
const CHUNK = 256;
const HIGH = 4294967296;

/** All instants of a run in ascending order, as 64 bits; everything else refers to them by number. */
class Instants {
  constructor(steps) {
    this.count = steps.length;
    this.high = new Uint32Array(steps.length);
    this.low = new Uint32Array(steps.length);
    let sum = 0;
    let number = 0;
    for (; number < steps.length; number += 1) {
      if (typeof steps[number] !== "number" || sum + steps[number] > Number.MAX_SAFE_INTEGER) break;
      sum += steps[number];
      this.high[number] = Math.floor(sum / HIGH);
      this.low[number] = sum % HIGH;
    }
    let exact = BigInt(sum);
    for (; number < steps.length; number += 1) {
      exact += BigInt(steps[number]);
      this.high[number] = Number(exact >> 32n);
      this.low[number] = Number(exact & 0xffffffffn);
    }
  }

  ns(number) {
    return (BigInt(this.high[number]) << 32n) | BigInt(this.low[number]);
  }

  /** Nanoseconds from `base` to an instant, as a number, which is exact up to 2^53. */
  since(base, number) {
    return (this.high[number] - base.high) * HIGH + (this.low[number] - base.low);
  }

  /** The number of the last instant that is not after `ns`, or NONE. */
  lastAt(ns) {
    let [from, to] = [0, this.count];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.ns(middle) <= ns) from = middle + 1;
      else to = middle;
    }
    return from - 1;
  }
}

/** What blocks on several SMs have in common, by number. */
class Groups {
  constructor({ operation, times, start, length }) {
    this.operation = Uint32Array.from(operation);
    this.times = Uint32Array.from(times);
    this.start = new Uint32Array(start.length);
    this.end = new Uint32Array(start.length);
    let last = 0;
    for (let group = 0; group < start.length; group += 1) {
      last += start[group];
      this.start[group] = last;
      this.end[group] = last + length[group];
    }
  }
}

/** The blocks of one SM in the order of their starts: each by itself, or several that do the same. */
class SmBlocks {
  constructor(columns, groups) {
    this.count = columns.group.length;
    this.columns = columns;
    this.groups = groups;
    this.places = { threads: SmBlocks.placesOf(columns) };
    for (const name of ["shared_memory", "registers"]) {
      if (columns[name]) this.places[name] = SmBlocks.placesOf(columns[name]);
    }
  }

  static placesOf({ low, split, overfull: [overfull, text] = [null] }) {
    return { low, split: new Map(split), overfull, text };
  }

  /** Brings the columns into a form that can be searched, once they are needed. */
  decode() {
    if (!this.columns) return;
    const { group: steps, index, blocks } = this.columns;
    const { groups } = this;
    this.operation = new Uint32Array(this.count);
    this.group = new Uint32Array(this.count);
    this.start = new Uint32Array(this.count);
    this.end = new Uint32Array(this.count);
    this.times = new Uint32Array(this.count);
    this.index = index ? Uint32Array.from(index) : null;
    this.blocks = blocks ? Uint32Array.from(blocks) : new Uint32Array(this.count).fill(1);
    this.chunkEnd = new Uint32Array(Math.ceil(this.count / CHUNK));
    let group = 0;
    for (let position = 0; position < this.count; position += 1) {
      group += steps[position];
      const end = groups.end[group];
      this.group[position] = group;
      this.operation[position] = groups.operation[group];
      this.start[position] = groups.start[group];
      this.end[position] = end;
      this.times[position] = groups.times[group];
      const chunk = Math.floor(position / CHUNK);
      if (end > this.chunkEnd[chunk]) this.chunkEnd[chunk] = end;
    }
    this.columns = null;
  }

  /** Calls `visit` with the position of each block that starts at or before instant `to` and ends at or after `from`. */
  between(from, to, visit) {
    this.decode();
    for (let chunk = 0; chunk < this.chunkEnd.length; chunk += 1) {
      const first = chunk * CHUNK;
      if (this.start[first] > to) return;
      if (this.chunkEnd[chunk] < from) continue;
      const end = Math.min(first + CHUNK, this.count);
      for (let position = first; position < end && this.start[position] <= to; position += 1) {
        if (this.end[position] >= from) visit(position);
      }
    }
  }

  /** About how many `between` visits. */
  countBetween(from, to) {
    this.decode();
    const begun = (instant) => firstWhere(this.count, (position) => this.start[position] > instant);
    return begun(to) - begun(from);
  }

  /** Blocks that run at one time, times how often they follow one another. */
  blocksOf(position) {
    return this.blocks[position] * this.times[position];
  }

  /** From which to which unit of its SM each part of a block is drawn. */
  partsOf(run, position, resource) {
    const { low, split } = this.places[resource];
    const parts = split.get(position);
    if (parts) return parts;
    return [[low[position], low[position] + run.takes(this.operation[position], resource) * this.blocks[position]]];
  }

  /** The units of a band as high as this SM. */
  unitsOf(run, resource) {
    return this.places[resource].overfull ?? run.resource(resource).capacity;
  }

  /** The same as it is written. */
  heightText(run, resource) {
    return this.places[resource].text ?? run.resource(resource).text;
  }
}

/** The number of the first of `count` positions for which `is` is true; it is true for all that follow. */
function firstWhere(count, is) {
  let [from, to] = [0, count];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (is(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Stands for the end of what still lasts when the run ends. */
const OPEN = 4294967295;

/** Who is in a queue, or on a copy engine, from when to when, in the order in which they enter. */
class Queue {
  constructor({ kind, number, process = null, name, operation, entered, length, order = [] }) {
    Object.assign(this, { kind, number, process, name });
    this.operation = new Uint32Array(operation.length);
    this.entered = new Uint32Array(operation.length);
    this.left = new Uint32Array(operation.length);
    this.order = new Uint32Array(order.length);
    let [id, start, place] = [0, 0, 0];
    for (let position = 0; position < operation.length; position += 1) {
      id += operation[position];
      start += entered[position];
      this.operation[position] = id;
      this.entered[position] = start;
      this.left[position] = length[position] === NONE ? OPEN : start + length[position];
      if (order.length > 0) this.order[position] = place += order[position];
    }
    /** Copies of several contexts, or that share a link, overtake one another. */
    this.inOrder = this.left.every((left, position) => position === 0 || this.left[position - 1] <= left);
  }

  /** The positions from the head to the last, after all events of instant number `now`. */
  positionsAt(now) {
    const count = this.operation.length;
    const to = firstWhere(count, (position) => this.entered[position] > now);
    const from = this.inOrder ? firstWhere(to, (position) => this.left[position] > now) : 0;
    const positions = Array.from({ length: to - from }, (_, index) => from + index);
    return this.inOrder ? positions : positions.filter((position) => this.left[position] > now);
  }

  /** Who is in it, the head first. */
  at(now) {
    return this.positionsAt(now).map((position) => this.operation[position]);
  }

  /** Who is at its head; undefined if it is empty. */
  headAt(now) {
    const count = this.operation.length;
    const isThere = (position) => this.entered[position] <= now && this.left[position] > now;
    if (!this.inOrder) return this.operation.find((_, position) => isThere(position));
    const first = firstWhere(count, (position) => this.left[position] > now);
    return first < count && isThere(first) ? this.operation[first] : undefined;
  }

  /** As `at`, with the place of each among the entries of all CE queues. */
  entriesAt(now) {
    return this.positionsAt(now).map((position) => ({ id: this.operation[position], order: this.order[position] }));
  }
}

/** Who is at which place of an EE queue or CE queue; those at one place follow one another. */
class Lanes {
  constructor({ kind, number, process = null, label, depth, operation, position, from, length }) {
    Object.assign(this, { kind, number, process, label, depth });
    this.places = Array.from({ length: Math.max(...position) + 1 }, () => []);
    operation.forEach((id, index) => {
      this.places[position[index]].push({ id, from: from[index], to: from[index] + length[index] });
    });
  }
}

/** One run. */
class Run {
  constructor(data) {
    Object.assign(this, data);
    this.instants = new Instants(data.instants);
    const groups = new Groups(data.groups);
    this.sms = data.sms.map((columns) => new SmBlocks(columns, groups));
    // Of a recorded application is known what ran in which stream, but not where.
    const hasBlocks = this.sms.some((blocks) => blocks.count > 0);
    this.byStream = data.blocks_only && !hasBlocks;
    // Where medians tell how long kernels take, these run as a whole, on no SM.
    const { kinds, kind, first_start: firstStart } = data.operations;
    this.kinds = kinds;
    this.resourceNumbers = new Map(data.device.resources.map(({ key }, number) => [key, number]));
    this.kernels = data.kernels.map((kernel) => ({ ...data.shapes[kernel.shape], ...kernel }));
    const ran = kind.some((one, id) => kinds[one] === "kernel" && firstStart[id] !== NONE);
    this.wholeKernels = !data.blocks_only && !hasBlocks && ran;
    this.operationCount = data.operations.kind.length;
    this.queues = data.queues.map((columns) => new Queue(columns));
    this.queuesByName = new Map(this.queues.map((queue) => [Run.nameOf(queue.kind, queue.number, queue.process), queue]));
    this.turns = data.turns && new Turns(data.turns);
    this.coreLanes = (data.cores?.lanes ?? []).map((columns) => new CoreLane(columns));
    this.stands = new Map();
    if (data.stands) this.readStands(data.stands);
    this.readWaits(data.waits);
    this.readPhases(data.phases);
    this.lanes = data.lanes.map((lanes) => new Lanes(lanes));
    this.dueNs = data.deadlines.due_ns.map(BigInt);
    this.deadlinesByStream = new Map();
    data.deadlines.stream.forEach((stream, job) => {
      if (!this.deadlinesByStream.has(stream)) this.deadlinesByStream.set(stream, []);
      this.deadlinesByStream.get(stream).push(job);
    });
  }

  /** Times in which blocks wait for others, by group. */
  readStands({ said, group, what, from, to }) {
    group.forEach((number, place) => {
      if (!this.stands.has(number)) this.stands.set(number, []);
      const end = to[place] === NONE ? OPEN : to[place];
      this.stands.get(number).push({ ...said[what[place]], what: what[place], from: from[place], to: end });
    });
  }

  /** When a block waits for others on its SM, in order of time. */
  standsOf(blocks, position) {
    return this.stands.get(blocks.group[position]) ?? [];
  }

  /** Brings the waits, which are written as steps, into columns. */
  readWaits({ said, operation, reason, queue, ahead = [], from, length }) {
    this.said = said;
    this.waits = { reason, queue, ahead: new Map(ahead), from: new Uint32Array(from.length), to: new Uint32Array(from.length) };
    this.firstWait = new Uint32Array(this.operationCount + 1);
    let [id, last] = [0, 0];
    for (let wait = 0; wait < from.length; wait += 1) {
      id += operation[wait];
      if (wait === 0 || operation[wait] > 0) last = this.operations.launched[id];
      this.waits.from[wait] = last + from[wait];
      this.waits.to[wait] = length[wait] === NONE ? OPEN : this.waits.from[wait] + length[wait];
      last = this.waits.to[wait];
      this.firstWait[id + 1] += 1;
    }
    for (let number = 0; number < this.operationCount; number += 1) this.firstWait[number + 1] += this.firstWait[number];
  }

  /** Brings the phases of waits, which are written as steps, into columns. */
  readPhases({ said, operation, reason, from, length, blocking, more, lane }) {
    this.phases = { said, reason, blocking, more, from: new Uint32Array(from.length), to: new Uint32Array(from.length) };
    this.firstPhase = new Uint32Array(this.operationCount + 1);
    this.waitLane = new Int8Array(this.operationCount);
    let [id, waited] = [0, 0];
    for (let phase = 0; phase < from.length; phase += 1) {
      id += operation[phase];
      if (this.firstPhase[id + 1] === 0) this.waitLane[id] = lane[waited++];
      this.phases.from[phase] = this.operations.launched[id] + from[phase];
      this.phases.to[phase] = this.phases.from[phase] + length[phase];
      this.firstPhase[id + 1] += 1;
    }
    for (let number = 0; number < this.operationCount; number += 1) this.firstPhase[number + 1] += this.firstPhase[number];
  }

  /** Why an operation waited until it began, in order of time. */
  phasesOf(id) {
    const found = [];
    const { said, reason, blocking, more, from, to } = this.phases;
    for (let phase = this.firstPhase[id]; phase < this.firstPhase[id + 1]; phase += 1) {
      found.push({ ...said[reason[phase]], from: from[phase], to: to[phase], blocking: blocking[phase], more: more[phase] });
    }
    return found;
  }

  /** What an SM has of a resource, and how that is told. */
  resource(key) {
    return this.device.resources[this.resourceNumbers.get(key)];
  }

  /** What one block of a launch takes of a resource of an SM, in its units. */
  takes(id, key) {
    return this.kernelOf(id)?.demand[this.resourceNumbers.get(key)] ?? 0;
  }

  static nameOf(kind, number, process) {
    return process === null ? `${kind} ${number}` : `${kind} ${number} of ${process}`;
  }

  /** A queue by its kind and number, and for EE queues where contexts take turns the process; undefined if nothing was ever
   * in it. */
  queue(kind, number, process = null) {
    return this.queuesByName.get(Run.nameOf(kind, number, process));
  }

  /** The number of the process of an operation. */
  processOf(id) {
    return this.streamOf(id).process;
  }

  /** Whether the blocks of an operation are suspended after all events of instant number `now`. */
  isSuspended(id, now) {
    return this.turns !== null && !this.turns.isOf(this.processOf(id), now);
  }

  /** When a copy is served, in order of time. */
  copyParts(id) {
    if (!this.partsOfCopies) {
      this.partsOfCopies = new Map();
      for (const { operation, entered, left } of this.queues.filter(({ kind }) => kind === "copy-engine")) {
        operation.forEach((copy, position) => {
          if (!this.partsOfCopies.has(copy)) this.partsOfCopies.set(copy, []);
          this.partsOfCopies.get(copy).push([entered[position], Math.min(left[position], this.end)]);
        });
      }
    }
    return this.partsOfCopies.get(id) ?? [];
  }

  /** The parts of the time between two instants, in which blocks or a copy of an operation have begun and not ended, in which
   * they run; null if they do all the time. */
  partsOf(id, from, to) {
    if (from >= to) return null;
    if (!this.kernelOf(id)) {
      const parts = this.copyParts(id);
      return parts.length > 1 || (parts.length === 1 && parts[0][1] < Math.min(to, this.end)) ? parts : null;
    }
    if (!this.turns) return null;
    const parts = [];
    this.turns.each(this.processOf(id), from, to, (begin, end) => parts.push([begin, end]));
    const isWhole = parts.length === 1 && parts[0][0] === from && parts[0][1] === Math.min(to, this.end);
    return isWhole ? null : parts;
  }

  kindOf(id) {
    return this.kinds[this.operations.kind[id]];
  }

  kernelOf(id) {
    return this.kindOf(id) === "kernel" ? this.kernels[this.operations.what[id]] : null;
  }

  copyOf(id) {
    return this.kindOf(id) === "copy" ? this.copies[this.operations.what[id]] : null;
  }

  streamOf(id) {
    return this.streams[this.operations.stream[id]];
  }

  /** The number of an operation among those of its kind, from 0. */
  numberOf(id) {
    const counts = this.kinds.map(() => 0);
    this.numbers ??= Uint32Array.from(this.operations.kind, (kind) => counts[kind]++);
    return this.numbers[id];
  }

  /** What reports call an operation. */
  title(id) {
    const kernel = this.kernelOf(id);
    if (kernel) return kernel.title;
    const name = `${this.kindOf(id)} ${this.numberOf(id)}`;
    if (this.kindOf(id) === "memset") return name;
    return `${name} (${this.copyOf(id)?.direction ?? this.events[this.operations.what[id]]})`;
  }

  /** A wait: its rule, what is said about it, and whom it names: an operation, the head of a queue then, or nobody. */
  wait(number) {
    const queue = this.waits.queue[number];
    const ahead = this.waits.ahead.get(number) ?? null;
    return { ...this.said[this.waits.reason[number]], ahead, queue: queue === NONE ? null : this.queues[queue] };
  }

  /** Its waits in order of time: rule, and the numbers of the instants from and to which it held. */
  waitsOf(id) {
    const waits = [];
    for (let wait = this.firstWait[id]; wait < this.firstWait[id + 1]; wait += 1) {
      const { from, to } = this.waits;
      waits.push({ rule: this.wait(wait).rule, from: from[wait], to: to[wait] === OPEN ? this.end : to[wait] });
    }
    return waits;
  }

  /** The wait of an operation after all events of instant number `now`, or null. */
  waitAt(id, now) {
    const first = this.firstWait[id];
    const after = firstWhere(this.firstWait[id + 1] - first, (index) => this.waits.from[first + index] > now);
    const last = first + after - 1;
    return after > 0 && now < this.waits.to[last] ? this.wait(last) : null;
  }

  /** When an operation left the GPU, or else the end of the run. */
  endOf(id) {
    return this.operations.finish[id] === NONE ? this.end : this.operations.finish[id];
  }

  endNs() {
    return this.instants.ns(this.end);
  }

  /** Until when it is shown: beyond its end if it stands still. */
  shownNs() {
    return this.instants.ns(this.still_until ?? this.end);
  }
}

function readData() {
  const element = document.getElementById("data");
  const scenes = JSON.parse(element.textContent);
  element.remove();
  return withRuns(scenes[chosenScene(scenes.length)]);
}

function withRuns(data) {
  return { ...data, runs: data.runs.map((run) => new Run(run)) };
}
