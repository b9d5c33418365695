// Where in a JSON text the cursor is, also while the text is not complete.

const TOKEN = /"(?:[^"\\\n]|\\.)*"?|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/** The string that a token stands for, also without its closing quote. */
function stringOf(token) {
  const closed = token.length > 1 && token.endsWith('"') ? token : `${token.replace(/\\$/, "")}"`;
  try {
    return JSON.parse(closed);
  } catch {
    return token.slice(1);
  }
}

/**
 * Containers around a place, outermost first, each with its keys and the key or index that leads on; whether a key or a
 * value stands at the place, and from where to where its token reaches.
 */
function placeIn(text, at) {
  const stack = [];
  let found = null;
  const state = () => stack[stack.length - 1];
  const here = (from, to, token) => {
    const top = state();
    const isKey = top?.kind === "{" && !top.afterColon;
    // Containers are the same objects until the end of the text, so that keys after the place are known too.
    return { frames: [...stack], steps: stack.map((frame) => (frame.kind === "{" ? frame.key : frame.index)), isKey, from, to, token };
  };
  const pass = (token) => {
    const top = state();
    if (token === "{" || token === "[") stack.push({ kind: token, keys: new Set(), key: null, index: 0, afterColon: false });
    else if (token === "}" || token === "]") stack.pop();
    else if (token === ":" && top) top.afterColon = true;
    else if (token === "," && top) [top.afterColon, top.index] = [false, top.index + 1];
    else if (top?.kind === "{" && !top.afterColon && token.startsWith('"')) {
      top.key = stringOf(token);
      top.keys.add(top.key);
    }
  };
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match;
    const [from, to] = [match.index, match.index + token.length];
    const isSign = token.length === 1 && "{}[]:,".includes(token);
    if (!found && at <= from) found = here(at, at, "");
    // At the end of a closed string nothing can be added to it.
    else if (!found && !isSign && at <= to) found = here(from, to, text.slice(from, at));
    pass(token);
  }
  return found ?? here(at, at, "");
}
