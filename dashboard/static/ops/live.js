(() => {
  const root = document.documentElement;
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const every = () => Number(root.dataset.liveMs || 0);
  const MANY = 25;  // rows; a longer list does not reorder while a person reads it

  // A person who types, selects text or listens keeps all of a region; one who uses a list keeps its rows.
  const isPlaying = el => all('audio', el).some(sound => !sound.paused);
  const isTyped = box => (/^(checkbox|radio)$/.test(box.type) ? box.checked !== box.defaultChecked : box.value !== box.defaultValue);
  const isTyping = el => all('input:not([type=hidden], [type=checkbox]), textarea', el).some(box => box === document.activeElement || isTyped(box));
  const isSelected = el => String(getSelection()) && el.contains(getSelection().anchorNode);
  const isBusy = el => isPlaying(el) || isTyping(el) || isSelected(el);
  const listOf = el => one('tbody[data-list]', el);
  const isUsed = el => isBusy(el) || el.contains(document.activeElement) || one('input:checked, details[open]', listOf(el))
    || one('input:checked', el) || one('dialog[open]') || (el.matches(':hover') && Date.now() - pointed < 5e3);
  const isFollowed = list => list.dataset.list === 'follow' && scrollY < 300;  // at its top, new rows appear by themselves
  const isHeld = el => !!(listOf(el) ? isUsed(el) : isBusy(el));

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
      const holding = isHeld(el), list = listOf(el);
      el.toggleAttribute('data-held', holding);
      if (holding || (list && list.rows.length >= MANY && !isFollowed(list))) peek(el, holding);
      else el.dispatchEvent(new Event('live:tick'));
    }
    timer = setTimeout(tick, pace());
    tell();
  };
  document.addEventListener('visibilitychange', () => { if (!document.hidden) tick(); });
  if (every()) timer = setTimeout(tick, every());

  // A region in use, or a long list, is compared with its new version. Changed rows and the parts beside them are replaced, unless
  // a person uses them. New rows wait for a click. A list is a part of its rows: a row whose successor stays has not moved past the
  // end, so it ended.
  const pill = one('[data-changed]');
  let asked = false;
  const keyOf = row => row.id || all('a[href]', row).map(link => link.getAttribute('href')).join(' ') || row.textContent;
  const rowsOf = list => new Map(list ? [...list.rows].map(row => [keyOf(row), row]) : []);
  const textOf = el => { const copy = el.cloneNode(true); for (const age of all('[data-age]', copy)) age.textContent = age.dateTime; return copy.textContent; };
  const seenBy = el => JSON.parse(el.getAttribute('hx-headers') || '{}')['X-Seen'] || '';
  const put = (next, before) => { before.replaceWith(document.adoptNode(next)); htmx.process(next); };
  const endedIn = (was, now, ends) => {
    const keys = [...was.keys()], last = keys.findLastIndex(key => now.has(key));
    const isInOrder = `${keys.filter(key => now.has(key))}` === `${[...now.keys()].filter(key => was.has(key))}`;
    return keys.filter((key, index) => !now.has(key) && (ends || (isInOrder && index < last) || now.size < was.size));
  };
  const say = (holding, changed, added) => {
    const told = [changed && `${changed} row${changed > 1 ? 's' : ''} changed`, added && `+${added} new`];
    pill.firstElementChild.textContent = [holding && 'Updates paused while you work', ...told].filter(Boolean).join(' · ');
    pill.hidden = false;
  };
  const compare = (el, fresh, holding) => {
    const list = listOf(el), was = rowsOf(list), now = rowsOf(listOf(fresh)), ended = endedIn(was, now, list.dataset.list === 'ends');
    let changed = ended.length;
    for (const key of ended) was.get(key).toggleAttribute('data-gone', true);
    for (const [key, row] of was) {
      const next = now.get(key);
      if (next) row.removeAttribute('data-gone');
      if (!next || textOf(next) === textOf(row)) continue;
      if (holding) changed += 1; else put(next, row);
    }
    for (const part of all('caption, [data-part]', el)) {
      const next = part.id ? one(`#${part.id}`, fresh) : one('caption', fresh);
      if (next && !part.contains(document.activeElement) && !isBusy(part) && textOf(part) !== textOf(next)) put(next, part);
    }
    const added = [...now.keys()].filter(key => !was.has(key)).length;
    if (changed || added) say(holding, changed, added); else pill.hidden = true;
  };
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
    if (listOf(el)) compare(el, fresh, holding); else say(holding);
    if (!holding) el.dataset.seen = seenBy(fresh);
  };
  pill.lastElementChild.addEventListener('click', () => {
    pill.hidden = asked = true;
    for (const el of all('[data-live]')) el.dispatchEvent(new Event('live:tick'));
  });

  // What a person has opened, focused or scrolled in a region stays so in its next version.
  const signOf = el => [el.tagName, el.id || el.getAttribute('href') || el.name || el.textContent.replace(/\d+/g, '').trim()].join(' ');
  const alike = (sign, within) => all(sign.split(' ', 1)[0], within).filter(el => signOf(el) === sign);
  const placeOf = (el, within) => { const sign = signOf(el); return {sign, index: alike(sign, within).indexOf(el)}; };
  const at = (place, within) => alike(place.sign, within)[place.index];
  const BOXES = '.scroll, .payload';
  let kept;
  const keep = el => {
    const active = document.activeElement;
    kept = {
      id: el.id,
      open: all('details > summary', el).map(summary => [placeOf(summary, el), summary.parentElement.open]),
      focus: el.contains(active) && active !== el ? placeOf(active, el) : null,
      scrolled: all(BOXES, el).map(box => [box.scrollLeft, box.scrollTop]),
    };
  };
  const restore = () => {
    const el = kept && document.getElementById(kept.id);
    if (!el) return;
    for (const [place, open] of kept.open) { const summary = at(place, el); if (summary) summary.parentElement.open = open; }
    const focused = kept.focus && at(kept.focus, el);
    if (focused) focused.focus({preventScroll: true});
    all(BOXES, el).forEach((box, index) => { if (kept.scrolled[index]) box.scrollTo(...kept.scrolled[index]); });
    kept = null;
  };
  document.addEventListener('htmx:beforeSwap', e => {
    const el = e.detail.target, cause = e.detail.requestConfig.triggeringEvent;
    if (!('live' in el.dataset) || !cause || cause.type !== 'live:tick') return;
    if (!asked && isHeld(el)) { e.detail.shouldSwap = false; return; }  // the person began to use it after the tick
    pill.hidden = true;
    asked = false;
    if (e.detail.shouldSwap) keep(el);
  });
  document.addEventListener('htmx:afterSwap', restore);

  // A page that is not live says so, because its numbers may be old.
  const clock = one('[data-clock]'), offline = one('[data-offline-since]'), word = one('[data-live-word]');
  let failed = 0;
  const tell = () => {
    if (every()) word.textContent = root.hasAttribute('data-offline') ? 'Offline' : `Live ${pace() / 1000} s`;
  };
  const lost = () => {
    failed += 1;
    if (failed < 3 || !offline.hidden) return;
    offline.textContent = `Not live since ${clock.textContent}, retrying`;
    offline.hidden = false;
    root.toggleAttribute('data-offline', true);
    tell();
  };
  const signedOut = address => {
    const link = document.createElement('a');
    link.href = address;
    link.textContent = 'Sign in';
    offline.replaceChildren(`Signed out, not live since ${clock.textContent}. `, link);
    offline.hidden = false;
    root.toggleAttribute('data-offline', true);
    tell();
    root.dataset.liveMs = 0;
    clearTimeout(timer);
  };
  const heard = header => {
    failed = 0; offline.hidden = true; root.toggleAttribute('data-offline', false);
    if (header('X-As-Of')) clock.textContent = header('X-As-Of');
    if (header('HX-Trigger') === 'live:slow') slowUntil = Date.now() + 120e3;
    if (header('X-Signed-Out')) signedOut(header('X-Signed-Out'));
    if (header('X-Attention')) attend(JSON.parse(header('X-Attention')));
    tell();
  };
  for (const name of ['htmx:sendError', 'htmx:responseError', 'htmx:timeout']) {
    document.addEventListener(name, e => { if (e.detail.target.id !== 'dialog') lost(); });
  }
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
})();
