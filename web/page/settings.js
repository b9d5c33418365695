// What is set beside the text: values of the options of scenarios, by their keys.

/** An object with the same entries and nothing else: names of kernels and streams are any text, also that of a property
 * which every other object has. */
function copied(entries) {
  const copy = Object.create(null);
  for (const [key, value] of Object.entries(entries)) copy[key] = value;
  return copy;
}

const isByName = (value) => typeof value === "object" && !Array.isArray(value);
const isNothing = (value) => value === null || value === undefined || value === "" || value === false || (typeof value === "object" && Object.keys(value).length === 0);

class Settings {
  constructor(changed) {
    this.values = Object.create(null);
    /** Contents of files that options name. */
    this.files = Object.create(null);
    this.changed = changed;
    byId("placement").addEventListener("change", (event) => this.set("placement", event.target.value));
    byId("device").addEventListener("change", (event) => {
      if (event.target.value === "file") byId("device-file").click();
      else this.set("device", event.target.value);
    });
    byId("device-file").addEventListener("change", async (event) => {
      const [file] = event.target.files;
      event.target.value = "";
      if (file) this.setFile("device", file.name, await file.text());
      else this.show();
    });
    byId("device-file").addEventListener("cancel", () => this.show());
    this.sliders = new Sliders(this);
    this.fields = new OptionFields(this);
  }

  /** Sets an option; nothing, or the empty text: it is as in the file. */
  set(key, value) {
    if (isNothing(value)) delete this.values[key];
    else this.values[key] = value;
    this.show();
    this.changed();
  }

  /** Lets an option name a file. */
  setFile(key, name, text) {
    this.files[name] = text;
    this.set(key, name);
  }

  /** The value of an option that is by name. */
  of(key, name) {
    return this.values[key]?.[name];
  }

  setOf(key, name, value) {
    const values = copied(this.values[key] ?? {});
    if (isNothing(value)) delete values[name];
    else values[name] = value;
    this.set(key, values);
  }

  /** As a request has them: options by their keys, and the files that they name. */
  get asked() {
    const copy = this.options;
    const named = Object.entries(this.files).filter(([name]) => Object.values(copy).includes(name));
    return named.length > 0 ? { ...copy, files: copied(Object.fromEntries(named)) } : copy;
  }

  set asked({ files = {}, ...options }) {
    this.files = copied(files);
    this.values = copied(options);
    for (const [key, value] of Object.entries(this.values)) if (isByName(value)) this.values[key] = copied(value);
    this.show();
  }

  /** Options alone. */
  get options() {
    const copy = copied(this.values);
    for (const [key, value] of Object.entries(copy)) if (isByName(value)) copy[key] = copied(value);
    return copy;
  }

  offer({ devices, placements, options }) {
    this.known = options;
    const option = (value, text) => element("option", text, { value });
    byId("device").replaceChildren(
      option("", "as in the file"),
      ...devices.map(({ name, title }) => option(name, `${name}: ${title}`)),
      option("file", "from a file…"),
    );
    byId("placement").replaceChildren(option("", "as in the file"), ...placements.map((name) => option(name, name)));
    this.fields.offer(options);
    this.show();
  }

  /** What there is to be set in a scenario. */
  outline(outline) {
    this.sliders.outline(outline);
    this.fields.outline(outline);
  }

  show() {
    const { device, placement } = this.values;
    const list = byId("device");
    list.querySelector("[data-own]")?.remove();
    const isOwn = device !== undefined && device in this.files;
    if (isOwn) list.append(element("option", device, { value: "own", "data-own": "" }));
    list.value = isOwn ? "own" : (device ?? "");
    byId("placement").value = placement ?? "";
    this.sliders.show();
    this.fields.show();
  }
}
