// Times are BigInt, in nanoseconds: they may be too large for a number to hold exactly.

const NS_PER = { ns: 1n, us: 1000n, "µs": 1000n, ms: 1000000n, s: 1000000000n };

/** The exact decimal of `ns` in a unit that is a power of ten. */
function inUnit(ns, unit) {
  if (ns < 0n) return `−${inUnit(-ns, unit)}`;
  const rest = ns % unit;
  const whole = (ns / unit).toString();
  if (rest === 0n) return whole;
  const digits = rest.toString().padStart(unit.toString().length - 1, "0");
  return `${whole}.${digits.replace(/0+$/, "")}`;
}

/** The shortest exact text in the largest unit that is not larger than the value: `1.7 s`, `250 ms`. */
function formatTime(ns) {
  const name = ns === 0n ? "s" : ["s", "ms", "us"].find((unit) => ns >= NS_PER[unit]) ?? "ns";
  return `${inUnit(ns, NS_PER[name])} ${name}`;
}

/** What instants are counted from, as in the tables beside the page. */
const clock = { origin: 0n };

/** As `formatTime`, of an instant. */
function formatInstant(ns) {
  const since = ns - clock.origin;
  return since < 0n ? `−${formatTime(-since)}` : formatTime(since);
}

/** The time that a text such as `1.7s` or `250 ms` states; null if it states none. */
function parseTime(text) {
  const parts = /^\s*(\d+)(?:\.(\d+))?\s*(ns|us|µs|ms|s)\s*$/.exec(text);
  if (!parts) return null;
  const [, whole, fraction = "", name] = parts;
  const scaled = BigInt(whole + fraction) * NS_PER[name];
  const divisor = 10n ** BigInt(fraction.length);
  return (scaled + divisor / 2n) / divisor;
}

/** The instant that a text such as `1.7s` or `-2 ms` states; null if it states none. */
function parseInstant(text) {
  const [, sign, rest] = /^\s*([-−]?)(.*)$/.exec(text);
  const time = parseTime(rest);
  return time === null ? null : clock.origin + (sign ? -time : time);
}

/** Ticks at multiples of 1, 2 or 5 times a power of ten, at most `most` of them, in the largest unit that fits twice. */
function timeTicks(from, to, most) {
  const span = to - from;
  const name = ["s", "ms", "µs"].find((unit) => span >= 2n * NS_PER[unit]) ?? "ns";
  const unit = NS_PER[name];
  let step = 1n;
  for (let steps = 0; span / step >= BigInt(most); steps += 1) step = steps % 3 === 1 ? (step * 5n) / 2n : step * 2n;
  const at = [];
  // Division rounds towards zero.
  const first = from > clock.origin ? (from - clock.origin + step - 1n) / step : (from - clock.origin) / step;
  for (let tick = first * step; tick <= to - clock.origin; tick += step) at.push([tick + clock.origin, inUnit(tick, unit)]);
  return { unit: name, at };
}
