(() => {
  const root = document.documentElement;
  const skew = Date.parse(root.dataset.now) - Date.now();
  const held = el => (el.contains(document.activeElement) && document.activeElement.matches('input,select,textarea,button,summary,a'))
    || el.querySelector('input:checked, details[open]') || document.querySelector('dialog[open]')
    || (String(getSelection()) && el.contains(getSelection().anchorNode))
    || (el.matches(':hover') && Date.now() - pointed < 5e3);
  const every = () => Number(root.dataset.liveMs || 0);
  const loaded = Date.now();
  let timer, failed = 0, pointed = 0;
  addEventListener('pointermove', () => { pointed = Date.now(); });

  const pace = () => {  // a forgotten tab costs a request a minute
    const idle = Date.now() - Math.max(loaded, touched);
    return idle < 60e3 ? every() : Math.max(every(), idle < 120e3 ? 15e3 : 60e3);
  };
  let touched = loaded;
  for (const name of ['pointerdown', 'keydown']) addEventListener(name, () => { touched = Date.now(); });

  const tick = () => {
    clearTimeout(timer);
    if (!document.hidden && every()) {
      for (const el of document.querySelectorAll('[data-live]')) {
        const holding = !!held(el);
        el.toggleAttribute('data-held', holding);
        if (!holding || el.dataset.live === 'passive') el.dispatchEvent(new Event('live:tick'));
      }
    }
    if (every()) timer = setTimeout(tick, pace());
  };
  document.addEventListener('visibilitychange', () => { if (!document.hidden) tick(); });
  if (every()) timer = setTimeout(tick, every());

  const word = document.querySelector('[data-live-word]');
  const say = text => { if (word && word.textContent !== text) word.textContent = text; };
  const wasWord = word ? word.textContent : '';
  document.addEventListener('htmx:sendError', () => {
    failed += 1;
    if (failed >= 3) { say('Not live, retrying'); root.toggleAttribute('data-offline', true); }
  });
  document.addEventListener('htmx:afterRequest', e => {
    if (!e.detail.successful) return;
    failed = 0; say(wasWord); root.toggleAttribute('data-offline', false);
    const clock = document.querySelector('[data-clock]');
    const at = e.detail.xhr.getResponseHeader('X-As-Of');
    if (clock && at) clock.textContent = at;
  });

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
  if (every()) setInterval(() => {
    if (document.hidden || root.hasAttribute('data-offline')) return;
    for (const el of document.querySelectorAll('[data-age]')) {
      el.textContent = span(Math.max(0, Math.floor((Date.now() + skew - Date.parse(el.dateTime)) / 1000)));
    }
  }, 1000);

  document.addEventListener('htmx:beforeSwap', e => {  // somebody may have begun to use it since the tick
    if (e.detail.target.dataset.live === 'table' && held(e.detail.target)) e.detail.shouldSwap = false;
  });
  document.addEventListener('htmx:afterSwap', e => {
    const dialog = e.detail.target;
    if (!(dialog instanceof HTMLDialogElement)) return;
    if (!dialog.firstElementChild) {  // done: what was repaired stands behind it, and takes the focus
      dialog.close();
      const changed = document.querySelector('[data-focus]');
      if (changed) { changed.focus(); changed.removeAttribute('data-focus'); }
      return;
    }
    if (!dialog.open) dialog.showModal();
    const first = dialog.querySelector('[aria-invalid], [autofocus], input:not([type=hidden]):enabled, textarea, .acts a');
    if (first) first.focus();
  });
  document.addEventListener('click', e => {
    const message = e.target.closest('[data-dismiss]');
    if (message) message.parentElement.remove();
    const close = e.target.closest('dialog [data-close]');
    if (close) { e.preventDefault(); close.closest('dialog').close(); }
  });
  document.addEventListener('close', e => { if (e.target.id === 'dialog') e.target.replaceChildren(); }, true);
  document.addEventListener('submit', e => {
    const form = e.target, button = form.querySelector('[data-submit]');
    if (form.dataset.busy && button) setTimeout(() => { button.textContent = form.dataset.busy; button.disabled = true; });
  });
})();
