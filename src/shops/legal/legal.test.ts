import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';

let service: Service;
let token: string;

beforeAll(async () => {
  service = await startService();
  for (const shopId of ['Harbour', 'Other']) {
    await givenShop(service, shopId);
    await service.db.run(sql`
      update shop set locales = '{en_GB,de_DE,fr_FR}', settings_version = settings_version + 1
      where shop_id = ${shopId}`);
  }
  token = await givenToken(service, 'Harbour');
});
beforeEach(() => service.db.run(sql`delete from legal_page`));
afterAll(() => service.close());

const get = (path: string) => service.call('GET', `/Harbour/legal${path}`);
const put = (path: string, body: unknown) => service.call('PUT', `/Harbour/legal${path}`, { token, body });
const pages = () =>
  service.db.many(sql`select shop_id, page, locale, content from legal_page order by shop_id, page, locale`);

const CONTENT_KEYS = ['name', 'title', 'navigationCaption', 'shortDescription', 'description'];
const CONTACT_KEYS = [
  ...CONTENT_KEYS,
  'company',
  'contactPerson',
  'contactPersonJobTitle',
  'address',
  'phone',
  'email',
];
const CONTACT = {
  name: 'Contact',
  title: 'Contact | Harbour & Hearth',
  navigationCaption: 'Contact us',
  shortDescription: '<p>We are here.</p>',
  description: '<p>Registered in Hamburg, HRB 4711 "ü" €</p>',
  company: 'Harbour & Hearth',
  contactPerson: 'Ina Feldkamp',
  contactPersonJobTitle: 'Owner',
  address: 'Speicherweg 4<br>\r\n20457 Hamburg',
  phone: '+49 40 123456',
  email: 'hello@harbour-hearth.example',
};

const PAGES = [
  { page: 'contact-information', key: 'contactInformation', rel: 'contact', keys: CONTACT_KEYS },
  { page: 'privacy-policy', key: 'privacyPolicy', rel: 'privacy', keys: CONTENT_KEYS },
  { page: 'terms-and-conditions', key: 'termsAndConditions', rel: 'tac', keys: CONTENT_KEYS },
  { page: 'rights-of-withdrawal', key: 'rightsOfWithdrawal', rel: 'withdrawal', keys: CONTENT_KEYS },
  { page: 'shipping-information', key: 'shippingInformation', rel: 'shipping', keys: CONTENT_KEYS },
  { page: 'cookie-policy', key: 'cookiePolicy', rel: 'cookie', keys: CONTENT_KEYS },
];

describe('the summary', () => {
  test('of a shop without pages has six nulls and six links', async () => {
    const { status, body } = await get('');
    expect(status).toBe(200);
    expect(Object.entries(body)).toEqual([
      ...PAGES.map(({ key }) => [key, null]),
      [
        'links',
        PAGES.map(({ page, rel }) => ({
          rel,
          href: `http://localhost:80/rs/shops/Harbour/legal/${page}`,
        })),
      ],
    ]);
  });

  test('names the pages of the locale that was asked for', async () => {
    for (const { page } of PAGES) await put(`/${page}?locale=en_GB`, { name: `The ${page}` });
    await put('/privacy-policy?locale=de_DE', { name: 'Datenschutz' });
    const english = (await get('?locale=en_GB')).body;
    for (const { page, key } of PAGES) expect(english[key]).toEqual({ name: `The ${page}` });
    expect((await get('?locale=de_de')).body).toMatchObject({
      contactInformation: null,
      privacyPolicy: { name: 'Datenschutz' },
      termsAndConditions: null,
      rightsOfWithdrawal: null,
      shippingInformation: null,
      cookiePolicy: null,
    });
  });

  test.each([
    [{ name: 'Name', navigationCaption: 'Caption', title: 'Title' }, { name: 'Name' }],
    [{ navigationCaption: 'Caption', title: 'Title' }, { name: 'Caption' }],
    [{ name: '', navigationCaption: ' ', title: 'Title' }, { name: 'Title' }],
    [{ name: '', description: 'Only a text' }, null],
    [{ description: 'Only a text' }, null],
    [{}, null],
  ])('of the page %j shows %j', async (page, item) => {
    await put('/cookie-policy?locale=en_GB', page);
    expect((await get('')).body.cookiePolicy).toEqual(item);
  });

  test('in a locale the shop lacks is that of the default locale; in two letters it is refused', async () => {
    await put('/cookie-policy?locale=en_GB', { name: 'Cookies' });
    expect((await get('?locale=it_IT')).body.cookiePolicy).toEqual({ name: 'Cookies' });
    expect(await get('?locale=en')).toMatchObject({
      status: 400,
      body: {
        message: 'expected full locale for example en_US, Request: GET /rs/shops/Harbour/legal',
        status: 'Bad Request',
      },
    });
  });
});

describe.each(PAGES)('$page', ({ page, key, keys }) => {
  const whole = Object.fromEntries(keys.map((name) => [name, `${name} of ${page}`]));

  test('that does not exist is an empty object', async () => {
    expect(await get(`/${page}`)).toMatchObject({ status: 200, text: '{}' });
  });

  test('is stored whole, and printed in the order of the contract', async () => {
    const reversed = Object.fromEntries(Object.entries(whole).toReversed());
    const answer = await put(`/${page}?locale=de_DE`, reversed);
    expect(answer.status).toBe(200);
    expect(Object.entries(answer.body)).toEqual(Object.entries(whole));
    expect((await get(`/${page}?locale=de_DE`)).text).toBe(answer.text);
    expect(await pages()).toEqual([{ shop_id: 'Harbour', page, locale: 'de_DE', content: whole }]);
  });

  test('has no other keys', async () => {
    const answer = await put(`/${page}?locale=en_GB`, { ...CONTACT, fax: 'x', links: [] });
    expect(Object.keys(answer.body)).toEqual(keys);
  });

  test('is not borrowed from another locale of the shop', async () => {
    await put(`/${page}?locale=en_GB`, whole);
    expect((await get(`/${page}?locale=fr_FR`)).body).toEqual({});
  });

  test('in a locale the shop lacks is that of the default locale', async () => {
    await put(`/${page}?locale=en_GB`, { name: 'Default' });
    await put(`/${page}?locale=de_DE`, { name: 'Deutsch' });
    expect((await get(`/${page}?locale=it_IT`)).body).toEqual({ name: 'Default' });
    expect((await get(`/${page}`)).body).toEqual({ name: 'Default' });
  });

  test('is replaced as a whole: what is not sent, or null, is deleted', async () => {
    await put(`/${page}?locale=en_GB`, whole);
    await put(`/${page}?locale=de_DE`, whole);
    const answer = await put(`/${page}?locale=en_GB`, { name: 'New', title: null, description: '' });
    expect(answer.body).toEqual({ name: 'New', description: '' });
    expect((await get(`/${page}`)).body).toEqual({ name: 'New', description: '' });
    expect((await get(`/${page}?locale=de_DE`)).body).toEqual(whole);
  });

  test('is cleared by an empty object', async () => {
    await put(`/${page}?locale=en_GB`, whole);
    expect(await put(`/${page}?locale=en_GB`, {})).toMatchObject({ status: 200, text: '{}' });
    expect((await get(`/${page}`)).text).toBe('{}');
    expect((await get('')).body[key]).toBeNull();
  });

  test('takes each of its keys as a text only, and names the wrong one', async () => {
    await put(`/${page}?locale=en_GB`, whole);
    const before = await pages();
    for (const wrong of keys) {
      const { status, body } = await put(`/${page}?locale=en_GB`, { ...whole, [wrong]: ['x'] });
      expect(status).toBe(400);
      expect(body.message).toBe(
        `Update ${page.replaceAll('-', ' ')} failed:\n\tvalidation error WRONG_TYPE on field ${wrong}, Request: PUT /rs/shops/Harbour/legal/${page}`,
      );
    }
    expect(await pages()).toEqual(before);
  });

  test('needs legal_write to be written, legal_read to be read by an app, and a shopper needs nothing', async () => {
    const reader = await givenToken(service, 'Harbour', ['legal_read']);
    const writer = await givenToken(service, 'Harbour', ['legal_write']);
    const path = `/Harbour/legal/${page}?locale=en_GB`;
    expect((await service.call('PUT', path, { token: reader, body: whole })).status).toBe(403);
    expect((await service.call('PUT', path, { body: whole })).status).toBe(401);
    expect(await pages()).toEqual([]);
    expect((await service.call('PUT', path, { token: writer, body: whole })).status).toBe(200);
    expect((await service.call('GET', path, { token: writer })).status).toBe(403);
    expect((await service.call('GET', path, { token: reader })).body).toEqual(whole);
    expect((await service.call('GET', path)).body).toEqual(whole);
  });

  test("is its shop's alone", async () => {
    await put(`/${page}?locale=en_GB`, whole);
    const path = `/Other/legal/${page}?locale=en_GB`;
    expect((await service.call('GET', path)).body).toEqual({});
    expect((await service.call('GET', '/Other/legal')).body[key]).toBeNull();
    expect((await service.call('PUT', path, { token, body: { name: 'Mine now' } })).status).toBe(401);
    expect(await pages()).toEqual([{ shop_id: 'Harbour', page, locale: 'en_GB', content: whole }]);
  });
});

describe('a page is refused', () => {
  const path = '/contact-information';

  test.each([
    [
      'without a locale',
      '',
      CONTACT,
      /^Update contact information failed:\n\tvalidation error MISSING on field locale, /,
    ],
    ['with a language only', '?locale=en', CONTACT, /^expected full locale for example en_US, Request: PUT /],
    ['with an empty locale', '?locale=', CONTACT, /^expected full locale for example en_US, Request: PUT /],
    [
      'in a locale the shop lacks',
      '?locale=it_IT',
      CONTACT,
      /^The shop does not have the locale it_IT, only en_GB, de_DE, fr_FR, /,
    ],
    ['with a list', '?locale=en_GB', [CONTACT], /WRONG_TYPE on field body, /],
    ['with a text', '?locale=en_GB', '"Contact"', /WRONG_TYPE on field body, /],
    ['with null', '?locale=en_GB', 'null', /WRONG_TYPE on field body, /],
    ['without a body', '?locale=en_GB', '', /WRONG_TYPE on field body, /],
    ['with broken JSON', '?locale=en_GB', '{"name":', /^The body is not valid JSON: /],
    ['with too long a name', '?locale=en_GB', { name: 'x'.repeat(256) }, /TOO_LONG on field name, /],
    [
      'with text that is no Unicode',
      '?locale=en_GB',
      String.raw`{"name":"\u0000"}`,
      /^The body holds text that is not valid Unicode, /,
    ],
  ])('%s, and nothing changes', async (_, query, body, message) => {
    await put(`${path}?locale=en_GB`, { name: 'Before' });
    const before = await pages();
    const answer = await service.call('PUT', `/Harbour/legal${path}${query}`, {
      token,
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(message);
    expect(answer.body.message).toMatch(/, Request: PUT \/rs\/shops\/Harbour\/legal\/contact-information$/);
    expect(await pages()).toEqual(before);
  });

  test('when a text is longer than it may be, or a request larger, and taken when it is just below', async () => {
    const large = { description: 'x'.repeat(200_000) };
    expect((await put(`${path}?locale=en_GB`, large)).body).toEqual(large);
    const before = await pages();
    const tooLong = await put(`${path}?locale=en_GB`, { description: 'x'.repeat(200_001) });
    expect(tooLong.status).toBe(400);
    expect(tooLong.body.message).toContain('validation error TOO_LONG on field description');
    expect((await put(`${path}?locale=en_GB`, { description: 'y'.repeat(1_048_576) })).status).toBe(413);
    expect(await pages()).toEqual(before);
  });
});

test('the locale of a page is written in any case and stored as the shop spells it', async () => {
  await put('/cookie-policy?locale=DE_de', { name: 'Kekse' });
  expect(await pages()).toEqual([
    { shop_id: 'Harbour', page: 'cookie-policy', locale: 'de_DE', content: { name: 'Kekse' } },
  ]);
});

test('of two writers at once one page remains, whole', async () => {
  const versions = Array.from({ length: 10 }, (_, index) => ({ name: `n${index}`, title: `t${index}` }));
  const answers = await Promise.all(versions.map((body) => put('/privacy-policy?locale=fr_FR', body)));
  expect(answers.map((answer) => answer.body)).toEqual(versions);
  expect(versions).toContainEqual((await get('/privacy-policy?locale=fr_FR')).body);
  expect(await pages()).toHaveLength(1);
});
