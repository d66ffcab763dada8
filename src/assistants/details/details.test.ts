import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenMerchant } from '../../../test/admin.ts';
import { shopFingerprint, startDemo } from '../../../test/demo.ts';
import { answerCalls, answerWith, givenInstalledApp, LABELS, startFakeApp } from '../../../test/fake-app.ts';
import {
  ask,
  profileFile,
  startFakeAssistant,
  type AssistantCall,
  type FakeAssistant,
} from '../../../test/fake-assistant.ts';
import type { Service } from '../../../test/service.ts';
import { givenVisitor, mainOf } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import { newCartToken } from '../../http/cart-token.ts';

let service: Service;
let assistant: FakeAssistant;
let kettle: string;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0', WEBHOOK_ALLOW: '127.0.0.0/8' });
  assistant = await startFakeAssistant();
  const row = await service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'AP-100'`);
  kettle = row!.id;
});
afterAll(async () => {
  await assistant.close();
  await service.close();
});
beforeEach(() => service.setClock(undefined));

const send = (
  method: NonNullable<AssistantCall['method']>,
  path: string,
  body?: unknown,
  call: AssistantCall = {},
) => ask(service, `/ucp${path}`, body, { profile: assistant.profile, method, ...call });
const items = { line_items: [] as { item: { id: string }; quantity: number }[] };
beforeAll(() => items.line_items.push({ item: { id: kettle }, quantity: 2 }));

const create = async (more: object = {}) => {
  const { status, body } = await send('POST', '/checkout-sessions', { ...items, ...more });
  expect(status).toBe(201);
  return body;
};
const replace = async (id: string, more: object) => {
  const { status, body } = await send('PUT', `/checkout-sessions/${id}`, { ...items, ...more });
  expect(status).toBe(200);
  return body;
};

const HAMBURG = {
  first_name: 'Ada',
  last_name: 'Brennan',
  street_address: 'Speicherweg 4',
  address_locality: 'Hamburg',
  postal_code: '20457',
  address_country: 'DE',
};
const BUYER = {
  first_name: 'Ada',
  last_name: 'Brennan',
  email: 'ada@pelican.example',
  phone_number: '+4940123456',
};
const shippingTo = (address: object, more: object = {}) => ({
  methods: [{ type: 'shipping', destinations: [address], ...more }],
});

const errorsOf = ({ messages }: { messages: { type: string; code: string; path?: string }[] }) =>
  messages.filter(({ type }) => type === 'error').map(({ code, path }) => [code, path]);
const totalOf = ({ totals }: { totals: { type: string; amount: number }[] }, type = 'total') =>
  totals.filter((one) => one.type === type).reduce((sum, { amount }) => sum + amount, 0);

/** Nobody gets the token of a session's cart, so one is put there, with which the API shows the same cart. */
async function tokenOf({ continue_url: link }: { continue_url: string }) {
  const cartId = new URL(link).searchParams.get('cart')!;
  const { token, hash } = newCartToken();
  await service.db.run(sql`
    update cart set token_hash = ${hash}, version = version + 1 where shop_id = 'DemoShop' and cart_id = ${cartId}`);
  return { cartId, cartToken: token };
}

async function apiCart(session: { continue_url: string }) {
  const { cartId, cartToken } = await tokenOf(session);
  return (await service.call('GET', `/DemoShop/carts/${cartId}`, { cartToken })).body;
}
const cents = ({ amount }: { amount: number }) => Math.round(amount * 100);

describe('the delivery', () => {
  test('has the options and prices of the cart, and the chosen one goes into it', async () => {
    const made = await create({ buyer: BUYER, fulfillment: shippingTo(HAMBURG) });
    const [method] = made.fulfillment.methods;
    expect(method).toMatchObject({
      id: 'shipping',
      type: 'shipping',
      line_item_ids: [made.line_items[0].id],
    });
    expect(method.destinations).toEqual([{ type: 'shipping_address', id: expect.any(String), ...HAMBURG }]);
    expect(method.selected_destination_id).toBe(method.destinations[0].id);
    const { cartId, cartToken } = await tokenOf(made);
    const offered = (
      await service.call('GET', `/manage/shops/DemoShop/carts/${cartId}/delivery-options`, { cartToken })
    ).body.items as { id: string; name: string; price: { amount: number } }[];
    const shipped = offered.filter(({ id }) =>
      method.groups[0].options.some((option: { id: string }) => option.id === id),
    );
    expect(method.groups[0].options.length).toBeGreaterThan(1);
    expect(
      method.groups[0].options.map(
        ({ id, title, totals }: { id: string; title: string; totals: object[] }) => [id, title, totals],
      ),
    ).toEqual(shipped.map(({ id, name, price }) => [id, name, [{ type: 'total', amount: cents(price) }]]));
    expect([made.status, errorsOf(made)]).toEqual([
      'incomplete',
      [
        ['field_required', '$.fulfillment.methods[0].groups[0].selected_option_id'],
        ['buyer_input_required', undefined],
      ],
    ]);

    for (const option of method.groups[0].options) {
      const chosen = await replace(made.id, {
        fulfillment: shippingTo(HAMBURG, { groups: [{ id: 'all', selected_option_id: option.id }] }),
      });
      expect(chosen.fulfillment.methods[0].groups[0].selected_option_id).toBe(option.id);
      expect([totalOf(chosen, 'fulfillment'), chosen.status]).toEqual([
        option.totals[0].amount,
        'requires_escalation',
      ]);
      expect((await send('GET', `/checkout-sessions/${made.id}`)).body).toEqual(chosen);
      const cart = await apiCart(made);
      expect(cart.shippingData.shippingMethod.id).toBe(option.id);
      expect(totalOf(chosen)).toBe(cents(cart.lineItemContainer.grandTotal));
      expect(cart.billingAddress).toMatchObject({
        city: 'Hamburg',
        emailAddress: BUYER.email,
        lastName: 'Brennan',
      });
      expect(cart.shippingAddress).toBeNull();
    }
    // What a request leaves out stays.
    const again = await replace(made.id, {});
    expect(again.buyer.email).toBe(BUYER.email);
    expect(again.fulfillment.methods[0].groups[0].selected_option_id).toBe(
      method.groups[0].options.at(-1).id,
    );
  });

  test('is that of the request when a cart becomes a session, and the rest is that of the cart', async () => {
    const { body: cart } = await send('POST', '/carts', {
      line_items: [{ item: { id: kettle }, quantity: 2 }],
      buyer: BUYER,
    });
    const convert = async (fulfillment?: object) =>
      (
        await send('POST', '/checkout-sessions', {
          cart_id: cart.id,
          line_items: [{ item: { id: kettle }, quantity: 9 }],
          buyer: { ...BUYER, email: 'other@pelican.example' },
          ...(fulfillment && { fulfillment }),
        })
      ).body;
    const made = await convert(
      shippingTo(HAMBURG, { groups: [{ id: 'all', selected_option_id: 'no-such-option' }] }),
    );
    expect(made.line_items).toEqual(cart.line_items);
    expect(made.buyer).toMatchObject(BUYER);
    expect(made.fulfillment.methods[0].destinations).toMatchObject([HAMBURG]);
    expect([made.status, errorsOf(made)[0]]).toEqual([
      'incomplete',
      ['option_unavailable', '$.fulfillment.methods[0].groups[0].selected_option_id'],
    ]);
    // A cart that names no buyer leaves that to the request, too.
    const { body: unnamed } = await send('POST', '/carts', {
      line_items: [{ item: { id: kettle }, quantity: 1 }],
    });
    const { body: named } = await send('POST', '/checkout-sessions', {
      cart_id: unnamed.id,
      line_items: [],
      buyer: BUYER,
    });
    expect(named.buyer).toMatchObject(BUYER);
    // Asked again it is the same session, as it is.
    const again = await convert(shippingTo({ ...HAMBURG, address_locality: 'Bremen' }));
    expect(again.fulfillment).toEqual(made.fulfillment);
    expect(again.id).toBe(made.id);
    expect((await convert()).fulfillment).toEqual(made.fulfillment);
  });

  test('to an address that the shop does not serve is said, not refused', async () => {
    const { body } = await send('POST', '/checkout-sessions', {
      ...items,
      buyer: BUYER,
      fulfillment: shippingTo({ ...HAMBURG, address_country: 'Brazil' }),
    });
    expect(body.status).toBe('incomplete');
    expect(body.fulfillment.methods[0].destinations[0].address_country).toBe('BR');
    expect(body.fulfillment.methods[0].groups[0].options).toEqual([]);
    expect(errorsOf(body)).toEqual([
      ['address_undeliverable', '$.fulfillment.methods[0].destinations[0].address_country'],
      ['address_undeliverable', '$.fulfillment.methods[0].selected_destination_id'],
      ['buyer_input_required', undefined],
    ]);
    const mended = await replace(body.id, { fulfillment: shippingTo(HAMBURG) });
    expect(errorsOf(mended)[0]).toEqual([
      'field_required',
      '$.fulfillment.methods[0].groups[0].selected_option_id',
    ]);
  });

  test('of an address that is not complete says what is missing', async () => {
    const { street_address: _street, ...rest } = HAMBURG;
    const made = await create({
      buyer: { email: 'no address' },
      fulfillment: shippingTo({ ...rest, postal_code: '2045', first_name: '', last_name: '' }),
    });
    expect(errorsOf(made).slice(0, -1)).toEqual(
      expect.arrayContaining([
        ['field_required', '$.buyer.first_name'],
        ['field_required', '$.buyer.last_name'],
        ['field_invalid', '$.buyer.email'],
        ['field_invalid', '$.fulfillment.methods[0].destinations[0].postal_code'],
        ['field_required', '$.fulfillment.methods[0].destinations[0].street_address'],
      ]),
    );
    expect(made.messages.find(({ path }: { path?: string }) => path === '$.buyer.first_name').content).toBe(
      'First name: Please fill in this field.',
    );
    const cart = await apiCart(made);
    expect([cart.billingAddress, cart.shippingAddress.city]).toEqual([null, 'Hamburg']);
  });

  test('by an unknown destination or option leaves the session as it was', async () => {
    const made = await create({ buyer: BUYER, fulfillment: shippingTo(HAMBURG) });
    const before = await shopFingerprint(service, 'DemoShop');
    for (const [more, path] of [
      [{ selected_destination_id: 'nowhere' }, '$.fulfillment.methods[0].selected_destination_id'],
      [{ groups: [{ selected_option_id: 'owl' }] }, '$.fulfillment.methods[0].groups[0].selected_option_id'],
    ] as const) {
      const { status, body } = await send('PUT', `/checkout-sessions/${made.id}`, {
        line_items: [{ item: { id: kettle }, quantity: 1 }],
        fulfillment: shippingTo(HAMBURG, more),
      });
      expect([status, body.line_items[0].quantity, errorsOf(body)[0]![1]]).toEqual([200, 2, path]);
      expect(body.status).toBe('incomplete');
    }
    expect(await shopFingerprint(service, 'DemoShop')).toEqual(before);
    // An address is named by the id that it has got.
    const { id } = made.fulfillment.methods[0].destinations[0];
    const named = await replace(made.id, {
      fulfillment: { methods: [{ type: 'shipping', selected_destination_id: id }] },
    });
    expect(named.fulfillment.methods[0].selected_destination_id).toBe(id);
  });

  test('can be a place where the buyer collects the goods', async () => {
    const made = await create({ buyer: BUYER, fulfillment: shippingTo(HAMBURG) });
    const pickup = made.fulfillment.methods.find(({ type }: { type: string }) => type === 'pickup');
    expect(pickup.line_item_ids).toEqual([]);
    const [place] = pickup.destinations;
    expect(place).toEqual({ type: 'business_location', id: expect.any(String), name: expect.any(String) });
    const chosen = await replace(made.id, {
      fulfillment: {
        methods: [
          { type: 'pickup', line_item_ids: [made.line_items[0].id], selected_destination_id: place.id },
        ],
      },
    });
    const [shipping, collected] = chosen.fulfillment.methods;
    expect([shipping.line_item_ids, collected.line_item_ids]).toEqual([[], [made.line_items[0].id]]);
    expect(collected).toMatchObject({
      selected_destination_id: place.id,
      groups: [{ selected_option_id: place.id }],
    });
    expect((await apiCart(made)).shippingData.shippingMethod.id).toBe(place.id);
    expect(chosen.status).toBe('requires_escalation');
  });

  test('is not spoken of to an assistant that does not know it', async () => {
    const { file } = assistant;
    assistant.file = profileFile(['dev.ucp.shopping.checkout']);
    assistant.profile = `${assistant.origin}/checkout-only.json`;
    const { body } = await send('POST', '/checkout-sessions', { ...items, fulfillment: shippingTo(HAMBURG) });
    assistant.file = file;
    assistant.profile = `${assistant.origin}/profile.json`;
    expect([body.fulfillment, body.discounts, body.status]).toEqual([
      undefined,
      undefined,
      'requires_escalation',
    ]);
    expect(Object.keys(body.ucp.capabilities)).toEqual(['dev.ucp.shopping.checkout']);
  });
});

describe('codes of coupons', () => {
  test('are applied to the cent, and refused with a reason', async () => {
    const made = await create({ discounts: { codes: ['nothing', 'autumn15', 'OLDNEWS'] } });
    const cart = await apiCart(made);
    const taken = cents(cart.lineItemContainer.couponLineItem.lineItemPrice);
    expect(made.discounts.codes).toEqual(['nothing', 'autumn15', 'OLDNEWS']);
    const byCode = made.discounts.applied.find(({ code }: { code?: string }) => code === 'autumn15');
    expect(byCode.amount).toBe(Math.abs(taken));
    expect(byCode.allocations.reduce((sum: number, { amount }: { amount: number }) => sum + amount, 0)).toBe(
      byCode.amount,
    );
    const applied = made.discounts.applied.reduce(
      (sum: number, { amount }: { amount: number }) => sum + amount,
      0,
    );
    expect(totalOf(made, 'items_discount')).toBe(-applied);
    expect(made.line_items[0].totals).toContainEqual({ type: 'items_discount', amount: -applied });
    expect(totalOf(made)).toBe(cents(cart.lineItemContainer.grandTotal));
    expect(
      made.messages
        .filter(({ code }: { code: string }) => code.startsWith('discount_code'))
        .map(({ type, code, path }: { type: string; code: string; path: string }) => [type, code, path]),
    ).toEqual([
      ['warning', 'discount_code_invalid', '$.discounts.codes[0]'],
      ['warning', 'discount_code_combination_disallowed', '$.discounts.codes[2]'],
    ]);

    const expired = await replace(made.id, { discounts: { codes: ['OLDNEWS'] } });
    expect(expired.discounts.applied.filter(({ code }: { code?: string }) => code)).toEqual([]);
    expect(expired.messages.map(({ code }: { code: string }) => code)).toContain('discount_code_expired');
    const none = await replace(made.id, { discounts: { codes: [] } });
    expect(none.discounts.codes).toEqual([]);
    expect((await apiCart(made)).lineItemContainer.couponLineItem).toBeNull();
  });
});

describe('the newsletter', () => {
  const consentTo = (granted: boolean, source: string) => ({
    'dev.ucp.consent.marketing': {
      granted: false,
      source: 'business',
      segments: { 'dev.ucp.consent.marketing.email': { granted, source } },
    },
    'com.example.other': { granted: true, source: 'platform' },
  });

  test('is offered, and only what the buyer has said counts', async () => {
    const made = await create({ buyer: BUYER });
    const offered = made.buyer.consent['dev.ucp.consent.marketing'];
    expect([offered.granted, offered.source, Object.keys(made.buyer.consent)]).toEqual([
      false,
      'business',
      ['dev.ucp.consent.marketing'],
    ]);
    const echoed = await replace(made.id, { buyer: { ...BUYER, consent: consentTo(true, 'business') } });
    expect(echoed.buyer.consent['dev.ucp.consent.marketing'].granted).toBe(false);
    const said = await replace(made.id, { buyer: { consent: consentTo(true, 'platform') } });
    expect(
      said.buyer.consent['dev.ucp.consent.marketing'].segments['dev.ucp.consent.marketing.email'],
    ).toMatchObject({ granted: true, source: 'platform' });
    expect(said.messages).toContainEqual(
      expect.objectContaining({ code: 'missing_consent_data', path: '$.buyer.email' }),
    );
    // Nobody is subscribed, and no email is sent, before the order.
    expect(await service.db.many(sql`select 1 as one from newsletter_request`)).toEqual([]);
  });
});

describe('the buyer', () => {
  const reviewedIn = (text: string) => /name="reviewed" value="([^"]*)"/.exec(text)![1]!;
  const pathOf = (address: string) => {
    const { pathname, search } = new URL(address);
    return pathname + search;
  };
  const givenBuyer = () => givenVisitor(service, 'DemoShop', '127.0.0.1', 'demoshop.localhost');
  const prepared = async () => {
    const consent = {
      'dev.ucp.consent.marketing': { granted: true, source: 'platform' },
    };
    const made = await create({
      buyer: { ...BUYER, consent },
      fulfillment: shippingTo(HAMBURG),
      discounts: { codes: ['AUTUMN15'] },
    });
    const [option] = made.fulfillment.methods[0].groups[0].options;
    return replace(made.id, {
      fulfillment: shippingTo(HAMBURG, { groups: [{ id: 'all', selected_option_id: option.id }] }),
    });
  };
  const advance = async () =>
    (
      await service.db.one<{ id: string }>(sql`
        select upper(payment_method_id::text) as id from payment_method
        where shop_id = 'DemoShop' and key = 'advance'`)
    )?.id ?? '';

  test('finds everything filled in, orders, and is asked about the newsletter', async () => {
    const session = await prepared();
    const buyer = givenBuyer();
    await buyer.get(pathOf(session.continue_url));
    // Only the payment is left to choose.
    const before = await buyer.get('/checkout/review');
    expect(String(before.headers.location)).toBe('/checkout/delivery');
    const option = session.fulfillment.methods[0].groups[0].selected_option_id as string;
    const methods = { shippingMethod: option, paymentMethod: await advance() };
    const review = await buyer.submit('/checkout/delivery', methods);
    const text = mainOf(review);
    expect(text).toContain('Ada Brennan Speicherweg 4 20457 Hamburg ada@pelican.example');
    expect(text).toContain('Coupon AUTUMN15');
    expect(text).not.toContain('Your assistant showed');
    await service.db.run(sql`delete from newsletter_request`);
    await buyer.submit('/checkout/order', { reviewed: reviewedIn(review.text) });
    const orders = await service.db.many<{ total: number; email: string }>(sql`
      select (content ->> 'grandTotal')::int as total, billing_address ->> 'emailAddress' as email
      from customer_order where shop_id = 'DemoShop' order by created_at desc limit 1`);
    expect(orders).toEqual([{ total: totalOf(session), email: BUYER.email }]);
    expect(
      await service.db.many(sql`select email from newsletter_request where shop_id = 'DemoShop'`),
    ).toEqual([{ email: BUYER.email }]);
    expect(
      await service.db.many(sql`select 1 as one from newsletter_subscriber where email = ${BUYER.email}`),
    ).toEqual([]);
  });

  test('gets the delivery of an app that the assistant has chosen', async () => {
    const app = await startFakeApp();
    const options = [
      { id: 'express', name: { en: 'Courier', de: 'Kurier' }, price: 1290, days: { from: 1, to: 2 } },
      { id: 'boat', name: 'Slow boat', price: 300 },
    ];
    let offered = options;
    const asked = answerCalls(app, (path) =>
      path === '/delivery'
        ? (question, response) => answerWith(app, question, response, JSON.stringify({ options: offered }))
        : undefined,
    );
    const call = { kind: 'deliveryOptions', url: '/delivery', timeoutMs: 800, onFailure: 'hide' };
    app.manifest = { ...LABELS, scopes: ['carts_read', 'orders_read'], webhooks: [], calls: [call] };
    const merchant = await givenMerchant(service);
    const appId = await givenInstalledApp(merchant, app);
    try {
      const made = await create({ buyer: BUYER, fulfillment: shippingTo(HAMBURG) });
      const [group] = made.fulfillment.methods[0].groups as [{ options: { id: string; title: string }[] }];
      const named = (title: string) => group.options.find((option) => option.title === title)!;
      expect(named('Courier')).toMatchObject({ totals: [{ type: 'total', amount: 1290 }] });
      expect(JSON.stringify(asked)).not.toContain('Brennan');
      const choosing = ({ id }: { id: string }) => ({
        fulfillment: shippingTo(HAMBURG, { groups: [{ id: 'all', selected_option_id: id }] }),
      });
      const session = await replace(made.id, choosing(named('Courier')));
      expect([totalOf(session, 'fulfillment'), session.status]).toEqual([1290, 'requires_escalation']);
      expect((await send('GET', `/checkout-sessions/${made.id}`)).body).toEqual(session);
      // Nothing counts of a request with an option that the app offers no more.
      offered = options.slice(0, 1);
      const refused = await replace(made.id, choosing(named('Slow boat')));
      expect(errorsOf(refused)[0]).toEqual([
        'option_unavailable',
        '$.fulfillment.methods[0].groups[0].selected_option_id',
      ]);
      expect([totalOf(refused), totalOf(refused, 'fulfillment')]).toEqual([totalOf(session), 1290]);

      const buyer = givenBuyer();
      await buyer.get(pathOf(session.continue_url));
      const review = await buyer.submit('/checkout/delivery', {
        shippingMethod: named('Courier').id,
        paymentMethod: await advance(),
      });
      expect(mainOf(review)).toContain('Courier');
      await buyer.submit('/checkout/order', { reviewed: reviewedIn(review.text) });
      const { body: completed } = await send('GET', `/checkout-sessions/${made.id}`);
      expect([completed.status, totalOf(completed)]).toEqual(['completed', totalOf(session)]);
      const { body: order } = await send('GET', `/orders/${completed.order.id}`);
      expect(order.fulfillment.expectations).toMatchObject([
        { method_type: 'shipping', description: expect.stringMatching(/^Courier: /) },
      ]);
      const placed = await service.db.one<{ option: object }>(sql`
        select content #> '{shipping,option}' as option from customer_order
        where shop_id = 'DemoShop' order by created_at desc limit 1`);
      expect(placed!.option).toMatchObject({ appId, optionId: 'express' });
    } finally {
      await merchant.post(`/apps/${appId}/uninstall`);
      await app.close();
    }
  });

  test('is told before ordering when the total is another one', async () => {
    const session = await prepared();
    const buyer = givenBuyer();
    const link = new URL(session.continue_url);
    expect(link.searchParams.get('shown')).toBe(String(totalOf(session)));
    link.searchParams.set('shown', String(totalOf(session) - 100));
    await buyer.get(pathOf(link.href));
    const option = session.fulfillment.methods[0].groups[0].selected_option_id as string;
    const review = await buyer.submit('/checkout/delivery', {
      shippingMethod: option,
      paymentMethod: await advance(),
    });
    const euros = (minor: number) => `€${(minor / 100).toFixed(2)}`;
    expect(mainOf(review)).toContain(
      `Your assistant showed a total of ${euros(totalOf(session) - 100)}. It is ${euros(totalOf(session))} now.`,
    );
  });

  test('finds in the form what the assistant knew of an address that is not complete', async () => {
    const { street_address: _street, ...rest } = HAMBURG;
    const made = await create({ buyer: BUYER, fulfillment: shippingTo(rest) });
    const buyer = givenBuyer();
    await buyer.get(pathOf(made.continue_url));
    const form = await buyer.get('/checkout');
    for (const value of [BUYER.email, 'Hamburg', '20457', 'Brennan']) {
      expect(form.text).toContain(`value="${value}"`);
    }
  });
});
