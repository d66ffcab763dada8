import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenToken } from '../../../test/builders.ts';
import { givenSmallShop } from '../../../test/carts.ts';
import { startDemo } from '../../../test/demo.ts';
import {
  cookieOfConsent,
  cookieOfCurrency,
  loadAppScripts,
  readOwnPage,
  readPage,
} from '../../../test/storefront.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';

const NOW = new Date('2026-11-15T08:30:00Z');
const HOST = 'http://localhost:80';

let service: Service;
const token = 'demo-all';

beforeAll(async () => {
  service = await startDemo({}, NOW, { hasImages: true });
  await loadAppScripts(service);
});
afterAll(() => service.close());

const read = (number: string, headers: Record<string, string> = {}) =>
  readPage(service, `/DemoShop/Products/${number}`, headers);

async function productOf(number: string, query = '') {
  const { body } = await service.call('POST', '/DemoShop/products/find', {
    token,
    body: { productNumber: number },
  });
  const [{ productId }] = body.items;
  return (await service.call('GET', `/DemoShop/products/${productId}${query}`)).body;
}

const patch = async (number: string, changes: object[], query = '') => {
  const { productId } = await productOf(number);
  const answer = await service.call('PATCH', `/DemoShop/products/${productId}${query}`, {
    token,
    body: changes,
    headers: { 'content-type': 'application/json-patch+json' },
  });
  expect(answer).toMatchObject({ status: 200 });
};

describe('a product', () => {
  test('with everything that people want to know', async () => {
    const { status, lines, text, main } = await read('AP-110');
    expect(status).toBe(200);
    expect(text).toContain('<title>Beacon Espresso Machine | Harbour &amp; Hearth</title>');
    expect(text).toContain('<meta name="description" content="One boiler, one lever, no display." />');
    expect(main.match(/<h1>/g)).toHaveLength(1);
    expect(lines.slice(0, 14)).toEqual([
      'Home',
      'Kitchen',
      'Appliances',
      'Beacon Espresso Machine',
      'Beacon Espresso Machine',
      'Manufacturer',
      'Beacon',
      'Product number',
      'AP-110',
      'One boiler, one lever, no display.',
      '€389.00',
      'instead of €449.00 −13%',
      'plus €2.40 recycling fee, €391.40 in total',
      'incl. 19% VAT, plus shipping costs',
    ]);
    expect(main).toContain('href="/shop/DemoShop/legal/shipping-information"');
    expect(lines).toContain('Energy efficiency class B – D (scale A to G)');
    expect(main).toContain(
      '<a href="http://localhost/media/DemoShop/files/AP-110-energy-label.png">Energy efficiency class B – D</a>',
    );
    const details = lines.slice(lines.indexOf('Details'));
    expect(details).toEqual(
      expect.arrayContaining(['Pressure (bar)', '15', 'Warm-up time', '00:02', 'Shipping weight', '9,800 g']),
    );
    expect(lines.slice(lines.indexOf('Goes well with'))).toEqual(
      expect.arrayContaining([
        'Tidewater Espresso Beans',
        'from €9.90',
        'from 100 g = €3.10',
        'Quayside Filter Roast, ground 500 g',
        'Beacon Burr Grinder',
      ]),
    );
  });

  test('in German, in pounds, and in French', async () => {
    const german = await read('AP-110?locale=de_DE');
    expect(german.text).toContain('<html lang="de-DE">');
    expect(german.lines).toEqual(
      expect.arrayContaining([
        'Beacon Espressomaschine',
        '389,00 €',
        'zzgl. 2,40 € Recyclingbeitrag, insgesamt 391,40 €',
        'inkl. 19 % MwSt., zzgl. Versandkosten',
        'Passt gut dazu',
        'In den Warenkorb',
      ]),
    );
    expect(german.main).toContain('href="/shop/DemoShop/Categories/appliances?locale=de_DE"');
    const cookie = await cookieOfCurrency(service, 'DemoShop', 'GBP');
    const pounds = await read('AP-110', { cookie });
    expect(pounds.lines).toContain('£330.65');
    expect(pounds.json('page.product').offers).toMatchObject({ price: '330.65', priceCurrency: 'GBP' });
    const french = await read('CB-100?locale=fr_FR');
    expect(french.lines).toContain('Café en grains Tidewater Espresso');
    expect(french.lines).toContain('Rond et chocolaté, peu acide.');
  });

  test('prices: reduced, with a base price, with deposit, by the metre, in tiers', async () => {
    expect((await read('TE-110')).lines).toEqual(
      expect.arrayContaining([
        'Offer',
        '€8.95',
        'instead of RRP €11.50 −22%',
        'Lowest price in the last 30 days: €10.95 (−18%)',
        '100 g = €3.58',
        'incl. 7% VAT, plus shipping costs',
      ]),
    );
    const cola = await read('DR-100');
    expect(cola.lines).toContain('plus €0.25 deposit, €1.70 in total');
    expect(cola.main).toMatch(
      /name="quantity"\s+type="number"[^>]*value="6"\s+min="6"\s+max="480"\s+step="6"/,
    );
    expect(cola.lines).toContain('At least 6, in steps of 6');
    const rope = await read('RO-100');
    expect(rope.lines).toContain('€2.40 per m');
    expect(rope.lines).toContain('At least 2 m, in steps of 0.5 m');
    const filter = await read('CB-200');
    const from = filter.lines.indexOf('Prices for larger quantities');
    expect(filter.lines.slice(from, from + 9)).toEqual([
      'Prices for larger quantities',
      'From',
      'Price each',
      '5 pieces',
      '€11.90',
      '100 g = €2.38',
      '10 pieces',
      '€10.90',
      '100 g = €2.18',
    ]);
  });

  test('its pictures have sizes, a set to choose from, and are fetched early', async () => {
    const { main, text } = await read('AP-110');
    const { body } = await service.call(
      'GET',
      `/DemoShop/products/${(await productOf('AP-110')).productId}/slideshow`,
    );
    const large = body.items.map(({ sizes }: { sizes: { url: string }[] }) =>
      sizes.at(-1)!.url.slice(HOST.length),
    );
    expect(large).toHaveLength(4);
    expect(
      [
        ...main.matchAll(/<li>\s*<a href="([^"]+)" data-srcset|<li>\s*<a\s+href="([^"]+)"\s+data-srcset/g),
      ].map(([, one, other]) => one ?? other),
    ).toEqual(large);
    expect(main).toMatch(
      /srcset="[^"]+_ms\.png 200w, [^"]+_m\.png 500w, [^"]+\.png 800w"\s+sizes="[^"]+"\s+width="500"\s+height="375"\s+alt="Beacon Espresso Machine"\s+fetchpriority="high"/,
    );
    expect(main).toContain('alt="Beacon Espresso Machine, picture 4"');
    expect(text).toMatch(/<link\s+rel="preload"\s+as="image"\s+href="\/media[^"]+_m\.png"\s+imagesrcset="/);
    const bare = await read('GI-110');
    expect(bare.status).toBe(200);
    expect(bare.main).not.toContain('data-slideshow');
    expect(bare.text).not.toContain('rel="preload"');
  });

  test('its pictures say what they show, where the merchant has said so', async () => {
    const { productId } = await productOf('AP-110');
    const { body } = await service.call('GET', `/DemoShop/products/${productId}/slideshow/sequence`);
    const [first, second] = body as string[];
    const place = `/manage/shops/DemoShop/products/${productId}/picture-texts`;
    const items = [
      { name: first, locale: 'en_GB', text: 'A chrome machine with "two" levers' },
      { name: second, locale: 'de_DE', text: 'Der Siebträger von vorn' },
    ];
    expect((await service.call('PUT', place, { token, body: { items } })).status).toBe(200);
    const english = (await read('AP-110')).main;
    expect(english).toMatch(/alt="A chrome machine with &quot;two&quot; levers"\s+fetchpriority/);
    expect(english).toContain('alt="Beacon Espresso Machine, picture 2"');
    const german = (await readPage(service, '/DemoShop/Products/AP-110?locale=de_DE')).main;
    expect(german).toContain('alt="Der Siebträger von vorn"');
    await service.call('PUT', place, { token, body: { items: [] } });
  });

  test('data for search engines says what the API says', async () => {
    const page = await read('BK-110');
    const product = await productOf('BK-110');
    expect(page.json('page.product')).toEqual({
      '@context': 'https://schema.org',
      '@type': 'Product',
      name: 'The Quiet Harbour Cookbook',
      sku: 'BK-110',
      url: `${HOST}/shop/DemoShop/Products/BK-110`,
      description: product.shortDescription,
      image: [expect.stringMatching(/BK-110_1\.png$/), expect.stringMatching(/BK-110_2\.png$/)],
      gtin: product.ean,
      brand: { '@type': 'Brand', name: 'Harbour Press' },
      offers: {
        '@type': 'Offer',
        url: `${HOST}/shop/DemoShop/Products/BK-110`,
        price: '28.00',
        priceCurrency: 'EUR',
        availability: 'https://schema.org/InStock',
        itemCondition: 'https://schema.org/NewCondition',
        seller: { '@type': 'Organization', name: 'Harbour & Hearth' },
        shippingDetails: {
          '@type': 'OfferShippingDetails',
          shippingRate: { '@type': 'MonetaryAmount', value: '8.37', currency: 'EUR' },
          shippingDestination: { '@type': 'DefinedRegion', addressCountry: 'DE' },
          deliveryTime: {
            '@type': 'ShippingDeliveryTime',
            handlingTime: { '@type': 'QuantitativeValue', minValue: 0, maxValue: 0, unitCode: 'DAY' },
            transitTime: { '@type': 'QuantitativeValue', minValue: 2, maxValue: 3, unitCode: 'DAY' },
          },
        },
        hasMerchantReturnPolicy: {
          '@type': 'MerchantReturnPolicy',
          applicableCountry: expect.arrayContaining(['DE']),
          returnPolicyCountry: 'DE',
          returnPolicyCategory: 'https://schema.org/MerchantReturnFiniteReturnWindow',
          merchantReturnDays: 30,
          returnMethod: 'https://schema.org/ReturnByMail',
          merchantReturnLink: `${HOST}/shop/DemoShop/legal/rights-of-withdrawal`,
        },
      },
    });
    expect(page.json('page.breadcrumb').itemListElement).toEqual([
      { '@type': 'ListItem', position: 1, name: 'Home', item: `${HOST}/shop/DemoShop` },
      {
        '@type': 'ListItem',
        position: 2,
        name: 'Books and audio',
        item: `${HOST}/shop/DemoShop/Categories/books`,
      },
      { '@type': 'ListItem', position: 3, name: product.name, item: `${HOST}/shop/DemoShop/Products/BK-110` },
    ]);
    expect((await read('AP-120')).json('page.product').offers.availability).toBe(
      'https://schema.org/LimitedAvailability',
    );
    expect((await read('TE-120')).json('page.product').offers.availability).toBe(
      'https://schema.org/OutOfStock',
    );
    const group = (await read('CB-100')).json('page.product');
    expect(
      group.hasVariant.map((one: { sku: string; offers: { price: string } }) => [one.sku, one.offers.price]),
    ).toEqual([
      ['CB-101', '9.90'],
      ['CB-102', '17.50'],
      ['CB-103', '31.00'],
      ['CB-104', '10.40'],
    ]);
  });

  test('the scripts of apps are told the product as the API has it', async () => {
    const { json } = await readOwnPage(service, 'DemoShop', '/Products/AP-110?locale=de_DE');
    const product = await productOf('AP-110', '?locale=de_DE');
    expect(json('page.events')[0]).toEqual({ name: 'product:view', detail: { product, cart: null } });
  });

  test('and what the visitor has in the cart and wishes for', async () => {
    const { productId } = await productOf('KN-120');
    const send = async (path: string, payload: string, cookie = '') => {
      const answer = await service.app.inject({
        method: 'POST',
        url: `/shop/DemoShop${path}`,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
          origin: 'http://localhost',
          cookie,
        },
        payload,
      });
      expect(answer.statusCode).toBe(303);
      return String(answer.headers['set-cookie']).split(';')[0]!;
    };
    const detailFor = async (cookie: string) =>
      (await readOwnPage(service, 'DemoShop', '/Products/KN-120', { cookie })).json('page.events')[0].detail;
    const consent = await cookieOfConsent(service, 'DemoShop');
    const wishing = await send('/wishlist/add', `productId=${productId}`, consent);
    expect(await detailFor(wishing)).toMatchObject({
      product: { productId, isInWishlist: true },
      cart: null,
    });
    const shopping = await send('/cart/add', `productId=${productId}&quantity=2`, wishing);
    expect(await detailFor(shopping)).toMatchObject({
      product: { isInWishlist: true },
      cart: {
        lineItemContainer: { productLineItems: [{ productId, quantity: { amount: 2 }, isInWishlist: true }] },
      },
    });
    expect(await detailFor(consent)).toMatchObject({
      product: { productId, isInWishlist: false },
      cart: null,
    });
  });

  test('attributes of all kinds, a video, a data sheet', async () => {
    const { lines, main } = await read('GI-100?locale=de_DE');
    const details = lines.slice(lines.indexOf('Details'));
    expect(details).toContain('Nein');
    expect(main).toMatch(/<a href="https:\/\/[^"]+" rel="noopener">/);
    expect((await read('KN-120')).main).toMatch(
      /href="https:\/\/www\.youtube\.com\/watch\?v=[\w-]+" rel="noopener">Video 1 on YouTube/,
    );
    expect((await read('AP-100')).main).toMatch(/href="[^"]+\.pdf">Product data sheet/);
  });

  test('what is sold out can be asked for; what is not for sale can not be bought', async () => {
    const soldOut = await read('TE-120');
    expect(soldOut.lines).toContain('Not in stock');
    expect(soldOut.main).not.toContain('/cart/add');
    expect(soldOut.main).toContain('action="/shop/DemoShop/Products/TE-120/notify"');
    const spoon = await read('ZZ-110');
    expect(spoon.lines).toContain('This product cannot be ordered at the moment.');
    expect(spoon.main).not.toContain('/cart/add');
    const inStock = await read('KN-110');
    const { productId } = await productOf('KN-110');
    expect(inStock.main).toContain('action="/shop/DemoShop/cart/add"');
    expect(inStock.main).toContain('action="/shop/DemoShop/wishlist/add"');
    expect(inStock.main).toContain(`name="productId" value="${productId}"`);
    expect(inStock.main).not.toContain('/notify');
    expect((await read('AP-120')).lines).toContain('Only 3 left');
    expect((await read('AP-120')).lines).not.toContain('In stock');
  });

  test('unknown, invisible and foreign products do not exist', async () => {
    for (const number of ['NO-SUCH', 'ZZ-100', '%00', 'a'.repeat(300)]) {
      expect(await read(number)).toMatchObject({ status: 404 });
    }
    expect(await readPage(service, '/EmptyShop/Products/AP-110')).toMatchObject({ status: 404 });
  });
});

describe('variations', () => {
  /** The links of the choice, as `Brass *` for the current one, and where they lead. */
  const optionsOf = (main: string) =>
    [...main.matchAll(/<div class="options"[^]*?<\/div>/g)].flatMap(([group]) =>
      [...group.matchAll(/<a\s+href="([^"]+)"([^>]*)>([^]*?)<\/a/g)].map(([, href, attributes, content]) => [
        `${content!.replaceAll(/<[^>]*>/g, '')}${attributes!.includes('aria-current') ? ' *' : ''}`,
        href!.split('/').at(-1),
      ]),
    );

  test('a master offers the cheapest variation that is there', async () => {
    const { main, lines } = await read('LA-100');
    expect(lines).toEqual(expect.arrayContaining(['Lantern Point Lamp', 'LA-101', '€79.00', 'In stock']));
    expect(lines).not.toContain('from €79.00');
    const { productId } = await productOf('LA-101');
    expect(main).toMatch(
      new RegExp(
        `action="/shop/DemoShop/cart/add"[^>]*>\\s*<input type="hidden" name="productId" value="${productId}"`,
      ),
    );
    expect(optionsOf(main)).toEqual([
      ['Brass *', 'LA-101'],
      ['Slate', 'LA-103'],
      ['Small *', 'LA-101'],
      ['Large', 'LA-102'],
    ]);
    expect((await read('CB-100')).lines).toEqual(expect.arrayContaining(['€9.90', 'CB-101']));
  });

  test('its stock is never stale, and when it is gone the next one is offered', async () => {
    const setStock = async (number: string, stock: number) =>
      service.db.run(sql`
        update product set stock = ${stock} where shop_id = 'DemoShop' and product_number = ${number}`);
    const [{ stock }] = (await service.db.many<{ stock: number }>(sql`
      select stock from product where shop_id = 'DemoShop' and product_number = 'CB-101'`)) as [
      { stock: number },
    ];
    await setStock('CB-101', 7);
    expect((await read('CB-100')).main).toContain('max="7"');
    await setStock('CB-101', 0);
    const other = await read('CB-100');
    expect(other.lines).toEqual(expect.arrayContaining(['€17.50', 'CB-102']));
    expect(optionsOf(other.main)[0]).toEqual(['250 g (sold out)', 'CB-101']);
    await setStock('CB-101', stock);
  });

  test('older links with values lead to the variation', async () => {
    expect(await read('LA-100?Colour=Slate&Size=Small&locale=de_DE')).toMatchObject({
      status: 303,
      headers: { location: '/shop/DemoShop/Products/LA-103?locale=de_DE' },
    });
    for (const query of ['Colour=Slate&Size=Large', 'Colour=Slate&Size=', 'Colour=Green&Size=%3Cscript%3E']) {
      const { status, text } = await read(`LA-100?${query}`);
      expect(status).toBe(200);
      expect(text).toContain(`<link rel="canonical" href="${HOST}/shop/DemoShop/Products/LA-100"`);
    }
  });

  test('a variation shows its values, and where the others lead', async () => {
    const { main, lines } = await read('CB-104');
    expect(optionsOf(main)).toEqual([
      ['250 g (sold out) *', 'CB-104'],
      ['500 g (in another combination)', 'CB-102'],
      ['1 kg (in another combination)', 'CB-103'],
      ['Medium', 'CB-101'],
      ['Dark (sold out) *', 'CB-104'],
    ]);
    expect(lines).toContain('Not in stock');
    expect(main).toContain('action="/shop/DemoShop/Products/CB-104/notify"');
    expect((await read('KN-101')).lines).toContain('Goes well with');
  });
});

describe('never stale', () => {
  test('a price, the stock, a variation’s stock, what goes with it, a category’s name', async () => {
    expect((await read('KN-110')).lines).toContain('€24.50');
    await patch('KN-110', [{ op: 'replace', path: '/priceInfo/price/amount', value: 19.9 }]);
    expect((await read('KN-110')).lines).toContain('€19.90');
    expect((await read('KN-100')).lines).toContain('€19.90');

    expect((await read('GI-120')).main).toContain('max="57"');
    const { productId } = await productOf('GI-120');
    await service.db.run(sql`
      update product set stock = stock - 57 where shop_id = 'DemoShop' and product_id = ${productId}`);
    expect((await read('GI-120')).lines).toContain('Not in stock');

    const lamp = await productOf('LA-102');
    expect((await read('LA-101')).main).not.toContain('(sold out)');
    await service.db.run(sql`
      update product set stock = 0 where shop_id = 'DemoShop' and product_id = ${lamp.productId}`);
    expect((await read('LA-101')).lines).toContain('Large (sold out)');

    const tea = await productOf('TE-100');
    expect((await read('TE-100')).lines).not.toContain('Gift Card (printed)');
    await service.call('PUT', `/DemoShop/products/${tea.productId}/crossselling`, {
      token,
      body: [(await productOf('GI-110')).productId],
    });
    const { lines } = await read('TE-100');
    expect(lines).toContain('Gift Card (printed)');
    expect(lines).not.toContain('Old Ferry Black Tea 250 g');

    const { body: roots } = await service.call('GET', `/DemoShop/categories?productId=${tea.productId}`);
    await service.call('PUT', `/DemoShop/categories/${roots[0].categoryId}`, {
      token,
      body: { categoryId: roots[0].categoryId, name: 'Greener tea' },
    });
    expect((await read('TE-100')).lines).toContain('Greener tea');
  });

  test('what is new is so until its day', async () => {
    expect((await read('KN-110')).lines).toContain('New');
    service.setClock(new Date(NOW.getTime() + 40 * 86_400_000));
    expect((await read('KN-110')).lines).not.toContain('New');
    service.setClock(NOW);
  });
});

test('what merchants write is text, and their markup harmless', async () => {
  const small = await startService();
  try {
    const shop = await givenSmallShop(small);
    const body = {
      name: `<script>alert('x')</script>`,
      productNumber: 'X"1',
      manufacturer: '<b>Maker</b>',
      shortDescription: '<em>Short</em><script>alert(1)</script>',
      description:
        '<h1 onclick="x()" style="color:red">Top</h1><img src="https://a.example/b.png" onerror="x()">' +
        '<img src="data:image/png;base64,AAAA"><a href="javascript:x()">one</a> <a href="https://b.example" target="_blank">two</a>' +
        '<iframe src="https://c.example"></iframe><form action="/x"><input name="y"></form>',
      price: 5,
      visible: true,
    };
    const token = await givenToken(small, shop.shopId);
    expect(await small.call('POST', `/${shop.shopId}/products`, { token, body })).toMatchObject({
      status: 201,
    });
    const { status, main, json } = await readPage(small, `/${shop.shopId}/Products/X%221`);
    expect(status).toBe(200);
    expect(main).toContain('<h1>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;</h1>');
    expect(main).toContain('&lt;b&gt;Maker&lt;/b&gt;');
    expect(main).toContain('<div class="prose"><em>Short</em></div>');
    expect(main).toContain(
      '<h2>Top</h2><img src="https://a.example/b.png" alt="" loading="lazy" />' +
        '<a rel="noopener">one</a> <a href="https://b.example" rel="noopener">two</a></div>',
    );
    expect(main).not.toMatch(/<script>|onclick|onerror|javascript:|<iframe|<form action="\/x"/);
    expect(json('page.product').name).toBe(body.name);
  } finally {
    await small.close();
  }
});
