// Fields for the options of scenarios that have no other place: which there are, and what they take, the library says.

/** Options with lists and sliders of their own. */
const ELSEWHERE = ["device", "placement", "set_priority", "set_block_time"];

class OptionFields {
  constructor(settings) {
    this.settings = settings;
    this.fields = [];
  }

  /** Makes a field for each option, by groups. */
  offer(options) {
    const own = options.filter(({ key }) => !ELSEWHERE.includes(key));
    const groups = [...new Set(own.map(({ group }) => group))];
    const names = element("datalist", "", { id: "names" });
    const parts = groups.map((group) => {
      const part = element("fieldset");
      part.append(element("legend", group), ...own.filter((option) => option.group === group).map((option) => this.field(option)));
      return part;
    });
    byId("options").replaceChildren(...parts, names);
  }

  /** What names there are to choose from. */
  outline({ kernels, streams }) {
    const names = new Set([...kernels.map(({ title }) => title), ...streams.map(({ name }) => name)]);
    byId("names").replaceChildren(...[...names].slice(0, MOST_ROWS).map((value) => element("option", "", { value })));
  }

  show() {
    for (const field of this.fields) field.refresh();
  }

  field(option) {
    const label = option.key.replaceAll("_", " ");
    const isByName = option.kind.endsWith("-by-name");
    const field = element(isByName ? "div" : "label", "", { class: "field", title: option.help, "data-option": option.key });
    field.append(element("span", label));
    const control = isByName ? this.byName(option, label) : this.single(option);
    field.append(control);
    this.fields.push(control);
    return field;
  }

  /** A field for one value. */
  single({ key, kind, choices, example }) {
    const { settings } = this;
    const set = (value) => settings.set(key, value);
    if (kind === "flag") {
      const box = element("input", "", { type: "checkbox" });
      box.addEventListener("change", () => set(box.checked));
      box.refresh = () => (box.checked = settings.values[key] === true);
      return box;
    }
    if (kind === "choice") {
      const list = element("select");
      list.append(element("option", "as in the file", { value: "" }), ...choices.map((name) => element("option", name, { value: name })));
      list.addEventListener("change", () => set(list.value));
      list.refresh = () => (list.value = settings.values[key] ?? "");
      return list;
    }
    if (kind === "file") {
      const input = element("input", "", { type: "file" });
      input.addEventListener("change", async () => {
        const [file] = input.files;
        if (file) settings.setFile(key, file.name, await file.text());
        else set(null);
      });
      input.refresh = () => settings.values[key] ?? (input.value = "");
      return input;
    }
    const input = element("input", "", { type: "text", placeholder: example, spellcheck: "false" });
    input.addEventListener("change", () => set(valueOf(kind, input.value)));
    input.refresh = () => (input.value = [settings.values[key] ?? ""].flat().join(","));
    return input;
  }

  /** Rows of names with their values, and an empty one to add to them. */
  byName({ key, kind, value: shape, example }, label) {
    const { settings } = this;
    const place = element("div", "", { class: "pairs" });
    const [ofName] = shape.split("=");
    const [, like] = example.split("=");
    const add = (name, value) => {
      const row = element("div");
      const field = (text, placeholder, what) =>
        Object.assign(element("input", "", { type: "text", placeholder, spellcheck: "false", "aria-label": `${label}: ${what}` }), { value: text });
      const [first, second] = [field(name, ofName.toLowerCase(), "name"), field(String(value), like, "value")];
      first.setAttribute("list", "names");
      row.append(first, second);
      place.append(row);
    };
    place.addEventListener("change", () => {
      const values = Object.create(null);
      for (const row of place.children) {
        const [name, value] = [...row.children].map((input) => input.value.trim());
        if (name !== "" && value !== "") values[name] = valueOf(kind, value);
      }
      // A row that is half filled is still being filled in.
      const isSame = JSON.stringify(Object.entries(values)) === JSON.stringify(Object.entries(settings.values[key] ?? {}));
      if (!isSame) settings.set(key, values);
    });
    place.refresh = () => {
      const entries = Object.entries(settings.values[key] ?? {});
      const shown = JSON.stringify(entries);
      if (shown === place.shown) return;
      place.shown = shown;
      place.replaceChildren();
      for (const [name, value] of entries) add(name, value);
      add("", "");
    };
    place.refresh();
    return place;
  }
}

/** What a text stands for in a request. What is no number stays text, which the library refuses in its words. */
function valueOf(kind, text) {
  const typed = text.trim();
  if (kind.startsWith("number") && /^-?\d{1,15}$/.test(typed)) return 0 + Number(typed);
  if (kind === "lists") return typed === "" ? [] : [typed];
  if (kind === "names") return typed.split(",").map((name) => name.trim()).filter((name) => name !== "");
  return typed;
}
