import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { check, compileBody } from '../../http/validation.ts';
import { Address, ADDRESS_FIELDS, AddressRequest, toAddress, type AddressField } from './address.ts';

/** The 34 keys in the order of the contract. */
const KEYS = [
  'company',
  'salutation',
  'firstName',
  'lastName',
  'street',
  'streetDetails',
  'zipCode',
  'city',
  'state',
  'country',
  'title',
  'vatId',
  'birthday',
  'emailAddress',
  'addressExtension',
  'bankAccountHolder',
  'bankAccountNumber',
  'bankName',
  'bankSortCode',
  'businessEmailAddress',
  'businessPhoneNumber',
  'department',
  'displayName',
  'doorCode',
  'faxNumber',
  'fiscalCode',
  'gender',
  'jobTitle',
  'middleName',
  'mobilePhoneNumber',
  'phoneNumber',
  'privateEmailAddress',
  'privatePhoneNumber',
  'websiteUrl',
];
const NOTHING = Object.fromEntries(KEYS.map((key) => [key, null]));

describe('the schemas', () => {
  test('an answer has all 34 keys, each a text or null', () => {
    expect(ADDRESS_FIELDS).toEqual(KEYS);
    expect(Address.required).toEqual(KEYS);
    for (const field of ADDRESS_FIELDS) {
      expect(Address.properties[field]).toMatchObject({ type: ['string', 'null'] });
    }
  });

  test('a request has the same keys and requires none', () => {
    expect(Object.keys(AddressRequest.properties)).toEqual(KEYS);
    expect(JSON.parse(JSON.stringify(AddressRequest))).not.toHaveProperty('required');
    expect(AddressRequest.properties.zipCode).toMatchObject({ type: ['string', 'number', 'null'] });
  });

  test('every key has a description and an example', () => {
    for (const schema of Object.values(AddressRequest.properties)) {
      expect(schema).toMatchObject({
        description: expect.stringMatching(/\.$/),
        examples: [expect.any(String)],
        maxLength: expect.any(Number),
      });
    }
  });

  const validate = compileBody(AddressRequest);

  test.each([
    [{ city: 7 }, 'WRONG_TYPE on field billingAddress.city'],
    [{ zipCode: true }, 'WRONG_TYPE on field billingAddress.zipCode'],
    [{ country: 'DEU' }, 'TOO_LONG on field billingAddress.country'],
    [{ lastName: 'x'.repeat(256) }, 'TOO_LONG on field billingAddress.lastName'],
    [[], 'WRONG_TYPE on field billingAddress'],
    ['Hamburg', 'WRONG_TYPE on field billingAddress'],
  ])('%j is refused: %s', (sent, problem) => {
    expect(() => check(validate, sent, 'billingAddress')).toThrow(`validation error ${problem}`);
  });

  test.each([[{}], [NOTHING], [{ zipCode: 20457 }], [{ lastName: 'x'.repeat(255) }], [{ colour: 'blue' }]])(
    '%j fits',
    (sent) => {
      expect(() => check(validate, sent)).not.toThrow();
    },
  );
});

describe('toAddress', () => {
  test('of nothing has all 34 keys, null', () => {
    expect(toAddress({}, 'billingAddress')).toEqual(NOTHING);
    expect(Object.keys(toAddress({}, 'billingAddress'))).toEqual(KEYS);
  });

  test.each<[AddressField, string | number | null, string | null]>([
    ['zipCode', 20457, '20457'],
    ['zipCode', 0, '0'],
    ['zipCode', '01067', '01067'],
    ['zipCode', null, null],
    ['gender', 'female', 'FEMALE'],
    ['gender', 'Male', 'MALE'],
    ['gender', '', null],
    ['country', 'de', 'DE'],
    ['country', '', null],
    ['birthday', '1984-02-29', '1984-02-29'],
    ['birthday', '', null],
    ['emailAddress', 'Ada@Pelican.example', 'Ada@Pelican.example'],
    ['emailAddress', '', null],
    ['city', '', ''],
    ['city', ' Hamburg ', ' Hamburg '],
  ])('%s %j becomes %j', (field, sent, stored) => {
    expect(toAddress({ [field]: sent }, 'billingAddress')).toEqual({ ...NOTHING, [field]: stored });
  });

  test('ignores unknown keys', () => {
    const sent = { city: 'Hamburg', colour: 'blue' };
    expect(toAddress(sent, 'billingAddress')).toEqual({ ...NOTHING, city: 'Hamburg' });
  });

  test('of a stored address is the same address', () => {
    const texts = fc.option(fc.string({ maxLength: 32 }), { nil: null });
    const addresses = fc.record({
      company: texts,
      city: texts,
      zipCode: texts,
      country: fc.constantFrom('DE', 'GB', null),
      gender: fc.constantFrom('MALE', 'FEMALE', null),
    });
    fc.assert(
      fc.property(addresses, (sent) => {
        const stored = toAddress(sent, 'billingAddress');
        expect(toAddress(stored, 'billingAddress')).toEqual(stored);
      }),
    );
  });

  test.each<[AddressField, string, string]>([
    ['country', 'ZZ', 'UNKNOWN_VALUE'],
    ['country', 'D', 'UNKNOWN_VALUE'],
    ['birthday', '2026-02-30', 'WRONG_FORMAT'],
    ['birthday', '29.02.1984', 'WRONG_FORMAT'],
    ['gender', 'OTHER', 'UNKNOWN_VALUE'],
    ['emailAddress', 'ada', 'WRONG_FORMAT'],
    ['emailAddress', 'ada@', 'WRONG_FORMAT'],
    ['emailAddress', '@pelican.example', 'WRONG_FORMAT'],
    ['emailAddress', 'ada brennan@pelican.example', 'WRONG_FORMAT'],
    ['emailAddress', 'ada@pelican@example', 'WRONG_FORMAT'],
  ])('%s %j is refused: %s', (field, sent, code) => {
    expect(() => toAddress({ [field]: sent }, 'at')).toThrow(
      new RegExp(`^\\n\\tvalidation error ${code} on field at\\.${field}$`),
    );
  });

  test('names everything that is wrong or missing, in the order of the keys', () => {
    const sent = { country: 'ZZ', city: '', birthday: 'x' };
    expect(() => toAddress(sent, 'billingAddress', ['city', 'country', 'emailAddress'])).toThrow(
      /^\n\tvalidation error STRING_EMPTY on field billingAddress\.city\n\tvalidation error UNKNOWN_VALUE on field billingAddress\.country\n\tvalidation error WRONG_FORMAT on field billingAddress\.birthday\n\tvalidation error STRING_EMPTY on field billingAddress\.emailAddress$/,
    );
  });

  test('is content when the required fields are there', () => {
    const sent = { country: 'de', emailAddress: 'ada@pelican.example' };
    expect(toAddress(sent, 'billingAddress', ['country', 'emailAddress'])).toEqual({
      ...NOTHING,
      country: 'DE',
      emailAddress: 'ada@pelican.example',
    });
  });
});
