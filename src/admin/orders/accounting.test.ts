import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { done, givenFullCart } from '../../../test/carts.ts';
import { givenOtherShop, orderIdOf, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { taxOn } from '../../pricing/tax.ts';
import { ADDRESS_FIELDS } from '../../shops/countries/address.ts';

let service: Service;
let merchant: Merchant;
beforeAll(async () => {
  service = await startDemo();
  await givenOtherShop(service);
  merchant = await givenMerchant(service);
});
afterAll(() => service.close());

const token = 'demo-all';

describe('the files for the accountant', () => {
  const PERIOD = 'from=2020-01-01&to=2020-12-31';
  const files = '/orders/accounting';
  const fetchFile = async (path: string, by = merchant) => {
    const { statusCode, rawPayload, headers } = await service.app.inject({
      url: `/admin/shops/DemoShop${files}${path}`,
      headers: { host: 'localhost:8080', cookie: by.cookie },
    });
    return { status: statusCode, bytes: rawPayload, text: rawPayload.toString('utf8'), headers };
  };
  const rowsOf = (text: string, separator: string) =>
    text
      .replace('\u{FEFF}', '')
      .split('\n')
      .slice(1, -1)
      .map((line) => line.split(separator));
  const cents = (cell: string) => Number(cell.replace(',', '').replace('.', ''));
  const manage = async (orderId: string, path: string, body: object = {}) =>
    (await service.call('POST', `/manage/shops/DemoShop/orders/${orderId}${path}`, { token, body })).body;

  let invoice: string;
  let creditNote: string;
  /** Orders and documents of their own year, so that nothing else is in the files. */
  beforeAll(async () => {
    const product = (await service.db.one<{ id: string }>(sql`
      select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'KN-110'`))!;
    const shop = { service, shopId: 'DemoShop', token, ids: {} };
    const { orderId } = await done(await givenFullCart(shop, { [product.id]: 3 }), 'POST', '/order');
    const invoiced = await manage(orderId, '/invoices');
    invoice = invoiced.documentNumber;
    creditNote = (await manage(orderId, '/credit-notes', { invoiceNumber: invoice })).documentNumber;
    await service.db.run(sql`
      update order_document set issued_at = '2020-06-30T12:00:00Z' where shop_id = 'DemoShop' and order_id = ${orderId}`);
    await service.db.run(sql`
      update customer_order set created_at = '2020-06-29T10:00:00Z',
        billing_address = (billing_address::jsonb || '{"company": "=HYPERLINK(1)", "vatId": "DE811907980"}')::json
      where shop_id = 'DemoShop' and order_id = ${orderId}`);
    await service.db.run(sql`
      update customer_order set created_at = '2020-07-01T10:00:00Z'
      where shop_id = 'DemoShop' and order_id in (${await orderIdOf(service, '1007')}, ${await orderIdOf(service, '1011')})`);
  });

  test('have a row per order and tax rate that sum to the orders, and negative ones of credit notes', async () => {
    const { text, headers } = await fetchFile(`/orders.csv?${PERIOD}`);
    expect(headers['content-disposition']).toContain('accounting-2020-01-01-2020-12-31.csv');
    expect(text.split('\n')[0]).toBe(
      '\u{FEFF}Type,Order number,Order date,Document number,Document date,Credited invoice,Customer,Company,VAT ID,' +
        'Delivery country,Tax rate %,Net,Tax,Gross,Currency,Payment method,Payment status,Paid on',
    );
    const rows = rowsOf(text, ',');
    const orders = await service.db.many<{ number: string; net: number; tax: number; gross: number }>(sql`
      select order_number as number, total_before_tax as net, total_tax as tax, grand_total as gross
      from customer_order where shop_id = 'DemoShop' and created_at < '2021-01-01' and rejected_at is null
      order by created_at`);
    expect(orders).toHaveLength(2);
    const sumsOf = (kind: string, number: string) => {
      const own = rows.filter((row) => row[0] === kind && row[1] === number);
      expect(own.length).toBeGreaterThan(0);
      const sum = (column: number) => own.reduce((total, row) => total + cents(row[column]!), 0);
      return { number, net: sum(11), tax: sum(12), gross: sum(13) };
    };
    expect(orders.map(({ number }) => sumsOf('Order', number))).toEqual(orders);
    const [credited] = orders;
    expect(sumsOf('Credit note', credited!.number)).toEqual({
      number: credited!.number,
      net: -credited!.net,
      tax: -credited!.tax,
      gross: -credited!.gross,
    });
    // The cancelled order of the period has no invoice.
    expect(new Set(rows.map(([, number]) => number)).size).toBe(2);
    const first = rows.find(([kind]) => kind === 'Order')!;
    expect(first.slice(2, 6)).toEqual(['2020-06-29', invoice, '2020-06-30', '']);
    expect(first.slice(7, 9)).toEqual(["'=HYPERLINK(1)", 'DE811907980']);
    const note = rows.find(([kind]) => kind === 'Credit note')!;
    expect(note.slice(3, 6)).toEqual([creditNote, '2020-06-30', invoice]);
  });

  test('have a decimal comma and semicolons in German, as the list of orders has', async () => {
    const german = await givenMerchant(service, 'accountant');
    await service.db.run(sql`update admin_user set language = 'de' where email = ${german.email}`);
    const { text } = await fetchFile(`/orders.csv?${PERIOD}`, german);
    expect(text).toContain('Art;Bestellnummer;Bestelldatum;Belegnummer');
    for (const row of rowsOf(text, ';')) {
      for (const cell of row.slice(11, 14)) expect(cell).toMatch(/^-?\d+,\d\d$/);
    }
    const list = await german.get('/orders/files/orders.csv');
    expect(rowsOf(list.text, ';').every((row) => !row[5]!.includes('.'))).toBe(true);
    expect(list.text).toMatch(/;\d+,\d/);
  });

  test('are the documents of the period in an archive, each under its number', async () => {
    const { bytes, headers } = await fetchFile(`/documents.zip?${PERIOD}`);
    expect(headers['content-type']).toBe('application/zip');
    const archive = await fromBufferPromise(bytes);
    const entries: Record<string, string> = {};
    const checksums: string[] = [];
    let manifest = '';
    for await (const entry of archive.eachEntry()) {
      const content = await buffer(await archive.openReadStreamPromise(entry));
      entries[entry.fileName] = content.subarray(0, 5).toString();
      if (entry.fileName === 'SHA256SUMS') manifest = content.toString();
      else checksums.push(`${createHash('sha256').update(content).digest('hex')}  ${entry.fileName}\n`);
    }
    expect(entries).toEqual({
      [`Invoice-${invoice}.pdf`]: '%PDF-',
      [`Credit-note-${creditNote}.pdf`]: '%PDF-',
      SHA256SUMS: expect.any(String) as string,
    });
    expect(manifest).toBe(checksums.join(''));
    const empty = await fetchFile('/documents.zip?from=2019-01-01&to=2019-01-31');
    expect(empty.bytes).toHaveLength(22);
  });

  test('are refused for a period that is too long or ends before it begins', async () => {
    for (const period of ['from=2020-01-01&to=2021-12-31', 'from=2020-02-01&to=2020-01-01']) {
      for (const file of ['/orders.csv', '/documents.zip']) {
        const { status, text } = await fetchFile(`${file}?${period}`);
        expect([status, text.includes('Choose a period of 1 to 366 days.')]).toEqual([400, true]);
      }
    }
    // What is no date is the month before.
    expect((await fetchFile('/orders.csv?from=soon&to=')).status).toBe(200);
  });

  test('are made one at a time for a shop, and a fifth is refused', async () => {
    const others = [await givenMerchant(service, 'manager'), await givenMerchant(service, 'orders')];
    const client = await service.db.pool.connect();
    await client.query('begin');
    await client.query('lock table order_document in access exclusive mode');
    const answers = [merchant, merchant, merchant, ...others].map((by) =>
      fetchFile(`/orders.csv?${PERIOD}`, by),
    );
    try {
      const refused = await Promise.race(answers);
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
    } finally {
      await client.query('rollback');
      client.release();
    }
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.toSorted((left, right) => left - right)).toEqual([200, 200, 200, 200, 429]);
  });

  test('of another shop have nothing of this one', async () => {
    const stranger = await givenMerchant(service, 'owner', 'OtherShop');
    const { text } = await stranger.get(`${files}/orders.csv?${PERIOD}`);
    expect(rowsOf(text, ',')).toEqual([]);
    expect((await fetchFile(`/orders.csv?${PERIOD}`, stranger)).status).toBe(404);
  });
});

/** A year of documents and payments with several rates, countries, treatments, credit notes and refunds. */
describe('the taxes and bookings of a generated year', () => {
  const YEAR = 2021;
  const CASES = [
    { country: 'DE', treatment: 'domestic', rates: [1900, 700] },
    { country: 'DE', treatment: null, rates: [1900, 700, 0] },
    { country: 'AT', treatment: 'oss', rates: [2000, 1000] },
    { country: 'GR', treatment: 'oss', rates: [2400] },
    { country: 'FR', treatment: 'intraCommunity', rates: [0], vatId: 'FR 12345678901' },
    { country: 'FR', treatment: 'reverseCharge', rates: [0], vatId: 'FR12345678901' },
    { country: 'CH', treatment: 'export', rates: [0] },
  ];
  const documents: {
    kind: 'Invoice' | 'CreditNote';
    number: number;
    at: string;
    case: (typeof CASES)[number];
    invoice: { number: number; issuedOn: string } | null;
    taxType: 'GROSS' | 'NET';
    taxes: { rate: number; amount: number; tax: number; treatment?: string }[];
    net: number;
    tax: number;
  }[] = [];
  const payments: { kind: 'payment' | 'refund'; amount: number; at: string }[] = [];
  let accountant: Merchant;

  /** The same numbers in every run. */
  const random = (() => {
    let state = 20_261_118;
    return (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
  })();

  beforeAll(async () => {
    for (let index = 0; index < 240; index++) {
      const sold = CASES[random(CASES.length)]!;
      const taxType = random(3) === 0 ? 'NET' : 'GROSS';
      const taxes = sold.rates.map((rate) => {
        const amount = random(100_000);
        const tax = taxOn(amount, rate, taxType);
        return { rate, amount, tax, ...(sold.treatment !== null && { treatment: sold.treatment }) };
      });
      const day = new Date(Date.UTC(YEAR, 0, 1 + random(365), random(24))).toISOString();
      const tax = taxes.reduce((sum, one) => sum + one.tax, 0);
      const amount = taxes.reduce((sum, one) => sum + one.amount, 0);
      const net = taxType === 'GROSS' ? amount - tax : amount;
      const number = 700_000 + index;
      const invoice = {
        kind: 'Invoice' as const,
        number,
        at: day,
        case: sold,
        taxType,
        taxes,
        net,
        tax,
      } as const;
      documents.push({ ...invoice, invoice: null });
      payments.push({ kind: 'payment', amount: 1 + net + tax, at: day });
      if (random(4) === 0) {
        const at = new Date(Math.min(Date.parse(day) + random(120) * 86_400_000, Date.UTC(YEAR, 11, 31)));
        const credited = { number, issuedOn: day.slice(0, 10) };
        documents.push({ ...invoice, kind: 'CreditNote', at: at.toISOString(), invoice: credited });
        payments.push({ kind: 'refund', amount: 1 + net, at: at.toISOString() });
      }
    }
    const orderId = await orderIdOf(service, '1014');
    const terms = (one: (typeof documents)[number]) => ({
      customerNumber: String(1 + (one.number % 50)),
      orderNumber: `ORD/${one.number}`,
      deliveryCountry: one.case.country,
      seller: { country: 'DE' },
      dueOn: null,
      invoice: one.invoice,
    });
    for (const one of documents) {
      const address = {
        ...Object.fromEntries(ADDRESS_FIELDS.map((name) => [name, null])),
        firstName: 'Őzge',
        lastName: `Müller ${one.number}`,
        country: one.case.country,
        ...(one.case.vatId !== undefined && { vatId: one.case.vatId }),
      };
      const { taxType, taxes, net, tax } = one;
      const totals = { totalBeforeTax: net, totalTax: tax, grandTotal: net + tax };
      const content = { currency: 'EUR', taxType, taxes, lines: [], ...totals };
      await service.db.run(sql`
        insert into order_document (shop_id, document_id, order_id, kind, number, issued_at, created_at, address, terms,
          content)
        values ('DemoShop', ${newId(new Date())}, ${orderId}, ${one.kind}, ${one.number}, ${one.at}, ${one.at},
          ${JSON.stringify(address)}, ${JSON.stringify(terms(one))}, ${JSON.stringify(content)})`);
    }
    for (const { kind, amount, at } of payments) {
      await service.db.run(sql`
        insert into order_payment (shop_id, order_id, payment_id, at, kind, amount)
        values ('DemoShop', ${orderId}, ${newId(new Date())}, ${at}, ${kind}, ${amount})`);
    }
    accountant = await givenMerchant(service, 'accountant');
    await service.db.run(sql`update admin_user set language = 'de' where email = ${accountant.email}`);
  }, 60_000);

  const cents = (cell: string) => Number(cell.replace(',', ''));
  const csv = async (path: string) => {
    const { status, text } = await accountant.get(path);
    expect(status).toBe(200);
    const lines = text.replace('\u{FEFF}', '').trim().split('\n');
    return lines.slice(1).map((line) => line.split(';'));
  };
  const signed = ({ kind }: (typeof documents)[number]) => (kind === 'Invoice' ? 1 : -1);
  const quarterOf = (day: string) => `${YEAR}-Q${1 + Math.floor((Number(day.slice(5, 7)) - 1) / 3)}`;
  const QUARTERS = [1, 2, 3, 4].map((quarter) => `${YEAR}-Q${quarter}`);

  test('sum to the cents of the documents in the VAT summary, of the year and of its quarters', async () => {
    const net = documents.reduce((sum, one) => sum + signed(one) * one.net, 0);
    const tax = documents.reduce((sum, one) => sum + signed(one) * one.tax, 0);
    const sums = async (period: string) => {
      const rows = await csv(`/reports/taxes/vat.csv?period=${period}`);
      return [3, 4, 5].map((column) => rows.reduce((sum, row) => sum + cents(row[column]!), 0));
    };
    expect(await sums(String(YEAR))).toEqual([net, tax, net + tax]);
    const quarters = await Promise.all(QUARTERS.map(sums));
    expect([0, 1, 2].map((column) => quarters.reduce((sum, row) => sum + row[column]!, 0))).toEqual([
      net,
      tax,
      net + tax,
    ]);
    const treatments = new Set((await csv(`/reports/taxes/vat.csv?period=${YEAR}`)).map(([name]) => name));
    expect([...treatments]).toEqual([
      'Inland',
      'Fernverkauf (OSS)',
      'Innergemeinschaftliche Lieferung',
      'Reverse-Charge',
      'Ausfuhr',
    ]);
  });

  test('sum to the cents of the distance sales in the OSS reports, corrections apart', async () => {
    const oss = documents.filter(({ case: { treatment } }) => treatment === 'oss');
    let corrected = 0;
    for (const quarter of QUARTERS) {
      const own = oss.filter(({ at }) => quarterOf(at) === quarter);
      const isCorrection = ({ invoice }: (typeof documents)[number]) =>
        invoice !== null && quarterOf(invoice.issuedOn) !== quarter;
      const sum = (list: typeof documents, key: 'net' | 'tax') =>
        list.reduce((total, one) => total + signed(one) * one[key], 0);
      const sales = own.filter((one) => !isCorrection(one));
      const corrections = own.filter(isCorrection);
      corrected += corrections.length;
      const rows = await csv(`/reports/taxes/oss.csv?period=${quarter}`);
      expect(rows.map(([country, kind, rate]) => [country, kind, rate])).toEqual([
        ['AT Österreich', 'Waren', '20'],
        ['AT Österreich', 'Waren', '10'],
        ['EL Griechenland', 'Waren', '24'],
      ]);
      const total = (list: string[][], column: number) =>
        list.reduce((all, row) => all + cents(row[column]!), 0);
      expect([total(rows, 3), total(rows, 4)]).toEqual([sum(sales, 'net'), sum(sales, 'tax')]);
      const earlier = await csv(`/reports/taxes/oss-corrections.csv?period=${quarter}`);
      expect([total(earlier, 2), total(earlier, 3)]).toEqual([
        sum(corrections, 'net'),
        sum(corrections, 'tax'),
      ]);
    }
    expect(corrected).toBeGreaterThan(3);
    expect((await accountant.get(`/reports/taxes/oss.csv?period=${YEAR}`)).status).toBe(404);
  });

  test('sum to the cents of the businesses in the EC sales list', async () => {
    const sum = (treatment: string) =>
      documents
        .filter((one) => one.case.treatment === treatment)
        .reduce((total, one) => total + signed(one) * one.net, 0);
    const rows = await csv(`/reports/taxes/ec-sales.csv?period=${YEAR}`);
    expect(rows.map(([number, net, kind]) => [number, cents(net!), kind])).toEqual([
      ['FR12345678901', sum('intraCommunity'), 'L Waren'],
      ['FR12345678901', sum('reverseCharge'), 'S sonstige Leistungen'],
    ]);
  });

  test('are shown on a page that says what they are counted from', async () => {
    const { text } = await accountant.get(`/reports/taxes?period=${YEAR}-Q2`);
    expect(text).toContain('Rechnungen und Gutschriften zählen nach ihrem Datum');
    for (const title of ['Umsatzsteuer-Übersicht', 'One-Stop-Shop (OSS)', 'Zusammenfassende Meldung']) {
      expect(text).toContain(title);
    }
    expect((await accountant.get('/reports/taxes?period=soon')).status).toBe(200);
    // A shop without invoices is counted by its orders.
    const stranger = await givenMerchant(service, 'owner', 'OtherShop');
    expect((await stranger.get('/reports/taxes')).text).toContain('Your shop has issued no invoices');
    const catalogue = await givenMerchant(service, 'catalogue');
    expect((await catalogue.get('/reports/taxes')).status).toBe(403);
  });

  test('have a real order under the treatment that was stored with it', async () => {
    const product = (await service.db.one<{ id: string }>(sql`
      select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'KN-110'`))!;
    const shop = { service, shopId: 'DemoShop', token, ids: {} };
    const address = { country: 'CH', city: 'Basel', zipCode: '4051' };
    const cart = await givenFullCart(shop, { [product.id]: 2 }, { address });
    const { orderId } = await done(cart, 'POST', '/order');
    await service.call('POST', `/manage/shops/DemoShop/orders/${orderId}/invoices`, { token, body: {} });
    const stored = (await service.db.one<{ net: number; treatment: string }>(sql`
      update order_document set issued_at = '2019-05-05T12:00:00Z' where shop_id = 'DemoShop' and order_id = ${orderId}
      returning (content -> 'totalBeforeTax')::bigint as net, content #>> '{taxes,0,treatment}' as treatment`))!;
    expect(stored.treatment).toBe('export');
    const rows = await csv('/reports/taxes/vat.csv?period=2019-05');
    expect(
      rows.map(([treatment, country, rate, net, tax]) => [treatment, country, rate, cents(net!), tax]),
    ).toEqual([['Ausfuhr', 'CH Schweiz', '0', stored.net, '0,00']]);
  });

  const datev = async (query: string) => {
    const { statusCode, rawPayload } = await service.app.inject({
      url: `/admin/shops/DemoShop/orders/accounting/datev.zip?${query}`,
      headers: { host: 'localhost:8080', cookie: accountant.cookie },
    });
    return { status: statusCode, bytes: rawPayload };
  };
  const PERIOD = `from=${YEAR}-01-01&to=${YEAR}-12-31`;

  test('are refused for DATEV without its numbers, and across fiscal years', async () => {
    const unset = await datev(PERIOD);
    expect([unset.status, unset.bytes.toString().includes('Mandantennummer')]).toEqual([400, true]);
    const form = (await merchant.get('/settings/invoices')).text;
    const typed = [
      ...form.matchAll(/<input[^>]*?\sname="((?:invoicing|version)[^"]*)"[^>]*?\svalue="([^"]*)"/g),
    ];
    const stored = await merchant.post('/settings/invoices', {
      ...Object.fromEntries(typed.map(([, name, value]) => [name!, value!])),
      'accounting.advisorNumber': '29098',
      'accounting.clientNumber': '55003',
    });
    expect(stored.status).toBe(303);
    const years = await datev(`from=${YEAR}-07-01&to=${YEAR + 1}-06-30`);
    expect([years.status, years.bytes.toString().includes('zwei Wirtschaftsjahren')]).toEqual([400, true]);
  });

  test('sum to the cents of the documents and payments in the booking batch of DATEV', async () => {
    const { status, bytes } = await datev(PERIOD);
    expect(status).toBe(200);
    const archive = await fromBufferPromise(bytes);
    const files: Record<string, string[][]> = {};
    for await (const entry of archive.eachEntry()) {
      const content = (await buffer(await archive.openReadStreamPromise(entry))).toString('latin1');
      expect(content.endsWith('\r\n')).toBe(true);
      files[entry.fileName] = content
        .trim()
        .split('\r\n')
        .map((line) => line.split(';'));
    }
    expect(Object.keys(files)).toEqual(['EXTF_Buchungsstapel_001.csv', 'EXTF_DebKred_Stamm.csv']);
    const [header, titles, ...rows] = files['EXTF_Buchungsstapel_001.csv']!;
    expect(header!.slice(10, 16)).toEqual([
      '29098',
      '55003',
      `${YEAR}0101`,
      '4',
      `${YEAR}0101`,
      `${YEAR}1231`,
    ]);
    expect(rows.every((row) => row.length === titles!.length && /^\d+,\d\d$/.test(row[0]!))).toBe(true);
    expect(rows.every((row) => cents(row[0]!) > 0 && /^\d{4}$/.test(row[9]!))).toBe(true);
    const balance = (wanted: (account: string) => boolean, column: number) =>
      rows
        .filter((row) => wanted(row[column]!))
        .reduce((sum, row) => sum + (row[1] === '"S"' ? 1 : -1) * cents(row[0]!), 0);
    const gross = documents.reduce((sum, one) => sum + signed(one) * (one.net + one.tax), 0);
    expect(balance((account) => account.startsWith('8'), 7)).toBe(gross);
    const paid = payments.reduce((sum, { kind, amount }) => sum + (kind === 'payment' ? amount : -amount), 0);
    expect(balance((account) => account === '1200', 6)).toBe(paid);
    // By account: each treatment and rate has its own.
    const ofAccount = (account: string) => balance((contra) => contra === account, 7);
    const ofTreatment = (treatment: string) =>
      documents
        .filter((one) => one.case.treatment === treatment)
        .reduce((sum, one) => sum + signed(one) * (one.net + one.tax), 0);
    expect(ofAccount('8320')).toBe(ofTreatment('oss'));
    expect(ofAccount('8125')).toBe(ofTreatment('intraCommunity'));
    expect(ofAccount('8336')).toBe(ofTreatment('reverseCharge'));
    expect(ofAccount('8120')).toBe(ofTreatment('export'));
    const greek = rows.find((row) => row[39] === '"EL"')!;
    expect([greek[7], greek[8], greek[40]]).toEqual(['8320', '"240"', '24,00']);
    expect(rows.some((row) => row[13]!.includes('Ozge M\u00fcller'))).toBe(true);
    // Each of the 50 customers, and that of the payments, is a debtor once.
    const debtors = files['EXTF_DebKred_Stamm.csv']!.slice(2).map(([account]) => account!);
    expect(new Set(debtors).size).toBe(debtors.length);
    const used = new Set(rows.flatMap((row) => [row[6]!, row[7]!]).filter((account) => account.length === 5));
    expect([...used].toSorted()).toEqual(debtors.toSorted());
  });
});
