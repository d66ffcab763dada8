import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeSettings, givenProduct, givenSmallShop, NOW, type Shop } from '../../../test/carts.ts';
import { startService, type Service } from '../../../test/service.ts';
import { givenVisitor, mainOf } from '../../../test/visitor.ts';
import type { DurabilityGuarantee, ProductFacts } from '../../catalogue/products/facts.ts';
import { sql } from '../../db/sql.ts';
import { guaranteeFiles } from '../../shops/legal/guarantee-files.ts';
import { findSettings } from '../../shops/settings/settings.ts';
import { legalGuaranteeNotice } from './guarantee.ts';

let service: Service;
let shop: Shop;

const RESPONSIBLE = {
  name: 'Harbour Imports GmbH',
  address: 'Kai 4\n20457 Hamburg',
  contact: 'eu@harbour.example',
};

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  shop = await givenSmallShop(service, {
    name: SELLER,
    locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] },
    manufacturers: [
      {
        name: 'Beacon',
        company: 'Beacon Appliances Ltd',
        address: '4 Quay Road, Dover',
        contact: 'https://beacon.example/safety',
        responsiblePerson: RESPONSIBLE,
        safetyText: { en_GB: 'Gets hot.', de_DE: 'Wird heiß.' },
      },
    ],
  });
});
afterAll(() => service.close());

let numbers = 0;

/** The product as the API shows it, and its page. */
async function shown(facts: ProductFacts, language = '') {
  const number = `S-${++numbers}`;
  const id = await givenProduct(shop, { number, facts });
  const { body } = await service.call('GET', `/${shop.shopId}/products/${id}`);
  const page = await givenVisitor(service, shop.shopId).get(`/Products/${number}${language}`);
  return { safetyInfo: body.safetyInfo, page, text: mainOf(page) };
}

describe('the safety data of a product', () => {
  test('are those of its manufacturer', async () => {
    const { safetyInfo, text, page } = await shown({ manufacturer: 'BEACON' });
    expect(safetyInfo).toEqual({
      manufacturer: {
        name: 'Beacon Appliances Ltd',
        address: '4 Quay Road, Dover',
        contact: 'https://beacon.example/safety',
      },
      responsiblePerson: RESPONSIBLE,
      text: 'Gets hot.',
    });
    expect(text).toContain(
      'Product safety Gets hot. Manufacturer Beacon Appliances Ltd 4 Quay Road, Dover https://beacon.example/safety Responsible person in the EU Harbour Imports GmbH Kai 4 20457 Hamburg eu@harbour.example',
    );
    expect(page.text).toContain('<a href="mailto:eu@harbour.example">');
  });

  test.each([
    ['', 'Pier 1 Hamburg Germany'],
    ['?locale=de_DE', 'Pier 1 Hamburg Deutschland'],
  ])('name the country in the language of the page%s', async (language, address) => {
    const manufacturer = { name: 'Tide', address: 'Pier 1\nHamburg\nGermany', contact: 'tide@mail.example' };
    const { text } = await shown({ safety: { manufacturer } }, language);
    expect(text).toContain(`Tide ${address} tide@mail.example`);
  });

  test('are its own, where it has any, and nothing is linked that is no address', async () => {
    const manufacturer = { name: 'Tide <b>', address: 'Pier 1', contact: 'javascript:alert(1)' };
    const { safetyInfo, page } = await shown({ manufacturer: 'Beacon', safety: { manufacturer } });
    expect(safetyInfo).toMatchObject({ manufacturer, responsiblePerson: RESPONSIBLE, text: 'Gets hot.' });
    expect(page.text).toContain('Tide &lt;b&gt;');
    expect(page.text).not.toContain('href="javascript');
  });

  test('are nothing where nobody has said anything', async () => {
    const { safetyInfo, text } = await shown({ manufacturer: 'Another' });
    expect(safetyInfo).toBeUndefined();
    expect(text).not.toContain('Product safety');
  });
});

const GUARANTEE: DurabilityGuarantee = {
  years: 5.5,
  brand: 'Beacon',
  model: 'BK-17',
  guarantor: 'Beacon Appliances Ltd',
  address: '4 Quay Road, Dover',
  termsUrl: 'https://beacon.example/guarantee',
};
const SELLER = 'Quay Shop';
const NOTICE =
  `Legal guarantee of conformity At least 2 years If a product is defective or not as agreed, the seller, ${SELLER}, is liable to you for at least 2 years from delivery. ` +
  'The law of your country may give you more time. You may have it repaired or replaced free of charge. ' +
  'If that does not help, you may ask for a price reduction or your money back. Your rights on the pages of the European Union';

describe('what consumer law wants to be known', () => {
  test('is on the page of the product and in the answers under /manage', async () => {
    const number = `S-${++numbers}`;
    const id = await givenProduct(shop, { number });
    const given = {
      durabilityGuarantee: GUARANTEE,
      environmentalClaims: [
        { locale: 'en_GB', claim: '80 % recycled steel', source: 'https://beacon.example/report' },
      ],
      repairability: '8.2',
      softwareUpdates: '2031-12-31',
      eprelNumber: '1234567',
      hsCode: '851610',
      originCountry: 'FR',
      productPassport: 'https://passport.example/BK-17',
    };
    const patch = (body: object) =>
      service.call('PATCH', `/manage/shops/${shop.shopId}/products/${id}`, { token: shop.token, body });
    const saved = await patch(given);
    const { environmentalClaims: _claims, ...others } = given;
    const legalInfo = {
      ...others,
      environmentalClaim: { claim: '80 % recycled steel', source: 'https://beacon.example/report' },
      eprelUrl: 'https://eprel.ec.europa.eu/qr/1234567',
    };
    expect([saved.status, saved.body.legalInfo]).toEqual([200, legalInfo]);
    const page = await givenVisitor(service, shop.shopId).get(`/Products/${number}`);
    const text = mainOf(page);
    expect(text).toContain(
      'Producer’s guarantee of durability GARAN 5.5 years Beacon BK-17 Guarantor: Beacon Appliances Ltd, 4 Quay Road, Dover ' +
        'Terms of the guarantee The legal guarantee of at least 2 years applies as well.',
    );
    expect(page.text).toContain(
      'aria-label="GARAN: the producer guarantees the durability of Beacon BK-17 for 5.5 years."',
    );
    expect(text).toContain('Repairability 8.2 of 10 Software updates at least until 31 December 2031');
    expect(text).toContain('Country of origin France Digital product passport passport.example');
    expect(text).toContain('Environment 80 % recycled steel Source: https://beacon.example/report');
    expect(page.text).toContain('href="https://eprel.ec.europa.eu/qr/1234567"');
    expect(text).toContain(NOTICE);
    // Half of a guarantee, or a claim without a source, is none.
    for (const wrong of [
      { durabilityGuarantee: { ...GUARANTEE, years: 2 } },
      { durabilityGuarantee: { ...GUARANTEE, years: 3.2 } },
      { durabilityGuarantee: { ...GUARANTEE, termsUrl: '' } },
      { environmentalClaims: [{ locale: 'en_GB', claim: 'Green', source: '' }] },
      { hsCode: '85161' },
      { originCountry: 'XX' },
      { softwareUpdates: '2031-02-30' },
    ])
      expect([wrong, (await patch(wrong)).status]).toEqual([wrong, 400]);
    expect((await patch({})).body.legalInfo).toEqual(legalInfo);
    const nothing = Object.fromEntries(Object.keys(given).map((key) => [key, null]));
    expect((await patch(nothing)).body.legalInfo).toBeUndefined();
  });

  test('is inherited by variations, on cards and in the cart', async () => {
    const [master, variation] = [`S-${++numbers}`, `S-${++numbers}`];
    const masterId = await givenProduct(shop, {
      number: master,
      facts: { durabilityGuarantee: GUARANTEE },
    });
    const productId = await givenProduct(shop, { number: variation });
    await service.db.run(sql`
      update product set kind = case when product_id = ${masterId} then 'master' else 'variation' end,
        master_id = case when product_id = ${masterId} then null else ${masterId}::uuid end,
        selection = case when product_id = ${masterId} then null else '{"Size": "S"}'::jsonb end
      where shop_id = ${shop.shopId} and product_id in (${masterId}, ${productId})`);
    const visitor = givenVisitor(service, shop.shopId);
    const label = 'GARAN 5.5 years Beacon BK-17';
    expect(mainOf(await visitor.get(`/Products/${variation}`))).toContain(label);
    expect(mainOf(await visitor.get(`/search?q=${master}`))).toContain(label);
    await visitor.submit('/cart/add', { productId, quantity: '1' });
    expect(mainOf(await visitor.get('/cart'))).toContain(label);
  });

  test('is said in the language of the visitor, and not by a shop that sells to businesses', async () => {
    const german = await shown({}, '?locale=de_DE');
    expect(german.text).toContain(
      `Gesetzliche Gewährleistung Mindestens 2 Jahre Ist ein Produkt mangelhaft oder nicht wie vereinbart, haftet Ihnen der Verkäufer, ${SELLER}, mindestens 2 Jahre ab der Lieferung.`,
    );
    expect(german.page.text).toContain(
      'https://europa.eu/youreurope/citizens/consumers/shopping/guarantees/index_de.htm',
    );
    const download = await shown({ withdrawalExcluded: 'digitalContent' });
    expect(download.text).not.toContain('Legal guarantee');
    await changeSettings(shop, { withdrawal: { days: 0 } });
    const { text } = await shown({ durabilityGuarantee: GUARANTEE });
    expect(text).not.toContain('Legal guarantee');
    expect(text).not.toContain('GARAN');
    await changeSettings(shop, { withdrawal: { days: 14 } });
  });

  test('is the official notice where the operator has placed it', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'kontor-notice-'));
    await writeFile(path.join(folder, 'de.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    await writeFile(path.join(folder, 'notes.txt'), 'ignored');
    const files = guaranteeFiles({ LEGAL_NOTICE_DIR: folder, KONTOR_DATA: '.' });
    expect([...files.keys()]).toEqual(['de']);
    expect(guaranteeFiles({ KONTOR_DATA: folder }).size).toBe(0);
    const settings = (await findSettings(service.db, shop.shopId))!;
    const notice = (locale: string) =>
      String(legalGuaranteeNotice({ settings, locale, guaranteeFiles: files, account: undefined }));
    expect(notice('de_DE')).toMatch(
      /<img src="\/assets\/legal-guarantee-de\.[\w-]{12}\.svg" alt="Gesetzliche Gewährleistung\. Mindestens 2 Jahre\. Ist ein/,
    );
    expect(notice('en_GB')).not.toContain('<img');
  });
});
