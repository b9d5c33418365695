// What may stand at a place of a scenario, as its JSON schema says.

class Schema {
  constructor(root) {
    this.root = root;
  }

  /** A schema and all that it refers to or chooses from, as one list of alternatives. */
  alternatives(schema) {
    if (!schema || typeof schema !== "object") return [];
    const { $ref: reference, oneOf = [], anyOf = [], allOf = [] } = schema;
    const referred = reference ? this.alternatives(this.at(reference)) : [];
    return [schema, ...referred, ...[...oneOf, ...anyOf, ...allOf].flatMap((other) => this.alternatives(other))];
  }

  at(reference) {
    return reference.slice(2).split("/").reduce((place, step) => place?.[step.replace("~1", "/").replace("~0", "~")], this.root);
  }

  /** Those that allow the keys that an object has; all of them if none does. */
  fitting(alternatives, frame) {
    const objects = alternatives.filter(({ properties }) => properties);
    const fits = ({ properties, additionalProperties }) =>
      [...frame.keys].every((key) => key in properties || additionalProperties !== false || key === frame.key || key.startsWith("comment"));
    const chosen = objects.filter(fits);
    return [...alternatives.filter(({ properties }) => !properties), ...(chosen.length > 0 ? chosen : objects)];
  }

  /** The alternatives at a place. */
  reached({ frames, steps }, isKey) {
    let now = this.alternatives(this.root);
    for (const [depth, frame] of frames.entries()) {
      if (frame.kind === "{") now = this.fitting(now, frame);
      if (isKey && depth === frames.length - 1) return now;
      const step = steps[depth];
      const below = (schema) => {
        if (frame.kind === "[") return schema.prefixItems?.[step] ?? schema.items;
        return schema.properties?.[step] ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : null);
      };
      now = now.flatMap((schema) => this.alternatives(below(schema)));
    }
    return now;
  }

  /** What to write for a key's value at first, and where in it the cursor goes. */
  beginning(schema) {
    const kinds = new Set(this.alternatives(schema).map(({ type }) => type));
    for (const [kind, text] of [["string", '""'], ["array", "[]"], ["object", "{}"]]) {
      if (kinds.has(kind) && !kinds.has("integer")) return [text, 1];
    }
    return ["", 0];
  }

  described(schema) {
    return this.alternatives(schema).map(({ description }) => description).find(Boolean) ?? "";
  }

  /** Texts that may stand at a place, each with what it means, and how it is written. */
  complete(place) {
    const typed = stringOf(place.token.startsWith('"') ? place.token : `"${place.token}`).toLowerCase();
    const found = new Map();
    const top = place.frames[place.frames.length - 1];
    for (const schema of this.reached(place, place.isKey)) {
      if (place.isKey) {
        for (const [key, below] of Object.entries(schema.properties ?? {})) {
          const isOwn = key === stringOf(place.token || '"');
          if (top?.keys.has(key) && !isOwn) continue;
          const [value, inside] = this.beginning(below);
          const text = `${JSON.stringify(key)}: ${value}`;
          found.set(key, { label: key, about: this.described(below), text, cursor: text.length - value.length + inside });
        }
        continue;
      }
      const values = [...(schema.enum ?? []), ...("const" in schema ? [schema.const] : []), ...(schema.examples ?? [])];
      if (schema.type === "boolean") values.push(true, false);
      for (const value of values) {
        const text = JSON.stringify(value);
        found.set(text, { label: String(value), about: schema.description ?? "", text, cursor: text.length });
      }
    }
    const begins = ({ label }) => label.toLowerCase().startsWith(typed);
    const contains = ({ label }) => label.toLowerCase().includes(typed);
    const all = [...found.values()];
    return [...all.filter(begins), ...all.filter((one) => contains(one) && !begins(one))];
  }
}
