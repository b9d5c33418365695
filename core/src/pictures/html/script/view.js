// Which part of the time is seen, and what that means in pixels.

/** The least time that fills the width [ns]. */
const LEAST_SPAN = 10;

class View {
  /** `end`: the end of the time that there is. */
  constructor(end) {
    this.end = end > 0n ? end : 1n;
    this.left = 0;
    this.width = 1;
    this.fit();
  }

  /** Of a time that ends at `end`, what another view shows, or everything if that does. */
  static like(other, end) {
    const view = new View(end);
    if (other && other.span < Number(other.end)) {
      view.span = Math.min(other.span, Number(view.end));
      view.moveTo(other.start, other.shift);
    }
    return view;
  }

  /** Shows everything. */
  fit() {
    this.span = Number(this.end);
    this.moveTo(0n, 0);
  }

  /** Where the plot is from left to right [pixels]. */
  resize(left, width) {
    this.left = left;
    this.width = Math.max(1, width);
  }

  /** Puts the left edge at `base` + `offset` ns, or as near to it as there is time. */
  moveTo(base, offset) {
    const whole = Math.floor(offset);
    let start = base + BigInt(whole);
    let shift = offset - whole;
    const latest = this.end - BigInt(Math.ceil(this.span));
    if (start >= latest) [start, shift] = [latest, 0];
    if (start < 0n) [start, shift] = [0n, 0];
    /** The left edge is `start` + `shift`, 0 <= shift < 1 ns. */
    this.start = start;
    this.shift = shift;
    this.base = { high: Number(start >> 32n), low: Number(start & 0xffffffffn) };
  }

  /** Where an instant of a run is. */
  x(instants, number) {
    return this.left + ((instants.since(this.base, number) - this.shift) / this.span) * this.width;
  }

  /** Where a time is. */
  xOf(ns) {
    return this.left + ((Number(ns - this.start) - this.shift) / this.span) * this.width;
  }

  /** The time at a place, in whole nanoseconds. */
  timeAt(x) {
    const ns = this.start + BigInt(Math.round(this.shift + ((x - this.left) / this.width) * this.span));
    return ns < 0n ? 0n : ns > this.end ? this.end : ns;
  }

  /** The last time that is seen. */
  stop() {
    const stop = this.start + BigInt(Math.ceil(this.shift + this.span));
    return stop > this.end ? this.end : stop;
  }

  /** Makes `factor` times as much time visible; what is at `x` stays there. */
  zoom(factor, x) {
    const share = (x - this.left) / this.width;
    const most = Number(this.end);
    const span = Math.min(most, Math.max(Math.min(LEAST_SPAN, most), this.span * factor));
    const offset = this.shift + share * (this.span - span);
    this.span = span;
    this.moveTo(this.start, offset);
  }

  /** Moves by a share of the width. */
  pan(share) {
    this.moveTo(this.start, this.shift + share * this.span);
  }

  /** Shows a time with as much before and after it as it takes itself; an instant with some time around it. */
  show(from, to) {
    const length = to > from ? Number(to - from) : this.span / 20;
    this.span = Math.min(Number(this.end), Math.max(LEAST_SPAN, length * 3));
    this.moveTo(from, (Number(to - from) - this.span) / 2);
  }

  /** The numbers of the instants of a run between which everything is that is seen. */
  range(instants) {
    return [Math.max(0, instants.lastAt(this.start)), Math.min(instants.count - 1, instants.lastAt(this.stop()) + 1)];
  }
}
