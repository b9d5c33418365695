// Scenes of a tour, of which the address names the one that is shown.

/** Shows the scene that the address names, of a page with scenes; tells its number from 0. */
function chosenScene(count) {
  const asked = Number(/^#scene-(\d+)$/.exec(location.hash)?.[1] ?? 1);
  const chosen = Math.min(count, Math.max(1, asked));
  for (const section of document.querySelectorAll(".scene")) section.hidden = section.id !== `scene-${chosen}`;
  document.querySelector(`#tour a[href="#scene-${chosen}"]`)?.setAttribute("aria-current", "step");
  if (count > 1) {
    // Not at the text of the scene, which would leave the top of the page out of sight.
    history.scrollRestoration = "manual";
    window.addEventListener("load", () => window.scrollTo(0, 0));
  }
  window.addEventListener("hashchange", () => location.reload());
  document.addEventListener("keydown", ({ key }) => {
    const next = chosen + ({ PageDown: 1, PageUp: -1 }[key] ?? 0);
    if (next !== chosen && next >= 1 && next <= count) location.hash = `#scene-${next}`;
  });
  return chosen - 1;
}
