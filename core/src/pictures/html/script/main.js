// The page as a whole.

/** Tells what stands around the figure: of which run it is, and what there is in it. */
function describe(app) {
  const [run] = app.runs;
  const several = app.runs.length > 1;
  const about = several ? app.runs.map(({ name }) => name).join(" above ") : `${run.device.name}, ${run.placement} placement`;
  document.getElementById("about").textContent = about;
  const notes = [...new Set(app.runs.flatMap(({ notes: texts }) => texts)), ...app.notes];
  const chains = app.runs.filter((run) => run.chain).map((run) => element("p", `dashed arrows: ${run.chain.said}`));
  document.getElementById("notes").replaceChildren(...chains, ...notes.map((note) => element("p", `note: ${note}`)));
  showLegend(app);
  showDifferences(app);
  showResource(app);
  showSelected(app);
  showState(app);
  // The rest is below the figure, and made when that is drawn.
  requestAnimationFrame(() => setTimeout(() => showReport(app)));
}

/** Shows other runs, as a page around this one has them made; the text is that of `HtmlTimeline::write_data`. */
function show(app, text) {
  const [data] = JSON.parse(text);
  app.take(withRuns(data));
  const title = app.runs[0].scenario;
  document.title = title;
  document.querySelector("h1").textContent = title;
  app.resize();
  app.search(document.getElementById("search").value);
  describe(app);
}

function start() {
  const app = new App(readData());
  listenToKeys(app);
  listenToPointers(app);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.themeChanged());
  new ResizeObserver(() => app.resize()).observe(app.scroller);
  app.resize();
  describe(app);
  performance.mark("drawn");
  // For scripts and tests: what the page knows, and where things are.
  window.gpusched = {
    app,
    show: (text) => show(app, text),
    state: (ns, index = 0) => stateAt(app.runs[index], BigInt(ns)),
    turnShares: (index = 0) => turnShares(app, app.runs[index], Math.floor(app.view.width)),
    stateText: (ns, index = 0) => stateLines(app, app.runs[index], stateAt(app.runs[index], BigInt(ns))),
  };
}

start();
