// The page as a whole.

function start() {
  const app = new App(readData());
  const [run] = app.runs;
  const several = app.runs.length > 1;
  const about = several ? app.runs.map(({ name }) => name).join(" above ") : `${run.device.name}, ${run.placement} placement`;
  document.getElementById("about").textContent = about;
  const notes = [...new Set(app.runs.flatMap(({ notes: texts }) => texts)), ...app.notes];
  document.getElementById("notes").replaceChildren(...notes.map((note) => element("p", `note: ${note}`)));
  listenToKeys(app);
  listenToPointers(app);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.themeChanged());
  new ResizeObserver(() => app.resize()).observe(app.scroller);
  app.resize();
  showLegend(app);
  showDifferences(app);
  showResource(app);
  showSelected(app);
  showState(app);
  performance.mark("drawn");
  // The rest is below the figure.
  requestAnimationFrame(() => showReport(app));
  // For scripts and tests: what the page knows, and where things are.
  window.gpusched = {
    app,
    state: (ns, index = 0) => stateAt(app.runs[index], BigInt(ns)),
    turnShares: (index = 0) => turnShares(app, app.runs[index], Math.floor(app.view.width)),
    stateText: (ns, index = 0) => stateLines(app.runs[index], stateAt(app.runs[index], BigInt(ns))),
  };
}

start();
