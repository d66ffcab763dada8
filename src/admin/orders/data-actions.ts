import type { Static } from 'typebox';
import type { JsonPatch } from '../../http/json-patch.ts';
import { cancelOrder } from '../../orders/manage.ts';
import { updateOrder } from '../../orders/routes.ts';
import { countryName, isCountry } from '../../shops/countries/countries.ts';
import { html, type Markup } from '../../http/html.ts';
import { MAX_NOTE_LENGTH } from '../../orders/patch.ts';
import type { ManagedOrderAnswer } from '../../orders/manage-schema.ts';
import type { Address, AddressField } from '../../shops/countries/address.ts';
import { choiceField, longTextField, textField, type Choice } from '../components/form.ts';
import { versionOf } from '../components/version.ts';
import type { Draft, FormRequest } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import type { OrderAction, SavedAction } from './action.ts';
import { readOrder } from './order-view.ts';

export const note: OrderAction = {
  name: 'note',
  isPossible: () => true,
  fields: ({ visit, order }, draft) =>
    longTextField({
      name: 'internalNote',
      label: visit.words.orders.note.label,
      hint: visit.words.orders.note.hint,
      value: order.internalNote,
      maxLength: MAX_NOTE_LENGTH,
      draft,
    }),
  limits: { texts: { internalNote: MAX_NOTE_LENGTH } },
  save: (visit, form, order) => {
    const text = form.field('internalNote');
    const change =
      text === ''
        ? { op: 'remove', path: '/internalNote' }
        : { op: 'add', path: '/internalNote', value: text };
    return patched(visit, order, 'note', [change], { internalNote: order.internalNote ?? '' });
  },
};

export const billingAddress: OrderAction = {
  name: 'billing-address',
  isPossible: () => true,
  fields: ({ visit, order }, draft) => addressFields(visit, order.billingAddress, draft),
  save: (visit, form, order) => saveAddress(visit, form, order, 'billingAddress'),
};

export const shippingAddress: OrderAction = {
  name: 'shipping-address',
  isPossible: () => true,
  fields: ({ visit, order }, draft) =>
    addressFields(visit, order.shippingAddress ?? order.billingAddress, draft),
  save: (visit, form, order) => saveAddress(visit, form, order, 'shippingAddress'),
};

export const cancel: OrderAction = {
  name: 'cancel',
  kind: 'danger',
  isPossible: ({ order }) => order.management.cancelledOn === null && order.dispatchedOn === null,
  fields: ({ visit, order }, draft) => {
    const words = visit.words.orders.cancelling;
    const isPaid = order.management.paidAmount.amount > order.management.refundedAmount.amount;
    return html`<p>${words.text}</p>
      ${isPaid && html`<p>${words.paid}</p>`}
      ${textField({ name: 'reason', label: words.reason, hint: words.reasonHint, maxLength: 1000, draft })}`;
  },
  save: async (visit, form, { orderId }) => {
    await visit.call(cancelOrder, { params: { orderId }, body: { reason: form.field('reason') || null } });
    return { text: visit.words.orders.cancelling.done };
  },
};

/** The fields that parcels and invoices need; other address fields stay unchanged. */
const ADDRESS_ROWS = [
  ['firstName', 'lastName'],
  ['company', 'vatId'],
  ['street', 'streetDetails'],
  ['zipCode', 'city', 'state'],
  ['emailAddress', 'phoneNumber'],
] as const satisfies readonly (readonly AddressField[])[];

const TYPES: Partial<Record<AddressField, 'email' | 'tel'>> = { emailAddress: 'email', phoneNumber: 'tel' };

export type TypedAddressField = (typeof ADDRESS_ROWS)[number][number] | 'country';

export const TYPED_FIELDS: readonly TypedAddressField[] = [...ADDRESS_ROWS.flat(), 'country'];

export function addressFields(
  visit: ShopVisit,
  address: Partial<Address>,
  draft: Draft | undefined,
  prefix = '',
): Markup {
  const words = visit.words.orders.address;
  return html`${ADDRESS_ROWS.map(
    (row) =>
      html`<div class="row">
        ${row.map((field) =>
          textField({
            name: prefix + field,
            label: words[field],
            value: address[field],
            type: TYPES[field] ?? 'text',
            autocomplete: 'off',
            maxLength: 255,
            draft,
          }),
        )}
      </div>`,
  )}
  ${choiceField({
    name: `${prefix}country`,
    label: words.country,
    value: address.country ?? visit.settings.country,
    choices: countryChoices(visit),
    draft,
  })}`;
}

const CODES = Array.from({ length: 26 * 26 }, (_, index) =>
  String.fromCodePoint(65 + Math.floor(index / 26), 65 + (index % 26)),
).filter(isCountry);

const choicesByLanguage = new Map<string, Choice[]>();

function countryChoices({ language }: ShopVisit): Choice[] {
  let choices = choicesByLanguage.get(language);
  if (!choices) {
    choices = CODES.map((value) => ({ value, text: countryName(value, language) })).toSorted((left, right) =>
      left.text.localeCompare(right.text, language),
    );
    choicesByLanguage.set(language, choices);
  }
  return choices;
}

export function typedAddress(form: Pick<FormRequest, 'field'>, prefix = ''): Partial<Address> {
  return Object.fromEntries(TYPED_FIELDS.map((name) => [name, form.field(prefix + name) || null]));
}

function saveAddress(
  visit: ShopVisit,
  form: FormRequest,
  order: ManagedOrderAnswer,
  kind: 'billingAddress' | 'shippingAddress',
): Promise<SavedAction> {
  const before = order[kind] ?? order.billingAddress;
  const value = { ...before, ...typedAddress(form) };
  const fields = Object.fromEntries(TYPED_FIELDS.map((name) => [name, before[name] ?? '']));
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
  const version = versionOf(await readOrder(visit, orderId));
  return {
    text: visit.words.form.saved,
    undo: { action: adminPath(visit, `/orders/${orderId}/${name}`), fields: { ...before, version } },
  };
}
