// Every page works without this script, which only adds comfort.

const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// Events for the scripts of apps.

window.eComEventTarget ??= new EventTarget();

function dispatch(name, detail) {
  window.eComEventTarget.dispatchEvent(new CustomEvent(name, { detail }));
}

/** An event that was dispatched when a radio button was clicked is not dispatched again by the next page. */
const DISPATCHED = 'kontor.dispatched';
const methodKey = ({ name, detail }) => `${name} ${(detail.shippingMethod ?? detail.paymentMethod)._id}`;

// A page without scripts of apps has no events.
const pageEvents = (page = document) => JSON.parse(page.getElementById('page.events')?.textContent ?? '[]');

function dispatchPageEvents() {
  dispatch('page:view', { url: location.href });
  for (const event of pageEvents()) {
    if (event.name.endsWith('Method:select')) {
      const dispatched = JSON.parse(sessionStorage.getItem(DISPATCHED) ?? '[]');
      if (dispatched.includes(methodKey(event))) continue;
    }
    dispatch(event.name, event.detail);
  }
  sessionStorage.removeItem(DISPATCHED);
}

// The scripts of apps are deferred like this one, so they listen by then.
document.addEventListener('DOMContentLoaded', dispatchPageEvents);

document.addEventListener('change', ({ target }) => {
  if (!target.dataset.event) return;
  const event = JSON.parse(target.dataset.event);
  dispatch(event.name, event.detail);
  const before = JSON.parse(sessionStorage.getItem(DISPATCHED) ?? '[]').filter(
    (one) => !one.startsWith(event.name),
  );
  sessionStorage.setItem(DISPATCHED, JSON.stringify([...before, methodKey(event)]));
});

document.addEventListener('click', ({ type, detail, target }) => {
  const link = target.closest('[data-product] a');
  if (!link) return;
  const { product: productId, index } = link.closest('[data-product]').dataset;
  const listed = pageEvents().flatMap(({ detail }) => detail.products ?? []);
  const product = listed.find((one) => one.productId === productId) ?? { productId };
  dispatch('product:click', { type, detail, product, productIndex: Number(index) });
});

// Service workers of apps: one of ours loads them all. Browsers support them under https only.

async function updateServiceWorker() {
  // On its own host the scope of a shop is the whole host, on a shared host the path of the shop.
  const [, first, shopId] = location.pathname.split('/');
  const scope = first === 'shop' && shopId ? `/shop/${shopId}/` : '/';
  const address = document.querySelector('meta[name=worker]')?.content;
  if (address) return navigator.serviceWorker.register(address, { scope, updateViaCache: 'none' });
  const registration = await navigator.serviceWorker.getRegistration(scope);
  if (registration?.scope === location.origin + scope) await registration.unregister();
}

// A browser may refuse it, for example in private windows, and the page works without it.
if (navigator.serviceWorker) updateServiceWorker().catch((error) => console.warn(error));

// A form is sent once, and some fields submit their form when they change.

let isSending = false;

function setSending(is) {
  isSending = is;
  // A visitor who stops the page from loading can submit again.
  if (is) setTimeout(() => setSending(false), 5000);
}

document.addEventListener('submit', (event) => {
  // A form that is answered with a file leaves the visitor on the page.
  const hasFile = 'download' in event.target.dataset;
  if (event.defaultPrevented || event.target.method !== 'post' || hasFile) return;
  if (isSending) event.preventDefault();
  else setSending(true);
});

// A click on a link while a form is being sent would lose the change.
document.addEventListener('click', (event) => {
  if (isSending && event.target.closest('a[href]')) event.preventDefault();
});

window.addEventListener('pageshow', () => setSending(false));

/** The button behind the field is for visitors without this script, and for those who use the keyboard. */
function submitOnChange(field) {
  const fields = [...field.form.elements];
  const button = fields.slice(fields.indexOf(field)).find(({ type }) => type === 'submit');
  if (button) button.hidden = true;
  let isByKeyboard = false;
  field.addEventListener('pointerdown', () => (isByKeyboard = false));
  field.addEventListener('keydown', ({ key }) => {
    // Each arrow key changes a closed select or a number, which must not load a page each time.
    isByKeyboard = field.localName === 'select' || key.startsWith('Arrow');
    if (isByKeyboard && button) button.hidden = false;
  });
  field.addEventListener('change', () => {
    if (!isByKeyboard) field.form.requestSubmit(button);
  });
}

all('[data-submit]').forEach(submitOnChange);

// Escape closes an open menu, and so does a click beside it.

document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  for (const details of all('details.switch[open], details.menu[open]')) {
    const hadFocus = details.contains(document.activeElement);
    details.open = false;
    if (hadFocus) details.querySelector('summary').focus();
  }
  for (const entry of all('.menu li:is(:hover, :focus-within)')) entry.dataset.closed = '';
});

document.addEventListener('click', ({ target }) => {
  for (const details of all('details.switch[open], details.menu[open]')) {
    if (!details.contains(target)) details.open = false;
  }
});

for (const entry of all('.menu li')) {
  const reopen = ({ relatedTarget }) => entry.contains(relatedTarget) || delete entry.dataset.closed;
  entry.addEventListener('mouseleave', reopen);
  entry.addEventListener('focusout', reopen);
}

// The thumbnails of a slideshow are links to the large pictures; with this script they show them in place.

function slideshow(box) {
  const large = box.querySelector('img');
  const link = large.closest('a');
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    zoom(link.href, large.alt);
  });
  const thumbs = all('.thumbnails a', box);
  if (thumbs.length === 0) return;
  let current = 0;
  const show = (index) => {
    current = (index + thumbs.length) % thumbs.length;
    const { href, dataset } = thumbs[current];
    large.srcset = dataset.srcset;
    large.src = href;
    large.alt = thumbs[current].querySelector('img').alt;
    [large.width, large.height] = [dataset.width, dataset.height];
    link.href = href;
    thumbs.forEach((thumb) => thumb.removeAttribute('aria-current'));
    thumbs[current].setAttribute('aria-current', 'true');
  };
  thumbs.forEach((thumb, index) => {
    thumb.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      show(index);
    });
    thumb.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      show(index + step);
      thumbs[current].focus();
    });
  });
  let startX;
  large.addEventListener('touchstart', ({ touches }) => (startX = touches[0].clientX), { passive: true });
  large.addEventListener('touchend', ({ changedTouches }) => {
    const distance = changedTouches[0].clientX - startX;
    if (Math.abs(distance) > 40) show(current - Math.sign(distance));
  });
}

// Suggestions while typing are a combobox with a list (WAI-ARIA).

function createElement(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function suggestions(input, place) {
  const id = `suggestions.${place}`;
  const list = createElement('ul', {
    id,
    role: 'listbox',
    class: 'suggestions',
    'aria-label': input.ariaLabel ?? '',
  });
  const status = createElement('p', { role: 'status', class: 'visually-hidden' });
  let active = -1;
  let request = new AbortController();
  let timer;

  const activate = (index) => {
    active = index;
    [...list.children].forEach((option, place) => option.setAttribute('aria-selected', place === index));
    list.children[index]?.scrollIntoView({ block: 'nearest' });
    if (index < 0) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', list.children[index].id);
  };

  const show = (found) => {
    list.replaceChildren(...found.map((one, index) => option(one, `${id}.${index}`)));
    list.hidden = found.length === 0;
    input.setAttribute('aria-expanded', !list.hidden);
    activate(-1);
  };

  const close = () => {
    clearTimeout(timer);
    request.abort();
    show([]);
    status.textContent = '';
  };

  const fetchSuggestions = async () => {
    request.abort();
    request = new AbortController();
    const address = new URL(input.dataset.suggest, location.href);
    address.searchParams.set('q', input.value.trim());
    try {
      const answer = await fetch(address, { signal: request.signal });
      const { count, note, products } = answer.ok ? await answer.json() : { count: '', products: [] };
      show(products);
      list.dataset.note = note ?? '';
      status.textContent = [note, count].filter(Boolean).join(' ');
    } catch (error) {
      // A newer request has replaced this one, or the network failed: the search works without suggestions.
      if (error.name !== 'AbortError') close();
    }
  };

  input.addEventListener('input', () => {
    clearTimeout(timer);
    if (input.value.trim().length < 2) close();
    else timer = setTimeout(() => void fetchSuggestions(), 150);
  });
  input.addEventListener('keydown', (event) => {
    if (list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) activate(((active + 1 + step + list.children.length + 1) % (list.children.length + 1)) - 1);
    else if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && active >= 0) location.assign(list.children[active].dataset.href);
    else return;
    event.preventDefault();
  });
  input.addEventListener('blur', close);
  // Otherwise the field would lose the focus, and the list would close before the click.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('click', ({ target }) => {
    const option = target.closest('[role=option]');
    if (option) location.assign(option.dataset.href);
  });

  for (const [key, value] of Object.entries({
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-controls': id,
  })) {
    input.setAttribute(key, value);
  }
  input.form.append(list, status);
  show([]);
}

function option({ name, href, image, price }, id) {
  const picture = image && createElement('img', { src: image.url, width: 40, height: 40, alt: '' });
  const cost = price && createElement('span', { class: 'price' }, price);
  const parts = [picture, createElement('span', {}, name), cost].filter(Boolean);
  return createElement('li', { id, role: 'option', 'aria-selected': false, 'data-href': href }, ...parts);
}

all('input[data-suggest]').forEach(suggestions);

// Choosing a product: the picture in full size, and the page stays where it is when another version is chosen.

function openDialog(className, ...children) {
  const { close: text } = document.body.dataset;
  const close = createElement('button', { class: 'quiet close' }, text);
  const dialog = createElement('dialog', { class: className }, close, ...children);
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', (event) => {
    const isLink = event.target.closest('a[data-close]');
    if (isLink) event.preventDefault();
    if (isLink || event.target === dialog) dialog.close();
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

function zoom(address, alt) {
  const image = createElement('img', { src: address, alt });
  const dialog = openDialog('zoom', image);
  dialog.setAttribute('aria-label', alt);
  image.addEventListener('click', ({ offsetX, offsetY }) => {
    const [x, y] = [offsetX / image.offsetWidth, offsetY / image.offsetHeight];
    dialog.toggleAttribute('data-large');
    dialog.scrollTo(x * image.offsetWidth - innerWidth / 2, y * image.offsetHeight - innerHeight / 2);
  });
}

all('[data-slideshow]').forEach(slideshow);

// Forms that leave the visitor on the page: the cart opens beside it, and a heart is filled.

/** A button without an address of its own claims that of the page. */
const addressOf = (form, submitter) => submitter?.getAttribute('formaction') ?? form.action;

/** Returns the page that the server answers with. Without an answer the browser sends the form, and shows why. */
async function sendForm(form, submitter, then) {
  const body = new URLSearchParams(new FormData(form));
  if (then) body.set('then', then);
  const answer = await fetch(addressOf(form, submitter), { method: 'POST', body }).catch(() => undefined);
  if (!answer?.ok) {
    form.action = addressOf(form, submitter);
    form.submit();
    return undefined;
  }
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  document.querySelector('.own').replaceWith(page.querySelector('.own'));
  return page;
}

async function addToCart(form, submitter) {
  const page = await sendForm(form, submitter, 'drawer');
  if (!page) return;
  const main = page.querySelector('main');
  const dialog = openDialog('drawer', ...main.childNodes);
  dialog.setAttribute('aria-label', dialog.querySelector('h1').textContent);
  for (const event of pageEvents(page)) dispatch(event.name, event.detail);
}

function setWished(heart, is) {
  heart.toggleAttribute('data-wished', is);
  heart.setAttribute('aria-pressed', is);
  const [from, to] = is ? ['add', 'remove'] : ['remove', 'add'];
  heart.formAction = heart.formAction.replace(`/wishlist/${from}`, `/wishlist/${to}`);
}

async function toggleWish(form, heart) {
  const isWished = heart.hasAttribute('data-wished');
  const page = await sendForm(form, heart);
  if (!page) return;
  setWished(heart, !isWished);
  for (const event of pageEvents(page)) {
    if (event.name === 'wishlist:add') dispatch(event.name, event.detail);
  }
}

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || !form.matches('[data-cart-add]')) return;
  event.preventDefault();
  const isWish = submitter?.matches('.heart');
  const work = isWish ? toggleWish(form, submitter) : addToCart(form, submitter);
  void work.finally(() => setSending(false));
});

async function markWishes({ dataset }) {
  const answer = await fetch(dataset.wishlist);
  const wished = answer.ok ? await answer.json() : [];
  for (const heart of all('.quick .heart')) {
    if (wished.includes(heart.form.elements.productId.value)) setWished(heart, true);
  }
}

const ownLinks = document.querySelector('.own[data-wishlist]');
if (ownLinks && document.querySelector('.quick')) void markWishes(ownLinks).catch(() => {});

const POSITION = 'kontor.position';
const position = sessionStorage.getItem(POSITION);
if (position !== null && document.querySelector('.options')) scrollTo({ top: position, behavior: 'instant' });
sessionStorage.removeItem(POSITION);

document.addEventListener('click', ({ target }) => {
  if (target.closest('.options a')) sessionStorage.setItem(POSITION, scrollY);
});

// Recently viewed products are remembered by the browser alone, and only if the visitor allows it.

const { viewed } = document.body.dataset;
const VIEWED = `kontor.viewed ${viewed?.split('?')[0]}`;
const viewedIds = viewed ? JSON.parse(localStorage.getItem(VIEWED) ?? '[]') : [];
const { viewedProduct } = document.querySelector('[data-viewed-product]')?.dataset ?? {};
if (viewed && viewedProduct) {
  const ids = [viewedProduct, ...viewedIds.filter((id) => id !== viewedProduct)].slice(0, 8);
  localStorage.setItem(VIEWED, JSON.stringify(ids));
}

async function showViewed(place) {
  const address = new URL(viewed, location.href);
  for (const id of viewedIds) address.searchParams.append('id', id);
  const answer = await fetch(address);
  const page = new DOMParser().parseFromString(answer.ok ? await answer.text() : '', 'text/html');
  place.replaceWith(...page.querySelectorAll('main > section'));
}

const viewedPlace = document.querySelector('[data-viewed-here]');
if (viewedPlace && viewedIds.length > 0) void showViewed(viewedPlace).catch(() => {});

// The filters of long lists take the server a while, so they are loaded after the list.

async function fetchFilters(link) {
  const answer = await fetch(link.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const filters = page.querySelector('.facets');
  const fold = filters?.querySelector('details');
  if (fold && matchMedia('(width < 60rem)').matches) fold.open = false;
  if (filters) link.closest('.facets').replaceWith(filters);
}

// If that fails, the link remains.
all('a[data-filters]').forEach((link) => void fetchFilters(link).catch(() => {}));

// A video of another site is loaded when the visitor plays it, which is the consent. Without scripts, the link leads there.

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-video]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const frame = document.createElement('iframe');
  frame.src = link.dataset.video;
  frame.title = link.dataset.title;
  frame.allow = 'autoplay; fullscreen; picture-in-picture';
  frame.referrerPolicy = 'strict-origin-when-cross-origin';
  link.closest('[data-video-frame]').replaceChildren(frame);
  frame.focus();
});

// A block of an app is loaded when the visitor asks for it, too. The frame has an origin of its own that nothing else has, so
// it reaches neither this page nor cookies. All that it may say is how high it is.

const MIN_APP_HEIGHT = 40;
const MAX_APP_HEIGHT = 4_000;
const appFrames = new Set();

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-app-block]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const frame = document.createElement('iframe');
  frame.title = link.dataset.title;
  frame.height = link.dataset.height;
  frame.referrerPolicy = 'origin';
  frame.setAttribute('sandbox', 'allow-scripts allow-forms');
  frame.setAttribute('allow', '');
  frame.src = link.href;
  appFrames.add(frame);
  link.closest('[data-app-frame]').replaceChildren(frame);
  frame.focus();
});

addEventListener('message', ({ data, source }) => {
  if (data?.kontor !== 1 || data.type !== 'size' || !Number.isFinite(data.height)) return;
  for (const frame of appFrames) {
    if (frame.contentWindow !== source) continue;
    frame.height = String(Math.min(Math.max(Math.round(data.height), MIN_APP_HEIGHT), MAX_APP_HEIGHT));
  }
});
