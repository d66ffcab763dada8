import { inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Content, ContentLine } from '../../pricing/content.ts';
import type { ContentPromotion } from '../../pricing/cart-promotions.ts';
import type { Address } from '../../shops/countries/address.ts';
import type { DocumentFacts, DocumentTerms } from './facts.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { pdfOf } from './pdf.ts';
import { leavesUnion, proformaOf } from './proforma.ts';

/** The texts of the pages as they are printed, one per piece: glyphs, and what the file says that they mean. */
function textsOf(pdf: Buffer): string[][] {
  const raw = pdf.toString('latin1');
  const objects = new Map(
    [...raw.matchAll(/^(\d+) 0 obj\n([\s\S]*?)\nendobj/gm)].map(([, id, body]) => [Number(id), body!]),
  );
  const streamOf = (body: string) => {
    const bytes = Buffer.from(/stream\n([\s\S]*)\nendstream/.exec(body)![1]!, 'latin1');
    return body.includes('/FlateDecode') ? inflateSync(bytes).toString('latin1') : bytes.toString('latin1');
  };
  const referred = (body: string, key: string) => Number(new RegExp(`/${key} (\\d+) 0 R`).exec(body)![1]);
  const signs = new Map<string, string[]>();
  for (const [, name, id] of raw.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
    const map = streamOf(objects.get(referred(objects.get(Number(id))!, 'ToUnicode'))!);
    signs.set(
      name!,
      [...map.matchAll(/\[([^\]]*)\]/g)].flatMap(([, list]) =>
        [...list!.matchAll(/<([0-9a-f]*)>/g)].map(([, hex]) =>
          Buffer.from(hex!, 'hex').swap16().toString('utf16le'),
        ),
      ),
    );
  }
  return [...objects.values()]
    .filter((body) => /\/Type \/Page\n/.test(body))
    .map((page) => {
      let font = '';
      const texts: string[] = [];
      const pieces = streamOf(objects.get(referred(page, 'Contents'))!).matchAll(
        /\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ/g,
      );
      for (const [, name, glyphs] of pieces) {
        if (name !== undefined) font = name;
        else {
          const hex = [...glyphs!.matchAll(/<([0-9a-f]*)>/g)].map(([, part]) => part).join('');
          texts.push(
            (hex.match(/.{4}/g) ?? []).map((glyph) => signs.get(font)![parseInt(glyph, 16)]).join(''),
          );
        }
      }
      return texts;
    });
}

const address = (facts: Partial<Address>): Address =>
  ({
    company: null,
    salutation: null,
    title: null,
    firstName: null,
    middleName: null,
    lastName: null,
    displayName: null,
    department: null,
    street: null,
    streetDetails: null,
    addressExtension: null,
    zipCode: null,
    city: null,
    state: null,
    country: null,
    vatId: null,
    emailAddress: null,
    ...facts,
  }) as Address;

const lineOf = (number: number, facts: Partial<ContentLine> = {}): ContentLine => ({
  lineItemId: `LINE-${number}`,
  productId: `PRODUCT-${number}`,
  masterId: null,
  productNumber: `P-${number}`,
  name: { en_GB: `Product ${number}`, de_DE: `Käse ${number}` },
  variation: null,
  essentialFeatures: null,
  quantity: '1',
  orderUnit: { priceQuantity: 1, unit: 'piece', minimum: 1, interval: 1 },
  unitPrice: 1190,
  quantityPrice: 1190,
  amount: 1190,
  unitDeposit: 0,
  unitEcoParticipation: 0,
  deposit: 0,
  ecoParticipation: 0,
  discountShare: 0,
  couponShare: 0,
  taxClass: { taxClassId: 'TAX', name: {}, rate: 1900 },
  weight: null,
  tiers: [],
  reference: null,
  image: null,
  energyLabel: null,
  dataSheet: null,
  ...facts,
});

const contentOf = (lines: ContentLine[], facts: Partial<Content> = {}): Content => {
  const subTotal = lines.reduce((sum, { amount }) => sum + amount, 0);
  const totalTax = (subTotal * 19) / 119;
  return {
    currency: 'EUR',
    taxType: 'GROSS',
    lines,
    subTotal,
    basketDiscount: 0,
    coupon: null,
    shippingPrice: 0,
    shipping: null,
    payment: null,
    serviceTaxClass: { taxClassId: 'TAX', name: {}, rate: 1900 },
    offers: [],
    taxes: [{ rate: 1900, amount: subTotal, tax: totalTax }],
    totalTax,
    totalBeforeTax: subTotal - totalTax,
    grandTotal: subTotal,
    ...facts,
  };
};

function documentOf(facts: Partial<DocumentFacts> = {}, terms: Partial<DocumentTerms> = {}): DocumentFacts {
  return {
    documentId: '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E',
    orderId: 'ORDER',
    kind: 'Invoice',
    number: 1001,
    issuedAt: new Date('2026-11-15T23:30:00Z'),
    createdAt: new Date('2026-11-16T08:30:00Z'),
    address: address({
      company: 'Bäckerei Süß & Söhne',
      firstName: 'Zoë',
      lastName: 'Łukasiewicz',
      street: 'Straße 1',
      zipCode: '20457',
      city: 'Köln',
      country: 'DE',
    }),
    content: contentOf([lineOf(1)]),
    terms: {
      orderNumber: 'ORD261115/1001',
      orderedOn: '2026-11-14',
      customerNumber: '1027',
      locale: 'de_DE',
      defaultLocale: 'en_GB',
      seller: { name: 'Hafenrösterei GmbH', country: 'DE', email: 'shop@mail.example' },
      delivery: null,
      deliveryCountry: 'DE',
      suppliedOn: '2026-11-15',
      isPaid: false,
      dueOn: '2026-11-29',
      notes: null,
      noTaxesMessage: null,
      note: null,
      invoice: null,
      hasServices: true,
      units: { piece: 'Stück' },
      electronic: false,
      ...terms,
    },
    ...facts,
  };
}

const printed = async (...facts: Parameters<typeof documentOf>) => textsOf(await pdfOf(documentOf(...facts)));

describe('the PDF of a document', () => {
  test.each([
    ['en_GB', 'piece(s)', '1 piece'],
    ['fr_FR', 'pièce(s)', '1 pièce'],
  ])('in %s has one %s, not several', async (locale, piece, text) => {
    const [page] = await printed({}, { locale, units: { piece } });
    expect(page).toContain(text);
  });

  test('says everything in the language of the order, umlauts and the euro sign too', async () => {
    const [page] = await printed();
    expect(page).toEqual(
      expect.arrayContaining([
        'Hafenrösterei GmbH',
        'Bäckerei Süß & Söhne',
        'Zoë Łukasiewicz',
        'Straße 1',
        '20457 Köln',
        'Rechnung 1001',
        'Rechnungs-Nr.',
        '1001',
        '15.11.2026',
        'ORD261115/1001',
        '14.11.2026',
        '1027',
        'Käse 1',
        '1 Stück',
        '19 %',
        '11,90 €',
        'Gesamtbetrag',
        '10,00 €',
        '1,90 €',
        'Zahlbar bis 29.11.2026 ohne Abzug.',
        'Seite 1 von 1',
      ]),
    );
  });

  test.each([
    ['en_GB', ['Invoice 1001', '15 Nov 2026', 'Product 1', '11.90 €', 'Page 1 of 1']],
    ['fr_FR', ['Facture 1001', '15 nov. 2026', 'Product 1', '11,90 €', 'Page 1 sur 1']],
    // No words of its own, and yet numbers and days as they are written there.
    ['sv_SE', ['Invoice 1001', '15 nov. 2026', 'Product 1', '11,90 €', 'Page 1 of 1']],
  ])('speaks %s', async (locale, texts) => {
    expect((await printed({}, { locale }))[0]).toEqual(expect.arrayContaining(texts));
  });

  test('names each promotion with what it took off, and the rest as a discount', async () => {
    const promotion = (de_DE: string, amount: number, isCoupon = false) =>
      ({ name: { de_DE }, amount, deliveryAmount: 0, terms: { isCoupon } }) as unknown as ContentPromotion;
    const coupon = { amount: -50 } as Content['coupon'];
    const content = contentOf([lineOf(1)], {
      basketDiscount: -300,
      coupon,
      promotions: [promotion('3 für 2', -200), promotion('Nichts', 0), promotion('Mit Code', -50, true)],
    });
    const [page] = await printed({ content });
    const from = page!.indexOf('3 für 2');
    expect(page!.slice(from - 1, from + 5)).toEqual([
      '-2,00 €',
      '3 für 2',
      '-1,00 €',
      'Rabatt',
      '-0,50 €',
      'Gutschein',
    ]);
  });

  test('has as many pages as it takes, with a head of the table and what is carried forward on each', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => lineOf(index + 1));
    const pages = await printed({ content: contentOf(lines) });
    expect(pages.length).toBe(3);
    const names = pages.map((texts) => texts.filter((text) => text.startsWith('Käse ')));
    expect(names.flat()).toEqual(lines.map((_, index) => `Käse ${index + 1}`));
    let before = 0;
    for (const [index, texts] of pages.entries()) {
      expect(texts).toContain(`Seite ${index + 1} von 3`);
      expect(texts).toContain('Bezeichnung');
      const carried = texts.flatMap((text, at) => (text === 'Übertrag' ? [texts[at - 1]] : []));
      const sumOf = (count: number) => `${(count * 11.9).toFixed(2).replace('.', ',')} €`;
      const after = before + names[index]!.length;
      expect(carried).toEqual([...(index > 0 ? [sumOf(before)] : []), ...(index < 2 ? [sumOf(after)] : [])]);
      before = after;
    }
    expect(pages.at(-1)).toContain('714,00 €');
  });

  test('of a sandbox says on each page that it is not valid', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => lineOf(index + 1));
    const pages = await printed({ content: contentOf(lines) }, { sandbox: true });
    expect(pages.map((texts) => texts.includes('SANDBOX – UNGÜLTIG'))).toEqual([true, true, true]);
    expect((await printed({}, { sandbox: true, locale: 'en_GB' }))[0]).toContain('SANDBOX – NOT VALID');
    expect((await printed())[0]!.join(' ')).not.toContain('SANDBOX');
  });

  test('prints the day of delivery, unless nothing was shipped yet', async () => {
    expect((await printed({}, { suppliedOn: '2026-11-13' }))[0]).toEqual(
      expect.arrayContaining(['Lieferdatum', '13.11.2026']),
    );
    expect((await printed({}, { suppliedOn: null }))[0]).not.toContain('Lieferdatum');
  });

  test('wraps long names and words', async () => {
    const name = `${'lang '.repeat(30)}${'x'.repeat(120)}`;
    const [page] = await printed({ content: contentOf([lineOf(1, { name: { de_DE: name } })]) });
    const parts = page!.filter((text) => /^(lang( |$))+x*$|^x+$/.test(text));
    expect(parts.length).toBeGreaterThan(4);
    expect(parts.join('').replaceAll(' ', '')).toBe(name.replaceAll(' ', ''));
  });

  test('shows a question mark for what the font can not show', async () => {
    const [page] = await printed({
      content: contentOf([lineOf(1, { name: { de_DE: 'Tee 茶 \u0007 Ωμέγα Яблоко' } })]),
    });
    expect(page).toContain('Tee ? ? Ωμέγα Яблоко');
  });

  test('names the invoice that a credit note is about', async () => {
    const [page] = await printed(
      { kind: 'CreditNote', number: 1007 },
      { invoice: { number: 1001, issuedOn: '2026-11-01' }, dueOn: null },
    );
    expect(page).toEqual(
      expect.arrayContaining(['Gutschrift 1007', 'Zur Rechnung 1001 vom 01.11.2026', 'Gutschriftsbetrag']),
    );
  });

  test.each([
    ['an export', { deliveryCountry: 'US' }, 'Steuerfreie Ausfuhrlieferung.'],
    [
      'a small business',
      { noTaxesMessage: 'Kleinunternehmer nach § 19 UStG' },
      'Kleinunternehmer nach § 19 UStG',
    ],
  ])('says why there is no tax: %s', async (_, terms, text) => {
    const content = contentOf([lineOf(1, { taxClass: { taxClassId: 'TAX', name: {}, rate: 0 } })], {
      taxes: [{ rate: 0, amount: 1190, tax: 0 }],
      totalTax: 0,
      totalBeforeTax: 1190,
    });
    expect((await printed({ content }, terms))[0]).toContain(text);
    expect((await printed({}, terms))[0]).not.toContain(text);
  });

  test('asks for no money that has come', async () => {
    const bank = { iban: 'DE02120300000000202051' };
    const seller = { ...documentOf().terms.seller, bank };
    const asks = 'Bitte überweisen Sie auf dieses Konto, Verwendungszweck ORD261115/1001:';
    expect((await printed({}, { seller }))[0]).toEqual(
      expect.arrayContaining([asks, 'IBAN DE02 1203 0000 0000 2020 51']),
    );
    const [paid] = await printed({}, { seller, isPaid: true });
    expect(paid).toContain('Der Betrag ist bezahlt.');
    expect(paid).not.toContain(asks);
  });

  test('has the same bytes for the same facts, and others for others', async () => {
    const [first, second] = [await pdfOf(documentOf()), await pdfOf(documentOf())];
    expect(first.equals(second)).toBe(true);
    const idOf = (pdf: Buffer) => /\/ID \[[^\]]*\]/.exec(pdf.toString('latin1'))![0];
    const other = await pdfOf(documentOf({ documentId: '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2F' }));
    expect(idOf(other)).not.toBe(idOf(first));
    expect(first.toString('latin1')).toContain('(D:20261116083000Z)');
  });

  test('holds all that is needed to show it: its fonts, its colours, what it is', async () => {
    const raw = (await pdfOf(documentOf({}, { electronic: true }))).toString('latin1');
    expect(
      [...raw.matchAll(/\/FontName \/(\w{6}\+[\w-]+)/g)].map(([, name]) => name!.slice(7)).toSorted(),
    ).toEqual(['DejaVuSansCondensed', 'DejaVuSansCondensed-Bold']);
    expect(raw.match(/\/FontFile2/g)).toHaveLength(2);
    expect(raw).toContain('/S /GTS_PDFA1');
    expect(raw).toContain('<pdfaid:part>3</pdfaid:part>');
    expect(raw).toContain('/AFRelationship /Alternative');
    expect(raw).not.toContain('Helvetica');
  });
});

describe('the proforma invoice for customs', () => {
  const order = {
    orderId: 'ORDER',
    orderNumber: 'ORD/1',
    createdAt: new Date('2026-11-15T10:00:00Z'),
    locale: 'en_GB',
    billingAddress: address({ firstName: 'Ada', lastName: 'Lindqvist', city: 'Zürich', country: 'CH' }),
    shippingAddress: null,
    content: contentOf(
      [
        lineOf(1, {
          quantity: '2',
          amount: 2380,
          couponShare: 1190,
          hsCode: '851610',
          originCountry: 'FR',
          weight: { amount: 250, unit: 'gram' },
        }),
        lineOf(2),
      ],
      { totalBeforeTax: 2500 },
    ),
  };
  const settings = {
    shopId: 'Small',
    name: { en_GB: 'Harbour' },
    defaultLocale: 'en_GB',
    country: 'DE',
    invoicing: { street: 'Kai 4', zipCode: '20457', city: 'Hamburg' },
    units: {},
  } as unknown as Settings;

  test('has code, origin, weight and value of each item, and their sum', async () => {
    const texts = textsOf(await proformaOf(order, settings)).flat();
    for (const text of [
      'Proforma invoice for customs, order ORD/1',
      '851610',
      'FR',
      '0.5 kg',
      '10.00 €',
      '20.00 €',
      '5.00 €',
      '25.00 €',
      'Total net weight: 0.5 kg',
      'The weight of some items is unknown.',
    ])
      expect(texts).toContain(text);
  });

  test('is for orders that leave the European Union', () => {
    const to = (country: string) => ({ ...order, billingAddress: address({ country }) });
    expect(['CH', 'GB', 'FR', 'DE'].map((country) => leavesUnion(to(country), settings))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(leavesUnion(to('DE'), { country: 'CH' })).toBe(false);
  });
});
