// The command that does the same as the page.

/** A word as a shell takes it. */
const quoted = (text) => (/^[\w./=:%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** An option with its value: what begins with a dash would be an option of its own. */
const withValue = (flag, value) => (value.startsWith("-") ? [`${flag}=${value}`] : [flag, value]);

/** Words of one option: its value, or again for each name that it is set of. */
function optionWords(key, value) {
  const flag = `--${key.replaceAll("_", "-")}`;
  const text = (one) => (/^\d+(\.\d+)? (ns|us|ms|s)$/.test(one) ? one.replace(" ", "") : String(one));
  if (value === true) return [flag];
  if (Array.isArray(value)) return withValue(flag, value.join(","));
  if (typeof value === "object") return Object.entries(value).flatMap(([name, one]) => withValue(flag, `${name}=${text(one)}`));
  return withValue(flag, text(value));
}

/** What runs the scenario at `path`, or replays the log, with what is set beside it. */
function commandOf(tool, path, options) {
  const words = Object.entries(options).flatMap(([key, value]) => optionWords(key, value));
  const input = path.startsWith("-") ? `./${path}` : path;
  return ["gpusched", tool, input, ...words].map(quoted).join(" ");
}
