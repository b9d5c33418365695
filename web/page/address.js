// All that is set, as the part of the address behind #.

const VERSION = "v1=";
/** Characters above which browsers and chats cut addresses off. */
const MOST_ADDRESS = 200000;

const addressable = (base64) => base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const unaddressable = (text) => text.replaceAll("-", "+").replaceAll("_", "/");

/** The state as text for the address; null if it is too large. */
async function toAddress(state) {
  const packed = await through(new CompressionStream("deflate-raw"), encoder.encode(JSON.stringify(state)));
  const text = VERSION + addressable(toBase64(packed));
  return text.length > MOST_ADDRESS ? null : text;
}

/** The state that an address holds; null without one. What is none is an error. */
async function fromAddress(hash) {
  const text = hash.replace(/^#/, "");
  if (text === "") return null;
  if (!text.startsWith(VERSION)) throw new Error("another version");
  const packed = fromBase64(unaddressable(text.slice(VERSION.length)));
  return JSON.parse(decoder.decode(await through(new DecompressionStream("deflate-raw"), packed)));
}
