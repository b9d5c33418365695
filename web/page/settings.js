// What is set beside the text: device, placement, block times and priorities.

/** A slider at its end multiplies a block time by this, at its beginning divides it by this. */
const MOST_FACTOR = 10;
const SLIDER_STEPS = 100;
/** Kernels and streams that get sliders. */
const MOST_SLIDERS = 40;

/** An object with the same entries and nothing else. */
function copied(entries) {
  const copy = Object.create(null);
  for (const [key, value] of Object.entries(entries)) copy[key] = value;
  return copy;
}

class Settings {
  constructor(changed) {
    this.changed = changed;
    this.clear();
    byId("placement").addEventListener("change", (event) => {
      this.placement = event.target.value || null;
      this.changed();
    });
    byId("device").addEventListener("change", (event) => {
      if (event.target.value === "file") byId("device-file").click();
      else this.setDevice(event.target.value || null, null);
    });
    byId("device-file").addEventListener("change", async (event) => {
      const [file] = event.target.files;
      if (file) this.setDevice(file.name, await file.text());
      event.target.value = "";
    });
  }

  clear() {
    // Names of kernels and streams are any text, also that of a property which every other object has.
    const none = () => Object.create(null);
    Object.assign(this, { device: null, files: none(), placement: null, set_priority: none(), set_block_time: none() });
  }

  setDevice(name, text) {
    this.device = name;
    this.files = copied(text === null ? {} : { [name]: text });
    this.show();
    this.changed();
  }

  /** As a request has them. */
  get asked() {
    const { device, files, placement, set_priority, set_block_time } = this;
    return { device, files: copied(files), placement, set_priority: copied(set_priority), set_block_time: copied(set_block_time) };
  }

  set asked(asked) {
    this.clear();
    for (const [key, value] of Object.entries(asked)) this[key] = typeof value === "string" ? value : copied(value);
    this.show();
  }

  offer({ devices, placements }) {
    const option = (value, text) => element("option", text, { value });
    byId("device").replaceChildren(
      option("", "as in the file"),
      ...devices.map(({ name, title }) => option(name, `${name}: ${title}`)),
      option("file", "from a file…"),
    );
    byId("placement").replaceChildren(option("", "as in the file"), ...placements.map((name) => option(name, name)));
    this.show();
  }

  show() {
    const device = byId("device");
    device.querySelector("[data-own]")?.remove();
    const isOwn = this.device !== null && Object.hasOwn(this.files, this.device);
    if (isOwn) device.append(element("option", this.device, { value: "own", "data-own": "" }));
    device.value = isOwn ? "own" : this.device ?? "";
    byId("placement").value = this.placement ?? "";
  }

  /** Makes the sliders of a scenario, unless they are those that there are. */
  outline({ kernels, streams, priorities }) {
    const key = JSON.stringify([kernels, streams, priorities]);
    if (key !== this.sliders) {
      this.sliders = key;
      const parts = kernels.slice(0, MOST_SLIDERS).map((kernel) => this.blockTime(kernel));
      if (priorities.length > 1) parts.push(...streams.slice(0, MOST_SLIDERS).map((stream) => this.priority(stream, priorities)));
      const left = Math.max(0, kernels.length - MOST_SLIDERS) + Math.max(0, streams.length - MOST_SLIDERS);
      if (left > 0) parts.push(element("p", `and ${left} more kernels and streams, which can be set in the text`, { class: "quiet" }));
      byId("sliders").replaceChildren(...parts);
    }
    byId("sliders").querySelectorAll("label").forEach((label) => label.refresh());
  }

  slider(name, attributes, read, write) {
    const label = element("label");
    const range = element("input", "", { type: "range", "aria-label": name, ...attributes });
    const said = element("output");
    const reset = element("button", "×", { type: "button", title: "As in the file", "aria-label": `${name} as in the file` });
    label.append(element("span", name), range, said, reset);
    label.refresh = () => {
      const { value, text, isSet } = read();
      if (document.activeElement !== range || !isSet) range.value = value;
      said.textContent = text;
      reset.style.visibility = isSet ? "visible" : "hidden";
    };
    range.addEventListener("input", () => {
      write(Number(range.value));
      label.refresh();
      this.changed();
    });
    reset.addEventListener("click", () => {
      write(null);
      label.refresh();
      this.changed();
    });
    return label;
  }

  blockTime({ title, block_time_ns: text }) {
    const own = Number(text);
    const read = () => {
      const set = this.set_block_time[title];
      const ns = set === undefined ? own : Number(set.replace(" ns", ""));
      const value = ns > 0 && own > 0 ? (Math.log(ns / own) / Math.log(MOST_FACTOR)) * SLIDER_STEPS : 0;
      return { value, text: timeText(ns), isSet: set !== undefined };
    };
    const write = (value) => {
      const ns = Math.round(Number((own * MOST_FACTOR ** ((value ?? 0) / SLIDER_STEPS)).toPrecision(3)));
      if (value === null || value === 0) delete this.set_block_time[title];
      else this.set_block_time[title] = `${ns} ns`;
    };
    const disabled = own === 0 ? { disabled: "" } : {};
    return this.slider(`${title}: block time`, { min: -SLIDER_STEPS, max: SLIDER_STEPS, step: 1, "data-kernel": title, ...disabled }, read, write);
  }

  priority({ name, priority }, priorities) {
    const read = () => {
      const set = this.set_priority[name];
      const value = set ?? priority;
      const word = value === priorities[0] ? " (highest)" : value === 0 ? " (lowest)" : "";
      return { value: -value, text: `${value}${word}`, isSet: set !== undefined };
    };
    const write = (value) => {
      if (value === null || -value === priority) delete this.set_priority[name];
      else this.set_priority[name] = value === 0 ? 0 : -value;
    };
    return this.slider(`${name}: priority`, { min: 0, max: -priorities[0], step: 1, "data-stream": name }, read, write);
  }

  /** The command that runs the same. */
  command(file) {
    const quoted = (text) => (/^[\w./=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
    // What begins with a dash would be an option of its own.
    const option = (name, value) => (value.startsWith("-") ? [`${name}=${value}`] : [name, value]);
    const options = [
      ...(this.device ? option("--device", this.device) : []),
      ...(this.placement ? option("--placement", this.placement) : []),
      ...Object.entries(this.set_priority).flatMap(([stream, priority]) => option("--set-priority", `${stream}=${priority}`)),
      ...Object.entries(this.set_block_time).flatMap(([kernel, time]) => option("--set-block-time", `${kernel}=${time.replace(" ", "")}`)),
    ];
    const input = file.startsWith("-") ? `./${file}` : file;
    return ["gpusched", "simulate", input, ...options].map(quoted).join(" ");
  }
}
