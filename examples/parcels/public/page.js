import { connectToAdmin } from '../client/app.js';

const admin = await connectToAdmin();
admin.resizeWithContent();
const at = (id) => document.getElementById(id);
/** How many labels of each kind there are; an unfinished one is asked for again. */
let next = { shipment: 1, return: 1 };

async function call(path, options = {}) {
  const headers = { authorization: `Bearer ${await admin.token()}`, 'content-type': 'application/json' };
  const response = await fetch(path, { ...options, headers });
  if (!response.ok) throw new Error(await response.text());
  return response;
}

async function show() {
  const { options, labels } = await (await call('/kontor/labels')).json();
  at('option').replaceChildren(...options.map((code) => new Option(code)));
  next = { shipment: 1, return: 1 };
  for (const { kind, number, parcels } of labels) next[kind] = parcels ? number + 1 : number;
  at('labels').replaceChildren(...labels.flatMap(itemsOf));
}

function itemsOf({ kind, number, parcels }) {
  const name = kind === 'return' ? 'Return' : 'Parcel';
  if (!parcels) return [item(`${name} ${number}: not finished. Create it again: it costs nothing more.`)];
  return parcels.map(({ trackingNumber, trackingUrl }, index) => {
    const entry = item(`${name} ${number}: `);
    const link = document.createElement('a');
    // Nothing but a web address becomes a link.
    if (trackingUrl.startsWith('https://')) link.href = trackingUrl;
    link.target = '_blank';
    link.textContent = trackingNumber || 'label';
    const button = document.createElement('button');
    button.textContent = 'Label (PDF)';
    button.addEventListener('click', () => void withNote(() => save(kind, number, index)));
    entry.append(link, ' ', button);
    return entry;
  });
}

function item(text) {
  const entry = document.createElement('li');
  entry.textContent = text;
  return entry;
}

async function save(kind, number, parcel) {
  const query = new URLSearchParams({ kind, number, parcel });
  const response = await call(`/kontor/document?${query.toString()}`);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = `${kind}-${number}-${parcel + 1}.pdf`;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function withNote(work) {
  at('note').textContent = '';
  try {
    await work();
  } catch (error) {
    at('note').textContent = error.message;
  }
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
