import { admin, at, call, parcelsOf, withNote } from './bridge.js';

/**
 * A label for each of the chosen orders, one after the other. An order that has a label keeps it: its first one is asked
 * for by its number, so whoever goes on after an interruption pays for none twice.
 */

const rows = new Map();

const firstOf = ({ labels }) => labels.find(({ kind, number }) => kind === 'shipment' && number === 1);

async function show() {
  const { options, orders } = await (await call('/kontor/orders')).json();
  at('orders').replaceChildren(...orders.map((order) => rowOf(order, options)));
  count();
}

function rowOf(order, options) {
  const row = document.createElement('tr');
  const head = document.createElement('th');
  head.scope = 'row';
  head.textContent = order.orderNumber;
  const option = document.createElement('select');
  option.setAttribute('aria-label', `Shipping option of ${order.orderNumber}`);
  option.append(...options.map((code) => new Option(code, code, false, code === order.option)));
  const grams = document.createElement('input');
  grams.type = 'number';
  grams.min = '1';
  grams.max = '100000';
  grams.value = order.grams;
  grams.required = true;
  grams.setAttribute('aria-label', `Weight of ${order.orderNumber} in grams`);
  const state = document.createElement('td');
  const known = { order, row, option, grams, state, isDone: false };
  rows.set(order.orderId, known);
  row.append(head, cell(option), cell(grams, ' g'), state);
  const first = firstOf(order);
  if (first?.parcels) done(known, first);
  else state.textContent = first ? 'Not finished. Create it again: it costs nothing more.' : '';
  return row;
}

function cell(...content) {
  const made = document.createElement('td');
  made.append(...content);
  return made;
}

function done(known, label) {
  known.isDone = true;
  known.option.disabled = true;
  known.grams.disabled = true;
  known.state.className = '';
  known.state.replaceChildren(
    ...parcelsOf({ order: known.order.orderId, ...label }).flatMap((parts) => [...parts, ' ']),
  );
}

const open = () => [...rows.values()].filter(({ isDone }) => !isDone);

function count() {
  const left = open().length;
  at('create').textContent = `Create ${left} ${left === 1 ? 'label' : 'labels'}`;
  at('create').disabled = left === 0;
}

/** false: it was refused, and its row says why. The others go on. */
async function create(known) {
  const { order, option, grams, state } = known;
  state.textContent = 'Working …';
  const path = `/kontor/labels?${new URLSearchParams({ order: order.orderId }).toString()}`;
  const asked = { kind: 'shipment', number: 1, option: option.value, parcels: [Number(grams.value)] };
  try {
    await call(path, { method: 'POST', body: JSON.stringify(asked) });
    const { labels } = await (await call(path)).json();
    done(known, firstOf({ labels }));
    return true;
  } catch (error) {
    state.className = 'problem';
    state.textContent = error.message;
    return false;
  }
}

at('form').addEventListener('submit', (event) => {
  event.preventDefault();
  void withNote(async () => {
    const waiting = open();
    let failed = 0;
    at('progress').hidden = false;
    at('progress').max = waiting.length;
    at('create').disabled = true;
    await admin.setUnsaved(true);
    for (const [index, known] of waiting.entries()) {
      at('progress').value = index;
      at('note').textContent = `${index} of ${waiting.length}`;
      if (!(await create(known))) failed++;
    }
    await admin.setUnsaved(false);
    at('progress').value = waiting.length;
    const made = waiting.length - failed;
    at('note').textContent =
      `${made} of ${waiting.length} labels are made.` + (failed > 0 ? ` ${failed} could not be made.` : '');
    if (made > 0) await admin.toast(`${made} ${made === 1 ? 'label is' : 'labels are'} made.`);
    count();
  });
});

await withNote(show);
