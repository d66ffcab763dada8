import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { fingerprint, startDemo } from '../../../test/demo.ts';
import { formOf, PNG } from '../../../test/upload.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { EMAIL_KINDS } from '../../composition/email-kinds.ts';
import { checkBackup } from '../../platform/backup/manifest.ts';
import { installationKey } from '../../platform/sealing.ts';
import { loadFields } from '../../orders/payments/accounts.ts';
import { selectSettings } from '../../shops/settings/settings.ts';
import { adminMessagesIn } from '../messages.ts';

let service: Service;
let merchant: Merchant;
beforeAll(async () => {
  service = await startDemo();
  merchant = await givenMerchant(service);
});
afterAll(() => service.close());

const versionIn = (text: string) => /name="version" value="([^"]*)"/.exec(text)![1]!;
const settingsOf = async () => (await selectSettings(service.db, 'DemoShop'))!;

describe('the backup', () => {
  test('can be downloaded by the owner, is complete, and leaves an entry in the audit log', async () => {
    const { cookie } = merchant;
    const response = await service.app.inject({
      method: 'POST',
      url: '/admin/shops/DemoShop/settings/data/backup',
      headers: { host: 'localhost:8080', origin: 'http://localhost:8080', cookie },
    });
    expect([response.statusCode, response.headers['content-type']]).toEqual([
      200,
      'application/octet-stream',
    ]);
    const folder = await mkdtemp(path.join(tmpdir(), 'kontor-'));
    const file = path.join(folder, 'backup');
    await writeFile(file, response.rawPayload);
    const { manifest } = await checkBackup(file);
    await rm(folder, { recursive: true });
    expect(manifest.shopId).toBe('DemoShop');
    expect(manifest.tables.find(({ name }) => name === 'customer')!.rows).toBe(15);
    const audit = await service.db.one<{ route: string; name: string }>(sql`
      select route, app_name as name from audit_entry where shop_id = 'DemoShop' order by entry_id desc limit 1`);
    expect(audit).toEqual({ route: '/admin/shops/:shopId/settings/data/backup', name: merchant.email });
  });

  test('is for the owner alone', async () => {
    const manager = await givenMerchant(service, 'manager');
    expect((await manager.post('/settings/data/backup')).status).toBe(403);
  });
});

describe('the preview of the theme', () => {
  test('has the colours that are typed, and saves nothing', async () => {
    const before = await fingerprint(service);
    const { text, headers } = await merchant.post('/settings/theme/preview', { 'theme.accent': '#803020' });
    expect(text).toContain('--accent:#803020');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(await fingerprint(service)).toEqual(before);
  });

  test('does not let anything but a colour into a stylesheet', async () => {
    const { text } = await merchant.post('/settings/theme/preview', {
      'theme.accent': '#fff}</style><script>alert(1)</script>',
    });
    expect(text).not.toContain('<script>');
    expect(text).toContain('Buttons and links: Please write it like this: #0b5d66');
  });

  test('warns of a text that many can not read', async () => {
    const { text } = await merchant.post('/settings/theme/preview', { 'theme.text': '#cccccc' });
    expect(text).toContain(
      'Text: Many people can’t read this colour: its contrast with the background is 1.6:1, and 4.5:1 is needed.',
    );
  });
});

describe('the logo', () => {
  const upload = (filename: string, content: Buffer | string, { cookie } = merchant) => {
    const { body, headers } = formOf({ name: 'logo', filename, content });
    return service.app.inject({
      method: 'POST',
      url: '/admin/shops/DemoShop/settings/theme/logo',
      headers: { ...headers, host: 'localhost:8080', origin: 'http://localhost:8080', cookie },
      payload: body,
    });
  };

  test('is uploaded, served, and can be taken back', async () => {
    const before = (await settingsOf()).logoUrl;
    const saved = await upload('Our logo.png', PNG);
    expect([saved.statusCode, saved.headers.location]).toEqual([303, '/admin/shops/DemoShop/settings/theme']);
    const { logoUrl } = await settingsOf();
    expect(logoUrl).toMatch(/^\/media\/DemoShop\/[0-9A-F-]{36}\/[\w-]+\.png$/);
    const file = await service.app.inject(logoUrl!);
    expect([file.statusCode, file.headers['content-type']]).toEqual([200, 'image/png']);
    const { text } = await merchant.get('/settings/theme');
    expect(text).toContain(`src="${logoUrl}"`);
    const [newest, former] = await service.db.many<{ id: string }>(sql`
      select upper(version_id::text) as id from settings_version where shop_id = 'DemoShop'
      order by version_id desc limit 2`);
    await merchant.post(`/settings/history/${former!.id}`, { newest: newest!.id });
    expect((await settingsOf()).logoUrl).toBe(before);
  });

  test('is refused when it is no picture, and for staff who may only read', async () => {
    const before = await fingerprint(service);
    for (const [name, content] of [
      ['logo.svg', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
      ['logo.png', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
      ['logo.ico', PNG],
      ['../../logo.png', 'x'],
    ] as const) {
      const refused = await upload(name, content);
      expect([name, refused.statusCode]).toEqual([name, 400]);
      expect(refused.body).toContain('class="problem"');
    }
    const accountant = await givenMerchant(service, 'accountant');
    const print = await fingerprint(service);
    expect((await upload('logo.png', PNG, accountant)).statusCode).toBe(403);
    expect(await fingerprint(service)).toEqual(print);
    expect(print['shop']).toEqual(before['shop']);
  });
});

describe('the media library', () => {
  const send = (address: string, filename: string, { cookie } = merchant) => {
    const { body, headers } = formOf({ name: 'picture', filename, content: PNG });
    return service.app.inject({
      method: 'POST',
      url: `/admin/shops/DemoShop${address}`,
      headers: { ...headers, host: 'localhost:8080', origin: 'http://localhost:8080', cookie },
      payload: body,
    });
  };
  const keyIn = (address: string | undefined) => /[0-9A-F-]{36}/.exec(address ?? '')![0];
  const bytes = async () =>
    (await service.db.one<{ value: number }>(sql`
      select value from counter where shop_id = 'DemoShop' and name = 'mediaBytes'`))!.value;

  test('finds pictures by name, page by page, those of products too', async () => {
    await service.db.run(sql`
      insert into product_image (shop_id, product_id, name, position, image_key, sizes, created_at)
      select 'DemoShop', product_id, 'Shelf-' || number || '.png', number, gen_random_uuid(), '{}', now()
      from (select product_id from product where shop_id = 'DemoShop' order by product_id limit 1) as one
      cross join generate_series(101, 170) as number`);
    const names = (text: string) =>
      [...text.matchAll(/<span class="name">(Shelf-\d+\.png)<\/span>/g)].map(([, name]) => name);
    const first = await merchant.get('/media?q=shelf-');
    expect([names(first.text).length, names(first.text)[0]]).toEqual([60, 'Shelf-101.png']);
    const next = /href="[^"]*\/media\?([^"]*after=[^"]*)"/.exec(first.text)![1]!.replaceAll('&amp;', '&');
    expect(names((await merchant.get(`/media?${next}`)).text)).toEqual(
      Array.from({ length: 10 }, (_, index) => `Shelf-${161 + index}.png`),
    );
    expect((await merchant.get('/media?q=elf-')).text).toContain(
      'No picture’s file name begins with “elf-”.',
    );
    expect(names((await merchant.get('/media')).text)).toHaveLength(60);
    await service.db.run(sql`delete from product_image where shop_id = 'DemoShop' and name like 'Shelf-%'`);
  });

  test('a picture is uploaded, chosen, described, replaced, and deleted when nothing shows it', async () => {
    const empty = await bytes();
    const uploaded = await send('/media/new', 'Harbour.png');
    expect(uploaded.statusCode).toBe(303);
    const first = keyIn(uploaded.headers.location);
    const size = (await bytes()) - empty;
    expect(size).toBeGreaterThan(0);
    expect((await merchant.get(`/media/${first}`)).text).toContain('This picture is not used.');

    // For the front page; its other settings stay.
    const { home: before } = await settingsOf();
    expect((await merchant.get('/media?for=home&q=harb')).text).toContain('Choose Harbour.png');
    const chosen = await merchant.post('/media/choose', { for: 'home', imageKey: first });
    expect([chosen.status, chosen.location]).toEqual([303, '/admin/shops/DemoShop/settings/home']);
    expect((await settingsOf()).home).toEqual({
      ...before,
      picture: `/media/DemoShop/${first}/Harbour.png`,
    });
    await merchant.post(`/media/${first}`, {
      'text.en_GB': 'Boats in the harbour',
      'text.de_DE': 'Boote im Hafen',
      'text.fr_FR': '',
    });
    const front = async (locale: string) =>
      (await service.app.inject(`/shop/DemoShop?locale=${locale}`)).body.match(
        /class="hero[^]*?alt="([^"]*)"/,
      )![1];
    expect([await front('en_GB'), await front('de_DE')]).toEqual(['Boats in the harbour', 'Boote im Hafen']);

    // In use: it can be replaced, by people who may change the settings, and not be deleted.
    expect((await merchant.post(`/media/${first}/delete`)).status).toBe(400);
    const editor = await givenMerchant(service, 'catalogue');
    expect((await send(`/media/${first}/replace`, 'Other.png', editor)).statusCode).toBe(400);
    expect((await settingsOf()).home.picture).toContain(first);
    const replaced = await send(`/media/${first}/replace`, 'Other.png');
    const second = keyIn(replaced.headers.location);
    expect((await settingsOf()).home.picture).toBe(`/media/DemoShop/${second}/Other.png`);
    expect((await merchant.get(`/media/${first}`)).status).toBe(404);
    expect((await merchant.get(`/media/${second}`)).text).toContain('value="Boote im Hafen"');
    expect(await bytes()).toBe(empty + size);

    // The form of the front page keeps the picture that it does not show.
    const form = await merchant.get('/settings/home');
    await merchant.post('/settings/home', {
      version: versionIn(form.text),
      'home.picture': (await settingsOf()).home.picture!,
      'home.link': before.link ?? '',
      'home.title.en_GB': 'Ahoy',
    });
    expect((await settingsOf()).home).toMatchObject({
      picture: `/media/DemoShop/${second}/Other.png`,
      link: before.link,
      title: { en_GB: 'Ahoy' },
    });
    await merchant.post('/media/choose', { for: 'home', imageKey: '' });
    expect((await settingsOf()).home.picture).toBeNull();
    expect((await merchant.post(`/media/${second}/delete`)).status).toBe(303);
    expect(await bytes()).toBe(empty);
  });

  test('a picture of a page is used there: it is not deleted, and the page shows what replaces it', async () => {
    const first = keyIn((await send('/media/new', 'Pier.png')).headers.location);
    const address = (key: string, file: string) => `/media/DemoShop/${key}/${file}`;
    const created = await service.call('POST', '/manage/shops/DemoShop/pages', {
      token: 'demo-all',
      body: {
        kind: 'post',
        published: true,
        picture: address(first, 'Pier_ml.png'),
        texts: [
          {
            locale: 'en_GB',
            title: 'The new pier',
            blocks: [
              { type: 'picture', picture: address(first, 'Pier.png') },
              { type: 'gallery', pictures: [{ picture: address(first, 'Pier_m.png') }] },
              { type: 'richText', html: `<p><img src="${address(first, 'Pier_s.png')}" alt=""></p>` },
            ],
          },
          { locale: 'de_DE', title: 'Der neue Pier', blocks: [] },
        ],
      },
    });
    expect(created.status).toBe(201);
    const { pageId } = created.body;
    const picturePage = await merchant.get(`/media/${first}`);
    expect(picturePage.text).toContain(`/pages/${pageId}">The new pier</a>`);
    expect(picturePage.text).not.toContain('This picture is not used.');
    expect(picturePage.text).not.toContain(`/media/${first}/delete`);
    const refused = await merchant.post(`/media/${first}/delete`);
    expect([refused.status, refused.text.includes('This picture is in use.')]).toEqual([400, true]);
    const editor = await givenMerchant(service, 'catalogue');
    const before = await service.db.many(sql`select * from page_version where shop_id = 'DemoShop'`);
    expect((await send(`/media/${first}/replace`, 'Quay.png', editor)).statusCode).toBe(400);
    expect(await service.db.many(sql`select * from page_version where shop_id = 'DemoShop'`)).toEqual(before);

    const shown = async () => (await service.app.inject('/shop/DemoShop/posts/the-new-pier')).body;
    expect(await shown()).toContain(address(first, 'Pier'));
    const replaced = await send(`/media/${first}/replace`, 'Quay.png');
    expect(replaced.statusCode).toBe(303);
    const second = keyIn(replaced.headers.location);
    const { body: page } = await service.call('GET', `/manage/shops/DemoShop/pages/${pageId}`, {
      token: 'demo-all',
    });
    expect([page.version, page.picture]).toEqual([2, address(second, 'Quay_ml.png')]);
    expect(page.texts.find(({ locale }: { locale: string }) => locale === 'en_GB').blocks).toEqual([
      { type: 'picture', picture: address(second, 'Quay.png') },
      { type: 'gallery', pictures: [{ picture: address(second, 'Quay_m.png') }] },
      { type: 'richText', html: `<p><img src="${address(second, 'Quay_s.png')}" alt=""></p>` },
    ]);
    const text = await shown();
    expect([text.includes(address(second, 'Quay')), text.includes(first)]).toEqual([true, false]);
    expect((await merchant.get(`/media/${second}`)).text).toContain(`/pages/${pageId}">The new pier</a>`);

    // The former version still has its picture, and can be restored.
    const restored = await merchant.post(`/pages/${pageId}/restore`, { version: '1' });
    expect(restored.status).toBe(303);
    expect(await shown()).toContain(address(first, 'Pier'));
    expect((await service.app.inject(address(first, 'Pier.png'))).statusCode).toBe(200);
    // Nothing shows the second one any more.
    expect((await merchant.post(`/media/${second}/delete`)).status).toBe(303);
    await service.call('DELETE', `/manage/shops/DemoShop/pages/${pageId}`, { token: 'demo-all' });
  });

  test('an upload for the logo becomes the logo', async () => {
    const saved = await send('/media/new?for=logo', 'Anchor.png');
    expect(saved.headers.location).toBe('/admin/shops/DemoShop/settings/theme');
    const { logoUrl } = await settingsOf();
    expect(logoUrl).toMatch(/\/Anchor_m\.png$/);
    expect((await merchant.get(`/media/${keyIn(logoUrl!)}`)).text).toContain('/settings/theme">Logo</a>');
  });

  test('a product and a category get a copy of a picture, and only people who may change them', async () => {
    const product = (await service.db.one<{ id: string }>(sql`
      select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'KN-100'`))!
      .id;
    const category = (await service.db.one<{ id: string }>(sql`
      select upper(category_id::text) as id from category
      where shop_id = 'DemoShop' and parent_id is not null and image_key is null order by category_id limit 1`))!
      .id;
    const pictures = () =>
      service.db.many<{ name: string; imageKey: string; altTexts: object }>(sql`
        select name, upper(image_key::text) as "imageKey", alt_texts as "altTexts" from product_image
        where shop_id = 'DemoShop' and product_id = ${product} order by position`);
    const categoryKey = async () =>
      (await service.db.one<{ key: string | null }>(sql`
        select upper(image_key::text) as key from category where shop_id = 'DemoShop' and category_id = ${category}`))!
        .key;
    const key = keyIn((await send('/media/new', 'Mast.png')).headers.location);
    await merchant.post(`/media/${key}`, { 'text.en_GB': 'A mast' });
    const before = await bytes();
    const pictured = await pictures();

    const list = await merchant.get(`/media?for=product.${product}&q=mast`);
    expect(list.text).toContain('Choose Mast.png');
    const choose = (target: string, imageKey: string, by = merchant) =>
      by.post('/media/assign', { for: target, imageKey });
    const assigned = await choose(`product.${product}`, key);
    expect([assigned.status, assigned.location]).toEqual([303, `/admin/shops/DemoShop/products/${product}`]);
    await choose(`product.${product}`, key);
    const added = (await pictures()).slice(pictured.length);
    expect(added).toEqual([
      { name: 'Mast.png', imageKey: expect.any(String), altTexts: { en_GB: 'A mast' } },
      { name: 'Mast-2.png', imageKey: expect.any(String), altTexts: { en_GB: 'A mast' } },
    ]);
    const size = ((await bytes()) - before) / 2;
    const file = (imageKey: string) => service.app.inject(`/media/DemoShop/${imageKey}/Mast.png`);
    expect((await file(added[0]!.imageKey)).rawPayload).toEqual((await file(key)).rawPayload);

    // An upload in the picker belongs to the product at once; a name that it has already is refused.
    expect((await send(`/media/new?for=product.${product}`, 'Boom.png')).headers.location).toBe(
      `/admin/shops/DemoShop/products/${product}`,
    );
    const print = await fingerprint(service);
    expect((await send(`/media/new?for=product.${product}`, 'Boom.png')).statusCode).toBe(400);
    expect(await fingerprint(service)).toEqual(print);
    expect((await pictures()).map(({ name }) => name).slice(pictured.length)).toEqual([
      'Mast.png',
      'Mast-2.png',
      'Boom.png',
    ]);

    // A category has one picture. The files of the former one are removed.
    const onlyProduct = await bytes();
    await choose(`category.${category}`, key);
    const first = (await categoryKey())!;
    expect(first).not.toBe(key);
    expect((await merchant.get(`/categories/${category}`)).text).toContain(`/${first}/Mast`);
    expect(await bytes()).toBe(onlyProduct + size);
    await send(`/media/new?for=category.${category}`, 'Keel.png');
    expect((await merchant.get('/media?q=keel')).text).toContain('Keel.png');
    expect(await categoryKey()).not.toBe(first);
    expect((await file(first)).statusCode).toBe(404);
    await choose(`category.${category}`, '');
    expect(await categoryKey()).toBeNull();

    const orders = await givenMerchant(service, 'orders');
    const unchanged = await fingerprint(service);
    const nowhere = '00000000-0000-7000-8000-000000000000';
    for (const [target, imageKey, by, status] of [
      [`product.${product}`, key, orders, 403],
      [`product.${nowhere}`, key, merchant, 404],
      [`category.${nowhere}`, key, merchant, 404],
      [`product.${product}`, nowhere, merchant, 404],
      [`product.${product}`, '', merchant, 404],
      ['logo', key, merchant, 404],
    ] as const) {
      expect([target, (await choose(target, imageKey, by)).status]).toEqual([target, status]);
    }
    expect(await fingerprint(service)).toEqual(unchanged);

    for (const { name } of (await pictures()).slice(pictured.length)) {
      await merchant.post(`/products/${product}/pictures/delete`, { name });
    }
    // An editor of texts inserts the address.
    expect((await merchant.get('/media?for=text&q=mast')).text).toMatch(
      /data-picture="\/media\/DemoShop\/[0-9A-F-]{36}\/Mast_ml\.png"\s+data-alt="A mast"/,
    );
  });

  test('the button of the front page leads to a product, a category or a page', async () => {
    const choose = async (search: string, name: string) => {
      const { text } = await merchant.get(`/settings/home/target?q=${search}`);
      const found = [...text.matchAll(/name="target"\s+value="([^"]*)"[^>]*>\s*([^<]*?)\s*</g)];
      await merchant.post('/settings/home/target', {
        target: found.find(([, , shown]) => shown === name)![1]!,
      });
      return (await settingsOf()).home.link;
    };
    expect(await choose('AP-100', 'Beacon Kettle 1.7 l')).toBe('/Products/AP-100');
    expect(await choose('lamp', 'Lamps')).toBe('/Categories/lamps');
    expect(await choose('', 'Privacy policy')).toBe('/legal/privacy-policy');
    expect((await merchant.post('/settings/home/target', { target: 'page nowhere' })).status).toBe(404);
    expect((await settingsOf()).home.link).toBe('/legal/privacy-policy');
    await merchant.post('/settings/home/target', { target: '' });
    expect((await settingsOf()).home.link).toBeNull();
  });
});

describe('the words of an email', () => {
  const path = '/settings/emails/order?locale=en_GB';

  test('are shown in the preview before they are saved', async () => {
    const before = await fingerprint(service);
    const { text } = await merchant.post('/settings/emails/order/preview?locale=en_GB', {
      subject: 'x',
      text: 'Ahoy <b>{shopName}</b>',
    });
    expect(text).toContain('Ahoy &lt;b&gt;Harbour &amp; Hearth&lt;/b&gt;');
    expect(await fingerprint(service)).toEqual(before);
  });

  test('are saved for one language, and the built-in ones are not stored', async () => {
    const shown = await merchant.get(path);
    const saved = await merchant.post(path, {
      version: versionIn(shown.text),
      subject: 'Ahoy {orderNumber}',
      text: 'Thanks!\r\n\r\n{lines}',
    });
    expect(saved.status).toBe(303);
    expect((await settingsOf()).mailTexts).toEqual({
      order: { en_GB: { subject: 'Ahoy {orderNumber}', text: 'Thanks!\n\n{lines}' } },
    });
    const again = await merchant.post(path, {
      version: versionIn((await merchant.get(path)).text),
      subject: '',
      text: '',
    });
    expect(again.status).toBe(303);
    expect((await settingsOf()).mailTexts).toEqual({});
  });

  test('with an unknown placeholder are refused and kept', async () => {
    const refused = await merchant.post(path, {
      version: versionIn((await merchant.get(path)).text),
      subject: 'Ahoy {captain}',
      text: '',
    });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('{captain} can’t be used here. You can use: {');
    expect(refused.text).toContain('value="Ahoy {captain}"');
    expect((await settingsOf()).mailTexts).toEqual({});
  });

  test('of an unknown kind are not found', async () => {
    expect((await merchant.get('/settings/emails/nothing')).status).toBe(404);
  });
});

describe('a legal text', () => {
  const path = '/settings/legal/privacy-policy?locale=de_DE';

  test('is previewed without scripts', async () => {
    const { text } = await merchant.post('/settings/legal/privacy-policy/preview', {
      description: '<p>Kurz</p><script>alert(1)</script>',
    });
    expect(text).toContain('<p>Kurz</p>');
    expect(text).not.toContain('alert');
  });

  test('is saved in its language by the operation of the API', async () => {
    const version = versionIn((await merchant.get(path)).text);
    const saved = await merchant.post(path, { version, name: 'Datenschutz', description: '<p>Neu</p>' });
    expect(saved.status).toBe(303);
    const { body } = await service.call('GET', '/DemoShop/legal/privacy-policy?locale=de_DE', {
      token: 'demo-all',
    });
    expect(body).toEqual({ name: 'Datenschutz', description: '<p>Neu</p>' });
    expect((await merchant.post(path, { version, name: 'Alt' })).status).toBe(409);
  });
});

test('every kind of email has a name on its page', () => {
  const named = Object.keys(adminMessagesIn('en').settings.emailKinds);
  expect(named.toSorted()).toEqual(EMAIL_KINDS.map(({ name }) => name).toSorted());
});

describe('the keys of a payment provider', () => {
  beforeAll(async () => {
    await merchant.post('/settings/file', {
      action: 'apply',
      text: `paymentMethods:
  - { key: advance, name: Payment in advance }
  - { key: invoice, name: Invoice }
  - { key: quickpay, name: QuickPay, provider: demo }
  - { key: card, name: Card, provider: stripe }
  - { key: later, name: Pay later }`,
    });
  });

  const fieldsOf = async () => {
    const { paymentMethods } = await settingsOf();
    const { paymentMethodId } = paymentMethods.find(({ key }) => key === 'card')!;
    return loadFields(service.db, await installationKey(service.config), 'DemoShop', paymentMethodId);
  };

  test('are typed once, sealed and never shown', async () => {
    const saved = await merchant.post('/settings/payments/card', {
      secretKey: 'sk_test_secret',
      webhookSecret: '',
    });
    expect(saved.status).toBe(303);
    expect(await fieldsOf()).toEqual({ secretKey: 'sk_test_secret' });
    const page = await merchant.get('/settings/payments/card');
    expect(page.text).not.toContain('sk_test_secret');
    expect(page.text).toContain('Stored – enter a new one to replace it');
    await merchant.post('/settings/payments/card', { secretKey: '', webhookSecret: 'whsec_1' });
    expect(await fieldsOf()).toEqual({ secretKey: 'sk_test_secret', webhookSecret: 'whsec_1' });
    await merchant.post('/settings/payments/card', { 'webhookSecret.remove': 'yes' });
    expect(await fieldsOf()).toEqual({ secretKey: 'sk_test_secret' });
    const audit = await service.db.one<{ object: object }>(sql`
      select object from audit_entry where shop_id = 'DemoShop' order by entry_id desc limit 1`);
    expect(audit!.object).toEqual({ method: 'card', fields: 'webhookSecret' });
  });

  test('with a blank are refused, and nothing of them is in the answer', async () => {
    const refused = await merchant.post('/settings/payments/card', { secretKey: 'sk test' });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('secretKey contains a space');
    expect(refused.text).not.toContain('sk test');
    expect(await fieldsOf()).toEqual({ secretKey: 'sk_test_secret' });
  });

  test('the demo provider always works', async () => {
    const tested = await merchant.post('/settings/payments/quickpay/test');
    expect(tested.status).toBe(303);
    const [cookie] = [tested.headers['set-cookie']].flat() as string[];
    const notice = Buffer.from(/admin-notice=([^.;]+)/.exec(cookie!)![1]!, 'base64url').toString();
    expect(JSON.parse(notice)).toEqual({ text: 'Demo payment is connected, and the keys are valid.' });
  });

  test('a method that no provider handles has none', async () => {
    expect((await merchant.get('/settings/payments/invoice')).status).toBe(404);
    expect((await merchant.post('/settings/payments/invoice/test')).status).toBe(404);
  });

  test('are not in the history', async () => {
    const row = await service.db.one<{ count: number }>(sql`
      select count(*) as count from settings_version where shop_id = 'DemoShop' and file::text like '%sk_test%'`);
    expect(row!.count).toBe(0);
  });
});
