// Sliders for what if: the block time of each kernel and the priority of each stream.

/** A slider at its end multiplies a block time by this, at its beginning divides it by this. */
const MOST_FACTOR = 10;
const SLIDER_STEPS = 100;
/** Kernels and streams that get sliders. */
const MOST_SLIDERS = 40;

class Sliders {
  constructor(settings) {
    this.settings = settings;
    this.place = byId("sliders");
  }

  /** Makes the sliders of a scenario, unless they are those that there are. */
  outline({ kernels, streams, priorities }) {
    const key = JSON.stringify([kernels, streams, priorities]);
    if (key !== this.made) {
      this.made = key;
      const parts = [element("h2", "Block times"), ...kernels.slice(0, MOST_SLIDERS).map((kernel) => this.blockTime(kernel))];
      if (priorities.length > 1) {
        parts.push(element("h2", "Priorities"), ...streams.slice(0, MOST_SLIDERS).map((stream) => this.priority(stream, priorities)));
      }
      const left = Math.max(0, kernels.length - MOST_SLIDERS) + Math.max(0, streams.length - MOST_SLIDERS);
      if (left > 0) parts.push(element("p", `and ${left} more kernels and streams, which can be set in the text`, { class: "quiet" }));
      this.place.replaceChildren(...parts);
    }
    this.show();
  }

  show() {
    this.place.querySelectorAll("label").forEach((label) => label.refresh());
  }

  slider(name, what, attributes, read, write) {
    const label = element("label");
    const range = element("input", "", { type: "range", "aria-label": `${name}: ${what}`, ...attributes });
    const said = element("output");
    const reset = element("button", "×", { type: "button", title: "As in the file", "aria-label": `${name}: ${what} as in the file` });
    label.append(element("span", name), range, said, reset);
    label.refresh = () => {
      const { value, text, isSet } = read();
      if (document.activeElement !== range || !isSet) range.value = value;
      said.textContent = text;
      reset.style.visibility = isSet ? "visible" : "hidden";
    };
    range.addEventListener("input", () => write(Number(range.value)));
    reset.addEventListener("click", () => write(null));
    return label;
  }

  blockTime({ title, block_time_ns: text }) {
    const own = Number(text);
    const read = () => {
      const set = this.settings.of("set_block_time", title);
      const ns = set === undefined ? own : Number(parseTime(set) ?? text);
      const value = ns > 0 && own > 0 ? (Math.log(ns / own) / Math.log(MOST_FACTOR)) * SLIDER_STEPS : 0;
      return { value, text: timeText(ns), isSet: set !== undefined };
    };
    const write = (value) => {
      const ns = Math.round(Number((own * MOST_FACTOR ** ((value ?? 0) / SLIDER_STEPS)).toPrecision(3)));
      this.settings.setOf("set_block_time", title, value ? formatTime(BigInt(ns)) : null);
    };
    const disabled = own === 0 ? { disabled: "" } : {};
    return this.slider(title, "block time", { min: -SLIDER_STEPS, max: SLIDER_STEPS, step: 1, "data-kernel": title, ...disabled }, read, write);
  }

  priority({ name, priority }, priorities) {
    const read = () => {
      const set = this.settings.of("set_priority", name);
      const value = set ?? priority;
      const word = value === priorities[0] ? " (highest)" : value === 0 ? " (lowest)" : "";
      return { value: -value, text: `${value}${word}`, isSet: set !== undefined };
    };
    // No number is the negative zero, which JSON does not have.
    const write = (value) => this.settings.setOf("set_priority", name, value === null || -value === priority ? null : 0 - value);
    return this.slider(name, "priority", { min: 0, max: -priorities[0], step: 1, "data-stream": name }, read, write);
  }
}
