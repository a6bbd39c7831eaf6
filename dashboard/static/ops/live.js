(() => {
  const root = document.documentElement;
  root.toggleAttribute('data-js', true);
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const skew = Date.parse(root.dataset.now) - Date.now();
  const every = () => Number(root.dataset.liveMs || 0);
  const MANY = 25;  // rows; a longer table does not reorder while a person reads it

  // An element in use is not replaced.
  const isPlaying = el => all('audio', el).some(sound => !sound.paused);
  const inUse = el => (el.contains(document.activeElement) && document.activeElement.matches('input,select,textarea,button,summary,a,audio'))
    || one('details[open]', el) || isPlaying(el);
  const held = el => inUse(el) || one('input:checked', el) || one('dialog[open]')
    || (String(getSelection()) && el.contains(getSelection().anchorNode))
    || (el.matches(':hover') && Date.now() - pointed < 5e3);

  // A forgotten tab costs a request per minute, a hidden tab none.
  let timer, touched = Date.now(), pointed = 0, slowUntil = 0;
  const pace = () => {
    const idle = Date.now() - touched;
    return Math.max(every(), idle < 60e3 ? 0 : idle < 120e3 ? 15e3 : 60e3, Date.now() < slowUntil ? 30e3 : 0);
  };
  for (const name of ['pointerdown', 'keydown']) addEventListener(name, () => { touched = Date.now(); });
  addEventListener('pointermove', () => { pointed = Date.now(); });
  document.addEventListener('live:slow', () => { slowUntil = Date.now() + 120e3; });

  const tick = () => {
    clearTimeout(timer);
    if (!every()) return;
    if (!document.hidden) for (const el of all('[data-live]')) {
      const passive = el.dataset.live === 'passive', holding = !!(passive ? inUse(el) : held(el));
      el.toggleAttribute('data-held', holding);
      if (passive ? holding : holding || rowsOf(el).size >= MANY) { if (!passive) peek(el, holding); }
      else el.dispatchEvent(new Event('live:tick'));
    }
    timer = setTimeout(tick, pace());
  };
  document.addEventListener('visibilitychange', () => { if (!document.hidden) tick(); });
  if (every()) timer = setTimeout(tick, every());

  // A table in use, or a long table, is compared with its new version. Changed rows are replaced; new rows wait for a click.
  const pill = one('[data-changed]');
  let asked = false;
  const keyOf = row => row.id || all('a[href]', row).map(link => link.getAttribute('href')).join(' ') || row.textContent;
  const rowsOf = el => new Map(all('tbody tr', el).map(row => [keyOf(row), row]));
  const textOf = row => { const copy = row.cloneNode(true); for (const age of all('[data-age]', copy)) age.textContent = age.dateTime; return copy.textContent; };
  const seenBy = el => JSON.parse(el.getAttribute('hx-headers') || '{}')['X-Seen'] || '';
  const peek = async (el, holding) => {
    let answer;
    try {
      answer = await fetch(el.getAttribute('hx-get'), {headers: {'HX-Request': 'true', 'X-Seen': el.dataset.seen || seenBy(el)}});
      if (!answer.ok) throw answer;
    } catch { return lost(); }
    heard(name => answer.headers.get(name));
    if (answer.status !== 200) return;
    const fresh = one('[data-live]', new DOMParser().parseFromString(await answer.text(), 'text/html'));
    if (!fresh || !el.isConnected) return;
    const now = rowsOf(fresh), was = rowsOf(el);
    let changed = 0, added = 0;
    for (const key of now.keys()) if (!was.has(key)) added += 1;
    for (const [key, row] of was) {
      const next = now.get(key);
      if (next && textOf(next) === textOf(row)) continue;
      if (!next) { changed += 1; row.toggleAttribute('data-gone', true); }
      else if (holding) changed += 1;
      else { row.replaceWith(document.adoptNode(next)); htmx.process(next); }
    }
    el.dataset.seen = seenBy(fresh);
    if (!changed && !added) return;
    const told = [changed && `${changed} row${changed > 1 ? 's' : ''} changed`, added && `+${added} new`];
    pill.firstElementChild.textContent = [holding && 'Held while you use it', ...told].filter(Boolean).join(' · ');
    pill.hidden = false;
  };
  pill.lastElementChild.addEventListener('click', () => {
    pill.hidden = asked = true;
    for (const el of all('[data-live=table]')) el.dispatchEvent(new Event('live:tick'));
  });
  document.addEventListener('htmx:beforeSwap', e => {
    if (e.detail.target === dialog && e.detail.xhr.status > 399) {
      e.detail.isError = !(e.detail.shouldSwap = e.detail.xhr.response.includes(' id="panel-title"'));
      return;
    }
    const cause = e.detail.requestConfig.triggeringEvent;
    if (e.detail.target.dataset.live !== 'table' || !cause || cause.type !== 'live:tick') return;
    if (!asked && held(e.detail.target)) e.detail.shouldSwap = false;  // the person began to use it after the tick
    else pill.hidden = true;
    asked = false;
  });

  // A page that is not live says so, because its numbers may be old.
  const clock = one('[data-clock]'), offline = one('[data-offline-since]');
  let failed = 0;
  const lost = () => {
    failed += 1;
    if (failed < 3 || !offline.hidden) return;
    offline.textContent = `Not live since ${clock.textContent}, retrying`;
    offline.hidden = false;
    root.toggleAttribute('data-offline', true);
  };
  const signedOut = address => {
    const link = document.createElement('a');
    link.href = address;
    link.textContent = 'Sign in';
    offline.replaceChildren(`Signed out, not live since ${clock.textContent}. `, link);
    offline.hidden = false;
    root.toggleAttribute('data-offline', true);
    root.dataset.liveMs = 0;
    clearTimeout(timer);
  };
  const heard = header => {
    failed = 0; offline.hidden = true; root.toggleAttribute('data-offline', false);
    if (header('X-As-Of')) clock.textContent = header('X-As-Of');
    if (header('HX-Trigger') === 'live:slow') slowUntil = Date.now() + 120e3;
    if (header('X-Signed-Out')) signedOut(header('X-Signed-Out'));
    if (header('X-Attention')) attend(JSON.parse(header('X-Attention')));
  };
  // A dialog's request without a response keeps its form and all input. The form can be sent again: it acts once.
  const dialog = one('#dialog');
  const unheard = e => {
    if (e.detail.target !== dialog) return lost();
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
  document.addEventListener('htmx:afterRequest', e => {
    asked = false;
    if (e.detail.successful) heard(name => e.detail.xhr.getResponseHeader(name));
  });

  // The counts in the navigation, the title and the tab's icon. A screen reader announces them at most twice a minute.
  const announcer = one('[data-announce]');
  let unsaid = new Map(), saidAt = Date.now();
  const attend = ({stale, notes}) => {
    for (const el of all('[data-count]')) {
      const note = notes[el.dataset.count] || '';
      if (el.textContent === note) continue;
      el.textContent = note;
      unsaid.set(el.dataset.count, note || 'none');
    }
    document.title = (stale ? `(${stale}) ` : '') + document.title.replace(/^\([^)]*\) /, '');
    const mark = one('link[rel=icon]'), href = mark.getAttribute('href').replace(/stale=.*/, `stale=${stale}`);
    if (href !== mark.getAttribute('href')) mark.setAttribute('href', href);
    if (!unsaid.size || Date.now() - saidAt < 30e3) return;
    announcer.textContent = [...unsaid].map(pair => pair.join(': ')).join(', ');
    unsaid = new Map(); saidAt = Date.now();
  };

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
    for (const el of all('[data-age]')) {
      el.textContent = span(Math.max(0, Math.floor((Date.now() + skew - Date.parse(el.dateTime)) / 1000)));
    }
  }, 1000);

  const open = () => {
    if (!dialog.open) dialog.showModal();
    const first = one('[aria-invalid], [autofocus], input:not([type=hidden]):enabled, textarea, .acts a', dialog);
    if (first) first.focus();
  };
  document.addEventListener('htmx:afterSwap', e => {
    if (e.detail.target !== dialog) return;
    if (!dialog.firstElementChild) {  // done: the repaired row behind the dialog takes the focus
      dialog.close();
      const changed = document.querySelector('[data-focus]');
      if (changed) { changed.focus(); changed.removeAttribute('data-focus'); }
    } else open();
  });
  document.addEventListener('click', e => {
    const close = e.target.closest('dialog [data-close]'), dismiss = e.target.closest('[data-dismiss]');
    if (close) { e.preventDefault(); close.closest('dialog').close(); }
    const copy = e.target.closest('[data-copy]'), source = copy && document.getElementById(copy.dataset.copy);
    if (source && navigator.clipboard) navigator.clipboard.writeText(source.textContent).then(() => copy.toggleAttribute('data-copied', true));
    else if (source) getSelection().selectAllChildren(source);  // without https there is no clipboard: Ctrl-C copies the selection
    if (dismiss) { dismiss.closest('p').remove(); one('main').focus(); }
  });
  dialog.addEventListener('close', () => dialog.replaceChildren());
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
