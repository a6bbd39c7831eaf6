(() => {
  let last;
  const boxes = form => [...form.querySelectorAll('[name=lease], [name=delivery]')];
  const tell = form => {
    const found = boxes(form), count = found.filter(box => box.checked).length, all = form.querySelector('[data-pick-all]');
    form.querySelector('[data-picked]').textContent = `${count} selected`;
    all.checked = count > 0 && count === found.length;
    all.indeterminate = count > 0 && count < found.length;
  };
  const tellAll = () => document.querySelectorAll('[data-pick]').forEach(tell);
  document.addEventListener('click', e => {
    const box = e.target.closest('[data-pick] [type=checkbox]');
    if (!box) return;
    const found = boxes(box.form), from = found.indexOf(last), to = found.indexOf(box);
    if (box.matches('[data-pick-all]')) for (const one of found) one.checked = box.checked;
    else if (e.shiftKey && from >= 0 && to >= 0) {
      for (const one of found.slice(Math.min(from, to), Math.max(from, to) + 1)) one.checked = box.checked;
    }
    if (to >= 0) last = box;
    tell(box.form);
  });
  document.addEventListener('submit', e => {
    if (!e.target.matches('[data-pick]') || e.target.elements.everything.checked || boxes(e.target).some(box => box.checked)) return;
    e.preventDefault();
    e.stopPropagation();
    e.target.querySelector('[data-picked]').textContent = 'Nothing selected';
  }, true);
  document.addEventListener('htmx:afterSettle', tellAll);
  addEventListener('pageshow', tellAll);
})();
