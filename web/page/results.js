// The library's tables, and files to download.

/** Rows of a table, and lines of other text, that are shown. */
const MOST_ROWS = 200;
/** Pixels of a picture in each direction, at most. */
const MOST_PIXELS = 16000;
const PIXELS_PER_INCH = 300;

/** Elements for the library's text: a JSON value on each line, which is a text or a table. */
function rendered(lines) {
  const parts = lines.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  return parts.flatMap((part) => (typeof part === "string" ? [element("p", part)] : tableOf(part)));
}

/** A table of its titles, each with whether its column stands to the left, and the cells of its rows. */
function tableOf({ titles, rows }) {
  const table = element("table");
  const add = (name, cells, isMissed) => {
    const row = table.insertRow();
    cells.forEach((cell, at) => row.append(element(name, cell, { class: `${titles[at][1] ? "name" : ""} ${isMissed(cell) ? "missed" : ""}` })));
  };
  add("th", titles.map(([title]) => title), () => false);
  for (const cells of rows.slice(0, MOST_ROWS)) add("td", cells, (cell) => cell === "missed" || cell === "no");
  const frame = element("div", "", { class: "scrolling", tabindex: "0" });
  frame.append(table);
  const left = rows.length - MOST_ROWS;
  return left > 0 ? [frame, element("p", `and ${left} more rows, which JSON has`, { class: "quiet" })] : [frame];
}

/** Notes of a run. */
function noted(notes) {
  const shown = notes.slice(0, MOST_ROWS).map((note) => element("p", `note: ${note}`, { class: "quiet" }));
  const left = notes.length - MOST_ROWS;
  return left > 0 ? [...shown, element("p", `and ${left} more notes, which JSON has`, { class: "quiet" })] : shown;
}

/** A picture as pixels. */
async function pixels(svg) {
  const picture = new Image();
  picture.src = `data:image/svg+xml;base64,${toBase64(svg)}`;
  await picture.decode();
  // Sizes of pictures are in millimetres, which browsers take as 96 pixels an inch.
  const scale = Math.min(PIXELS_PER_INCH / 96, MOST_PIXELS / Math.max(picture.naturalWidth, picture.naturalHeight));
  const canvas = element("canvas");
  [canvas.width, canvas.height] = [Math.round(picture.naturalWidth * scale), Math.round(picture.naturalHeight * scale)];
  const context = canvas.getContext("2d");
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function save(blob, name) {
  const link = element("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
