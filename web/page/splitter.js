// The edge between the editor and the timeline: it is moved by pointer and keys, and hides the editor.

/** Of the editor [pixels]: narrower than the first it is hidden. */
const LEAST_WIDTH = 160;
const STEP_WIDTH = 24;

class Splitter {
  constructor() {
    this.edge = byId("splitter");
    this.edge.addEventListener("pointerdown", (event) => {
      this.edge.setPointerCapture(event.pointerId);
      // A frame under the pointer would take its events.
      document.body.classList.add("splitting");
    });
    this.edge.addEventListener("pointermove", (event) => {
      if (this.edge.hasPointerCapture(event.pointerId)) this.width = event.clientX;
    });
    this.edge.addEventListener("lostpointercapture", () => document.body.classList.remove("splitting"));
    this.edge.addEventListener("dblclick", () => this.toggle());
    this.edge.addEventListener("keydown", (event) => {
      const keys = {
        ArrowLeft: () => (this.width -= STEP_WIDTH),
        ArrowRight: () => (this.width = Math.max(LEAST_WIDTH, this.width + STEP_WIDTH)),
        Home: () => (this.isHidden = true),
        End: () => (this.width = innerWidth / 2),
        Enter: () => this.toggle(),
      };
      if (!(event.key in keys)) return;
      event.preventDefault();
      keys[event.key]();
    });
    this.tell();
  }

  get width() {
    return this.isHidden ? 0 : byId("input").offsetWidth;
  }

  set width(pixels) {
    this.isHidden = pixels < LEAST_WIDTH;
    if (!this.isHidden) document.documentElement.style.setProperty("--input", `${Math.min(pixels, innerWidth * 0.75)}px`);
    this.tell();
  }

  get isHidden() {
    return document.body.classList.contains("alone");
  }

  set isHidden(isHidden) {
    document.body.classList.toggle("alone", isHidden);
    this.tell();
  }

  toggle() {
    this.isHidden = !this.isHidden;
  }

  tell() {
    this.edge.setAttribute("aria-valuenow", String(Math.round((this.width / innerWidth) * 100)));
  }
}
