import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changesNothing, changeSettings, DAY, givenProduct, NOW, queuedEmails } from '../../test/carts.ts';
import {
  givenOrder,
  placed,
  service,
  SETTINGS,
  startManaging,
  well,
  type Placed,
} from '../../test/managed-orders.ts';
import { givenMerchant } from '../../test/admin.ts';
import { givenVisitor, mainOf } from '../../test/visitor.ts';
import { sql } from '../db/sql.ts';
import { orderTokens } from '../orders/order-link.ts';
import { installationKey } from '../platform/sealing.ts';
import type { SettingsFile } from '../shops/settings/file.ts';
import { reviewInvitation } from './invitation-email.ts';
import { reviewInvitations } from './invite.ts';
import { reviewTokens } from './links.ts';

beforeAll(startManaging);
afterAll(() => service.close());

const OPEN: SettingsFile = { ...SETTINGS, reviews: { open: true } };

const pathOf = async ({ shop, id }: Placed) =>
  `/reviews/${reviewTokens(await installationKey(service.config)).token(shop.shopId, id)}`;

/** An order of TEA and BOOK that was sent, and its customer. */
async function givenBuyer(settings: SettingsFile = OPEN) {
  const given = await givenOrder(settings);
  await well(given.order, 'POST', '/shipments', {});
  const { shop, order, tea } = given;
  const visitor = givenVisitor(service, shop.shopId);
  const path = await pathOf(order);
  const call = (method: string, at: string, body?: unknown) =>
    service.call(method, `/manage/shops/${shop.shopId}/reviews${at}`, { token: shop.token, body });
  const page = async () => (await givenVisitor(service, shop.shopId).get('/Products/TEA')).text;
  const write = (fields: Record<string, string> = {}) =>
    visitor.post(`${path}/${tea}`, { stars: '4', title: 'Fine', text: 'Warm.', name: 'Ada L.', ...fields });
  return { ...given, visitor, path, call, page, write };
}

const reviewsIn = (shopId: string) =>
  service.db.many<object>(sql`
    select stars, title, text, name, state from review where shop_id = ${shopId} order by review_id`);

const starsOf = (shopId: string, productId: string) =>
  service.db.one<object>(sql`
    select one, two, three, four, five from product_rating
    where shop_id = ${shopId} and product_id = ${productId}`);

const eventsOf = async (shopId: string) =>
  (
    await service.db.many<{ type: string }>(sql`
      select type from event where shop_id = ${shopId} and type like 'REVIEW%' order by position`)
  ).map(({ type }) => type);

const productData = (text: string) =>
  JSON.parse(/id="page.product">([^<]*)</.exec(text)![1]!) as Record<string, unknown>;

describe('a buyer', () => {
  test('reviews a product, which waits for the shop, is published, answered, changed and deleted', async () => {
    const { shop, order, tea, visitor, path, call, page, write } = await givenBuyer();
    const before = await page();
    expect(before).not.toContain('id="reviews"');
    expect(productData(before)).not.toHaveProperty('aggregateRating');
    expect(mainOf(await visitor.get(path))).toContain('TEA Write a review : TEA');
    expect(mainOf(await visitor.get(`${path}/${tea}`))).toContain('Your review of TEA Stars 5 stars');

    const sent = await write({ title: '<b>Fine</b>', text: 'See https://spam.example\n\n\n\nNow' });
    expect([sent.status, sent.headers.location]).toEqual([303, `/shop/${shop.shopId}${path}`]);
    expect(mainOf(await visitor.get(path))).toContain('4 out of 5 stars · Waiting to be published');
    expect(await page()).toBe(before);
    const { body } = await call('GET', '');
    expect(body).toEqual({
      results: 1,
      page: 1,
      resultsPerPage: 10,
      items: [
        {
          reviewId: expect.any(String),
          productId: tea,
          productNumber: 'TEA',
          orderId: order.id,
          orderNumber: order.body.orderNumber,
          customerId: expect.any(String),
          stars: 4,
          title: '<b>Fine</b>',
          text: 'See https://spam.example\n\nNow',
          name: 'Ada L.',
          locale: 'en_GB',
          state: 'waiting',
          createdOn: expect.any(String),
          changedOn: expect.any(String),
          answer: null,
          answeredOn: null,
          openReports: 0,
        },
      ],
    });
    const { reviewId } = body.items[0];

    const published = await call('PUT', `/${reviewId}/state`, { state: 'published' });
    expect([published.status, published.body.state]).toEqual([200, 'published']);
    expect(await starsOf(shop.shopId, tea)).toEqual({ one: 0, two: 0, three: 0, four: 1, five: 0 });
    await call('PUT', `/${reviewId}/answer`, { answer: ' Thank you! ' });
    const shown = await page();
    expect(mainOf({ text: shown })).toContain('4 out of 5 stars, 1 review');
    expect(shown).toContain('&lt;b&gt;Fine&lt;/b&gt;');
    expect(shown).not.toContain('href="https://spam.example');
    expect(mainOf({ text: shown })).toMatch(/Answer from .* Thank you!/);
    expect(productData(shown)).toMatchObject({
      aggregateRating: { '@type': 'AggregateRating', ratingValue: 4, reviewCount: 1, bestRating: 5 },
      review: [{ author: { name: 'Ada L.' }, reviewRating: { ratingValue: 4 }, name: '<b>Fine</b>' }],
    });

    // Lists have the average, too, as soon as it changes.
    const { categoryId } = (await service.db.one<{ categoryId: string }>(sql`
      select upper(category_id::text) as "categoryId" from category where shop_id = ${shop.shopId} limit 1`))!;
    const assigned = await service.call('POST', `/${shop.shopId}/product-category-assignments`, {
      token: shop.token,
      body: { categoryId, productId: tea },
    });
    expect(assigned.status).toBe(204);
    const list = async () => mainOf(await givenVisitor(service, shop.shopId).get('/Categories'));
    expect(await list()).toContain('TEA ★★★★☆ 4 out of 5 stars, 1 review');

    // A change waits again, and does not count meanwhile.
    await write({ stars: '2', title: '', text: '' });
    expect(await starsOf(shop.shopId, tea)).toEqual({ one: 0, two: 0, three: 0, four: 0, five: 0 });
    expect(await reviewsIn(shop.shopId)).toEqual([
      { stars: 2, title: '', text: '', name: 'Ada L.', state: 'waiting' },
    ]);
    expect(await page()).not.toContain('id="reviews"');
    expect(await list()).not.toContain('stars');
    await visitor.submit(`${path}/${tea}/delete`, {});
    expect(await reviewsIn(shop.shopId)).toEqual([]);
    expect(await eventsOf(shop.shopId)).toEqual(['REVIEW_CREATE', 'REVIEW_PUBLISHED']);
  });

  test('has one review of each product, also when the form is sent twice at once', async () => {
    const { shop, tea, write, page } = await givenBuyer({
      ...SETTINGS,
      reviews: { open: true, moderation: 'after' },
    });
    const answers = await Promise.all([write({ stars: '1' }), write({ stars: '5' }), write({ stars: '5' })]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    const rows = await service.db.many<{ stars: number }>(sql`
      select stars from review where shop_id = ${shop.shopId}`);
    expect(rows).toHaveLength(1);
    const { stars } = rows[0]!;
    expect(await starsOf(shop.shopId, tea)).toEqual({
      one: Number(stars === 1),
      two: 0,
      three: 0,
      four: 0,
      five: Number(stars === 5),
    });
    expect(mainOf({ text: await page() })).toContain(`${stars} out of 5 stars, 1 review`);
  });

  test('reviews nothing that was not sent, nor what others have bought, nor with a changed link', async () => {
    const { shop, order, tea, book, teaLine } = await givenOrder(OPEN);
    const path = await pathOf(order);
    const visitor = givenVisitor(service, shop.shopId);
    const form = { stars: '5', name: 'Ada' };
    expect(mainOf(await visitor.get(path))).toContain('There is nothing to review yet.');
    await well(order, 'POST', '/shipments', { lines: [{ lineItemId: teaLine, quantity: 1 }] });
    const other = await givenProduct(shop, { number: 'CUP', price: 100, stock: 1 });
    const elsewhere = await givenBuyer();
    await changesNothing(service, async () => {
      for (const id of [book, other, elsewhere.tea, 'x']) {
        expect((await visitor.post(`${path}/${id}`, form)).status).toBe(404);
        expect((await visitor.post(`${path}/${id}/delete`, {})).status).toBe(404);
      }
      const key = await installationKey(service.config);
      const orderToken = orderTokens(key).token(shop.shopId, order.id);
      for (const token of [orderToken, elsewhere.path.slice('/reviews/'.length), 'x'.repeat(43)]) {
        expect((await visitor.get(`/reviews/${token}`)).status).toBe(404);
        expect((await visitor.post(`/reviews/${token}/${tea}`, form)).status).toBe(404);
        expect((await visitor.post(`/reviews/${token}/stop`, {})).status).toBe(404);
      }
      for (const wrong of [{ stars: '6' }, { stars: '' }, { name: ' ' }]) {
        expect((await visitor.post(`${path}/${tea}`, { ...form, ...wrong })).status).toBe(400);
      }
      for (const long of [
        { title: 'a'.repeat(101) },
        { text: ' '.repeat(200_000) },
        { name: 'a'.repeat(61) },
      ]) {
        expect((await visitor.post(`${path}/${tea}`, { ...form, ...long })).status).toBe(413);
      }
    });
    await changeSettings(shop, { reviews: { open: false } });
    await changesNothing(service, async () => {
      expect((await visitor.get(path)).status).toBe(404);
      expect((await visitor.post(`${path}/${tea}`, form)).status).toBe(404);
    });
  });

  test('changes and deletes a review from its own order only, because anybody can order with this email address', async () => {
    const { shop, tea, path, write } = await givenBuyer({
      ...SETTINGS,
      reviews: { open: true, moderation: 'after' },
    });
    const second = await placed(shop, { [tea]: 1 });
    await well(second, 'POST', '/shipments', {});
    await write({ stars: '5' });
    const stranger = givenVisitor(service, shop.shopId);
    const other = await pathOf(second);
    expect(mainOf(await stranger.get(other))).toContain('reviewed this product for another order');
    await changesNothing(service, async () => {
      expect((await stranger.get(`${other}/${tea}`)).status).toBe(404);
      const written = await stranger.post(`${other}/${tea}`, { stars: '1', name: 'Mallory' });
      expect([written.status, (await stranger.post(`${other}/${tea}/delete`, {})).status]).toEqual([
        404, 404,
      ]);
    });
    // Without a review, the second order may have one.
    const writer = givenVisitor(service, shop.shopId);
    expect((await writer.post(`${path}/${tea}/delete`, {})).status).toBe(303);
    expect((await stranger.post(`${other}/${tea}`, { stars: '1', name: 'Ada' })).status).toBe(303);
    expect(await reviewsIn(shop.shopId)).toMatchObject([{ stars: 1, name: 'Ada' }]);
  });

  test('comes to the reviews from the page of the order, while the shop has them', async () => {
    const { shop, order, path, visitor } = await givenBuyer();
    const key = await installationKey(service.config);
    const orderPage = `/order/${orderTokens(key).token(shop.shopId, order.id)}`;
    expect((await visitor.get(orderPage)).text).toContain(`${orderPage}/reviews"`);
    const { headers } = await visitor.get(`${orderPage}/reviews`);
    expect(headers.location).toBe(`/shop/${shop.shopId}${path}`);
    await changeSettings(shop, { reviews: { open: false } });
    expect((await visitor.get(orderPage)).text).not.toContain(`${orderPage}/reviews"`);
  });
});

test('a rejected review is not published by writing it again, and a second decision changes nothing', async () => {
  const { shop, tea, call, write } = await givenBuyer({
    ...SETTINGS,
    reviews: { open: true, moderation: 'after' },
  });
  await write({ stars: '1' });
  const { body } = await call('GET', '?state=published');
  const at = `/${body.items[0].reviewId}/state`;
  for (let again = 0; again < 2; again++) {
    expect((await call('PUT', at, { state: 'rejected' })).body.state).toBe('rejected');
  }
  await write({ stars: '1' });
  expect(await starsOf(shop.shopId, tea)).toEqual({ one: 0, two: 0, three: 0, four: 0, five: 0 });
  expect((await reviewsIn(shop.shopId))[0]).toMatchObject({ state: 'waiting' });
  expect(await eventsOf(shop.shopId)).toEqual(['REVIEW_CREATE', 'REVIEW_PUBLISHED', 'REVIEW_REJECTED']);
  await changesNothing(service, async () => {
    expect((await call('PUT', at, { state: 'waiting' })).status).toBe(400);
    expect((await call('PUT', `/${tea}/state`, { state: 'published' })).status).toBe(404);
    expect((await call('PUT', at.replace('state', 'answer'), { answer: '   ' })).status).toBe(400);
  });
});

test('a visitor reports a review, and the decision of the shop closes the report', async () => {
  const { shop, call, write } = await givenBuyer({
    ...SETTINGS,
    reviews: { open: true, moderation: 'after' },
  });
  await write();
  const stranger = givenVisitor(service, shop.shopId, '127.0.0.2');
  const { items } = (await call('GET', '?state=published')).body;
  const { reviewId } = items[0];
  const path = `/Products/TEA/reviews/${reviewId}/report`;
  expect((await stranger.get('/Products/TEA/reviews?stars=4')).text).toContain(path);
  expect(mainOf(await stranger.get('/Products/TEA/reviews?stars=5'))).toContain('There is no such review.');
  await changesNothing(service, async () => {
    expect((await stranger.post(path, { reason: ' ' })).status).toBe(400);
    expect((await stranger.post(path, { reason: 'Bad', email: 'nowhere' })).status).toBe(400);
    expect((await stranger.post(path, { reason: 'a'.repeat(2001) })).status).toBe(413);
    const foreign = { origin: 'https://evil.example' };
    expect((await stranger.post(path, { reason: 'Bad' }, foreign)).status).toBe(403);
    expect((await stranger.post(path.replace('TEA', 'BOOK'), { reason: 'Bad' })).status).toBe(404);
  });
  const { text } = await stranger.submit(path, { reason: 'It insults me.', email: 'Eve@mail.example' });
  expect(mainOf({ text })).toContain('Thank you. We will check the review.');
  expect((await call('GET', '?state=reported')).body.items[0]).toMatchObject({ reviewId, openReports: 1 });
  const report = { reason: 'It insults me.', email: 'eve@mail.example', closedOn: null };
  const reports = await call('GET', `/${reviewId}/reports`);
  expect(reports.body.items).toMatchObject([report]);
  await call('PUT', `/${reviewId}/state`, { state: 'published' });
  expect((await call('GET', '?state=reported')).body.results).toBe(0);
  const [closed] = (await call('GET', `/${reviewId}/reports`)).body.items;
  expect(closed).toEqual({ ...reports.body.items[0], closedOn: expect.any(String) });
  expect(await eventsOf(shop.shopId)).toEqual(['REVIEW_CREATE', 'REVIEW_PUBLISHED', 'REVIEW_REPORTED']);
});

describe('an invitation', () => {
  const INVITING: SettingsFile = {
    ...SETTINGS,
    reviews: { open: true, invite: 'customers', invitationDays: 7 },
  };
  const invitationsTo = async (shopId: string) =>
    (await queuedEmails(service, shopId)).filter(({ template }) => template === reviewInvitation.name);
  const runAfter = async (days: number) => {
    service.setClock(new Date(NOW.getTime() + days * DAY));
    await reviewInvitations.run(service.db, 100);
    service.setClock(NOW);
  };
  const load = (shopId: string, orderId: string) =>
    reviewInvitation.load!(service.db, { shopId, locale: 'en_GB', facts: { orderId } });

  test('is sent once, some days after the shipment', async () => {
    const { shop, order } = await givenBuyer(INVITING);
    const silent = await givenBuyer();
    const subscribers = await givenBuyer({
      ...INVITING,
      reviews: { ...INVITING.reviews, invite: 'subscribers' },
    });
    await runAfter(6);
    expect(await invitationsTo(shop.shopId)).toEqual([]);
    await Promise.all([runAfter(7.5), runAfter(7.5)]);
    await runAfter(8);
    expect(await invitationsTo(shop.shopId)).toMatchObject([
      { to: 'ada.lindqvist@mail.example', facts: { orderId: order.id, products: [] } },
    ]);
    expect(await invitationsTo(silent.shop.shopId)).toEqual([]);
    expect(await invitationsTo(subscribers.shop.shopId)).toEqual([]);
    expect(await load(shop.shopId, order.id)).toEqual({
      orderId: order.id,
      orderNumber: order.body.orderNumber,
      products: expect.arrayContaining(['TEA', 'BOOK']),
    });
  });

  test('is not sent to who has objected, nor long after the shipment', async () => {
    const { shop, order, path, visitor, tea } = await givenBuyer(INVITING);
    const late = await givenBuyer(INVITING);
    await runAfter(11);
    expect(await invitationsTo(late.shop.shopId)).toEqual([]);
    expect(mainOf(await visitor.get(`${path}/stop`))).toContain('We will not ask you for reviews again.');
    expect(await load(shop.shopId, order.id)).toBeDefined();
    await visitor.submit(`${path}/stop`, {});
    await visitor.submit(`${path}/stop`, {});
    expect(await load(shop.shopId, order.id)).toBeUndefined();
    const next = await placed(shop, { [tea]: 1 });
    await well(next, 'POST', '/shipments', {});
    await runAfter(8);
    expect(await invitationsTo(shop.shopId)).toEqual([]);
  });
});

test('reviews are in the export of their writer, and go with the erasure', async () => {
  const { shop, tea, call, write } = await givenBuyer({
    ...SETTINGS,
    reviews: { open: true, moderation: 'after' },
  });
  await write();
  const { customerId } = (await call('GET', '?state=published')).body.items[0];
  const customer = `/manage/shops/${shop.shopId}/customers/${customerId}`;
  const exported = await service.call('GET', `${customer}/export`, { token: shop.token });
  expect(exported.body.reviews).toMatchObject([
    { stars: 4, title: 'Fine', name: 'Ada L.', state: 'published' },
  ]);
  const erased = await service.call('POST', `${customer}/erase?force=true`, { token: shop.token });
  expect(erased.body).toMatchObject({ reviewsDeleted: 1, reviewReportsErased: 0 });
  expect(await reviewsIn(shop.shopId)).toEqual([]);
  expect(await starsOf(shop.shopId, tea)).toEqual({ one: 0, two: 0, three: 0, four: 0, five: 0 });
});

test('the admin publishes with one button, answers, and shows reports', async () => {
  const { shop, tea, call, write } = await givenBuyer();
  await write({ title: 'Too <i>hot</i>', text: '' });
  const merchant = await givenMerchant(service, 'orders', shop.shopId);
  expect((await merchant.get('')).text).toMatch(/reviews">\s*<span>Reviews to check<\/span>\s*<strong>1</);
  const list = await merchant.get('/reviews');
  expect(list.text).toContain('Too &lt;i&gt;hot&lt;/i&gt;');
  const { reviewId } = (await call('GET', '')).body.items[0];
  expect(list.text).toContain(`/reviews/${reviewId}/state"`);
  const { status, location } = await merchant.post(`/reviews/${reviewId}/state`, {
    state: 'published',
    list: 'waiting',
  });
  expect([status, location]).toEqual([303, `/admin/shops/${shop.shopId}/reviews`]);
  expect(await starsOf(shop.shopId, tea)).toMatchObject({ four: 1 });
  await merchant.post(`/reviews/${reviewId}`, { answer: 'We let it cool now.' });
  expect((await call('GET', `/${reviewId}`)).body).toMatchObject({
    state: 'published',
    answer: 'We let it cool now.',
    answeredOn: expect.any(String),
  });
  const visitor = givenVisitor(service, shop.shopId);
  await visitor.submit(`/Products/TEA/reviews/${reviewId}/report`, {
    reason: 'Untrue',
    email: 'e@mail.example',
  });
  expect((await merchant.get('/reviews?state=reported')).text).toContain('1 open report');
  const page = await merchant.get(`/reviews/${reviewId}`);
  expect(page.text).toContain('Untrue');
  expect(page.text).toContain('href="mailto:e@mail.example"');
  await merchant.post(`/reviews/${reviewId}`, { answer: '' });
  expect((await call('GET', `/${reviewId}`)).body).toMatchObject({ answer: null, answeredOn: null });
  const catalogue = await givenMerchant(service, 'catalogue', shop.shopId);
  await changesNothing(service, async () => {
    expect((await catalogue.get('/reviews')).status).toBe(403);
    expect((await catalogue.post(`/reviews/${reviewId}/state`, { state: 'rejected' })).status).toBe(403);
    expect((await merchant.post(`/reviews/${tea}/state`, { state: 'rejected' })).status).toBe(404);
    expect((await merchant.post(`/reviews/${reviewId}/state`, { state: 'waiting' })).status).toBe(404);
  });
});
