"use strict";
// Drag over a chart: the list of the tasks that ended in that time. A click still follows the link of its bar.
(() => {
  let plane = null, from = 0, pick = null;
  const at = event => {
    const box = plane.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const end = () => { pick?.remove(); plane = pick = null; };
  const stamp = seconds => new Date(seconds * 1000).toISOString().slice(0, 16) + "Z";
  document.addEventListener("pointerdown", event => {
    plane = event.button ? null : event.target.closest(".plane");
    if (plane) from = at(event);
  });
  document.addEventListener("dragstart", event => { if (event.target.closest?.(".plane")) event.preventDefault(); });
  document.addEventListener("pointermove", event => {
    if (!plane || (!pick && Math.abs(at(event) - from) < .01)) return;
    pick ??= plane.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "rect"));
    pick.setAttribute("class", "pick");
    pick.setAttribute("height", 100);
    pick.setAttribute("x", 720 * Math.min(from, at(event)));
    pick.setAttribute("width", 720 * Math.abs(at(event) - from));
  });
  document.addEventListener("pointerup", event => {
    if (plane && pick) {
      const data = plane.closest(".plot").dataset, start = +data.from, span = data.until - start;
      const [a, b] = [from, at(event)].sort((one, other) => one - other).map(share => start + share * span);
      document.addEventListener("click", click => click.preventDefault(), { capture: true, once: true });
      location.assign(`${data.list}${stamp(a - a % 60)}..${stamp(Math.max(a - a % 60 + 60, b - b % 60))}`);
    }
    end();
  });
  document.addEventListener("pointercancel", end);
})();
