(() => {
  const root = document.documentElement;
  if (root.dataset.shortcuts === 'off') return;
  const one = (selector, within = document) => within && within.querySelector(selector);
  const rows = () => [...document.querySelectorAll('main tbody tr')].filter(row => one('a, input', row));
  const here = () => document.activeElement.closest('main tbody tr');
  const go = link => { if (link) link.click(); };
  const reach = row => {
    const target = one('th a, a, input', row);
    if (target) { target.focus(); row.scrollIntoView({block: 'nearest'}); }
  };
  const move = step => {
    const found = rows(), at = found.indexOf(here());
    reach(found[at < 0 ? 0 : Math.min(found.length - 1, Math.max(0, at + step))]);
  };
  const verb = name => {
    const row = here(), links = document.querySelectorAll(`main a[href$="/${name}/"]`);
    go(row ? one(`a[href$="/${name}/"]`, row) : links.length === 1 && links[0]);
  };
  const theme = () => {
    const dark = root.dataset.theme === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : root.dataset.theme === 'dark';
    root.dataset.theme = dark ? 'light' : 'dark';
    const live = one('[name=live]').form, body = new URLSearchParams({theme: root.dataset.theme});
    body.set('csrfmiddlewaretoken', live.elements.csrfmiddlewaretoken.value);
    fetch(live.action, {method: 'POST', body, redirect: 'manual'});
  };
  const keys = {
    '/': () => document.dispatchEvent(new Event('palette:open')),
    '?': () => go(one('header .help')),
    '.': () => go(one('header [name=live]')),
    t: theme,
    j: () => move(1),
    k: () => move(-1),
    x: () => go(one('input[type=checkbox]', here())),
    o: () => go(one('th a', here())),
    r: () => verb('requeue'),
    f: () => verb('force-error'),
    e: () => {
      const found = rows(), at = found.indexOf(here()), wrong = found.filter(row => one('.pill.error', row));
      reach(wrong.find(row => found.indexOf(row) > at) || wrong[0]);
    },
    '[': () => go(one('[data-key=close]')),
    ']': () => go(one('[data-key=open]')),
  };
  let going = 0;
  document.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || one('dialog[open]')) return;
    if (e.target.matches('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]')) return;
    const follows = Date.now() - going < 1500;
    going = 0;
    if (!follows && e.key === 'g') { going = Date.now(); return; }
    const act = follows ? () => go(one(`[data-go="${CSS.escape(e.key)}"]`)) : Object.hasOwn(keys, e.key) && keys[e.key];
    if (act) { e.preventDefault(); act(); }
  });
})();
