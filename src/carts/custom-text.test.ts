import { extractXml } from '@stackforge-eu/factur-x';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  done,
  givenCart,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  linesOf,
  NOW,
  on,
  problem,
  refusal,
  totalsOf,
  type GivenCart,
  type Shop,
} from '../../test/carts.ts';
import { startService, type Service } from '../../test/service.ts';
import { givenVisitor, mainOf } from '../../test/visitor.ts';
import { sql } from '../db/sql.ts';
import type { ProductFacts } from '../catalogue/products/facts.ts';
import { documentFile } from '../orders/documents/file.ts';

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  shop = await givenSmallShop(service, {
    locales: { default: 'en_GB', items: ['en_GB', 'de_DE', 'fr_FR'] },
    shippingMethods: [{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9 }],
    invoicing: {
      company: 'Hafenrösterei GmbH',
      street: 'Speicherweg 4',
      zipCode: '20457',
      city: 'Hamburg',
      vatId: 'DE123456789',
      electronic: true,
    },
  });
});
afterAll(() => service.close());

const ENGRAVING = {
  textLength: 10,
  headline: 'Your engraving',
  headlines: { de_DE: 'Ihre Gravur:' },
  prices: { EUR: 450 },
};

/** A board for 10 euros with an engraving for 4.50. */
const givenBoard = (
  customisation: ProductFacts['customisation'] = ENGRAVING,
  product: { stock?: number; facts?: ProductFacts } = {},
) => givenProduct(shop, { ...product, facts: { ...product.facts, ...(customisation && { customisation }) } });

const add = (cart: GivenCart, productId: string, customText?: string | null, quantity = 1) =>
  on(cart, 'POST', '/line-items', { productId, quantity, customText });
const textsOf = ({ lineItemContainer }: { lineItemContainer: { productLineItems: object[] } }) =>
  lineItemContainer.productLineItems.map((line) => (line as { customText?: string }).customText);

describe('a line with a text', () => {
  test('costs what the text costs, and is another line than one with another text or none', async () => {
    const board = await givenBoard();
    const cart = await givenCart(shop);
    await add(cart, board, '  For Anna ');
    await add(cart, board, 'For Ben', 2);
    await add(cart, board, null);
    await add(cart, board, ' ');
    const { status, body } = await add(cart, board, 'For Anna');
    expect(status).toBe(201);
    expect(textsOf(body)).toEqual(['For Anna', 'For Ben', undefined]);
    expect(linesOf(body).map(([, ...numbers]) => numbers)).toEqual([
      [2, 14.5, 29],
      [2, 14.5, 29],
      [2, 10, 20],
    ]);
    expect(totalsOf(body)).toMatchObject({ subtotal: 78, shipping: 4.9, total: 82.9 });
    expect(body.lineItemContainer.productLineItems[2]).not.toHaveProperty('customText');
    expect(await done(cart, 'GET')).toEqual(body);
  });

  test('counts characters as people do, and compares texts however they were typed', async () => {
    const board = await givenBoard();
    const cart = await givenCart(shop);
    await add(cart, board, '🌊🌊🌊🌊🌊🌊🌊🌊🌊🌊');
    await add(cart, board, 'Zoë');
    const { body } = await add(cart, board, 'Zoe\u0308');
    expect(textsOf(body)).toEqual(['🌊🌊🌊🌊🌊🌊🌊🌊🌊🌊', 'Zoë']);
    expect(body.lineItemContainer.productLineItems[1].quantity.amount).toBe(2);
  });

  test.each([
    ['too long', 'TOO_LONG', 'Eleven char'],
    ['in two lines', 'WRONG_FORMAT', 'a\nb'],
    ['with a control character', 'WRONG_FORMAT', 'a\u0007b'],
    ['that turns the direction', 'WRONG_FORMAT', 'a\u202eb'],
  ])('is refused %s', async (_what, code, text) => {
    const board = await givenBoard();
    const cart = await givenCart(shop);
    expect(await refusal(service, () => add(cart, board, text))).toEqual([400, problem(code, 'customText')]);
  });

  test('is refused for a product that takes none, and without one where it must have one', async () => {
    const plain = await givenProduct(shop);
    const needed = await givenBoard({ ...ENGRAVING, isRequired: true });
    const cart = await givenCart(shop);
    expect(await refusal(service, () => add(cart, plain, 'For Anna'))).toEqual([
      400,
      problem('UNKNOWN_VALUE', 'customText'),
    ]);
    expect(await refusal(service, () => add(cart, needed))).toEqual([400, problem('MISSING', 'customText')]);
    const many = await done(cart, 'POST', '/multi-line-items', [
      { productId: needed, quantity: 1 },
      { productId: needed, quantity: 1, customText: 'For Anna' },
    ]);
    expect([many.status, textsOf(many)]).toEqual(['PartiallyComplete', ['For Anna']]);
  });

  test('a cart holds so many characters of texts', async () => {
    const card = await givenBoard({ textLength: 10_000, headline: '' });
    const cart = await givenCart(shop);
    await add(cart, card, 'a'.repeat(10_000));
    await add(cart, card, 'b'.repeat(10_000));
    expect(await refusal(service, () => add(cart, card, 'c'))).toEqual([
      400,
      'The texts of a cart have at most 20000 characters',
    ]);
  });

  test('shares stock and limit with the other lines of the product', async () => {
    const board = await givenBoard(ENGRAVING, { stock: 3 });
    const cart = await givenCart(shop);
    await add(cart, board, 'For Anna', 2);
    const { body } = await add(cart, board, 'For Ben', 2);
    expect(linesOf(body).map(([, quantity]) => quantity)).toEqual([2, 1]);
    expect((await refusal(service, () => add(cart, board, 'For Cem')))[1]).toContain('is out of stock');
    const limited = await givenBoard(ENGRAVING, { facts: { maxOrder: 2 } });
    await add(cart, limited, 'For Anna', 2);
    expect((await refusal(service, () => add(cart, limited, 'For Ben')))[1]).toMatch(/^No more than 2 of /);
  });

  test('can only be ordered as the product allows it then', async () => {
    const board = await givenBoard();
    const cart = await givenFullCart(shop, {});
    await add(cart, board, 'For Anna');
    await service.call('PATCH', `/${shop.shopId}/products/${board}`, {
      token: shop.token,
      body: [{ op: 'remove', path: '/customisationInfo' }],
      headers: { 'content-type': 'application/json-patch+json' },
    });
    expect((await refusal(service, () => on(cart, 'POST', '/order')))[0]).toBe(409);
  });
});

describe('what a product says about its text', () => {
  const patch = (productId: string, value: object, query = '') =>
    service.call('PATCH', `/${shop.shopId}/products/${productId}${query}`, {
      token: shop.token,
      body: [{ op: 'add', path: '/customisationInfo', value }],
      headers: { 'content-type': 'application/json-patch+json' },
    });

  test('clients that know three of the keys leave the others as they are', async () => {
    const product = await givenProduct(shop);
    const value = { isCustomizable: true, customizableTextLength: 5, customizableHeadlineText: 'Yours' };
    const plain = await patch(product, value);
    expect(plain.body).toMatchObject(value);
    expect(plain.body).not.toHaveProperty('customizablePrice');
    expect(plain.body).not.toHaveProperty('isCustomizableTextRequired');
    expect(plain.body).not.toHaveProperty('isCustomizableTextWithdrawable');
    const kept = { isCustomizableTextRequired: true, isCustomizableTextWithdrawable: true };
    const more = { ...kept, customizablePrice: 4.5 };
    await patch(product, { ...value, ...more });
    const shown = {
      ...value,
      ...kept,
      customizablePrice: { taxType: 'GROSS', formatted: '4.50 €', amount: 4.5, currency: 'EUR' },
    };
    expect((await patch(product, value)).body).toMatchObject(shown);
    const none = await patch(product, {
      ...value,
      isCustomizableTextRequired: false,
      isCustomizableTextWithdrawable: false,
      customizablePrice: 0,
    });
    expect(none.body).not.toHaveProperty('isCustomizableTextWithdrawable');
    expect(none.body).not.toHaveProperty('customizablePrice');
    expect(none.body).not.toHaveProperty('isCustomizableTextRequired');
  });

  test('the headline has a text in each language, and where there is none, that of the default language', async () => {
    const product = await givenProduct(shop);
    const value = { isCustomizable: true, customizableTextLength: 5 };
    const headlines = async () =>
      Promise.all(
        ['en_GB', 'de_DE', 'fr_FR'].map(async (locale) => {
          const { body } = await service.call('GET', `/${shop.shopId}/products/${product}?locale=${locale}`);
          return body.customizableHeadlineText;
        }),
      );
    await patch(product, { ...value, customizableHeadlineText: 'Gravur' }, '?locale=de_DE');
    expect(await headlines()).toEqual(['', 'Gravur', '']);
    await patch(product, { ...value, customizableHeadlineText: 'Engraving' });
    expect(await headlines()).toEqual(['Engraving', 'Gravur', 'Engraving']);
    await patch(product, { ...value, customizableHeadlineText: 'Gravure' }, '?locale=fr_FR');
    expect(await headlines()).toEqual(['Engraving', 'Gravur', 'Gravure']);
    await patch(product, value, '?locale=de_DE');
    expect(await headlines()).toEqual(['Engraving', 'Engraving', 'Gravure']);
    await patch(product, { isCustomizable: false });
    await patch(product, value);
    expect(await headlines()).toEqual(['', '', '']);
  });
});

describe('the text of an order', () => {
  test('is in the order, its invoice and its electronic invoice, and is erased with the person', async () => {
    const board = await givenBoard();
    const cart = await givenFullCart(shop, {});
    await add(cart, board, 'Anna & Öz', 2);
    const order = await done(cart, 'POST', '/order');
    expect(textsOf(order)).toEqual(['Anna & Öz']);
    expect(linesOf(order)[0]!.slice(1)).toEqual([2, 14.5, 29]);
    const manage = (path: string, body: object = {}) =>
      service.call('POST', `/manage/shops/${shop.shopId}${path}`, { token: shop.token, body });
    const invoice = await manage(`/orders/${order.orderId}/invoices`);
    expect(invoice.status).toBe(201);
    const { bytes } = (await documentFile(service.db, shop.shopId, invoice.body.documentId))!;
    const { xml } = await extractXml(bytes);
    expect(xml).toContain('<ram:Description>Your engraving: Anna &amp; Öz</ram:Description>');
    const erased = await manage(`/customers/${order.customerId}/erase?force=true`);
    expect(erased.status).toBe(200);
    const after = await service.call('GET', `/${shop.shopId}/orders/${order.orderId}`, { token: shop.token });
    expect(textsOf(after.body)).toEqual([undefined]);
    expect(after.body.lineItemContainer.grandTotal).toEqual(order.lineItemContainer.grandTotal);
  });

  test('stands beside the headline in the language of the customer', async () => {
    const named = await givenBoard();
    const unnamed = await givenBoard({ textLength: 10, headline: '' });
    const visitor = givenVisitor(service, shop.shopId);
    for (const productId of [named, unnamed]) {
      await visitor.post('/cart/add?locale=de_DE', { productId, quantity: '1', customText: 'Für Anna' });
    }
    const texts = async (locale: string) =>
      [...mainOf(await visitor.get(`/cart?locale=${locale}`)).matchAll(/(\S+ ?\S+ ?: Für Anna)/g)].map(
        ([, text]) => text,
      );
    expect(await texts('de_DE')).toEqual([
      'Ihre Gravur: Für Anna',
      expect.stringMatching(/ Text: Für Anna$/),
    ]);
    expect(await texts('fr_FR')).toEqual([
      'Your engraving : Für Anna',
      expect.stringMatching(/ Texte : Für Anna$/),
    ]);
    const cart = await givenFullCart(shop, {});
    await add(cart, named, 'Für Anna');
    await add(cart, unnamed, 'Für Anna');
    const { orderId } = await done(cart, 'POST', '/order');
    const { body } = await service.call('GET', `/${shop.shopId}/orders/${orderId}?locale=de_DE`, {
      token: shop.token,
    });
    const [first, second] = body.lineItemContainer.productLineItems;
    expect([first.customText, first.customTextHeadline]).toEqual(['Für Anna', 'Ihre Gravur:']);
    expect(second).not.toHaveProperty('customTextHeadline');
  });

  test('a merchant adds a line with one', async () => {
    const board = await givenBoard();
    const cart = await givenFullCart(shop, { [board]: 1 }, { address: { emailAddress: 'b@mail.example' } });
    const { orderId } = await done(cart, 'POST', '/order');
    const send = (path: string, body?: object) =>
      service.call('POST', `/manage/shops/${shop.shopId}/orders/${orderId}${path}`, {
        token: shop.token,
        body,
      });
    await send('/edit');
    const line = { productId: board, quantity: 1 };
    expect((await send('/line-items', { ...line, customText: 'Eleven char' })).status).toBe(400);
    const { status, body } = await send('/line-items', { ...line, customText: 'For Anna' });
    expect([status, textsOf(body), linesOf(body).map(([, , , price]) => price)]).toEqual([
      201,
      [undefined, 'For Anna'],
      [10, 14.5],
    ]);
  });
});

describe('in the shop', () => {
  test('a visitor types it on the page of the product, and sees it on the way to the order', async () => {
    const board = await givenBoard({ ...ENGRAVING, isRequired: true });
    const { productNumber } = (await service.call('GET', `/${shop.shopId}/products/${board}`)).body;
    const visitor = givenVisitor(service, shop.shopId);
    const page = await visitor.get(`/Products/${productNumber}`);
    expect(page.text).toMatch(/<input\s+id="customText"\s+name="customText"\s+maxlength="10"/);
    expect(mainOf(page)).toContain('Your engraving Up to 10 characters. With a text, each costs €4.50 more.');
    const missing = await visitor.post('/cart/add', { productId: board, quantity: '1' });
    expect(missing.headers['location']).toMatch(new RegExp(`/Products/${productNumber}$`));
    expect(mainOf(await visitor.get(`/Products/${productNumber}`))).toContain(
      'Please enter the text that we should put on this product.',
    );
    for (const customText of ['For Anna', '<b>Ben</b>', 'For Anna']) {
      await visitor.post('/cart/add', { productId: board, quantity: '1', customText });
    }
    const cart = mainOf(await visitor.get('/cart'));
    expect(cart).toContain('Your engraving: For Anna');
    expect(cart).toContain('Your engraving: <b>Ben</b>');
    const [row] = await service.db.many<{ lines: { customText?: string; quantity: string }[] }>(sql`
      select lines from cart where shop_id = ${shop.shopId} and product_ids @> array[${board}::uuid]`);
    expect(row!.lines.map(({ customText, quantity }) => [customText, quantity])).toEqual([
      ['For Anna', '2'],
      ['<b>Ben</b>', '1'],
    ]);
  });
});
