import { requiredFields } from '../../carts/changes.ts';
import { countryName } from '../../shops/countries/countries.ts';
import { Address, ADDRESS_FIELDS, toAddress, type AddressField } from '../../shops/countries/address.ts';
import { ValidationError, type FieldProblem, type ProblemCode } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { formatOf } from './address-formats.ts';
import {
  hasWrongVatNumber,
  isInVies,
  parseVatNumber,
  VAT_NUMBER_KINDS,
  vatPrefixOf,
} from '../../shops/vat-numbers/vat-numbers.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Visit } from '../visit.ts';
import { languageTag } from '../../http/locale.ts';

/** One of the two addresses. The names of its fields begin with it: `billing.city`. */
export type AddressKind = 'billing' | 'shipping';

/** The values of the fields; a missing one is empty. */
export type AddressValues = Partial<Record<AddressField, string>>;

/** The autocomplete values of the fields. */
const AUTOCOMPLETE: Partial<Record<AddressField, string>> = {
  company: 'organization',
  salutation: 'honorific-prefix',
  title: 'honorific-prefix',
  firstName: 'given-name',
  middleName: 'additional-name',
  lastName: 'family-name',
  street: 'address-line1',
  streetDetails: 'address-line2',
  addressExtension: 'address-line3',
  zipCode: 'postal-code',
  city: 'address-level2',
  state: 'address-level1',
  country: 'country',
  birthday: 'bday',
  jobTitle: 'organization-title',
  gender: 'sex',
  websiteUrl: 'url',
};

const EMAIL_FIELDS: readonly AddressField[] = ['emailAddress', 'businessEmailAddress', 'privateEmailAddress'];
const PHONE_FIELDS: readonly AddressField[] = [
  'phoneNumber',
  'mobilePhoneNumber',
  'privatePhoneNumber',
  'businessPhoneNumber',
  'faxNumber',
];

/** Every form has these fields, and those that the country and the shop require. */
const NAME_ROWS: readonly (readonly AddressField[])[] = [['firstName', 'lastName'], ['company']];
const NAMES: readonly AddressField[] = ['firstName', 'lastName'];

/** These stand outside of the rows. */
const ALWAYS_IN_BILLING: readonly AddressField[] = ['emailAddress', 'vatId'];

/** The fields of a form for this country, row by row. The email address stands above them. */
export function addressRows(
  part: AddressKind,
  country: string,
  settings: Settings,
): readonly (readonly AddressField[])[] {
  const rows = [...NAME_ROWS, ...formatOf(country).layout.rows];
  const shown = new Set<string>(['country', 'emailAddress', ...rows.flat()]);
  const demanded = part === 'billing' ? settings.mandatoryAddressFields : [];
  const more = ADDRESS_FIELDS.filter((field) => demanded.includes(field) && !shown.has(field));
  return [...rows, ...more.map((field) => [field])];
}

function requiredAddressFields(part: AddressKind, country: string, settings: Settings): string[] {
  return [
    ...requiredFields(part === 'billing' ? 'billingAddress' : 'shippingAddress', settings),
    ...NAMES,
    ...formatOf(country).layout.required,
  ];
}

/**
 * Turns the values of the form into an address, or throws the problems of its fields. Fields outside the form keep
 * their stored values.
 */
export function parseAddress(
  part: AddressKind,
  values: AddressValues,
  stored: AddressValues,
  settings: Settings,
): Address {
  const { country = '' } = values;
  const shown: readonly string[] = ['country', ...addressRows(part, country, settings).flat()];
  const sent = Object.fromEntries(
    ADDRESS_FIELDS.map((field) => {
      const isShown = shown.includes(field) || (part === 'billing' && ALWAYS_IN_BILLING.includes(field));
      // A form without the fields of a business keeps the stored number.
      if (isShown) return [field, values[field] ?? (field === 'vatId' ? (stored[field] ?? '') : '')];
      // The stored state may belong to another country.
      return [field, field === 'state' ? null : (stored[field] ?? null)];
    }),
  ) as AddressValues;
  const problems = formProblems(part, sent, stored, settings);
  let address: Address | undefined;
  try {
    address = toAddress(sent, part, requiredAddressFields(part, country, settings));
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    problems.unshift(...error.problems);
  }
  if (problems.length > 0 || !address) throw new ValidationError(problems);
  return part === 'billing' ? withTidyNumber(address) : address;
}

/** Invoices name the number as the tax authorities do. Swiss ones are written with dots and the name of the tax. */
function withTidyNumber(address: Address): Address {
  const { vatId, country } = address;
  const number = vatId === null ? undefined : parseVatNumber(vatId, country);
  return typeof number === 'object' && isInVies(number.prefix)
    ? { ...address, vatId: number.number }
    : address;
}

/**
 * Checks that the API leaves to its clients: whether the address fits its country, and whether the shop delivers
 * there.
 */
function formProblems(
  part: AddressKind,
  sent: AddressValues,
  stored: AddressValues,
  { countries }: Settings,
): FieldProblem[] {
  const { country = '', zipCode = '', state = '', vatId = '' } = sent;
  const { layout, postcode } = formatOf(country);
  const problems: FieldProblem[] = [];
  const refuse = (code: FieldProblem['code'], field: AddressField) =>
    problems.push({ code, field: `${part}.${field}` });
  for (const field of ADDRESS_FIELDS) {
    if ((sent[field] ?? '').length > maxLengthOf(field)) refuse('TOO_LONG', field);
  }
  if (country !== '' && !countries.includes(country)) refuse('UNKNOWN_VALUE', 'country');
  if (zipCode !== '' && postcode && !postcode.pattern.test(zipCode)) refuse('WRONG_FORMAT', 'zipCode');
  // A number that an app has stored stays as it is.
  const isTyped = part === 'billing' && vatId !== '' && vatId !== stored.vatId;
  if (isTyped && hasWrongVatNumber({ vatId, country })) refuse('WRONG_FORMAT', 'vatId');
  if (state !== '' && layout.states && !Object.hasOwn(layout.states, state)) {
    refuse('UNKNOWN_VALUE', 'state');
  }
  return problems;
}

function maxLengthOf(field: AddressField): number {
  // Some fields may be null, and such a schema hides its bounds from its type.
  return (Address.properties[field] as unknown as { maxLength: number }).maxLength;
}

/** One message per field, for its first problem. */
export type FieldErrors = ReadonlyMap<string, string>;

export function fieldErrors(
  { locale }: Pick<Visit, 'locale'>,
  problems: readonly FieldProblem[],
  values: Record<AddressKind, AddressValues>,
): FieldErrors {
  const messages = messagesIn(locale).storefront.address;
  const problemTexts: Readonly<Partial<Record<ProblemCode, string>>> = messages.problems;
  const errors = new Map<string, string>();
  for (const { code, field } of problems) {
    if (errors.has(field)) continue;
    const [part, name] = field.split('.') as [AddressKind, AddressField];
    const { postcode } = formatOf(values[part].country ?? '');
    const special: Record<string, string | undefined> = {
      'WRONG_FORMAT emailAddress': messages.wrongEmail,
      'WRONG_FORMAT zipCode': postcode && messages.wrongPostcode({ example: postcode.example }),
      'UNKNOWN_VALUE country': messages.wrongCountry,
      'WRONG_FORMAT vatId': messages.wrongVatNumber({ example: vatExample(values[part].country ?? '') }),
    };
    const message = special[`${code} ${name}`] ?? problemTexts[code] ?? messages.problems.WRONG_FORMAT;
    errors.set(field, message);
  }
  return errors;
}

/** A number of the country, or else of Germany. */
function vatExample(country: string): string {
  const prefix = vatPrefixOf(country) ?? 'DE';
  return prefix + VAT_NUMBER_KINDS.get(prefix)!.example;
}

/** The name of a field in this country. */
export function labelOf({ locale }: Pick<Visit, 'locale'>, field: AddressField, country: string): string {
  const messages = messagesIn(locale).storefront.address;
  const { layout } = formatOf(country);
  if (field === 'zipCode' && layout.zipCode) return messages.zipCodes[layout.zipCode];
  if (field === 'state' && layout.state) return messages.states[layout.state];
  return messages.fields[field];
}

export interface FormPart {
  part: AddressKind;
  values: AddressValues;
  errors: FieldErrors;
}

/** The fields of an address, in the order of its country. */
export function checkoutAddressFields(visit: Visit, form: FormPart): Markup {
  const { part, values } = form;
  const { settings } = visit;
  const { country = '' } = values;
  const rows = addressRows(part, country, settings);
  // Values of fields that only another country has are preserved.
  const shown = new Set<string>([
    'country',
    ...rows.flat(),
    ...(part === 'billing' ? ALWAYS_IN_BILLING : []),
  ]);
  const hidden = ADDRESS_FIELDS.filter((field) => !shown.has(field) && values[field]);
  return html`${countryField(visit, form)}
  ${rows.map((row) =>
    row.length === 1
      ? addressField(visit, form, row[0]!)
      : html`<div class="pair">${row.map((field) => addressField(visit, form, field))}</div>`,
  )}
  ${hidden.map((field) => html`<input type="hidden" name="${part}.${field}" value="${values[field]}" />`)}`;
}

/** Another country may have other fields, so the form is shown again before any check. */
function countryField(visit: Visit, { part, values, errors }: FormPart): Markup {
  const { settings, locale } = visit;
  const messages = messagesIn(locale).storefront.address;
  const { country = '' } = values;
  const name = `${part}.country`;
  const message = errors.get(name);
  const language = languageTag(locale);
  const options = settings.countries
    .map((code) => ({ code, text: countryName(code, language) }))
    .toSorted((a, b) => a.text.localeCompare(b.text, language));
  return html`<div class="field">
    <label for="${name}">${messages.fields.country}</label>
    <select
      id="${name}"
      name="${name}"
      autocomplete="${part} country"
      data-submit
      ${described(name, message)}
    >
      ${!settings.countries.includes(country) && html`<option value="" selected>${messages.choose}</option>`}
      ${options.map(
        ({ code, text }) =>
          html`<option value="${code}" ${code === country && html`selected`}>${text}</option>`,
      )}
    </select>
    ${errorText(name, message)}
    <input type="hidden" name="${part}.format" value="${country}" />
    <button class="quiet" formnovalidate>${messages.change}</button>
  </div>`;
}

export function addressField(visit: Visit, { part, values, errors }: FormPart, field: AddressField): Markup {
  const { settings, locale } = visit;
  const messages = messagesIn(locale).storefront.address;
  const { country = '' } = values;
  const { layout, postcode } = formatOf(country);
  const name = `${part}.${field}`;
  const value = values[field] ?? '';
  const message = errors.get(name);
  const isRequired = requiredAddressFields(part, country, settings).includes(field);
  const hints: Partial<Record<AddressField, string | undefined>> = {
    zipCode: postcode && messages.example({ example: postcode.example }),
    vatId: messagesIn(locale).storefront.checkout.vatHint,
  };
  const hint = hints[field];
  const options = optionsOf(visit, field, layout.states);
  // A required field of the hidden address would keep the browser from sending the form.
  const demand = isRequired && (part === 'billing' ? html`required` : html`aria-required="true"`);
  const autocomplete = autocompleteOf(part, field);
  return html`<div class="field">
    <label for="${name}"
      >${labelOf(visit, field, country)}${!isRequired && html` <small>(${messages.optional})</small>`}</label
    >
    ${
      options
        ? html`<select
            id="${name}"
            name="${name}"
            autocomplete="${autocomplete}"
            ${demand}
            ${described(name, message, hint)}
          >
            <option value="">${messages.choose}</option>
            ${Object.entries(options).map(
              ([code, text]) =>
                html`<option value="${code}" ${code === value && html`selected`}>${text}</option>`,
            )}
          </select>`
        : html`<input
            id="${name}"
            name="${name}"
            type="${typeOf(field)}"
            value="${value}"
            maxlength="${maxLengthOf(field)}"
            autocomplete="${autocomplete}"
            ${field === 'zipCode' && postcode && /^[\d -]+$/.test(postcode.example) && html`inputmode="numeric"`}
            ${demand}
            ${described(name, message, hint)}
          />`
    }
    ${hint !== undefined && html`<small id="${name}-hint">${hint}</small>`} ${errorText(name, message)}
  </div>`;
}

function optionsOf(
  { locale }: Visit,
  field: AddressField,
  states: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  if (field === 'gender') return messagesIn(locale).storefront.address.genders;
  return field === 'state' ? states : undefined;
}

function typeOf(field: AddressField): string {
  if (EMAIL_FIELDS.includes(field)) return 'email';
  if (PHONE_FIELDS.includes(field)) return 'tel';
  return field === 'birthday' ? 'date' : 'text';
}

function autocompleteOf(part: AddressKind, field: AddressField): string {
  const token = EMAIL_FIELDS.includes(field)
    ? 'email'
    : PHONE_FIELDS.includes(field)
      ? 'tel'
      : AUTOCOMPLETE[field];
  return token === undefined ? 'off' : field === 'emailAddress' ? token : `${part} ${token}`;
}

export function described(name: string, message: string | undefined, hint?: string): Markup | false {
  const ids = [hint !== undefined && `${name}-hint`, message !== undefined && `${name}-error`].filter(
    (id): id is string => id !== false,
  );
  return (
    ids.length > 0 &&
    html`${message !== undefined && html`aria-invalid="true"`} aria-describedby="${ids.join(' ')}"`
  );
}

function errorText(name: string, message: string | undefined): Markup | false {
  return message !== undefined && html`<p class="error" id="${name}-error">${message}</p>`;
}
