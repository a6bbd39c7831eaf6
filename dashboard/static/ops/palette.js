(() => {
  const palette = document.querySelector('#palette'), box = palette.querySelector('input');
  const lines = () => [...palette.querySelectorAll('a, [data-fill]')];
  const ask = () => box.dispatchEvent(new Event('input', {bubbles: true}));
  const open = () => {
    if (document.querySelector('dialog[open]')) return;
    palette.showModal();
    box.select();
    ask();
  };
  document.addEventListener('palette:open', open);
  document.addEventListener('keydown', e => {
    if ((e.ctrlKey || e.metaKey) && e.key === 'k' && !e.altKey && !e.shiftKey) { e.preventDefault(); open(); }
  });
  palette.addEventListener('keydown', e => {
    const step = {ArrowDown: 1, ArrowUp: -1}[e.key];
    if (!step) return;
    e.preventDefault();
    const all = [box, ...lines()], at = all.indexOf(document.activeElement);
    all[(Math.max(at, 0) + step + all.length) % all.length].focus();
  });
  palette.addEventListener('click', e => {
    const line = e.target.closest('[data-fill]');
    if (line) { box.value = line.dataset.fill; box.focus(); ask(); }
    if (e.target === palette) palette.close();
  });
})();
