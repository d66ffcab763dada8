import { connectToAdmin } from '../client/app.js';

const admin = await connectToAdmin();
admin.resizeWithContent();
const response = await fetch('/kontor/orders', {
  headers: { authorization: `Bearer ${await admin.token()}` },
});
const note = document.getElementById('note');
if (response.ok) {
  const { orders } = await response.json();
  note.hidden = orders.length > 0;
  for (const number of orders) {
    const item = document.createElement('li');
    item.textContent = number;
    document.getElementById('orders').append(item);
  }
} else {
  note.textContent = 'The orders could not be loaded.';
}
