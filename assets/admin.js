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
  if (event.target.closest('form[method="post"]:not(.bulk)')) isChanged = true;
});
document.addEventListener('submit', () => (isChanged = false));
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
  if (bulk) bulk.classList.toggle('chosen', bulk.querySelector('input[name="id"]:checked') !== null);
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
