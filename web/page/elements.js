// The page's elements, and making others.

const byId = (id) => document.getElementById(id);

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** What a stream of bytes gives when all of it has passed through another one. */
async function through(stream, bytes) {
  const passed = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(passed).arrayBuffer());
}

/** The same, or null as soon as it gives more than so many bytes. */
async function throughAtMost(stream, bytes, most) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    length += value.length;
    if (length > most) {
      await reader.cancel();
      return null;
    }
    parts.push(value);
  }
}

function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

function toBase64(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length; at += 0x8000) parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  return btoa(parts.join(""));
}

/** Nanoseconds in the unit that suits them, with three digits. */
function timeText(ns) {
  const [unit, size] = [["s", 1e9], ["ms", 1e6], ["us", 1e3]].find(([, least]) => ns >= least) ?? ["ns", 1];
  return `${Number((ns / size).toPrecision(3))} ${unit}`;
}

/** Says something on a button for a moment. */
function remark(button, text) {
  button.dataset.text ??= button.textContent;
  button.textContent = text;
  setTimeout(() => (button.textContent = button.dataset.text), 2000);
}

/** Copies a text; where nothing may be copied, says instead what can be done. */
async function copyText(button, text, otherwise) {
  remark(button, await navigator.clipboard.writeText(text).then(() => "copied", () => otherwise));
}
