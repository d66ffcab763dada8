// Everything that pages of the admin do beyond htmx. All of it works without scripts too, with a click more.
'use strict';

document.documentElement.classList.add('scripted');

// "/" goes to the search, Escape leaves it.
document.addEventListener('keydown', (event) => {
  const search = document.getElementById('search');
  if (!search) return;
  const isTyping = event.target.closest('input, textarea, select, [contenteditable]');
  if (event.key === '/' && !isTyping) {
    event.preventDefault();
    search.focus();
    search.select();
  }
  if (event.key === 'Escape' && event.target === search) {
    search.value = '';
    document.getElementById('found').replaceChildren();
    search.blur();
  }
});

// The arrows walk through what the search has found.
document.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const form = event.target.closest('.search');
  if (!form) return;
  const stops = [form.querySelector('input'), ...form.querySelectorAll('#found a')];
  const next = stops[stops.indexOf(event.target) + (event.key === 'ArrowDown' ? 1 : -1)];
  if (!next) return;
  event.preventDefault();
  next.focus();
});

// A dangerous button asks first.
document.addEventListener('submit', (event) => {
  const { confirm: question } = event.target.dataset;
  if (question && !window.confirm(question)) event.preventDefault();
});

// Nothing is sent twice by a double click.
document.addEventListener('submit', (event) => {
  if (event.defaultPrevented || event.target.method !== 'post') return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = 'yes';
  setTimeout(() => delete event.target.dataset.sent, 3000);
});

// What was typed is not lost by a wrong click.
let isChanged = false;
document.addEventListener('input', (event) => {
  // A field without a name, such as a filter, is not part of the form.
  if (event.target.name && event.target.closest('form[method="post"]:not(.bulk)')) isChanged = true;
});
document.addEventListener('submit', (event) => {
  // A picture that is chosen in a dialog does not save the form below it.
  if (!event.target.closest('dialog')) isChanged = false;
});
addEventListener('beforeunload', (event) => {
  if (isChanged) event.preventDefault();
});

// Lists: the box in the head chooses all rows, the boxes of columns make one parameter.
document.addEventListener('change', (event) => {
  const { target } = event;
  if (target.matches('[data-choose-all]')) {
    for (const box of target.closest('table').querySelectorAll('input[name="id"]'))
      box.checked = target.checked;
  }
  const bulk = target.closest('form.bulk');
  if (bulk) {
    const chosen = bulk.querySelectorAll('input[name="id"]:checked').length;
    bulk.classList.toggle('chosen', chosen > 0);
    bulk.querySelector('.chosen-count output').textContent = chosen;
  }
  const chooser = target.closest('[data-columns]');
  if (chooser) {
    const address = new URL(location.href);
    const names = [...chooser.querySelectorAll('input:checked')].map(({ value }) => value);
    address.searchParams.set('columns', names.join(','));
    location.assign(address);
  }
});

// A popover closes when one clicks elsewhere.
document.addEventListener('click', (event) => {
  for (const open of document.querySelectorAll('details[open]:has(> .popover)')) {
    if (!open.contains(event.target)) open.open = false;
  }
});

/** What this browser remembers of the admin; nothing where it may not store anything. */
const memory = {
  get(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      localStorage.setItem(key, value);
    } catch {}
  },
};

// Folds of forms stay as they were left, also on the page of the next product. One with a refused value is open.
for (const fold of document.querySelectorAll('main form details:not([data-entry]):not(:has(> .popover))')) {
  const key = `fold ${fold.firstElementChild.firstChild.textContent.trim()}`;
  const left = memory.get(key);
  if (left !== null) fold.open = left === 'open' || fold.querySelector('[aria-invalid]') !== null;
  fold.firstElementChild.addEventListener('click', () => memory.set(key, fold.open ? 'closed' : 'open'));
}

// A link to a field leads into a fold that is closed.
for (
  let fold = document.getElementById(location.hash.slice(1))?.closest('details');
  fold;
  fold = fold.parentElement.closest('details')
) {
  fold.open = true;
}

// What is entered elsewhere is copied. Browsers offer the clipboard only on HTTPS and on this machine.
if (navigator.clipboard) {
  for (const button of document.querySelectorAll('[data-copy-value]')) {
    const text = button.textContent;
    button.hidden = false;
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(button.dataset.copyValue).then(() => {
        button.textContent = button.dataset.copied;
        setTimeout(() => (button.textContent = text), 2000);
      });
    });
  }
}

// One language of a form at a time.
for (const tabs of document.querySelectorAll('[data-languages]')) {
  const form = tabs.closest('form');
  const parts = () => [...form.querySelectorAll('[data-language]')];
  tabs.hidden = parts().length === 0;
  if (tabs.hidden) continue;
  const buttons = [...tabs.querySelectorAll('[data-show]')];
  const locales = buttons.map((button) => button.dataset.show).filter(Boolean);
  const copy = tabs.querySelector('[data-copy]');
  let shown = '';

  const fieldsOf = (locale) =>
    parts()
      .filter((part) => part.dataset.language === locale)
      .flatMap((part) => [...part.querySelectorAll('input:not([type="hidden"]), textarea')])
      .filter(({ name }) => name.endsWith(locale));
  /** The same field in another language. */
  const fieldIn = (field, from, to) =>
    form.elements.namedItem(`${field.name.slice(0, -from.length)}${to}`) ?? undefined;
  const isMissing = (field, locale) =>
    field.value.trim() === '' && locales.some((other) => fieldIn(field, locale, other)?.value.trim());

  const count = () => {
    for (const button of buttons.filter((one) => one.dataset.show)) {
      const { length } = fieldsOf(button.dataset.show).filter((field) =>
        isMissing(field, button.dataset.show),
      );
      const note = button.querySelector('[data-empty]');
      note.textContent = length === 0 ? '' : `${length} ${note.dataset.empty}`;
      if (button.dataset.show === shown) copy.hidden = length === 0;
    }
    if (shown === '') copy.hidden = true;
  };
  const show = (locale) => {
    shown = locales.includes(locale) ? locale : '';
    for (const part of parts()) part.hidden = shown !== '' && part.dataset.language !== shown;
    for (const button of buttons) button.setAttribute('aria-pressed', button.dataset.show === shown);
    for (const option of copy.querySelectorAll('option')) option.hidden = option.value === shown;
    copy.querySelector('select').value = locales.find((locale) => locale !== shown);
    count();
  };
  /** A field that must be seen comes into view in its language. */
  const reveal = (element) => {
    const part = element?.closest('[data-language]');
    if (part?.hidden) show(part.dataset.language);
  };

  tabs.addEventListener('click', ({ target }) => {
    const button = target.closest('[data-show]');
    if (!button) return;
    show(button.dataset.show);
    memory.set('language', shown);
  });
  copy.querySelector('button').addEventListener('click', () => {
    const from = copy.querySelector('select').value;
    for (const field of fieldsOf(shown).filter(({ value }) => value.trim() === '')) {
      field.value = fieldIn(field, shown, from)?.value ?? '';
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
  });
  form.addEventListener('input', count);
  form.addEventListener('entry-added', () => show(shown));
  form.addEventListener('invalid', ({ target }) => reveal(target), true);
  document.addEventListener('click', ({ target }) => {
    const link = target.closest('a[href^="#"]');
    if (link) reveal(document.getElementById(link.getAttribute('href').slice(1)));
  });

  show(memory.get('language') ?? locales[0]);
  reveal(form.querySelector('[data-language] [aria-invalid]'));
  reveal(document.getElementById(location.hash.slice(1)));
}
