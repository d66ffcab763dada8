import { Type, type Static } from 'typebox';
import { isCountry } from './countries.ts';
import { isDate } from '../../http/dates.ts';
import { ValidationError, type FieldProblem, type ProblemCode } from '../../http/errors.ts';
import { Nullable } from '../../http/schemas.ts';

const text = (description: string, example: string, maxLength = 255) =>
  Nullable(Type.String({ description, examples: [example], maxLength }));

/** An address as responses show it: all 34 keys, null where nothing is known. */
export const Address = Type.Object(
  {
    company: text('Company.', 'Café Pelican'),
    salutation: text('Salutation.', 'Mrs'),
    firstName: text('First name.', 'Ada'),
    lastName: text('Last name.', 'Brennan'),
    street: text('Street and number.', 'Speicherweg 4'),
    streetDetails: text('Second line of the street.', 'Back yard'),
    zipCode: text('Postcode.', '20457', 32),
    city: text('City.', 'Hamburg'),
    state: text('Code of the state.', 'OR', 64),
    country: text('ISO 3166-1 alpha-2.', 'DE', 2),
    title: text('Academic title.', 'Dr.'),
    vatId: text('VAT id.', 'DE123456789', 64),
    birthday: text('Birthday.', '1984-02-29', 10),
    emailAddress: text('Primary mail address.', 'ada@pelican.example', 254),
    addressExtension: text('Floor and the like.', '1st floor'),
    bankAccountHolder: text('Holder of the account.', 'Ada Brennan'),
    bankAccountNumber: text('Account number.', 'DE02120300000000202051', 64),
    bankName: text('Bank.', 'Harbour Bank'),
    bankSortCode: text('Bank code.', 'BYLADEM1001', 64),
    businessEmailAddress: text('Mail address at work.', 'office@pelican.example', 254),
    businessPhoneNumber: text('Telephone at work.', '+49 40 123456', 64),
    department: text('Department.', 'Purchasing'),
    displayName: text('Name to show.', 'Ada B.'),
    doorCode: text('Code of the door.', '4711', 64),
    faxNumber: text('Fax.', '+49 40 123457', 64),
    fiscalCode: text('Fiscal code.', 'RSSMRA85T10A562S', 64),
    gender: text('MALE or FEMALE, any case; upper case in answers.', 'FEMALE', 16),
    jobTitle: text('Job.', 'Owner'),
    middleName: text('Middle name.', 'Maud'),
    mobilePhoneNumber: text('Mobile telephone.', '+49 170 123456', 64),
    phoneNumber: text('Telephone.', '+49 40 123458', 64),
    privateEmailAddress: text('Private mail address.', 'ada@mail.example', 254),
    privatePhoneNumber: text('Private telephone.', '+49 40 123459', 64),
    websiteUrl: text('Web site.', 'https://pelican.example', 1000),
  },
  { title: 'address' },
);

/** An address as stored and returned. */
export type Address = Static<typeof Address>;

export type AddressField = keyof Address;

export const ADDRESS_FIELDS = Object.keys(Address.properties) as AddressField[];

/** An address as clients send it: no key is required, unknown ones are ignored, as everywhere. */
export const AddressRequest = Type.Partial(
  Type.Object({
    ...Address.properties,
    // One known client sends a number.
    zipCode: Type.Unsafe<string | number | null>({
      ...Address.properties.zipCode,
      type: ['string', 'number', 'null'],
    }),
  }),
  { title: 'address (request)' },
);

const GENDERS = ['MALE', 'FEMALE'];
const MAIL = /^[^\s@]{1,64}@[^\s@]{1,189}$/;

const rules: Partial<Record<AddressField, { fits: (value: string) => boolean; code: ProblemCode }>> = {
  country: { fits: isCountry, code: 'UNKNOWN_VALUE' },
  birthday: { fits: isDate, code: 'WRONG_FORMAT' },
  gender: { fits: (value) => GENDERS.includes(value), code: 'UNKNOWN_VALUE' },
  emailAddress: { fits: (value) => MAIL.test(value), code: 'WRONG_FORMAT' },
};

/** Fields in which an empty text counts as not given. */
const EMPTY_IS_NULL = new Set(Object.keys(rules));

/**
 * The address to store. `at` is the key that held it in the request, '' for the whole body; `required` are the fields
 * that must not be empty: the billing address of an order needs country and email, a customer's address needs none.
 */
export function toAddress(
  sent: Static<typeof AddressRequest>,
  at: string,
  required: readonly string[] = [],
): Address {
  const problems: FieldProblem[] = [];
  const fieldOf = (name: AddressField) => (at === '' ? name : `${at}.${name}`);
  const entries = ADDRESS_FIELDS.map((name) => {
    const value = normalised(name, sent[name]);
    if (value === null || value === '') {
      if (required.includes(name)) problems.push({ code: 'STRING_EMPTY', field: fieldOf(name) });
    } else if (rules[name] && !rules[name].fits(value)) {
      problems.push({ code: rules[name].code, field: fieldOf(name) });
    }
    return [name, value] as const;
  });
  if (problems.length > 0) throw new ValidationError(problems);
  return Object.fromEntries(entries) as Address;
}

function normalised(name: AddressField, value: string | number | null | undefined): string | null {
  if (value === undefined || value === null) return null;
  const text = String(value);
  if (name === 'country' || name === 'gender') return text.toUpperCase() || null;
  return text === '' && EMPTY_IS_NULL.has(name) ? null : text;
}
