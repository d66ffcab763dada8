import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemo } from '../../test/demo.ts';
import { halfOf, SEED } from '../../test/seed.ts';
import type { Service } from '../../test/service.ts';
import { applySettings } from '../shops/settings/file.ts';

let service: Service;
let productIds: string[];

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' });
  const { body } = await service.call('GET', '/DemoShop/products?resultsPerPage=50');
  productIds = body.items.map((product: { productId: string }) => product.productId);
  await service.db.transaction((tx) => applySettings(tx, 'DemoShop', { quickOrder: true }));
});
afterAll(() => service.close());

const PAGES = (
  ' /Categories /Categories/kitchen /Products/AP-100 /Products/LA-100 /search /suggest /cart /quick-order /checkout ' +
  '/checkout/delivery /checkout/review /confirmation /wishlist /newsletter /newsletter/confirm /newsletter/confirmed ' +
  '/newsletter/unsubscribe /consent /legal/privacy-policy /sitemap.xml /sitemap/0.xml /worker.js /nothing'
).split(' ');
const PARAMETERS = 'q page sort f min max locale filter cart PickupToken token Colour Size'.split(' ');

/** `*` stands for anything. */
const FORMS: Record<string, string> = {
  '/cart/add': 'productId quantity',
  '/cart/lines/*': 'quantity',
  '/cart/lines/*/remove': '',
  '/cart/coupon': 'code',
  '/cart/coupon/remove': '',
  '/quick-order': 'lines',
  '/checkout':
    'billing.country billing.format billing.emailAddress billing.lastName billing.zipCode elsewhere shipping.country',
  '/checkout/delivery': 'shippingMethod paymentMethod',
  '/checkout/order': 'reviewed',
  '/wishlist/add': 'productId',
  '/wishlist/remove': 'productId',
  '/newsletter': 'email name',
  '/newsletter/confirm': 'token',
  '/newsletter/unsubscribe': 'token',
  '/consent': 'consent',
  '/currency': 'currency',
  '/Products/*/notify': 'email',
};

const RUBBISH =
  `0 -1 1e999 NaN ${'9'.repeat(30)} ' " <script> % %00 \0 ../../x __proto__ constructor {} [] null 1,5 1.5.5 de_DE xx_XX ` +
  `c:1 m: a:x:y ${'a'.repeat(5_000)} ${'\uFDFA'.repeat(50)} 01A1DF9A-F9EF-7EE7-91B1-B8715FD6FE6F a@b.example`;
const rubbish = fc.oneof(
  fc.constantFrom('', ' ', ...RUBBISH.split(' ')),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);
/** What gets further than rubbish does. */
const sense = fc.oneof(
  fc.nat().map((at) => productIds[at % productIds.length]!),
  fc.constantFrom('1', '2', 'EUR', 'GBP', 'DE', 'US', 'all', 'TIDE15', 'AP-100'),
);
const value = fc.oneof(rubbish, sense);
const encoded = fc.oneof(
  { weight: 20, arbitrary: value.map(encodeURIComponent) },
  { weight: 1, arbitrary: fc.constant('%zz%ff') },
);
const pairs = (names: readonly string[]) =>
  names.length === 0
    ? fc.constant('')
    : fc
        .array(fc.tuple(fc.constantFrom(...names), encoded), { maxLength: 6 })
        .map((entries) => entries.map((entry) => entry.join('=')).join('&'));

const visit = fc.oneof(
  fc.record({ path: fc.constantFrom(...PAGES), query: pairs(PARAMETERS), body: fc.constant(undefined) }),
  fc.constantFrom(...Object.entries(FORMS)).chain(([path, fields]) =>
    fc.record({
      path: value.map((anything) => path.replace('*', () => encodeURIComponent(anything || '-'))),
      query: fc.constantFrom('', 'locale=de_DE'),
      body: pairs(fields === '' ? [] : fields.split(' ')),
    }),
  ),
);

test('whatever visitors send, in whatever order, nothing breaks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(visit, { minLength: 5, maxLength: 25 }), async (visits) => {
      let cookie = '';
      for (const { path, query, body } of visits) {
        const { statusCode, headers } = await service.app.inject({
          method: body === undefined ? 'GET' : 'POST',
          url: `/shop/DemoShop${path}?${query}`,
          headers: {
            'sec-fetch-site': 'same-origin',
            origin: 'http://localhost',
            'content-type': 'application/x-www-form-urlencoded',
            ...(cookie !== '' && { cookie }),
          },
          ...(body !== undefined && { payload: body }),
        });
        expect(statusCode).toBeLessThan(500);
        const set = headers['set-cookie'];
        if (set !== undefined) [cookie] = String(set).split(';') as [string];
      }
    }),
    { numRuns: halfOf(100), seed: SEED },
  );
});
