"use strict";
// Choose a window of time on the map of a tree by dragging. The links beside the map do the same without a script.
document.addEventListener("pointerdown", (press) => {
  const map = press.target.closest("[data-map]");
  if (!map || press.button) return;
  const frame = map.querySelector("[data-window]");
  const box = map.getBoundingClientRect();
  const place = (event) => Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  const from = place(press);
  const ends = (event) => [from, place(event)].sort((one, other) => one - other);
  const drag = (event) => {
    const [left, right] = ends(event);
    frame.setAttribute("x", left * 1000);
    frame.setAttribute("width", (right - left) * 1000);
  };
  const drop = (event) => {
    map.removeEventListener("pointermove", drag);
    const [left, right] = ends(event).map((one) => Math.round(one * map.dataset.map));
    if (event.type === "pointercancel" || (right - left) * 100 < map.dataset.map) return;
    const address = new URL(location.href);
    address.searchParams.set("from", left);
    address.searchParams.set("to", right);
    location.assign(address);
  };
  press.preventDefault();
  map.setPointerCapture(press.pointerId);
  map.addEventListener("pointermove", drag);
  map.addEventListener("pointerup", drop, { once: true });
  map.addEventListener("pointercancel", drop, { once: true });
});
