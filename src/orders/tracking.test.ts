import { expect, test } from 'vitest';
import { trackingUrl } from './tracking.ts';

const carriers = {
  'Harbour Parcel': 'https://parcels.example/{code}?again={code}',
  ups: 'https://own.example/{code}',
};

test.each([
  ['DHL', '0034', 'https://www.dhl.com/global-en/home/tracking.html?tracking-id=0034'],
  [' la poste ', '6A 123', 'https://www.laposte.fr/outils/suivre-vos-envois?code=6A123'],
  ['harbour parcel', 'a/b&c$&', 'https://parcels.example/a%2Fb%26c%24%26?again=a%2Fb%26c%24%26'],
  ['UPS', '1Z', 'https://own.example/1Z'],
  ['Donkey', '1', undefined],
  ['constructor', '1', undefined],
  [null, '1', undefined],
  [null, '1Z5R89390357567127', 'https://own.example/1Z5R89390357567127'],
  [
    null,
    'RR 473 124 829 DE',
    'https://www.deutschepost.de/de/s/sendungsverfolgung/verfolgen.html?piececode=RR473124829DE',
  ],
  ['DHL', null, undefined],
])('a parcel of %j with the code %j is shown at %j', (carrier, trackingCode, url) => {
  expect(trackingUrl({ carrier, trackingCode }, { carriers })).toBe(url);
});
