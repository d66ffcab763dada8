import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { applySettings } from '../../shops/settings/file.ts';
import { givenMerchant, type AdminAnswer, type Merchant } from '../../../test/admin.ts';
import { fingerprint, givenOtherShop, startDemo } from '../../../test/demo.ts';
import { ofTheDay } from '../../../test/seed.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { adminMessagesIn } from '../messages.ts';
import { allSettings } from './find-settings.ts';
import { PAGE_SECTIONS } from './page-sections.ts';
import { selectSettings } from '../../shops/settings/settings.ts';

let service: Service;
let merchant: Merchant;
beforeAll(async () => {
  service = await startDemo();
  await givenOtherShop(service);
});
afterAll(() => service.close());
beforeEach(async () => {
  merchant = await givenMerchant(service);
});

const settingsOf = async (shopId = 'DemoShop') => (await selectSettings(service.db, shopId))!;

const unescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** The fields of the settings form as a browser would send them back. */
function fieldsOf({ text }: AdminAnswer): Record<string, string | string[]> {
  const form = /<form[^>]*data-settings[\s\S]*?<\/form>/
    .exec(text)![0]
    .replaceAll(/<template>[\s\S]*?<\/template>/g, '');
  const fields: Record<string, string[]> = {};
  const put = (name: string, value: string) => (fields[name] ??= []).push(unescaped(value));
  for (const [input] of form.matchAll(/<input\b[^>]*>/g)) {
    const name = /\sname="([^"]*)"/.exec(input)?.[1];
    if (name === undefined || (/type="checkbox"/.test(input) && !/\schecked/.test(input))) continue;
    put(name, /\svalue="([^"]*)"/.exec(input)?.[1] ?? '');
  }
  for (const [, name, value] of form.matchAll(
    /<textarea\s[^>]*?name="([^"]*)"[^>]*>\n?([\s\S]*?)<\/textarea>/g,
  )) {
    put(name!, value!);
  }
  for (const [, name, options] of form.matchAll(/<select name="([^"]*)"[^>]*>([\s\S]*?)<\/select>/g)) {
    put(name!, /<option value="([^"]*)" selected/.exec(options!)?.[1] ?? '');
  }
  return fields;
}

/** The texts of the list above a form that was refused. */
const problemsIn = ({ text }: AdminAnswer) =>
  unescaped(/<div class="problem"[\s\S]*?<\/div>/.exec(text)?.[0] ?? '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ');

/** The same of the file, line by line. */
const problemLines = ({ text }: AdminAnswer) =>
  [...(/<div class="problem"[\s\S]*?<\/div>/.exec(text)?.[0] ?? '').matchAll(/<li>([^<]*)<\/li>/g)].map(
    ([, line]) => unescaped(line!),
  );

const PAGES =
  'shop invoices languages taxes shipping orders promotions catalogue customers feeds home privacy'.split(
    ' ',
  );

describe.each(PAGES)('the form of %s', (page) => {
  test('sent as it is shown changes nothing', async () => {
    const before = await settingsOf();
    const shown = await merchant.get(`/settings/${page}`);
    expect(shown.status).toBe(200);
    const { status, location } = await merchant.post(`/settings/${page}`, fieldsOf(shown));
    expect([status, location]).toEqual([303, `/admin/shops/DemoShop/settings/${page}`]);
    expect(await settingsOf()).toEqual(before);
  });
});

test('a changed setting is saved, with an entry in the audit log and in the history, and can be undone', async () => {
  const before = await settingsOf();
  const path = '/settings/orders';
  const saved = await merchant.post(path, {
    ...fieldsOf(await merchant.get(path)),
    'minimumCart.amount': '12,50',
    'basketDiscounts.0.remove': 'yes',
  });
  expect(saved.status).toBe(303);
  const after = await settingsOf();
  expect(after.minimumCartAmount).toBe(1250);
  expect(after.basketDiscounts).toEqual(before.basketDiscounts.slice(1));
  const audit = await service.call('GET', '/manage/shops/DemoShop/audit', { token: 'demo-all' });
  expect(audit.body.items[0]).toMatchObject({
    app: { name: merchant.email },
    route: '/admin/shops/:shopId/settings',
    object: { sections: 'minimumCart,basketDiscounts' },
  });
  const history = await merchant.get('/settings/history');
  expect(history.text).toContain('~ minimumCart.amount: 5 -&gt; 12.5');
  expect(history.text).toContain('- basketDiscounts[from 100]');
  const [newest, previous] = await service.db.many<{ id: string }>(sql`
    select upper(version_id::text) as id from settings_version where shop_id = 'DemoShop' order by version_id desc`);
  const undone = await merchant.post(`/settings/history/${previous!.id}`, { newest: newest!.id });
  expect(undone.status).toBe(303);
  expect({ ...(await settingsOf()), version: 0 }).toEqual({ ...before, version: 0 });
});

test('the groups of businesses are chosen among the customer groups of the shop', async () => {
  const groups = (await settingsOf()).customerGroups.map(({ name }) => name);
  expect(groups.length).toBeGreaterThan(0);
  const path = '/settings/taxes';
  const shown = await merchant.get(path);
  const boxes = [
    ...shown.text.matchAll(/<input\s+type="checkbox"\s+name="netPrices\.groups"\s+value="([^"]*)"/g),
  ];
  expect(boxes.map(([, name]) => unescaped(name!))).toEqual(groups);
  expect(shown.text).not.toMatch(/<textarea[^>]*name="netPrices\.groups"/);
  const chosen = { ...fieldsOf(shown), 'netPrices.groups': [groups[0]!] };
  expect((await merchant.post(path, chosen)).status).toBe(303);
  expect((await settingsOf()).netPrices.groups).toEqual([groups[0]]);
  const { 'netPrices.groups': _chosen, ...none } = fieldsOf(await merchant.get(path));
  expect((await merchant.post(path, none)).status).toBe(303);
  expect((await settingsOf()).netPrices.groups).toEqual([]);
});

test('what the settings file refuses is shown beside its field, with everything that was typed', async () => {
  const before = await fingerprint(service);
  const path = '/settings/shipping';
  const refused = await merchant.post(path, {
    ...fieldsOf(await merchant.get(path)),
    'shippingMethods.1.price': 'a lot',
    'deliveryTimes.cutOffHour': '25',
  });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('Please enter a number, such as 7.00.');
  expect(refused.text).toMatch(/name="shippingMethods\.1\.price"[^>]*value="a lot"[^>]*aria-invalid="true"/);
  expect(refused.text).toMatch(/name="deliveryTimes\.cutOffHour"[^>]*value="25"[^>]*aria-invalid="true"/);
  expect(refused.text).toContain('Please enter 24 or less.');
  expect(await fingerprint(service)).toEqual(before);
  const german = await givenMerchant(service, 'owner', 'DemoShop', 'owner@german.example');
  await service.db.run(sql`update admin_user set language = 'de' where email = ${german.email}`);
  const other = await german.post(path, {
    ...fieldsOf(await german.get(path)),
    'deliveryTimes.cutOffHour': '25',
  });
  expect([other.status, other.text.includes('Bitte geben Sie höchstens 24 ein.')]).toEqual([422, true]);
});

describe.each([
  {
    language: 'en',
    texts: {
      invoices: ['A VAT ID of this country looks like this: DE123456788', 'This IBAN can’t be right'],
      orders: ['Please enter either an amount or a percentage.', 'Amounts in EUR have at most 2 decimals.'],
      theme: ['its contrast with the background is 1.6:1, and 4.5:1 is needed.'],
      languages: ['The rate of SEK is missing: how much of it 1 EUR is worth.'],
      domains: ['shop.localhost works without being entered here'],
      taxes: ['Exactly one tax class must be the default.', 'The rate for Germany, the country of the shop,'],
      shop: ['These tax classes have no rate for Japan yet:'],
      'emails/order': ['{nonsense} can’t be used here. You can use: {'],
    },
  },
  {
    language: 'de',
    texts: {
      invoices: ['Eine USt-IdNr. dieses Landes sieht so aus: DE123456788', 'Diese IBAN kann nicht stimmen'],
      orders: ['Bitte geben Sie entweder einen Betrag', 'Beträge in EUR haben höchstens 2 Nachkommastellen.'],
      theme: ['Ihr Kontrast zum Hintergrund ist 1,6:1, nötig sind 4,5:1.'],
      languages: ['Der Kurs von SEK fehlt: wie viel davon 1 EUR wert ist.'],
      domains: ['shop.localhost funktioniert ohne Eintrag'],
      taxes: [
        'Genau eine Steuerklasse muss der Standard sein.',
        'Der Satz für Deutschland, das Land des Shops,',
      ],
      shop: ['Diese Steuerklassen haben noch keinen Satz für Japan:'],
      'emails/order': ['{nonsense} kann hier nicht verwendet werden. Möglich sind: {'],
    },
  },
  {
    language: 'fr',
    texts: {
      invoices: ['Un n° de TVA de ce pays ressemble à ceci', 'Cet IBAN ne peut pas être correct'],
      orders: [
        'Saisissez soit un montant, soit un pourcentage.',
        'Les montants en EUR ont au plus 2 décimales.',
      ],
      theme: ['son contraste avec le fond est de 1,6:1, il faut 4,5:1.'],
      languages: ['Il manque le taux de SEK'],
      domains: ['shop.localhost fonctionne sans être saisi ici'],
      taxes: ['Une seule classe de taxe doit être celle par défaut.', 'Il manque le taux pour Allemagne,'],
      shop: ['Ces classes de taxe n’ont pas encore de taux pour Japon'],
      'emails/order': ['{nonsense} ne peut pas être utilisé ici.'],
    },
  },
])('what no schema can say is said in $language', ({ language, texts }) => {
  const wrong: Record<keyof typeof texts, Record<string, string | string[]>> = {
    invoices: { 'invoicing.vatId': 'DE12', 'invoicing.bank.iban': 'DE02120300000000202052' },
    orders: {
      'basketDiscounts.0.absolute': '1',
      'basketDiscounts.0.percent': '1',
      'minimumCart.amount': '1.005',
    },
    theme: { 'theme.text': '#cccccc' },
    languages: { 'currencies.items': ['EUR', 'SEK'] },
    domains: { domains: 'shop.localhost' },
    taxes: { 'taxClasses.1.default': [], 'taxClasses.0.rates.DE': '' },
    shop: { country: 'JP' },
    'emails/order': { text: 'Hello {nonsense}' },
  };

  test.each(Object.entries(texts))('on the page of %s', async (page, expected) => {
    const reader = await givenMerchant(service, 'owner', 'DemoShop', `owner@${language}.example`);
    await service.db.run(sql`update admin_user set language = ${language} where email = ${reader.email}`);
    const before = await fingerprint(service);
    const path = `/settings/${page}`;
    const refused = await reader.post(path, {
      ...fieldsOf(await reader.get(path)),
      ...wrong[page as keyof typeof texts],
    });
    expect(refused.status).toBe(422);
    for (const text of expected) expect(problemsIn(refused)).toContain(text);
    expect(await fingerprint(service)).toEqual(before);
  });
});

test('numbers and languages are written as in the language of the reader', async () => {
  const german = await givenMerchant(service, 'owner', 'DemoShop', 'owner@german.example');
  await service.db.run(sql`update admin_user set language = 'de' where email = ${german.email}`);
  const languages = await german.get('/settings/languages');
  expect(fieldsOf(languages)['currencies.rates.GBP']).toEqual(['0,85']);
  const before = await settingsOf();
  expect((await german.post('/settings/languages', fieldsOf(languages))).status).toBe(303);
  expect(await settingsOf()).toEqual(before);
  const { text } = await german.get('/settings/catalogue');
  expect(text).toContain('<th scope="row">Kilogramm</th>');
  expect(text).toContain('<th scope="col">Französisch: ');
  expect((await german.get('/settings/taxes')).text).toContain('placeholder="8,1"');
});

test('a new entry gets a key from its name, and fields of another kind of delivery are dropped', async () => {
  const path = '/settings/shipping';
  const fields = fieldsOf(await merchant.get(path));
  const saved = await merchant.post(path, {
    ...fields,
    'shippingMethods.added1.name.en_GB': 'Über Nacht!',
    'shippingMethods.added1.kind': 'orderValue',
    'shippingMethods.added1.price': '99',
    'shippingMethods.added1.tiers.0.from': '0',
    'shippingMethods.added1.tiers.0.price': '9.90',
    'shippingMethods.added1.tiers.1.from': '',
    'shippingMethods.added1.tiers.1.price': '',
  });
  expect(saved.status).toBe(303);
  const method = (await settingsOf()).shippingMethods.at(-1)!;
  expect(method).toMatchObject({
    key: 'uber-nacht',
    kind: 'order_value',
    amount: 0,
    tiers: [{ from: 0, amount: 990 }],
    freeFrom: null,
  });
  const test = await merchant.get('/settings/shipping?weight=3&value=20&country=AT');
  expect(test.text.replaceAll(/\s+/g, ' ')).toContain('<dt>Über Nacht!</dt> <dd class="number">€9.90</dd>');
});

test('what somebody else has changed meanwhile is not overwritten', async () => {
  const path = '/settings/home';
  const fields = fieldsOf(await merchant.get(path));
  const other = await givenMerchant(service, 'manager');
  const theirs = await other.post(path, { ...fieldsOf(await other.get(path)), 'home.title.en_GB': 'Theirs' });
  expect(theirs.status).toBe(303);
  const refused = await merchant.post(path, { ...fields, 'home.title.en_GB': 'Mine' });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('value="Mine"');
  expect((await settingsOf()).home.title['en_GB']).toBe('Theirs');
  expect((await merchant.post(path, fieldsOf(refused))).status).toBe(303);
  expect((await settingsOf()).home.title['en_GB']).toBe('Mine');
});

test('an entry that is in use can not be removed, and the reason is told', async () => {
  const path = '/settings/taxes';
  const before = await settingsOf();
  const refused = await merchant.post(path, {
    ...fieldsOf(await merchant.get(path)),
    'taxClasses.2.remove': 'yes',
  });
  expect(refused.status).toBe(422);
  expect(problemsIn(refused)).toContain('can’t be removed, because it is in use.');
  expect(await settingsOf()).toEqual(before);
});

describe('the file', () => {
  test('shows what would change, changes nothing then, and applies it', async () => {
    const before = await fingerprint(service);
    const shown = await merchant.post('/settings/file', { text: 'lowStockLevel: 7', action: 'preview' });
    expect(shown.status).toBe(200);
    expect(shown.text).toContain('lowStockLevel: 7');
    expect(shown.text).toMatch(/<li class="(?:added|changed)">[+~] lowStockLevel: .*7<\/li>/);
    expect(await fingerprint(service)).toEqual(before);
    const applied = await merchant.post('/settings/file', { text: 'lowStockLevel: 7', action: 'apply' });
    expect(applied.status).toBe(303);
    expect((await settingsOf()).lowStockLevel).toBe(7);
  });

  test('names what is wrong with its line, and keeps what was typed', async () => {
    const refused = await merchant.post('/settings/file', {
      text: 'lowStockLevel: -1\nnaem: x',
      action: 'apply',
    });
    expect(refused.status).toBe(422);
    expect(problemLines(refused)).toEqual([
      'naem (line 2): There is no such field here. Did you mean name?',
      'lowStockLevel (line 1): Please enter 0 or more.',
    ]);
    expect(refused.text).toContain('naem: x</textarea>');
  });

  // As long as a file may be; read in a thread of its own, which ends when it takes too long or too much.
  test.each(
    ofTheDay(
      [
        ['brackets', '['.repeat(300_000)],
        ['braces', '{'.repeat(300_000)],
        ['maps in maps', `a: ${'{a: '.repeat(100_000)}`],
        ['lists in lists', `${'- '.repeat(150_000)}x`],
        ['deeper and deeper', Array.from({ length: 700 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
        ['aliases', `a: &a [x]\n${'b: [*a, *a]\n'.repeat(9_000)}`],
        ['backslashes', `a: "${'\\'.repeat(300_000)}`],
      ] as [string, string][],
      1,
    ),
  )('a file of nothing but %s is refused', async (_name, text) => {
    const before = await fingerprint(service);
    const { status } = await merchant.post('/settings/file', { text, action: 'apply' });
    expect(status).toBe(422);
    expect(await fingerprint(service)).toEqual(before);
  });

  test.each<[language: 'de' | 'fr', file: string, lines: string[]]>([
    [
      'de',
      'naem: x\nlowStockLevel: -1\ntaxes: {model: brutto}\nname: 7\nsellBeyondStock: ja\ndomains: 1\nhome: 2\nmaxPerOrder: "3"',
      [
        'naem (Zeile 1): Dieses Feld gibt es hier nicht. Meinten Sie name?',
        'name (Zeile 4): Hier gehört ein Text hin. Bitte setzen Sie Zahlen sowie true oder false in Anführungszeichen.',
        'domains (Zeile 6): Hier gehört eine Liste hin.',
        'taxes.model (Zeile 3): Möglich sind: gross, net',
        'sellBeyondStock (Zeile 5): Bitte schreiben Sie true oder false.',
        'maxPerOrder (Zeile 8): Hier gehört eine Zahl ohne Anführungszeichen hin, zum Beispiel 7.00.',
        'lowStockLevel (Zeile 2): Bitte geben Sie mindestens 0 ein.',
        'home (Zeile 7): Hier gehört ein Abschnitt mit eigenen Feldern hin.',
      ],
    ],
    [
      'de',
      'taxes: {colour: red}\nslogan: {german: Hallo}\ncountries: {default: DE}',
      [
        'slogan.german (Zeile 2): Dieser Name ist hier nicht gültig. Bitte schreiben Sie ihn so: de_DE',
        'countries (Zeile 3): items fehlt.',
        'taxes (Zeile 1): model fehlt.',
        'taxes.colour (Zeile 1): Dieses Feld gibt es hier nicht. Möglich sind: model, displayTaxes, noTaxesMessage, deliveryThresholdIsActive, taxFreeOutsideEu, exportPrices, smallBusiness, distanceSales, registrations, specialTerritories, delivery',
      ],
    ],
    ['de', '', ['Die Datei: Sie ist leer. Bitte geben Sie Abschnitte wie locales oder taxClasses ein.']],
    ['de', '- 1', ['Die Datei: Hier gehört ein Abschnitt mit eigenen Feldern hin.']],
    [
      'de',
      'name: a\nname: b',
      ['Zeile 2: Dieses Feld ist doppelt vorhanden. Bitte lassen Sie nur eines stehen.'],
    ],
    ['de', 'name: *other', ['Die Datei: Die Verweise dieser Datei (& und *) lassen sich nicht auflösen.']],
    [
      'de',
      'name: "a',
      [
        'Zeile 1: Das ist kein gültiges YAML. Bitte prüfen Sie Einrückung, Doppelpunkte, Anführungszeichen und Klammern.',
      ],
    ],
    [
      'fr',
      'home:\n\ttitle: a',
      [
        'ligne 2: Le retrait n’est pas correct. Utilisez uniquement des espaces, autant que dans les lignes qui vont ensemble.',
      ],
    ],
    [
      'fr',
      'country: JP',
      [
        'country (ligne 1): Ces classes de taxe n’ont pas encore de taux pour JP : none, standard, reduced, digital, ebooks. Indiquez aussi la section taxClasses.',
      ],
    ],
    [
      'fr',
      `couponCampaigns:
  - {identifier: a, name: A, type: fix, codes: []}
  - {identifier: b, name: B, type: percent, amount: 100.5, codes: [X]}
  - {identifier: c, name: C, type: shipping, amount: 1, waiveShippingCosts: false, codes: [x]}
  - {identifier: d, name: D, type: shipping, validFrom: 2026-09-01, validTo: 2026-06-01, codes: []}
  - {identifier: e, name: E, type: shipping, validTo: soon, codes: []}`,
      [
        'couponCampaigns[0] (ligne 2): amount manque.',
        'couponCampaigns[1].amount (ligne 3): Saisissez 100 ou moins.',
        'couponCampaigns[2].amount (ligne 4): La livraison gratuite n’a pas de montant. Supprimez-le.',
        'couponCampaigns[2].waiveShippingCosts (ligne 4): Un bon de livraison gratuite offre toujours les frais de port. Écrivez true ou supprimez le champ.',
        'couponCampaigns[3].validTo (ligne 5): La fin est avant le début.',
        'couponCampaigns[4].validTo (ligne 6): Écrivez-le ainsi : 2026-06-01T00:00:00Z',
        'couponCampaigns[2].codes[0] (ligne 4): x figure deux fois.',
      ],
    ],
    [
      'de',
      'couponCampaigns:\n  - {identifier: a, name: A, type: shipping, shippingMethods: [swim], paymentMethods: [barter], codes: []}',
      [
        'couponCampaigns[0].shippingMethods[0] (Zeile 2): Diese Versandart hat der Shop nicht.',
        'couponCampaigns[0].paymentMethods[0] (Zeile 2): Diese Zahlungsart hat der Shop nicht.',
      ],
    ],
    [
      'de',
      'couponCampaigns:\n  - {identifier: a, name: A, type: fix, amount: 1, currency: XAF, products: [NO-1], codes: []}',
      [
        'couponCampaigns[0].currency (Zeile 2): XAF gehört nicht zu den Währungen des Shops.',
        'couponCampaigns[0].products[0] (Zeile 2): Ein Produkt mit der Nummer NO-1 hat der Shop nicht.',
      ],
    ],
  ])('says in the language of the reader (%s) what is wrong with %j', async (language, text, lines) => {
    const reader = await givenMerchant(service, 'owner', 'DemoShop', `owner@${language}.example`);
    await service.db.run(sql`update admin_user set language = ${language} where email = ${reader.email}`);
    const before = await fingerprint(service);
    const refused = await reader.post('/settings/file', { text, action: 'apply' });
    expect([refused.status, problemLines(refused)]).toEqual([422, lines]);
    expect(await fingerprint(service)).toEqual(before);
  });

  test('can be downloaded, and applied again changes nothing', async () => {
    const { text, headers } = await merchant.get('/settings/file/download');
    expect(headers['content-disposition']).toBe("attachment; filename*=UTF-8''DemoShop.yaml");
    const again = await merchant.post('/settings/file', { text, action: 'preview' });
    expect(again.text).toContain('This file changes nothing.');
  });
});

describe('the history', () => {
  test('keeps the last 100 states', async () => {
    for (let level = 0; level < 6; level++) {
      await merchant.post('/settings/file', { text: `lowStockLevel: ${100 + level}`, action: 'apply' });
    }
    await service.db.run(sql`
      insert into settings_version (shop_id, version_id, author, changes, file)
      select 'DemoShop', gen_random_uuid(), 'x', '[]', '{}' from generate_series(1, 120)`);
    await merchant.post('/settings/file', { text: 'lowStockLevel: 50', action: 'apply' });
    const row = await service.db.one<{ count: number }>(
      sql`select count(*) as count from settings_version where shop_id = 'DemoShop'`,
    );
    expect(row!.count).toBe(100);
    await service.db.run(sql`delete from settings_version where shop_id = 'DemoShop'`);
  });

  test('a state is not restored from a form that is older than the last change', async () => {
    await merchant.post('/settings/file', { text: 'lowStockLevel: 1', action: 'apply' });
    const [newest, found] = await service.db.many<{ id: string }>(sql`
      select upper(version_id::text) as id from settings_version where shop_id = 'DemoShop' order by version_id desc`);
    await merchant.post('/settings/file', { text: 'lowStockLevel: 2', action: 'apply' });
    const refused = await merchant.post(`/settings/history/${found!.id}`, { newest: newest!.id });
    expect(refused.status).toBe(409);
    expect((await settingsOf()).lowStockLevel).toBe(2);
  });

  test('of a shop is not found in another', async () => {
    const found = await service.db.one<{ id: string }>(
      sql`select upper(version_id::text) as id from settings_version where shop_id = 'DemoShop'`,
    );
    const neighbour = await givenMerchant(service, 'owner', 'OtherShop');
    expect((await neighbour.get(`/settings/history/${found!.id}`)).status).toBe(404);
    expect((await neighbour.post(`/settings/history/${found!.id}`)).status).toBe(404);
  });
});

test('the search finds pages of settings by what is on them', async () => {
  expect((await merchant.get('/search?q=bank+account')).text).toContain('/settings/invoices"');
  const orders = await givenMerchant(service, 'orders');
  expect((await orders.get('/search?q=bank+account')).text).not.toContain('/settings/invoices"');
});

test('a form with zones drops the prices of the method, and shows what is wrong with a zone', async () => {
  const before = await settingsOf();
  const path = '/settings/shipping';
  const typed = fieldsOf(await merchant.get(path));
  const zone = (index: number, fields: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [`shippingMethods.added1.zones.${index}.${name}`, value]),
    );
  const fields = {
    ...typed,
    'shippingMethods.added1.name.en_GB': 'Sloop',
    'shippingMethods.added1.kind': 'flat',
    'shippingMethods.added1.price': '99',
    ...zone(0, { countries: 'DE', price: '4,90', freeFrom: '50', maxWeight: '31,5' }),
    ...zone(1, {
      countries: 'FR',
      'weights.0.upTo': '2',
      'weights.0.price': '9.90',
      'days.from': '3',
      'days.to': '5',
    }),
  };
  const refused = await merchant.post(path, {
    ...fields,
    ...zone(2, {
      countries: 'GB',
      postcodes: 'BT*\n900-80',
      price: '1',
      'tiers.0.from': '0',
      'tiers.0.price': '2',
    }),
  });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('900-80 is not a range of postcodes');
  expect(refused.text).toContain('A zone needs exactly one of these');
  expect((await settingsOf()).shippingMethods).toEqual(before.shippingMethods);
  expect((await merchant.post(path, fields)).status).toBe(303);
  expect((await settingsOf()).shippingMethods.at(-1)).toMatchObject({
    key: 'sloop',
    amount: 0,
    zones: [
      { countries: ['DE'], postcodes: [], amount: 490, freeFrom: 5000, maxWeight: 31_500, days: null },
      { countries: ['FR'], amount: null, weights: [{ upTo: 2000, amount: 990 }], days: { from: 3, to: 5 } },
    ],
  });
  const shown = (await merchant.get('/settings/shipping?country=GB&postcode=BT1')).text.replaceAll(
    /\s+/g,
    ' ',
  );
  expect(shown).toContain('<dt>Sloop</dt> <dd class="number"><span class="quiet">Not offered</span></dd>');
});

test('a promotion is typed, explained in words, and has no fields of another effect', async () => {
  const before = await settingsOf();
  const path = '/settings/promotions';
  const entry = 'promotions.0';
  const typed = {
    ...fieldsOf(await merchant.get(`${path}?add=promotions`)),
    [`${entry}.name.en_GB`]: '3 for 2',
    [`${entry}.effect`]: 'buyGet',
    [`${entry}.buy`]: '2',
    [`${entry}.get`]: '1',
    [`${entry}.amount`]: '7',
    [`${entry}.products`]: 'KN-100\nKN-110',
    [`${entry}.minimumAmount`]: '20',
  };
  expect(problemsIn(await merchant.post(path, { ...typed, [`${entry}.from`]: 'soon' }))).toContain(
    '2026-06-01',
  );
  expect(await settingsOf()).toEqual(before);

  expect((await merchant.post(path, typed)).status).toBe(303);
  const { promotions } = await settingsOf();
  expect(promotions).toMatchObject([
    { effect: 'buyGet', buy: 2, get: 1, amount: null, products: ['KN-100', 'KN-110'], minimumAmount: 2000 },
  ]);
  const { text } = await merchant.get(path);
  expect(text.replaceAll(/\s+/g, ' ')).toContain(
    '<strong>3 for 2</strong> <br />Buy 2, get 1 free, from an order value of €20.00',
  );
  await service.db.transaction((tx) => applySettings(tx, 'DemoShop', { promotions: [] }));
});

describe('the search of settings', () => {
  const hits = ({ text }: AdminAnswer) =>
    [...text.matchAll(/<a href="\/admin\/shops\/DemoShop(\/settings\/[^"]*#[^"]*)"/g)].map(
      ([, path]) => path,
    );

  test('finds a setting by its name, and leads to its field', async () => {
    const found = await merchant.get('/settings?q=time+zone');
    // Zones of a shipping method have a transit time, which is named otherwise.
    expect(hits(found)[0]).toBe('/settings/shipping#field-deliveryTimes.timeZone');
    expect(hits(await merchant.get('/search?q=time+zone'))).toEqual(hits(found));
    expect((await merchant.get('/settings?q=%3Cb%3Enothing')).text).toContain('“&lt;b&gt;nothing”');
  });

  test('leads to elements that their pages have, in every language', async () => {
    for (const language of ['en', 'de', 'fr'] as const) {
      const all = allSettings(adminMessagesIn(language), language);
      expect(all.length).toBeGreaterThan(150);
      expect(all.filter(({ label }) => label === '')).toEqual([]);
    }
    for (const [page, places] of Object.entries(PAGE_SECTIONS)) {
      const { text } = await merchant.get(`/settings/${page}`);
      const anchors = allSettings(adminMessagesIn('en'), 'en')
        .filter((place) => place.page === page)
        .map(({ anchor }) => anchor);
      expect(places.length).toBeGreaterThan(0);
      expect(anchors.filter((anchor) => !text.includes(`id="${anchor}"`))).toEqual([]);
    }
  });

  test('is not for those who may not see settings', async () => {
    const shipper = await givenMerchant(service, 'orders');
    expect(hits(await shipper.get('/search?q=time+zone'))).toEqual([]);
    expect((await shipper.get('/settings?q=time+zone')).status).toBe(403);
  });
});

test('the page of the law says what the countries of the shop require, what is there and what is missing', async () => {
  const before = await merchant.get('/settings/law');
  expect(before.status).toBe(200);
  const items = (text: string) =>
    [...text.matchAll(/<h3>([^<]*?)\s*<span class="chip[^"]*">([^<]*)<\/span>/g)].map(([, title, state]) => [
      title,
      state,
    ]);
  expect(items(before.text)).toContainEqual(['Notice on the legal guarantee', 'Missing']);
  expect(items(before.text)).toContainEqual(['Packaging', 'Missing']);
  expect(items(before.text)).toContainEqual(['Electrical devices', 'Please check']);
  expect(before.text).toContain('VerpackG, § 9 (LUCID)');
  expect(before.text).toContain(
    'No information is available for: Switzerland, United Kingdom, United States.',
  );
  expect(before.text).toContain('The official file is missing for: en, de, fr.');
  await service.db.transaction((tx) =>
    applySettings(tx, 'DemoShop', {
      producerRegistrations: [{ country: 'DE', kind: 'packaging', number: 'DE1234567890123' }],
    }),
  );
  const after = await merchant.get('/settings/law');
  expect(items(after.text)).toContainEqual(['Packaging', 'Provided']);
  expect(after.text).toContain('<p>DE1234567890123</p>');
  const imprint = await service.app.inject({ url: '/shop/DemoShop/legal/contact-information' });
  expect(imprint.body).toContain('Packaging register (Germany): DE1234567890123');
});

test('staff who may only read see the forms and cannot save', async () => {
  const reader = await givenMerchant(service, 'accountant');
  const { text, status } = await reader.get('/settings/shipping');
  expect(status).toBe(200);
  expect(text).not.toContain('>Save<');
  expect((await reader.post('/settings/shipping')).status).toBe(403);
});
