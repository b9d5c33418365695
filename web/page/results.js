// The library's tables, and files to download.

/** Rows of a table that are shown. */
const MOST_ROWS = 200;
/** Pixels of a picture in each direction, at most. */
const MOST_PIXELS = 16000;
const PIXELS_PER_INCH = 300;

const cellsOf = (line) => line.slice(2, -2).split(/(?<!\\) \| /).map((cell) => cell.replace(/\\([\\|])/g, "$1"));

/** Tables and lines of the library's Markdown. */
function rendered(markdown) {
  const parts = [];
  let table = null;
  let left = 0;
  const close = () => {
    if (table && left > 0) parts.push(element("p", `and ${left} more rows, which JSON has`, { class: "quiet" }));
    [table, left] = [null, 0];
  };
  for (const line of markdown.split("\n")) {
    if (!line.startsWith("| ")) {
      close();
      if (line !== "" && !line.startsWith("```")) parts.push(element("p", line));
      continue;
    }
    if (!table) {
      table = element("table");
      const frame = element("div", "", { class: "scrolling", tabindex: "0" });
      frame.append(table);
      parts.push(frame);
    }
    if (/^\| -/.test(line)) {
      table.sides = cellsOf(line).map((cell) => (cell.endsWith(":") ? "" : "name"));
      [...table.rows[0].cells].forEach((cell, at) => (cell.className = table.sides[at]));
      continue;
    }
    if (table.rows.length > MOST_ROWS) {
      left += 1;
      continue;
    }
    const row = table.insertRow();
    cellsOf(line).forEach((cell, at) => row.append(element(table.sides ? "td" : "th", cell, { class: [table.sides?.[at] ?? "", cell === "missed" || cell === "no" ? "missed" : ""].join(" ") })));
  }
  close();
  return parts;
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
