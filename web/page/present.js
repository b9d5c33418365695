// Presentation: scenes to go through by keys, large, with the timeline beside what is said.

/** How much larger the timeline is than it is for one reader. */
const MAGNIFIED = 1.25;

class Presentation {
  constructor(page) {
    this.page = page;
    this.scenes = [];
    this.place = byId("scene");
    byId("present").addEventListener("click", () => this.begin());
  }

  get isOn() {
    return document.body.classList.contains("presenting");
  }

  /** Begins with what is open, which may be a scene; with edits it is one's own. */
  begin() {
    document.body.classList.add("presenting");
    this.place.hidden = false;
    this.page.views.choose("timeline");
    this.page.magnify(MAGNIFIED);
    const { name, isEdited } = this.page.opened;
    const at = isEdited ? -1 : this.scenes.findIndex(({ scenario }) => scenario === name);
    this.own = at < 0 ? name : null;
    this.tell(at);
  }

  end() {
    document.body.classList.remove("presenting");
    this.place.hidden = true;
    this.page.magnify(1);
    byId("present").focus();
  }

  /** Goes on by scenes; what was open before is in front of the first. */
  step(by) {
    const next = this.at + by;
    if (next >= this.scenes.length || next < (this.own === null ? 0 : -1)) return;
    this.page.open(next < 0 ? this.own : this.scenes[next].scenario);
    this.tell(next);
  }

  /** What is open was read, and has its name from then on. */
  named() {
    if (this.isOn && this.at < 0) this.tell(this.at);
  }

  tell(at) {
    this.at = at;
    const scene = this.scenes[at];
    const button = (text, title, act, isOff) => {
      const made = element("button", text, { type: "button", title, "aria-label": title, ...(isOff ? { disabled: "" } : {}) });
      made.addEventListener("click", act);
      return made;
    };
    const controls = element("p", "", { class: "tools" });
    controls.append(
      button("‹", "Previous scene (←)", () => this.step(-1), at <= (this.own === null ? 0 : -1)),
      element("span", scene ? `${at + 1} of ${this.scenes.length}` : `before the ${this.scenes.length} scenes`),
      button("›", "Next scene (→)", () => this.step(1), at === this.scenes.length - 1),
      button("×", "End (Esc)", () => this.end()),
      button("?", "Keys (?)", () => byId("keys").showModal()),
    );
    if (!scene) {
      this.place.replaceChildren(controls, element("h2", this.page.title), element("p", "What is open. The next scene: →", { class: "quiet" }));
      return;
    }
    const answer = element("details");
    answer.append(element("summary", "Answer (a)"), element("p", scene.answer));
    const edited = this.page.opened.isEdited ? [element("p", "Its scenario is shown with your edits.", { class: "missed" })] : [];
    this.place.replaceChildren(controls, element("h2", scene.title), ...edited, element("p", scene.text), element("p", scene.question, { class: "question" }), answer);
  }

  /** What a key does here, if anything. */
  actionOf(key) {
    const answer = this.place.querySelector("details");
    const actions = {
      ArrowRight: () => this.step(1),
      PageDown: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      PageUp: () => this.step(-1),
      Escape: () => this.end(),
      a: () => answer && (answer.open = !answer.open),
    };
    return Object.hasOwn(actions, key) ? actions[key] : null;
  }
}
