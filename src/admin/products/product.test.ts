import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../db/sql.ts';
import type { ProductFacts, Prices } from '../../catalogue/products/facts.ts';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { fingerprint, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';

let service: Service;
let owner: Merchant;
let kettle: string;
beforeAll(async () => {
  service = await startDemo();
  owner = await givenMerchant(service, 'owner');
  kettle = `/products/${(await stored('AP-100')).id}`;
});
afterAll(() => service.close());

async function stored(number: string) {
  const row = await service.db.one<{
    id: string;
    prices: Prices;
    stock: number;
    visible: boolean;
    facts: ProductFacts;
  }>(sql`
    select upper(product_id::text) as id, prices, stock::float8 as stock, visible, facts from product
    where shop_id = 'DemoShop' and product_number = ${number}`);
  return row!;
}

/** The fields of the form as a browser would send them, without what is not ticked. */
function fieldsOf(text: string): Record<string, string> {
  const form = text.slice(text.indexOf('class="product-form"'));
  const inputs = [...form.matchAll(/<input\b[^>]*>/g)].flatMap(([tag]): [string, string][] => {
    const attribute = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
    const isSent = attribute('type') !== 'checkbox' || /\bchecked\b/.test(tag);
    return isSent && attribute('name') !== 'category' ? [[attribute('name')!, attribute('value') ?? '']] : [];
  });
  return Object.fromEntries(inputs);
}

const openForm = async () => fieldsOf((await owner.get(kettle)).text);

describe('the page of a product', () => {
  test('saves all of it or nothing, in one call', async () => {
    const fields = await openForm();
    const before = await fingerprint(service);
    const refused = await owner.post(kettle, {
      ...fields,
      'name.en_GB': 'Kettle',
      'name.de_DE': 'Kessel',
      'price.EUR': '1',
      'dataSheet.url': 'no address',
    });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('value="Kettle"');
    const unknown = await owner.post(kettle, {
      ...fields,
      'name.en_GB': 'Kettle',
      categories: 'yes',
      category: '00000000-0000-7000-8000-000000000000',
    });
    expect(unknown.status).toBe(404);
    expect(await fingerprint(service)).toEqual(before);
  });

  test('changes what was changed, and only that', async () => {
    const fields = await openForm();
    expect(fields).toMatchObject({ 'price.EUR': '49.90', 'name.en_GB': 'Beacon Kettle 1.7 l', stock: '22' });
    const before = await stored('AP-100');
    const answer = await owner.post(kettle, {
      ...fields,
      'price.EUR': '44,90',
      'name.de_DE': 'Beacon Kessel',
      'tier.0.quantity': '5',
      'tier.0.price': '42.5',
      'weight.amount': '1,4',
      'weight.unit': 'kilogram',
      shippingSurcharge: '25,50',
      specialOffer: 'yes',
      visible: 'no',
    });
    expect([answer.status, answer.location]).toEqual([303, `/admin/shops/DemoShop${kettle}`]);
    const after = await stored('AP-100');
    expect(after.prices).toEqual({ EUR: 4490 });
    expect(after.visible).toBe(false);
    const { pricesBeforeReduction, ...facts } = after.facts;
    expect(pricesBeforeReduction).toEqual({ EUR: 4990 });
    expect(facts).toEqual({
      ...before.facts,
      name: { ...before.facts.name, de_DE: 'Beacon Kessel' },
      bulkPrices: [{ quantity: '5', prices: { EUR: 4250 } }],
      deliveryWeight: { amount: 1.4, unit: 'kilogram' },
      shippingSurcharge: { EUR: 2550 },
      specialOffer: true,
    });
  });

  test('saves what consumer law and customs want to be known', async () => {
    const fields = await openForm();
    const { facts } = await stored('AP-100');
    const guarantee = {
      'guarantee.years': '2,5',
      'guarantee.brand': 'Beacon',
      'guarantee.model': 'BK-17',
      'guarantee.guarantor': 'Beacon Ltd',
      'guarantee.address': 'Kai 4, 20457 Hamburg',
      'guarantee.termsUrl': 'https://beacon.example/guarantee',
    };
    const before = await fingerprint(service);
    for (const half of [
      { ...guarantee, 'guarantee.model': '' },
      { ...guarantee, 'guarantee.years': '2' },
      { 'claim.en_GB': 'Green' },
      { 'law.hsCode': '12' },
    ])
      expect([half, (await owner.post(kettle, { ...fields, ...half })).status]).toEqual([half, 400]);
    expect(await fingerprint(service)).toEqual(before);
    const saved = await owner.post(kettle, {
      ...fields,
      ...guarantee,
      'claim.de_DE': 'Aus 80 % Recyclingstahl',
      'claimSource.de_DE': 'Bericht 4711',
      'law.hsCode': '8516.10 80',
      'law.originCountry': 'de',
      'law.repairability': '8,2',
    });
    expect(saved.status).toBe(303);
    expect((await stored('AP-100')).facts).toEqual({
      ...facts,
      durabilityGuarantee: {
        years: 2.5,
        brand: 'Beacon',
        model: 'BK-17',
        guarantor: 'Beacon Ltd',
        address: 'Kai 4, 20457 Hamburg',
        termsUrl: 'https://beacon.example/guarantee',
      },
      environmentalClaims: { de_DE: { claim: 'Aus 80 % Recyclingstahl', source: 'Bericht 4711' } },
      hsCode: '85161080',
      originCountry: 'DE',
      repairability: '8.2',
    });
    const emptied = Object.fromEntries(
      Object.keys(fields)
        .filter((name) => /^(guarantee|claim|claimSource|law)\./.test(name))
        .map((name) => [name, '']),
    );
    expect((await owner.post(kettle, { ...(await openForm()), ...emptied })).status).toBe(303);
    expect((await stored('AP-100')).facts).toEqual(facts);
  });

  test('has the headline of the customer’s text in every language', async () => {
    const { id, facts } = await stored('GI-100');
    const fields = fieldsOf((await owner.get(`/products/${id}`)).text);
    expect(fields).toMatchObject({
      'customHeadline.en_GB': 'Your engraving',
      'customHeadline.de_DE': 'Ihre Gravur',
      'customHeadline.fr_FR': 'Votre gravure',
    });
    const save = (changed: Record<string, string>) =>
      owner.post(`/products/${id}`, { ...fields, 'custom.is': 'yes', ...changed });
    expect((await save({ 'customHeadline.fr_FR': 'Texte à graver' })).status).toBe(303);
    expect((await stored('GI-100')).facts).toEqual({
      ...facts,
      customisation: { ...facts.customisation, headlines: { de_DE: 'Ihre Gravur', fr_FR: 'Texte à graver' } },
    });
    const { version } = fieldsOf((await owner.get(`/products/${id}`)).text);
    await save({
      version: version!,
      'customHeadline.de_DE': '',
      'customHeadline.fr_FR': '',
      'custom.length': '30',
    });
    expect((await stored('GI-100')).facts.customisation).toEqual({
      textLength: 30,
      headline: 'Your engraving',
    });
  });

  test('keeps what was typed when it is refused, and changes nothing', async () => {
    const fields = await openForm();
    const before = await fingerprint(service);
    const wrong = await owner.post(kettle, { ...fields, 'price.EUR': 'a lot', 'name.en_GB': 'My kettle' });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('“a lot” is not a number');
    expect(wrong.text).toContain('value="My kettle"');
    const taken = await owner.post(kettle, { ...fields, productNumber: 'AP-110' });
    expect(taken.status).toBe(409);
    expect(await fingerprint(service)).toEqual(before);
  });

  test.each([
    ['price.EUR', '-5', 'Preis liegt außerhalb des erlaubten Bereichs.'],
    ['price.EUR', 'viel', '„viel“ ist keine Zahl. Schreiben Sie sie wie 12,50.'],
    ['productNumber', 'x'.repeat(200), 'Artikelnummer ist zu lang.'],
    ['productLength', '-1', 'Länge liegt außerhalb des erlaubten Bereichs.'],
    ['order.minimum', '-1', 'Mindestmenge liegt außerhalb des erlaubten Bereichs.'],
    ['energy.classes', 'Z', 'Klasse hat das falsche Format.'],
    ['law.originCountry', 'Nirgends', 'Ursprungsland hat das falsche Format.'],
    ['dataSheet.url', 'no address', 'URL des Datenblatts hat das falsche Format.'],
  ])('says beside the field in the language of the reader what is refused: %s', async (name, typed, text) => {
    const speak = (language: string | null) =>
      service.db.run(sql`update admin_user set language = ${language} where email = ${owner.email}`);
    await speak('de');
    const fields = await openForm();
    const before = await fingerprint(service);
    const refused = await owner.post(kettle, { ...fields, [name]: typed });
    expect(await fingerprint(service)).toEqual(before);
    await speak(null);
    const [, shown] = new RegExp(`id="field-${name}-problem">([^<]*)<`).exec(refused.text) ?? [];
    expect([refused.status, shown]).toEqual([400, text]);
    expect(refused.text).toMatch(new RegExp(`id="field-${name}"[^>]*aria-invalid="true"`));
  });

  test('says when somebody else has changed the product, but not when it was sold', async () => {
    const fields = await openForm();
    await service.db.run(
      sql`update product set stock = stock - 1 where shop_id = 'DemoShop' and product_number = 'AP-100'`,
    );
    expect((await owner.post(kettle, { ...fields, stock: '99' })).status).toBe(409);
    expect((await owner.post(kettle, { ...fields, ean: '4012345678901' })).status).toBe(303);
    expect(await stored('AP-100')).toMatchObject({ stock: 21, facts: { ean: '4012345678901' } });
    const late = await owner.post(kettle, { ...fields, ean: '4012345678902' });
    expect(late.status).toBe(409);
    expect(late.text).toContain('Somebody else has changed this');
  });

  test('assigns categories', async () => {
    const category = await service.db.one<{ id: string }>(
      sql`select upper(category_id::text) as id from category where shop_id = 'DemoShop' and alias = 'lamps'`,
    );
    await owner.post(kettle, { ...(await openForm()), categories: 'yes', category: category!.id });
    const assigned = await service.db.many<{ alias: string }>(sql`
      select alias from product_category join category using (shop_id, category_id)
      where shop_id = 'DemoShop' and product_id = ${kettle.slice(10)}`);
    expect(assigned).toEqual([{ alias: 'lamps' }]);
  });

  test('is copied, hidden and without stock', async () => {
    const { location } = await owner.post(`/products/${(await stored('LA-100')).id}/copy`);
    const copyId = location!.split('/').at(-1)!;
    const rows = await service.db.many<{ number: string; visible: boolean; stock: number | null }>(sql`
      select product_number as number, visible, stock::float8 as stock from product
      where shop_id = 'DemoShop' and ${copyId} in (product_id::text, upper(product_id::text), upper(master_id::text))
      order by kind, product_number`);
    expect(rows.length).toBe(4);
    expect(rows[0]).toMatchObject({ visible: false, stock: null });
    expect(rows.slice(1)).toEqual(
      [1, 2, 3].map((index) => ({ number: `${rows[0]!.number}-${index}`, visible: true, stock: 0 })),
    );
  });

  test('can be read and not changed by staff who may only read', async () => {
    const reader = await givenMerchant(service, 'orders');
    const { text } = await reader.get(kettle);
    expect(text).toContain('Beacon Kessel');
    expect(text).not.toContain('class="save-bar"');
    expect((await reader.post(kettle, { 'price.EUR': '1' })).status).toBe(403);
  });
});
