import { html, type Markup } from '../../http/html.ts';
import { ADDRESS_FIELDS, type Address, type AddressField } from '../../shops/countries/address.ts';
import { countryName } from '../../shops/countries/countries.ts';
import { choiceField, textField, type TextField } from '../components/form.ts';
import type { Draft, FormRequest } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';

/** The common fields, in rows that belong together. */
const MAIN: readonly (readonly AddressField[])[] = [
  ['salutation', 'firstName', 'lastName'],
  ['company', 'vatId'],
  ['emailAddress', 'phoneNumber'],
  ['street', 'streetDetails'],
  ['zipCode', 'city', 'country'],
];

const MORE = ADDRESS_FIELDS.filter((field) => !MAIN.flat().includes(field));

const TYPES: Partial<Record<AddressField, NonNullable<TextField['type']>>> = {
  emailAddress: 'email',
  privateEmailAddress: 'email',
  businessEmailAddress: 'email',
  phoneNumber: 'tel',
  mobilePhoneNumber: 'tel',
  privatePhoneNumber: 'tel',
  businessPhoneNumber: 'tel',
  birthday: 'date',
};

/** The fields of an address: the common ones, and the others collapsed unless one of them is filled in. */
export function addressFields(visit: ShopVisit, address: Address | null, draft: Draft | undefined): Markup {
  const fields = (names: readonly AddressField[]) =>
    names.map((name) => addressField(visit, name, address?.[name] ?? '', draft));
  const isMoreFilled = MORE.some((name) => (draft?.field(name) ?? address?.[name] ?? '') !== '');
  return html`${MAIN.map((names) => html`<div class="row">${fields(names)}</div>`)}
    <details ${isMoreFilled && html`open`}>
      <summary>${visit.words.customers.moreFields}</summary>
      <div class="row more-fields">${fields(MORE)}</div>
    </details>`;
}

function addressField(
  { words, language, settings }: ShopVisit,
  name: AddressField,
  value: string,
  draft: Draft | undefined,
): Markup {
  const label = words.customers.fields[name];
  const field = { name, label, value, draft };
  if (name === 'gender') {
    const choices = (['FEMALE', 'MALE'] as const).map((gender) => ({
      value: gender,
      text: words.customers.genders[gender],
    }));
    return choiceField({ ...field, choices, empty: words.customers.unknown });
  }
  if (name === 'country') {
    const codes = [...new Set([...settings.countries, ...(value === '' ? [] : [value])])];
    const choices = codes
      .map((code) => ({ value: code, text: countryName(code, language) }))
      .toSorted((left, right) => left.text.localeCompare(right.text, language));
    return choiceField({ ...field, choices, empty: words.customers.unknown });
  }
  return textField({ ...field, type: TYPES[name] ?? 'text', maxLength: 1000 });
}

/** The typed address; undefined: nothing was typed. */
export function typedAddress(form: FormRequest): Record<string, string> | undefined {
  const typed = ADDRESS_FIELDS.map((name): [string, string] => [name, form.field(name)]).filter(
    ([, value]) => value !== '',
  );
  return typed.length === 0 ? undefined : Object.fromEntries(typed);
}

/** As on an envelope, with phone, email and the like below it. */
export function addressCard(visit: ShopVisit, address: Address | null): Markup {
  const words = visit.words.customers;
  if (!address) return html`<p class="quiet">${words.noAddress}</p>`;
  const join = (...parts: (string | null)[]) => parts.filter(Boolean).join(' ');
  const lines = [
    address.company,
    join(address.salutation, address.title, address.firstName, address.middleName, address.lastName),
    address.street,
    address.streetDetails,
    join(address.zipCode, address.city),
    address.country && countryName(address.country, visit.language),
  ].filter(Boolean);
  const shown = [
    'emailAddress',
    'phoneNumber',
    'mobilePhoneNumber',
    'vatId',
  ] as const satisfies AddressField[];
  return html`<address>${lines.map((line) => html`${line}<br />`)}</address>
    <dl class="pairs">
      ${shown.map(
        (name) =>
          address[name] &&
          html`<dt>${words.fields[name]}</dt>
            <dd>${contact(name, address[name])}</dd>`,
      )}
    </dl>`;
}

function contact(name: AddressField, value: string): Markup | string {
  if (name === 'emailAddress') return html`<a href="mailto:${value}">${value}</a>`;
  if (name.endsWith('honeNumber')) return html`<a href="tel:${value}">${value}</a>`;
  return value;
}
