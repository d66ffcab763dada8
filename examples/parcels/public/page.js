import { admin, at, call, parcelsOf, withNote } from './bridge.js';

/** How many labels of each kind there are; an unfinished one is asked for again. */
let next = { shipment: 1, return: 1 };

async function show() {
  const { options, option, grams, labels } = await (await call('/kontor/labels')).json();
  at('option').replaceChildren(...options.map((code) => new Option(code, code, false, code === option)));
  if (labels.length === 0) at('parcels').value = grams;
  next = { shipment: 1, return: 1 };
  for (const { kind, number, parcels } of labels) next[kind] = parcels ? number + 1 : number;
  at('labels').replaceChildren(...labels.flatMap(itemsOf));
}

function itemsOf({ kind, number, parcels }) {
  const name = kind === 'return' ? 'Return' : 'Parcel';
  if (!parcels) return [item(`${name} ${number}: not finished. Create it again: it costs nothing more.`)];
  return parcelsOf({ kind, number, parcels }).map((parts) => {
    const entry = item(`${name} ${number}: `);
    entry.append(...parts);
    return entry;
  });
}

function item(text) {
  const entry = document.createElement('li');
  entry.textContent = text;
  return entry;
}

at('form').addEventListener('submit', (event) => {
  event.preventDefault();
  const kind = event.submitter.value;
  const parcels = at('parcels')
    .value.split(',')
    .map((grams) => Number(grams));
  void withNote(async () => {
    const body = JSON.stringify({ kind, number: next[kind], option: at('option').value, parcels });
    try {
      const { trackingNumbers } = await (await call('/kontor/labels', { method: 'POST', body })).json();
      await admin.toast(trackingNumbers.join(', '));
    } finally {
      await show();
    }
  });
});

await withNote(show);
