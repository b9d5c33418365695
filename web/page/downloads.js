// Files to download.

/** Pixels of a picture in each direction, at most. */
const MOST_PIXELS = 16000;
const PIXELS_PER_INCH = 300;

/** By kind: what the worker is asked for, how the file's name ends, and its type. */
const DOWNLOADS = {
  svg: ["svg", "svg", "image/svg+xml"],
  png: ["svg", "png", "image/png"],
  json: ["simulate", "simulation.json", "application/json"],
  analysis: ["analyze", "analysis.json", "application/json"],
  html: ["html", "html", "text/html"],
  scenario: ["scenario", "scenario.json", "application/json"],
};

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

/** A file as the worker makes it; null if it is refused. */
async function made(page, kind) {
  const { file } = page.opened;
  // What the command beside it reads.
  if (kind === "text") return { blob: new Blob([page.opened.bytes]), name: file };
  const [want, ending, type] = DOWNLOADS[kind];
  let bytes = null;
  const engine = kind === "analysis" ? page.analysis : page.timeline;
  await engine.ask({ ...page.question, wants: [want] }, (answer) => {
    if (answer.bytes) ({ bytes } = answer);
    else page.refuse(answer.refused ?? { message: `the run broke: ${answer.broken}` }, Boolean(answer.broken));
  });
  if (bytes === null) return null;
  // Tables follow the document.
  if (kind === "analysis") bytes = bytes.subarray(0, bytes.indexOf(10) + 1);
  const blob = kind === "png" ? await pixels(bytes) : new Blob([bytes], { type });
  return { blob, name: `${file.replace(/\.\w+$/, "")}.${ending}` };
}

function listenToDownloads(page) {
  for (const button of document.querySelectorAll("[data-download]")) {
    button.addEventListener("click", async () => {
      byId("downloads").open = false;
      const file = await made(page, button.dataset.download);
      if (file) save(file.blob, file.name);
    });
  }
}
