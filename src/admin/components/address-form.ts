import { html, type Markup } from '../../http/html.ts';
import {
  AddressRequest,
  ADDRESS_FIELDS,
  type Address,
  type AddressField,
} from '../../shops/countries/address.ts';
import type { Draft } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import { declareForm, showFields, type DeclaredField } from './declared-form.ts';
import type { FormRequest } from '../../http/page-kit.ts';

const KINDS: Partial<Record<AddressField, DeclaredField['kind']>> = {
  emailAddress: 'email',
  privateEmailAddress: 'email',
  businessEmailAddress: 'email',
  phoneNumber: 'tel',
  mobilePhoneNumber: 'tel',
  privatePhoneNumber: 'tel',
  businessPhoneNumber: 'tel',
  birthday: 'date',
  gender: 'choice',
  country: 'country',
};

/** The fields of every address in the admin; pages differ in those that they show. */
export const ADDRESS = declareForm({ body: AddressRequest }, ({ customers: { fields, genders } }) => {
  const choices = (['FEMALE', 'MALE'] as const).map((value) => ({ value, text: genders[value] }));
  const declared = ADDRESS_FIELDS.map((name) => [
    name,
    { label: fields[name], kind: KINDS[name] ?? 'text', choices },
  ]);
  return Object.fromEntries(declared) as Record<AddressField, DeclaredField>;
});

type Rows = readonly (readonly AddressField[])[];

/** The common fields of a customer, in rows that belong together. */
const COMMON: Rows = [
  ['salutation', 'firstName', 'lastName'],
  ['company', 'vatId'],
  ['emailAddress', 'phoneNumber'],
  ['street', 'streetDetails'],
  ['zipCode', 'city', 'country'],
];
const MORE = ADDRESS_FIELDS.filter((field) => !COMMON.flat().includes(field));

/** The fields that parcels and invoices need. */
const OF_ORDER: Rows = [
  ['firstName', 'lastName'],
  ['company', 'vatId'],
  ['street', 'streetDetails'],
  ['zipCode', 'city', 'state'],
  ['emailAddress', 'phoneNumber'],
  ['country'],
];
export const ORDER_ADDRESS_FIELDS = OF_ORDER.flat();

interface AddressLayout {
  /** An order has fewer fields, and any country. */
  isOfOrder?: boolean;
  /** Precedes the names of the fields. */
  prefix?: string;
}

/** The fields of an address: the common ones, and the others collapsed unless one of them is filled in. */
export function addressFields(
  visit: ShopVisit,
  address: Partial<Address> | null,
  draft: Draft | undefined,
  { isOfOrder = false, prefix = '' }: AddressLayout = {},
): Markup {
  const { settings, messages } = visit;
  const country = address?.country ?? (isOfOrder ? settings.country : '');
  const field = showFields(ADDRESS, visit, { values: { ...address, country }, draft, prefix });
  const show = (name: AddressField) =>
    isOfOrder
      ? field(name, { autocomplete: 'off' })
      : field(name, { empty: messages.customers.unknown, countries: [...settings.countries, country] });
  const rows = (isOfOrder ? OF_ORDER : COMMON).map((row) =>
    row.length === 1 ? row.map(show) : html`<div class="row">${row.map(show)}</div>`,
  );
  if (isOfOrder) return html`${rows}`;
  const isMoreFilled = MORE.some((name) => (draft?.field(name) ?? address?.[name] ?? '') !== '');
  return html`${rows}
    <details ${isMoreFilled && html`open`}>
      <summary>${messages.customers.moreFields}</summary>
      <div class="row more-fields">${MORE.map(show)}</div>
    </details>`;
}

/** The typed address, with null for an empty field. */
export function typedAddress(
  { field }: Pick<FormRequest, 'field'>,
  names: readonly AddressField[] = ADDRESS_FIELDS,
  prefix = '',
): Partial<Address> {
  return Object.fromEntries(names.map((name) => [name, field(prefix + name) || null]));
}
