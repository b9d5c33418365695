// What is asked for by pointer, keys and buttons.

/** A pointer that moved less was a click [pixels]. */
const CLICK = 4;

const KEYS = {
  "+": "zoom-in", "=": "zoom-in", ArrowUp: "zoom-in", "-": "zoom-out", ArrowDown: "zoom-out", 0: "fit", Home: "fit",
  "]": "higher",
  "[": "lower",
  ArrowLeft: "left", ArrowRight: "right", ".": "next", n: "next", ",": "previous", p: "previous", t: "theme",
  h: "height", i: "details", o: "next-operation", O: "previous-operation",
  "?": "help", "/": "find", Escape: "clear",
};

function listenToKeys(app) {
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (typing && event.key === "Escape") event.target.blur();
    if (typing || !(event.key in KEYS)) return;
    event.preventDefault();
    app.act(KEYS[event.key]);
  });
  const field = document.getElementById("search");
  field.addEventListener("input", () => app.search(field.value));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") app.showMatch(app.match + (event.shiftKey ? -1 : 1));
  });
  const time = document.getElementById("time");
  time.addEventListener("input", () => {
    const ns = parseInstant(time.value);
    const known = ns !== null && ns >= 0n && ns <= app.view.end;
    time.setAttribute("aria-invalid", String(!known && time.value !== ""));
    if (known) app.setCursor(ns, true);
  });
  for (const button of document.querySelectorAll("[data-act]")) {
    button.addEventListener("click", () => app.act(button.dataset.act));
  }
}

/** The one operation that was pointed at, with its run; null if there is none, or several. */
function operationOf(found) {
  if (found?.kind === "block") return { run: found.row.run, id: found.row.blocks.operation[found.position] };
  return found?.ids?.length === 1 ? { run: found.row.run, id: found.ids[0] } : null;
}

function listenToPointers(app) {
  const { canvas, scroller } = app;
  /** Pointers that are down, where they are and where they went down, by id. */
  const down = new Map();
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const point = (event) => {
    const { x, y } = place(event);
    app.hover = findAt(app, x, y);
    canvas.style.cursor = app.hover ? "pointer" : "crosshair";
    showTip(app, event.clientX, event.clientY);
    if (!app.cursor.pinned) app.setCursor(x >= app.view.left ? app.view.timeAt(x) : null, false);
    app.invalidate();
  };
  const drag = (event) => {
    const pointer = down.get(event.pointerId);
    const before = [...down.values()].map(({ at }) => at.x);
    const { x, y } = place(event);
    const [dx, dy] = [x - pointer.at.x, y - pointer.at.y];
    pointer.at = { x, y };
    pointer.moved ||= Math.hypot(x - pointer.from.x, y - pointer.from.y) > CLICK;
    if (down.size === 2) {
      const after = [...down.values()].map(({ at }) => at.x);
      const [apart, was] = [Math.abs(after[0] - after[1]), Math.abs(before[0] - before[1])];
      if (apart > 8 && was > 8) app.view.zoom(was / apart, (after[0] + after[1]) / 2);
    }
    if (pointer.moved && app.hover) app.forgetHover();
    if (pointer.moved) app.view.pan(-dx / down.size / app.view.width);
    if (pointer.moved && event.pointerType === "mouse") scroller.scrollTop -= dy;
    app.invalidate();
  };
  canvas.addEventListener("pointerdown", (event) => {
    down.set(event.pointerId, { from: place(event), at: place(event), moved: false });
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => (down.has(event.pointerId) ? drag(event) : point(event)));
  canvas.addEventListener("pointerup", (event) => {
    const pointer = down.get(event.pointerId);
    down.delete(event.pointerId);
    if (!pointer || pointer.moved || pointer.at.x < app.view.left) return;
    if (event.pointerType !== "mouse") point(event);
    const operation = operationOf(app.hover);
    if (operation) app.select(operation.run, operation.id);
    app.setCursor(app.snapped(pointer.at.x), true);
  });
  canvas.addEventListener("pointercancel", (event) => down.delete(event.pointerId));
  canvas.addEventListener("pointerleave", (event) => {
    // A finger leaves when it is lifted; what it pointed at is to be read then.
    if (event.pointerType !== "mouse") return;
    app.forgetHover();
    if (!app.cursor.pinned) app.setCursor(null, false);
  });
  canvas.addEventListener("dblclick", (event) => {
    app.view.zoom(1 / (ZOOM_STEP * ZOOM_STEP), place(event).x);
    app.invalidate();
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const amount = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 16 : event.deltaY;
      if (event.deltaX !== 0 || event.shiftKey) app.view.pan((event.deltaX || amount) / app.view.width);
      else app.view.zoom(Math.exp(amount / 400), place(event).x);
      point(event);
    },
    { passive: false },
  );
  scroller.addEventListener("scroll", () => app.invalidate());
  window.addEventListener("beforeprint", () => app.print(true));
  window.addEventListener("afterprint", () => app.print(false));
}
