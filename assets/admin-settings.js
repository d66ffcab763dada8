// The forms of settings: entries of lists, fields that depend on a choice, colours, previews while one types.
'use strict';

let added = 0;

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-add], [data-move]');
  if (!button) return;
  const entry = button.closest('[data-entry]');
  const isEntry = (element) => element?.matches('[data-entry]');
  const { previousElementSibling: previous, nextElementSibling: next } = entry ?? {};
  if (button.dataset.move === 'up' && isEntry(previous)) previous.before(entry);
  if (button.dataset.move === 'down' && isEntry(next)) next.after(entry);
  if (button.dataset.move) return button.focus();
  const list = button.closest('[data-entries]');
  const template = list.querySelector(':scope > template');
  added += 1;
  // The mark stands for the place in the list, in the names of all fields of the entry.
  template.insertAdjacentHTML(
    'beforebegin',
    template.innerHTML.replaceAll(list.dataset.entries, `added${added}`),
  );
  showFields(document);
  list.dispatchEvent(new Event('entry-added', { bubbles: true }));
  template.previousElementSibling.querySelector('input:not([type="hidden"]), textarea, select')?.focus();
});

// An entry that is removed can be brought back until the form is saved.
document.addEventListener('change', (event) => {
  if (event.target.matches('[data-remove]')) {
    event.target.closest('[data-entry]').classList.toggle('removed', event.target.checked);
    showFields(document);
  }
  if (event.target.matches('select')) showFields(document);
});

// The fields that a kind of delivery has. The prices of a method with zones are in its zones.
const PRICES = ['price', 'pricePerKg', 'tiers', 'freeFrom'];
const FIELDS = {
  flat: ['price', 'freeFrom', 'zones'],
  weight: ['price', 'pricePerKg', 'freeFrom', 'zones'],
  orderValue: ['tiers', 'freeFrom', 'zones'],
  pickup: ['place', 'hours'],
};
function showFields(root) {
  for (const kind of root.querySelectorAll('select[name^="shippingMethods."][name$=".kind"]')) {
    const prefix = kind.name.slice(0, -'kind'.length);
    const zones = document.getElementById(`field-${prefix}zones`);
    const hasZones = zones?.querySelector(':scope > [data-entry]:not(.removed, .without-script)') !== null;
    for (const name of [...PRICES, 'zones', 'place', 'hours']) {
      const field = document.getElementById(`field-${prefix}${name}`);
      const part = field?.closest('.field, .entries');
      const isPriced = !hasZones || !PRICES.includes(name);
      if (part) part.hidden = !(isPriced && FIELDS[kind.value]?.includes(name));
    }
  }
}
showFields(document);

// A field for a colour gets a swatch that opens the browser's own choice of colours.
for (const field of document.querySelectorAll(
  '[name="theme.accent"], [name="theme.background"], [name="theme.text"]',
)) {
  const swatch = document.createElement('input');
  swatch.type = 'color';
  swatch.className = 'swatch';
  swatch.disabled = field.disabled;
  swatch.setAttribute('aria-label', document.querySelector(`label[for="${field.id}"]`).textContent);
  const follow = () => {
    const [, short] = /^#([0-9a-f]{3})$/i.exec(field.value) ?? [];
    const whole = short ? `#${short.replaceAll(/./g, '$&$&')}` : field.value;
    if (/^#[0-9a-f]{6}$/i.test(whole)) swatch.value = whole;
    swatch.classList.toggle('unset', field.value === '');
  };
  follow();
  field.addEventListener('input', follow);
  swatch.addEventListener('input', () => {
    field.value = swatch.value;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  });
  field.parentElement.classList.add('with-swatch');
  field.after(swatch);
}

// A preview shows what is typed: the fields are sent into the frame by a form of their own, which saves nothing.
for (const frame of document.querySelectorAll('iframe[data-preview]')) {
  const form = document.querySelector('form[data-settings]');
  let waiting;
  const send = () => {
    const copy = document.createElement('form');
    copy.method = 'post';
    copy.action = frame.dataset.preview;
    copy.target = frame.name;
    copy.hidden = true;
    for (const [name, value] of new FormData(form)) {
      const field = document.createElement('textarea');
      field.name = name;
      field.value = value;
      copy.append(field);
    }
    document.body.append(copy);
    copy.submit();
    copy.remove();
  };
  form?.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(send, 350);
  });
}

// A long list of checkboxes: a filter while one types, and presets that select several at once.
document.addEventListener('input', (event) => {
  if (!event.target.matches('[data-filter]')) return;
  const text = event.target.value.trim().toLocaleLowerCase();
  const list = event.target.closest('[data-choices]');
  for (const label of list.querySelectorAll('.ticks label')) {
    label.hidden = !label.textContent.toLocaleLowerCase().includes(text);
  }
  for (const group of list.querySelectorAll('details')) {
    const isMatched = group.querySelector('.ticks label:not([hidden])') !== null;
    group.hidden = !isMatched;
    group.open = text !== '' && isMatched;
  }
});

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-preset]');
  if (!button) return;
  const list = button.closest('[data-choices]');
  const values = button.dataset.preset.split(' ').filter(Boolean);
  for (const box of list.querySelectorAll('input[type="checkbox"]')) {
    if (values.length === 0) box.checked = false;
    else if (values.includes(box.value)) box.checked = true;
  }
  for (const group of list.querySelectorAll('details')) group.open = group.querySelector(':checked') !== null;
  list.querySelector('input[type="checkbox"]').dispatchEvent(new Event('input', { bubbles: true }));
});
