import type { Static } from 'typebox';
import type { JsonPatch } from '../../http/json-patch.ts';
import { cancelOrder } from '../../orders/manage.ts';
import { updateOrder } from '../../orders/routes.ts';
import { type Markup, html } from '../../http/html.ts';
import { MAX_NOTE_LENGTH } from '../../orders/patch.ts';
import { Order } from '../../orders/schema.ts';
import type { ManagedOrderAnswer } from '../../orders/manage-schema.ts';
import { ADDRESS, ORDER_ADDRESS_FIELDS, addressFields, typedAddress } from '../components/address-form.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { versionOf } from '../components/version.ts';
import { type ShopVisit, adminPath } from '../visit.ts';
import type { OrderAction, SavedAction } from './action.ts';
import { readManagedOrder } from './order-view.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';
import { notFound } from '../../http/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { getOrderTags, setOrderTags } from '../../orders/tags.ts';
import type { ShopPages } from '../pages.ts';

export const NOTE = declareForm({ body: Order }, ({ orders: { note: messages } }) => ({
  internalNote: { kind: 'long text', label: messages.label, hint: messages.hint, maxLength: MAX_NOTE_LENGTH },
}));

export const note: OrderAction = {
  name: 'note',
  isPossible: () => true,
  form: NOTE,
  fields: ({ visit, order }, draft) => showFields(NOTE, visit, { values: order, draft })('internalNote'),
  save: (visit, form, order) => {
    const { internalNote: value } = readFields(NOTE, form, visit);
    const change = !value
      ? { op: 'remove', path: '/internalNote' }
      : { op: 'add', path: '/internalNote', value };
    return patched(visit, order, 'note', [change], { internalNote: order.internalNote ?? '' });
  },
};

export const billingAddress: OrderAction = {
  name: 'billing-address',
  isPossible: () => true,
  form: ADDRESS,
  fields: ({ visit, order }, draft) => addressFields(visit, order.billingAddress, draft, { isOfOrder: true }),
  save: (visit, form, order) => saveAddress(visit, form, order, 'billingAddress'),
};

export const shippingAddress: OrderAction = {
  name: 'shipping-address',
  isPossible: () => true,
  form: ADDRESS,
  fields: ({ visit, order }, draft) =>
    addressFields(visit, order.shippingAddress ?? order.billingAddress, draft, { isOfOrder: true }),
  save: (visit, form, order) => saveAddress(visit, form, order, 'shippingAddress'),
};

const CANCELLATION = declareForm(cancelOrder, ({ orders: { cancelling: messages } }) => ({
  reason: { label: messages.reason, hint: messages.reasonHint },
}));

export const cancel: OrderAction = {
  name: 'cancel',
  form: CANCELLATION,
  kind: 'danger',
  isPossible: ({ order }) => order.management.cancelledOn === null && order.dispatchedOn === null,
  fields: ({ visit, order }, draft) => {
    const messages = visit.messages.orders.cancelling;
    const isPaid = order.management.paidAmount.amount > order.management.refundedAmount.amount;
    return html`<p>${messages.text}</p>
      ${isPaid && html`<p>${messages.paid}</p>`} ${showFields(CANCELLATION, visit, { draft })('reason')}`;
  },
  save: async (visit, form, { orderId }) => {
    await visit.call(cancelOrder, { params: { orderId }, body: readFields(CANCELLATION, form, visit) });
    return { text: visit.messages.orders.cancelling.done };
  },
};

function saveAddress(
  visit: ShopVisit,
  form: FormRequest,
  order: ManagedOrderAnswer,
  kind: 'billingAddress' | 'shippingAddress',
): Promise<SavedAction> {
  const before = order[kind] ?? order.billingAddress;
  const value = { ...before, ...typedAddress(form, ORDER_ADDRESS_FIELDS) };
  const fields = Object.fromEntries(ORDER_ADDRESS_FIELDS.map((name) => [name, before[name] ?? '']));
  const name = kind === 'billingAddress' ? 'billing-address' : 'shipping-address';
  return patched(visit, order, name, [{ op: 'add', path: `/${kind}`, value }], fields);
}

/** Changes the order, and offers to resend the form with the previous values. */
async function patched(
  visit: ShopVisit,
  { orderId }: ManagedOrderAnswer,
  name: OrderAction['name'],
  body: Static<typeof JsonPatch>,
  before: Readonly<Record<string, string>>,
): Promise<SavedAction> {
  await visit.call(updateOrder, { params: { orderId }, body });
  const version = versionOf(await readManagedOrder(visit, orderId));
  return {
    text: visit.messages.form.saved,
    undo: { action: adminPath(visit, `/orders/${orderId}/${name}`), fields: { ...before, version } },
  };
}

const TAGS = declareForm(setOrderTags, ({ automation: { orderTags: messages } }) => ({
  tags: { kind: 'tags', label: messages.title, hint: messages.hint },
}));

/** Saves the tags of an order. */
export function orderTagPages(pages: ShopPages): void {
  pages.post(
    '/orders/:orderId/tags',
    'orders_write',
    async (visit, form) => {
      const orderId = form.params['orderId']!;
      if (!isId(orderId)) throw notFound();
      const { tags } = readFields(TAGS, form, visit);
      await visit.call(setOrderTags, { params: { orderId: orderId.toUpperCase() }, body: { tags } });
      return new Redirect(adminPath(visit, `/orders/${orderId}`), visit.messages.automation.orderTags.saved);
    },
    optionsOf(TAGS),
  );
}

export async function tagCard(visit: ShopVisit, orderId: string): Promise<Markup> {
  const messages = visit.messages.automation.orderTags;
  const { tags } = await visit.call(getOrderTags, { params: { orderId } });
  if (!visit.may('orders_write')) {
    return html`<section class="card">
      <h2>${messages.title}</h2>
      <p>${tags.join(', ')}</p>
    </section>`;
  }
  return html`<form method="post" class="card" action="${adminPath(visit, `/orders/${orderId}/tags`)}">
    ${showFields(TAGS, visit, { values: { tags }, draft: undefined })('tags')}
    <button>${visit.messages.form.save}</button>
  </form>`;
}
