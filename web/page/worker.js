// Runs the module, one request after another. Whoever wants to stop it ends the worker.

const encoder = new TextEncoder();
const decoder = new TextDecoder();
let instance = null;

/** Writes bytes into a buffer of the module's. */
function put(room, bytes) {
  const at = room(bytes.length);
  new Uint8Array(instance.exports.memory.buffer, at, bytes.length).set(bytes);
}

/** A copy of what the module has to tell. */
function take(address, length) {
  return new Uint8Array(instance.exports.memory.buffer, address(), length()).slice();
}

/** What ended the module: the text of its panic, or what the browser says. */
function broken(error) {
  const { panic_text: text, panic_length: length } = instance.exports;
  const said = decoder.decode(take(text, length));
  return said === "" ? `the run was ended by the browser (${error.message}); it may need more memory than there is` : said;
}

/** What the module imports: a crate for charts brings calls of a browser's pages on this target, which nothing makes. */
function importsOf(module) {
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = () => {
      throw new Error(`${name} is not there`);
    };
  }
  return imports;
}

onmessage = async ({ data: { id, module, content, settings, wants } }) => {
  if (module) instance = await WebAssembly.instantiate(module, importsOf(module));
  const { request_room, content_room, run, answer, answer_length } = instance.exports;
  try {
    if (content) put(content_room, content);
    for (const want of wants) {
      const begin = performance.now();
      put(request_room, encoder.encode(JSON.stringify({ want, ...settings })));
      const refused = run() !== 0;
      const bytes = take(answer, answer_length);
      const ms = performance.now() - begin;
      postMessage({ id, want, ms, ...(refused ? { refused: JSON.parse(decoder.decode(bytes)) } : { bytes }) }, [bytes.buffer]);
      if (refused) break;
    }
    postMessage({ id, done: true });
  } catch (error) {
    postMessage({ id, broken: broken(error) });
  }
};
