// Frames of apps, and the bridge to them: packages/client/src/app.ts is its other end. An app reaches nothing of this page;
// it sends messages, and each is checked here. Who sends one is known by the window and by the exact origin.
'use strict';

const VERSION = 1;
/** Milliseconds after which a frame that has not answered is called slow. */
const SLOW = 10_000;
/** Seconds that a token must still be valid to be given out again. */
const STILL_VALID = 30;
const MIN_HEIGHT = 40;
const MAX_HEIGHT = 4_000;
const MAX_PATH = 500;
const MAX_TOAST = 200;
const MAX_PICKED = 50;
/** Messages of one frame in a second; more are dropped. */
const MAX_MESSAGES = 50;
const MAX_ADDRESS = 2_000;
const MAX_FILE = 20_000_000;
const MAX_FILE_NAME = 100;
/** The files that an app may hand over, with the endings they get: none of them is a program or a page. */
const FILE_ENDINGS = {
  'application/pdf': 'pdf',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'text/csv': 'csv',
  'text/plain': 'txt',
};

/** The frame is loaded after the page, so that a slow app keeps nothing of the page waiting. */
function openFrame(holder) {
  const { src, origin, title, app, height, kind, name, ids, language, base } = holder.dataset;
  const status = holder.querySelector('[data-frame-status]');
  const frame = document.createElement('iframe');
  frame.title = title;
  frame.loading = 'lazy';
  frame.height = height;
  frame.referrerPolicy = 'origin';
  // Its origin is never ours (the service sees to that), so with `allow-same-origin` it is merely itself: messages to it
  // and from it can name its exact origin. It may not open windows, and not lead this page elsewhere.
  frame.setAttribute('sandbox', 'allow-scripts allow-forms allow-same-origin');
  frame.setAttribute('allow', '');
  frame.src = src;

  const send = (message) => frame.contentWindow?.postMessage({ kontor: VERSION, ...message }, origin);
  let slow;
  const becomeSlow = () => {
    status.textContent = holder.dataset.slow;
  };
  // A lazy frame that is not in sight is not loaded, and so not slow.
  new IntersectionObserver((entries, observer) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    slow ??= setTimeout(becomeSlow, SLOW);
  }).observe(holder);

  let current;
  const token = async () => {
    if (current && current.until - Date.now() > STILL_VALID * 1_000) return current.token;
    const body = new URLSearchParams([
      ['kind', kind],
      ['name', name],
      ...ids.split(' ').flatMap((id) => (id === '' ? [] : [['id', id]])),
    ]);
    // Who is signed out is led to another page, which is no token.
    const response = await fetch(holder.dataset.token, { method: 'POST', redirect: 'manual', body });
    if (!response.ok) {
      status.textContent = holder.dataset.ended;
      throw new Error('refused');
    }
    const given = await response.json();
    current = { token: given.token, until: Date.now() + given.expiresIn * 1_000 };
    return current.token;
  };

  /** What an app may ask for: each answers with a value, or throws. */
  const requests = {
    token,
    size({ height: asked }) {
      if (typeof asked !== 'number' || !Number.isFinite(asked)) throw new Error('wrong');
      frame.height = String(Math.min(Math.max(Math.round(asked), MIN_HEIGHT), MAX_HEIGHT));
    },
    navigate({ path }) {
      const address = adminAddress(path, base);
      if (!address) throw new Error('wrong');
      requireClick();
      unsaved.delete(frame);
      location.assign(address);
    },
    open({ address }) {
      const isAddress = typeof address === 'string' && address.length <= MAX_ADDRESS && URL.canParse(address);
      if (!isAddress || new URL(address).protocol !== 'https:') throw new Error('wrong');
      requireClick();
      window.open(address, '_blank', 'noopener,noreferrer');
    },
    save({ file, name: asked }) {
      const ending = file instanceof Blob && file.size <= MAX_FILE ? endingOf(file) : undefined;
      if (ending === undefined || typeof asked !== 'string') throw new Error('wrong');
      requireClick();
      const link = document.createElement('a');
      link.href = URL.createObjectURL(file);
      link.download = fileName(asked, ending);
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    },
    toast({ text }) {
      if (typeof text !== 'string' || text.trim() === '') throw new Error('wrong');
      const notice = document.createElement('div');
      notice.className = 'notice';
      notice.setAttribute('role', 'status');
      notice.textContent = `${app}: ${text.trim().slice(0, MAX_TOAST)}`;
      document.getElementById('notices').replaceChildren(notice);
    },
    unsaved({ isUnsaved }) {
      if (isUnsaved === true) unsaved.add(frame);
      else unsaved.delete(frame);
    },
    pick({ of, several }) {
      requireClick();
      return pick(holder.dataset, of, several === true);
    },
  };

  let second = 0;
  let messages = 0;
  const answer = async (type, id, data) => {
    try {
      send({ type: 'answer', id, value: await requests[type](data) });
    } catch (error) {
      send({ type: 'answer', id, error: String(error.message).slice(0, 50) });
    }
  };
  const welcome = async () => {
    clearTimeout(slow);
    slow = 0;
    status.textContent = '';
    try {
      const context = { kind, name, ids: ids === '' ? [] : ids.split(' '), language };
      send({ type: 'welcome', token: await token(), context });
    } catch {
      // Signing out is told already; else the service could not be reached.
      if (status.textContent === '') becomeSlow();
    }
  };
  addEventListener('message', ({ data, source, origin: from }) => {
    if (source !== frame.contentWindow || from !== origin || data?.kontor !== VERSION) return;
    const now = Math.floor(Date.now() / 1_000);
    messages = now === second ? messages + 1 : 1;
    second = now;
    if (messages > MAX_MESSAGES) return;
    const { type, id } = data;
    if (type === 'ready') void welcome();
    else if (Object.hasOwn(requests, type) && Number.isSafeInteger(id)) void answer(type, id, data);
  });
  holder.append(frame);
}

/** An app leads people on, or asks them, when they click, and not by itself. */
function requireClick() {
  if (navigator.userActivation && !navigator.userActivation.isActive) throw new Error('noClick');
}

/** undefined: a file of another kind. A type may name an encoding: `text/csv;charset=utf-8`. */
function endingOf({ type }) {
  const [kind] = type.split(';', 1);
  return Object.hasOwn(FILE_ENDINGS, kind) ? FILE_ENDINGS[kind] : undefined;
}

/** A name without paths and hidden characters, with the ending of its kind. */
function fileName(asked, ending) {
  const name = asked
    .replaceAll(/[^\p{L}\p{N} ._()-]+/gu, '-')
    .replace(/^[. ]+/, '')
    .replace(new RegExp(`\\.${ending}$`, 'i'), '')
    .slice(0, MAX_FILE_NAME);
  return `${name || 'file'}.${ending}`;
}

/** The address of a page of this shop's admin; undefined: the path leads anywhere else. */
function adminAddress(path, base) {
  if (typeof path !== 'string' || path.length > MAX_PATH || !/^\/(?!\/)/.test(path)) return undefined;
  const url = new URL(base + path, location.origin);
  const isInside = url.pathname === base || url.pathname.startsWith(`${base}/`);
  return url.origin === location.origin && isInside ? url.href : undefined;
}

/** The frames with changes that are not saved. */
const unsaved = new Set();
addEventListener('beforeunload', (event) => {
  if ([...unsaved].some((frame) => frame.isConnected)) event.preventDefault();
});

let isPicking = false;

/** A dialog in which people choose products or orders; the app learns only what they have chosen. */
async function pick(words, of, several) {
  const heading = { product: words.chooseProduct, order: words.chooseOrder }[of];
  if (heading === undefined || isPicking) throw new Error('wrong');
  isPicking = true;
  const chosen = new Map();
  const dialog = document.createElement('dialog');
  dialog.className = 'picker app-picker';
  dialog.setAttribute('aria-label', heading);
  const title = document.createElement('h2');
  title.textContent = heading;
  const close = button(words.close, () => dialog.close());
  const head = document.createElement('div');
  head.className = 'picker-head';
  head.append(title, close);
  const search = document.createElement('input');
  search.type = 'search';
  search.maxLength = 100;
  search.setAttribute('aria-label', words.search);
  search.placeholder = words.search;
  const list = document.createElement('div');
  list.className = 'hits';
  list.setAttribute('aria-live', 'polite');
  dialog.append(head, search, list);
  if (several) dialog.append(button(words.done, () => dialog.close('done'), 'main'));

  const choose = (item, isChosen) => {
    if (isChosen && chosen.size < MAX_PICKED) chosen.set(item.id, item);
    else chosen.delete(item.id);
    if (!several) dialog.close('done');
  };
  let asked = 0;
  const find = async () => {
    const query = new URLSearchParams({ kind: of, q: search.value });
    const turn = ++asked;
    const response = await fetch(`${words.pick}?${query}`, { redirect: 'manual' });
    if (!response.ok || turn !== asked) return;
    const { items } = await response.json();
    list.replaceChildren(...items.map((item) => row(item, several, chosen.has(item.id), choose)));
  };
  let typing;
  search.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => void find(), 200);
  });
  document.body.append(dialog);
  dialog.showModal();
  search.focus();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  dialog.remove();
  isPicking = false;
  if (dialog.returnValue !== 'done') return [];
  // Names of customers are not what was asked for.
  return [...chosen.values()].map(({ id, name, number }) =>
    of === 'product' ? { id, name, number } : { id, number },
  );
}

function row(item, several, isChosen, choose) {
  const text = `${item.number} ${item.name}`.trim();
  if (!several) return button(text, () => choose(item, true), 'link');
  const label = document.createElement('label');
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.checked = isChosen;
  box.addEventListener('change', () => choose(item, box.checked));
  label.append(box, ` ${text}`);
  return label;
}

function button(text, onClick, className = '') {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = className;
  made.textContent = text;
  made.addEventListener('click', onClick);
  return made;
}

function openFrames() {
  for (const holder of document.querySelectorAll('[data-app-frame]')) openFrame(holder);
}

if (document.readyState === 'complete') openFrames();
else addEventListener('load', openFrames, { once: true });
