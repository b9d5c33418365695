// All that is set, as the part of the address behind #.

const VERSION = "v1=";
/** Characters above which browsers and chats cut addresses off. */
const MOST_ADDRESS = 200000;
/** Bytes of a state that an address may hold: a short address can claim to be a thousand times as long. */
const MOST_STATE = 16_000_000;
/** Why an address is not read, in words for whoever opened it. */
class AddressError extends Error {}

const addressable = (base64) => base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const unaddressable = (text) => text.replaceAll("-", "+").replaceAll("_", "/");

/** The state as text for the address; null if it is too large. */
async function toAddress(state) {
  const bytes = encoder.encode(JSON.stringify(state));
  if (bytes.length > MOST_STATE) return null;
  const packed = await through(new CompressionStream("deflate-raw"), bytes);
  const text = VERSION + addressable(toBase64(packed));
  return text.length > MOST_ADDRESS ? null : text;
}

/** The state that an address holds, of options that there are; null without one. What is none is an error. */
async function fromAddress(hash, options) {
  const text = hash.replace(/^#/, "");
  if (text === "") return null;
  if (!text.startsWith(VERSION)) throw new Error("another version");
  if (text.length > MOST_ADDRESS) {
    throw new AddressError(`the address has ${text.length} characters, and this page makes none of more than ${MOST_ADDRESS}`);
  }
  const packed = fromBase64(unaddressable(text.slice(VERSION.length)));
  const bytes = await throughAtMost(new DecompressionStream("deflate-raw"), packed, MOST_STATE);
  if (bytes === null) throw new AddressError(`the address holds more than ${MOST_STATE / 1e6} MB, and this page makes none such`);
  return checked(JSON.parse(decoder.decode(bytes)), options);
}

/** What a value of an option may be, by its kind: those that the library makes fields of. What it says the library checks. */
const isText = (value) => typeof value === "string";
const isTextOrNumber = (value) => isText(value) || Number.isInteger(value);
const isOf = (isRight) => (value) => typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isRight);
const IS_RIGHT = {
  flag: (value) => typeof value === "boolean",
  number: isTextOrNumber,
  names: (value) => Array.isArray(value) && value.every(isText),
  "text-by-name": isOf(isText),
  "number-by-name": isOf(Number.isInteger),
};

/** A state that has what the page sets, and nothing else. */
function checked(state, options) {
  if (!isText(state?.file)) throw new AddressError("the address names no file");
  const keys = new Map(options.map(({ key, kind }) => [key, IS_RIGHT[kind] ?? isText]));
  for (const key of ["file", "shipped", "from", "text", "bytes"]) keys.set(key, isText);
  keys.set("files", isOf(isText));
  const wrong = Object.entries(state).find(([key, value]) => !keys.get(key)?.(value));
  if (wrong) throw new AddressError(`the address holds ${JSON.stringify(wrong[0])}, which this page sets otherwise or not at all`);
  if (!["shipped", "text", "bytes"].some((key) => key in state)) throw new AddressError("the address names no scenario");
  return state;
}
