import { connectToAdmin } from '../client/app.js';

/** What both pages need: the admin, the back end of the app, and how a label is shown. */

export const admin = await connectToAdmin();
admin.resizeWithContent();
export const at = (id) => document.getElementById(id);

export async function call(path, options = {}) {
  const headers = { authorization: `Bearer ${await admin.token()}`, 'content-type': 'application/json' };
  const response = await fetch(path, { ...options, headers });
  if (!response.ok) throw new Error(await response.text());
  return response;
}

/** Of each parcel a link to the page of its carrier, and a button for its label. `order`: where a page has several. */
export function parcelsOf({ order, kind, number, parcels }) {
  return parcels.map(({ trackingNumber, trackingUrl }, index) => {
    const link = document.createElement('a');
    // Nothing but a web address becomes a link. The frame may open no windows, so the admin does.
    if (trackingUrl.startsWith('https://')) {
      link.href = trackingUrl;
      link.addEventListener('click', (event) => {
        event.preventDefault();
        void withNote(() => admin.open(trackingUrl));
      });
    }
    link.textContent = trackingNumber || 'label';
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Label (PDF)';
    let label;
    const save = async () => {
      label ??= await read({ order, kind, number, parcel: index });
      // An answer that took long comes after the click is over: the next click saves it at once.
      await admin.save(label, `${kind}-${number}-${index + 1}`);
    };
    button.addEventListener('click', () => void withNote(save));
    return [link, ' ', button];
  });
}

async function read({ order, kind, number, parcel }) {
  const query = new URLSearchParams({ ...(order && { order }), kind, number, parcel });
  const response = await call(`/kontor/document?${query.toString()}`);
  return response.blob();
}

export async function withNote(work) {
  at('note').textContent = '';
  try {
    await work();
  } catch (error) {
    at('note').textContent = error.message;
  }
}
