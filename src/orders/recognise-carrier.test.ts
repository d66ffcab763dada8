import { expect, test } from 'vitest';
import { recogniseCarrier } from './recognise-carrier.ts';

test.each([
  ['00340433836442636597', 'DHL'],
  ['0034 0433 8364 4263 6597', 'DHL'],
  ['00340433836442636598', undefined],
  ['JJD1410302937991', 'DHL'],
  ['jjd 000 390 007 882 823 399', 'DHL'],
  ['JVGL0999999990', 'DHL'],
  ['3318810025', 'DHL'],
  ['3318810010', undefined],
  ['CA123456785DE', 'DHL'],
  // The check digits of DHL and GLS both fit.
  ['201298452277', undefined],
  ['RR473124829DE', 'Deutsche Post'],
  ['RR473124828DE', undefined],
  ['01 030E 0928 06 011E 001E', 'Deutsche Post'],
  ['RB123456785GB', 'Royal Mail'],
  ['LX123456785FR', 'La Poste'],
  ['RR473124829CH', undefined],
  // The check digit of Hermes does not fit: it can only be DPD.
  ['01505123456788', 'DPD'],
  ['01015026003653c', 'DPD'],
  ['01015026003653D', undefined],
  // 14 digits with the check digit of Hermes may still be DPD.
  ['09133131530724', undefined],
  ['H1002070012345601037', 'Hermes'],
  ['XHAX4HDA', 'GLS'],
  ['1Z5R89390357567127', 'UPS'],
  ['1z 410e7w 03 9275159 1', 'UPS'],
  ['1Z5R89390357567128', undefined],
  ['2Z5R89390357567127', undefined],
  ['', undefined],
  ['0034', undefined],
  ['Ask Peter', undefined],
])('the carrier of %j is %j', (code, carrier) => {
  expect(recogniseCarrier(code)).toBe(carrier);
});

/** Of ten numbers that differ in the last digit, how many are recognised as this carrier. */
const recognised = (start: string, carrier: string) =>
  Array.from('0123456789').filter((digit) => recogniseCarrier(start + digit) === carrier);

test('a check digit fits once in ten, and where it fits two carriers, none is named', () => {
  expect(recognised('0034043412345678901', 'DHL')).toHaveLength(1);
  expect(recognised('1Z999AA1012345678', 'UPS')).toHaveLength(1);
  expect(recognised('RR47312482', 'Deutsche Post')).toHaveLength(0);
  // Of 14 digits nine are DPD, and the tenth may be Hermes too.
  expect(recognised('0150512345678', 'DPD')).toHaveLength(9);
  // Of 12 digits one is DHL and one is GLS, unless they are the same.
  expect([recognised('12345678901', 'DHL'), recognised('12345678901', 'GLS')]).toEqual([['6'], ['1']]);
});
