(() => {
  const root = document.documentElement;
  root.toggleAttribute('data-js', true);
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  const skew = Date.parse(root.dataset.now) - Date.now();
  const units = [['d', 86400], ['h', 3600], ['m', 60], ['s', 1]];
  const span = seconds => {
    const parts = [];
    for (const [unit, size] of units) {
      const count = Math.floor(seconds / size);
      seconds -= count * size;
      if (count) parts.push(count + ' ' + unit); else if (parts.length) break;
    }
    return parts.slice(0, 2).join(' ') || '0 s';
  };
  if (Number(root.dataset.liveMs)) setInterval(() => {
    if (document.hidden || root.hasAttribute('data-offline')) return;
    for (const el of all('[data-age]')) {
      el.textContent = span(Math.max(0, Math.floor((Date.now() + skew - Date.parse(el.dateTime)) / 1000)));
    }
  }, 1000);

  const dialog = one('#dialog');
  const open = () => {
    if (!dialog.open) dialog.showModal();
    const first = one('[aria-invalid], [autofocus], input:not([type=hidden]):enabled, textarea, .acts a', dialog);
    if (first) first.focus();
  };
  document.addEventListener('htmx:beforeSwap', e => {
    if (e.detail.target !== dialog || e.detail.xhr.status < 400) return;
    e.detail.isError = !(e.detail.shouldSwap = e.detail.xhr.response.includes(' id="panel-title"'));
  });
  document.addEventListener('htmx:afterSwap', e => {
    if (e.detail.target !== dialog) return;
    if (!dialog.firstElementChild) {  // done: the repaired row behind the dialog takes the focus
      dialog.close();
      const changed = one('[data-focus]');
      if (changed) { changed.focus(); changed.removeAttribute('data-focus'); }
    } else open();
  });
  dialog.addEventListener('close', () => dialog.replaceChildren());
  // A dialog's request without a response keeps its form and all input. The form can be sent again: it acts once.
  const unheard = e => {
    if (e.detail.target !== dialog) return;
    const [line, panel] = one('#unheard').content.cloneNode(true).children, form = e.detail.elt.closest('form[data-busy]');
    if (!form) { dialog.replaceChildren(panel); open(); return; }
    one('.acts', form).before(line);
    clearTimeout(form.sending);  // the response may arrive before the timer
    const button = one('[data-submit]', form);
    button.textContent = form.dataset.verb;
    button.disabled = false;
    button.focus();
  };
  for (const name of ['htmx:sendError', 'htmx:responseError', 'htmx:timeout']) document.addEventListener(name, unheard);

  document.addEventListener('click', e => {
    const close = e.target.closest('dialog [data-close]'), dismiss = e.target.closest('[data-dismiss]');
    if (close) { e.preventDefault(); close.closest('dialog').close(); }
    const copy = e.target.closest('[data-copy]'), source = copy && (document.getElementById(copy.dataset.copy) || copy.previousElementSibling);
    if (source && navigator.clipboard) navigator.clipboard.writeText(source.textContent).then(() => copy.toggleAttribute('data-copied', true));
    else if (source) getSelection().selectAllChildren(source);  // without https there is no clipboard: Ctrl-C copies the selection
    if (dismiss) { dismiss.closest('p').remove(); one('main').focus(); }
  });
  document.addEventListener('input', e => {
    const left = e.target.maxLength > 0 && one('[data-left]', e.target.parentElement);
    if (left) left.textContent = `${e.target.value.length} of ${e.target.maxLength} characters`;
  });
  document.addEventListener('submit', e => {
    const form = e.target, button = one('[data-submit]', form);
    if (!form.dataset.busy || !button) return;
    for (const line of all('[data-unheard]', form)) line.remove();
    form.dataset.verb ||= button.textContent;
    button.textContent = form.dataset.busy;
    form.sending = setTimeout(() => { button.disabled = true; });  // the browser has read the form by then
  });
})();
