import { expect, test } from 'vitest';
import { messagesIn } from '../../kernel/messages.ts';
import { ADDRESS_FIELDS } from '../../shops/countries/address.ts';
import { isCountry } from '../../shops/countries/countries.ts';
import { FORMATS, formatOf } from './address-formats.ts';

const { zipCodes, states } = messagesIn('en_GB').storefront.address;

test.each([...Object.keys(FORMATS), '??'])('the address format of %s', (country) => {
  const { layout, postcode } = formatOf(country);
  const fields = layout.rows.flat();
  expect(isCountry(country)).toBe(country !== '??');
  expect(ADDRESS_FIELDS).toEqual(expect.arrayContaining(fields));
  expect(fields).toEqual(expect.arrayContaining([...layout.required]));
  if (layout.zipCode) expect(Object.keys(zipCodes)).toContain(layout.zipCode);
  if (layout.state) expect(Object.keys(states)).toContain(layout.state);
  if (postcode) {
    // The whole postcode is compared, not a part of it.
    expect(postcode.pattern.source).toMatch(/^\^.*\$$/);
    expect(postcode.example).toMatch(postcode.pattern);
  }
});
