import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EMAIL_KINDS } from './email-kinds.ts';
import { signInCodes } from '../people/accounts/sign-in-codes.ts';
import { SAMPLE_ORDER } from '../orders/order-email.ts';
import { orderUrl } from '../orders/order-link.ts';
import { messagesIn } from '../kernel/messages.ts';
import { placeholderMeanings, sampleFacts } from '../platform/email/kind.ts';
import { oneLine } from '../platform/email/letter.ts';
import { emailDesign } from '../shops/email/design.ts';
import { renderEmail } from '../shops/email/render.ts';
import type { MailTexts } from '../shops/settings/settings.ts';

const context = {
  shopId: 'Harbour',
  shopName: 'Harbour & Hearth',
  storefront: 'https://shop.example/shop/Harbour',
  origin: 'https://shop.example',
  to: 'ada@mail.example',
  locale: undefined,
  installationKey: Buffer.alloc(32, 'k'),
};
const KIND_NAMES = EMAIL_KINDS.map(({ name }) => name);
const NBSP = '\u00a0';
const { orderId: ORDER_ID } = SAMPLE_ORDER;
const ORDER_URL = orderUrl(context, ORDER_ID);

const kindOf = (name: string) => EMAIL_KINDS.find((kind) => kind.name === name)!;

function rendered(
  name: string,
  locale = 'en_GB',
  facts: object = {},
  own = { mailTexts: {}, defaultLocale: '' },
) {
  const kind = kindOf(name);
  const design = emailDesign({ theme: {} }, undefined);
  return renderEmail(
    kind,
    { locale, facts: { ...sampleFacts(kind, locale), ...facts } },
    context,
    own,
    design,
  );
}

/** With words of the shop's own, whose default locale is German. */
const withOwn = (name: string, texts: MailTexts[string], locale = 'en_GB', facts: object = {}) =>
  rendered(name, locale, facts, { mailTexts: { [name]: texts }, defaultLocale: 'de_DE' });

/** What stands before the first link. */
const bodyOf = ({ text }: { text: string }) => text.slice(0, text.search(/\n\n[^\n]+: https:\S+\n\n/));

describe('built-in words', () => {
  test('are text and HTML', () => {
    const { subject, language, text, html } = rendered('availability');
    expect({ subject, language }).toEqual({ subject: 'Available again: Ginger tea', language: 'en' });
    expect(text).toBe(`Good news!

Ginger tea is available again at Harbour & Hearth.

View the product: https://shop.example/shop/Harbour/Products/TE-120

Harbour & Hearth

-- 
You are receiving this one email because a notification was requested with this address. You do not need to unsubscribe.
`);
    expect(html).toContain('<html lang="en">');
    expect(html).toContain('>Ginger tea is available again at Harbour &amp; Hearth.</p>');
    expect(html).toMatch(
      /<a\s+href="https:\/\/shop\.example\/shop\/Harbour\/Products\/TE-120"[^>]*>View the product<\/a\s*>/,
    );
  });

  test.each([
    ['de_DE', 'de', 'Wieder verfügbar: Ginger tea'],
    ['de_AT', 'de', 'Wieder verfügbar: Ginger tea'],
    ['fr_FR', 'fr', `De nouveau disponible${NBSP}: Ginger tea`],
    ['en_US', 'en', 'Available again: Ginger tea'],
    ['nl_NL', 'en', 'Available again: Ginger tea'],
  ])('in %s speak %s', (locale, language, subject) => {
    expect(rendered('availability', locale)).toMatchObject({ language, subject });
  });

  test('of an order say what was bought, what it costs, how to pay it and where it goes', () => {
    expect(rendered('order').text).toBe(`Thank you!

Harbour & Hearth has received your order ORD261115/1001 of 15 November 2026:

2${NBSP}× Ginger tea: €9.80
1${NBSP}× Kettle: €39.00
Subtotal: €48.80
Discount: -€1.00
Coupon: -€2.00
Deposits and recycling fees: €0.25
Delivery: Express: €12.00
Payment: Bank transfer: €1.50
Total: €59.55
including 7% VAT: €0.64
including 19% VAT: €8.01

View your order: ${ORDER_URL}

HOW TO PAY
Please transfer €59.55 to this account. We will ship your order as soon as the payment has arrived.
Account holder: Harbour & Hearth GmbH
Bank: Harbour Bank
IBAN: DE02 1203 0000 0000 2020 51
BIC: BYLADEM1001
Reference: ORD261115/1001

EXPECTED DELIVERY
Tue 17 November – Thu 19 November

BILLING ADDRESS
Ada Lindqvist
Speicherweg 4
20457 Hamburg

DELIVERY ADDRESS
Jonas Lindqvist
Storgatan 7
211 41 Malmö
SWEDEN

LEGAL GUARANTEE OF CONFORMITY: AT LEAST 2 YEARS
If a product is defective or not as agreed, the seller, Harbour & Hearth GmbH, is liable to you for at least 2 years from delivery. The law of your country may give you more time.
You may have it repaired or replaced free of charge. If that does not help, you may ask for a price reduction or your money back.
Your rights on the pages of the European Union: https://europa.eu/youreurope/citizens/consumers/shopping/guarantees/index_en.htm

ATTACHED TO THIS EMAIL
Terms and conditions
Right of withdrawal

Harbour & Hearth

-- 
You are receiving this email because an order was placed with this address.
`);
  });

  test('of an order with net prices add the taxes before the total', () => {
    const net = {
      totalBeforeTax: '50,90 €',
      transfer: null,
      deliveryDays: null,
      shippingAddress: null,
      legalSections: [],
      legalTexts: [],
    };
    const { text } = rendered('order', 'de_DE', net);
    expect(text).toContain(`
Gesamtbetrag netto: 50,90 €
zzgl. 7${NBSP}% MwSt.: 0,64 €
zzgl. 19${NBSP}% MwSt.: 8,01 €
Gesamtbetrag: 59,55 €

Bestellung ansehen: ${ORDER_URL}

RECHNUNGSADRESSE
Ada Lindqvist
Speicherweg 4
20457 Hamburg

Harbour & Hearth
`);
  });

  test('of a new order tell the merchant who has ordered what, and how to reach them', () => {
    const { subject, text } = rendered('newOrder', 'fr_FR');
    expect(subject).toBe(`Nouvelle commande ORD261115/1001${NBSP}: 59,55${NBSP}€`);
    expect(
      text.startsWith(`Ada Lindqvist a passé la commande ORD261115/1001${NBSP}:

2${NBSP}× Ginger tea${NBSP}: 9,80 €
`),
    ).toBe(true);
    expect(text).toContain(`
Ouvrir la commande${NBSP}: https://shop.example/admin/shops/Harbour/orders/${ORDER_ID}

MESSAGE DU CLIENT
Please ring twice.

ADRESSE DE FACTURATION
Ada Lindqvist
Speicherweg 4
20457 Hamburg

ADRESSE DE LIVRAISON
Jonas Lindqvist
Storgatan 7
211 41 Malmö
SUÈDE

CONTACT
ada@mail.example
+49 40 123456

Harbour & Hearth
`);
    expect(rendered('newOrder', 'en_GB', { comment: null }).text).not.toContain('MESSAGE');
  });

  test('of a parcel say whether more follows, and leave out what nobody knows', () => {
    expect(bodyOf(rendered('shipped')))
      .toBe(`Harbour & Hearth has shipped these items of your order ORD261115/1001:

2${NBSP}× Ginger tea
1${NBSP}× Kettle

The rest of your order will follow.

Carrier: DHL
Tracking number: 00340434161094021501`);
    const rest = { isRest: true, carrier: null };
    expect(bodyOf(rendered('shipped', 'de_DE', rest)))
      .toBe(`Harbour & Hearth hat diese Artikel Ihrer Bestellung ORD261115/1001 versandt:

2${NBSP}× Ginger tea
1${NBSP}× Kettle

Sendungsnummer: 00340434161094021501`);
    expect(bodyOf(rendered('shipped', 'fr_FR', { ...rest, trackingCode: null }))).toBe(
      `Harbour & Hearth a expédié ces articles de votre commande ORD261115/1001${NBSP}:

2${NBSP}× Ginger tea
1${NBSP}× Kettle`,
    );
  });

  test('of a low stock list what is left', () => {
    expect(bodyOf(rendered('lowStock')))
      .toBe(`These products of Harbour & Hearth are running low. Remaining stock:

Ginger tea (TE-120): 3
Kettle (KE-100): 0
and 2 more`);
    expect(rendered('lowStock', 'de_DE', { more: 1 }).text).toContain('\nund 1 weiterer\n');
    expect(rendered('lowStock', 'fr_FR', { more: 0 }).text).not.toContain('autre');
  });

  test.each([
    ['newOrder', 'Open the order', `/orders/${ORDER_ID}`],
    ['paymentProblem', 'Open the order', `/orders/${ORDER_ID}`],
    ['returnNotice', 'Open the order', `/orders/${ORDER_ID}`],
    ['lowStock', 'View products', '/products?stock=low'],
    ['webhook', 'View webhooks', '/apps/webhooks'],
  ])('to the shop (%s) lead to the admin', (name, label, path) => {
    const { text, html } = rendered(name);
    const address = `https://shop.example/admin/shops/Harbour${path}`;
    expect(text).toContain(`\n\n${label}: ${address}\n\n`);
    expect(html).toContain(`href="${address}"`);
    expect(text).not.toContain('/shop/Harbour/');
  });

  test('of a return that an older version has queued lead to the orders', () => {
    expect(rendered('returnNotice', 'en_GB', { orderId: undefined }).text).toContain(
      'Open the order: https://shop.example/admin/shops/Harbour/orders\n',
    );
  });

  test('of a parcel lead to the page of its carrier, and to the order', () => {
    const { trackingUrl } = kindOf('shipped').sample as { trackingUrl: string };
    expect(rendered('shipped').text).toContain(
      `\n\nTrack your parcel: ${trackingUrl}\n\nView your order: ${ORDER_URL}\n\n`,
    );
    const { text, html } = rendered('shipped', 'de_DE', { trackingUrl: undefined });
    expect(text).toContain(`\n\nBestellung ansehen: ${ORDER_URL}\n\nHarbour & Hearth\n`);
    expect(html.match(/<a\s/g)).toHaveLength(1);
  });

  test.each([
    ['merchant', 'en_GB', 'We are sorry: we had to cancel your order.'],
    ['customer', 'fr_FR', 'Votre commande a été annulée, comme vous l’avez demandé.'],
    ['withdrawal', 'de_DE', 'Ihre Bestellung wurde storniert, weil Sie den Vertrag widerrufen haben.'],
  ])('of an order that was cancelled (%s) say why', (cause, locale, sentence) => {
    expect(bodyOf(rendered('cancelled', locale, { cause })).split('\n')[0]).toBe(sentence);
  });

  test('of an order that was cancelled name what is refunded, if something was paid', () => {
    const lines = (facts: object) =>
      bodyOf(rendered('cancelled', 'en_GB', facts))
        .split('\n')
        .slice(2);
    const paid = `Already paid, will be refunded: €30.00`;
    expect(lines({})).toEqual(['Order: ORD261115/1001', paid]);
    expect(lines({ cause: 'unpaid', paid: null })).toEqual(['Order: ORD261115/1001']);
  });

  test('of a payment say what is left to be paid, and lead to the page of the order', () => {
    expect(bodyOf(rendered('paymentReceived'))).toBe(`Thank you!

Harbour & Hearth has received your payment of €30.00 for your order ORD261115/1001.

Still to pay: €9.90`);
    const all = rendered('paymentReceived', 'de_DE', { outstanding: null });
    expect(bodyOf(all)).toBe(`Vielen Dank!

Harbour & Hearth hat Ihre Zahlung von 30,00${NBSP}€ für Ihre Bestellung ORD261115/1001 erhalten.`);
    expect(all.text).toContain(`\n\nBestellung ansehen: ${ORDER_URL}\n\n`);
    expect(rendered('paymentFailed', 'fr_FR').text).toContain(
      `\n\nPayer maintenant${NBSP}: ${ORDER_URL}\n\n`,
    );
  });

  test('of an order lead to its page; what the version before has queued leads to the shop', () => {
    for (const name of [
      'order',
      'shipped',
      'cancelled',
      'returned',
      'invoice',
      'refund',
      'paymentReceived',
    ]) {
      expect(rendered(name).text).toContain(`\n\nView your order: ${ORDER_URL}\n\n`);
    }
    expect(rendered('refund', 'en_GB', { orderId: undefined }).text).toContain(
      '\n\nView your order: https://shop.example/shop/Harbour\n\n',
    );
  });

  test.each([
    ['failed', 'A customer’s payment did not go through.'],
    ['notNeeded', 'Money came in for an order that is already paid or cancelled.'],
    ['refundFailed', 'The payment provider could not carry out a refund.'],
  ])('tell the merchant that a payment has %s', (problem, sentence) => {
    const { text } = rendered('paymentProblem', 'en_GB', { problem });
    expect(text.startsWith(sentence)).toBe(true);
    expect(text).toContain(`\n\nOrder: ORD261115/1001\nAmount: €39.90\n\nOpen the order: `);
  });

  test.each([
    ['en_GB', 'Invoice', 'Your invoice 1001'],
    ['de_DE', 'Invoice', 'Ihre Rechnung 1001'],
    ['fr_FR', 'Invoice', 'Votre facture 1001'],
    ['en_GB', 'CreditNote', 'Your credit note 1001'],
    ['de_DE', 'CreditNote', 'Ihre Gutschrift 1001'],
    ['fr_FR', 'CreditNote', 'Votre avoir 1001'],
  ])('in %s call a document %s "%s"', (locale, documentType, subject) => {
    expect(rendered('invoice', locale, { documentType }).subject).toBe(subject);
  });

  test('keep an amount and its currency together', () => {
    expect(bodyOf(rendered('refund', 'de_DE'))).toBe(
      `Harbour & Hearth hat Ihnen 9,80${NBSP}€ für Ihre Bestellung ORD261115/1001 erstattet.`,
    );
  });

  test('acknowledge a withdrawal with its content, date and time', () => {
    expect(bodyOf(rendered('withdrawalAcknowledgement', 'de_DE')))
      .toBe(`Harbour & Hearth bestätigt den Eingang Ihres Widerrufs.

Datum und Uhrzeit: 15. November 2026 um 08:30 UTC
Vertrag: Bestellung ORD261115/1001
Name: Ada Lindqvist
E-Mail-Adresse: ada.lindqvist@mail.example

Sie haben den Vertrag über diese Artikel widerrufen:

2${NBSP}× Ginger tea
1${NBSP}× Kettle

Bitte bewahren Sie diese E-Mail auf. Wenn Sie die Artikel schon erhalten haben, schicken Sie sie bitte innerhalb von 14 Tagen zurück. Wir erstatten Ihnen, was Sie dafür bezahlt haben.`);
  });

  test.each(KIND_NAMES)('of %s have a sample, for who wants to look at it', (name) => {
    expect(kindOf(name).sample).toBeDefined();
  });

  test.each(KIND_NAMES)('of %s load nothing, and leave no placeholder', (name) => {
    for (const locale of ['en_GB', 'de_DE', 'fr_FR']) {
      const { subject, text, html } = rendered(name, locale);
      expect(`${subject}${text}${html}`).not.toMatch(/[{}]|undefined|null/);
      expect(html).not.toMatch(/<(?:img|link|script|style|iframe)|src=|url\(|@import/i);
    }
  });
});

describe("a shop's own words", () => {
  const VALUES: Record<string, Record<string, string>> = {
    contact: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      name: 'Ada Brennan',
      email: 'ada@mail.example',
    },
    availability: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      productName: 'Ginger tea',
      productNumber: 'TE-120',
      productUrl: 'https://shop.example/shop/Harbour/Products/TE-120',
    },
    order: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      orderDate: '15 November 2026',
      total: '€59.55',
      tax: '€8.65',
      shippingMethod: 'Express',
      deliveryDays: 'Tue 17 November – Thu 19 November',
      paymentMethod: 'Bank transfer',
      lines: 'the table',
    },
    newOrder: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      orderDate: '15 November 2026',
      total: '€59.55',
      tax: '€8.65',
      shippingMethod: 'Express',
      deliveryDays: 'Tue 17 November – Thu 19 November',
      paymentMethod: 'Bank transfer',
      customerName: 'Ada Lindqvist',
      lines: 'the table',
    },
    lowStock: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      lines: 'the table',
    },
    paymentReceived: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      amount: '€30.00',
      outstanding: '€9.90',
    },
    paymentFailed: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      amount: '€39.90',
    },
    cartReminder: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      products: 'Ginger tea, Kitchen knife',
      cartUrl: 'https://shop.example/shop/Harbour/cart',
    },
    reviewInvitation: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      products: 'Ginger tea, Kettle',
    },
    downloads: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      products: '1\u00a0× Star chart',
    },
    newVersion: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      product: 'Star chart',
      file: 'star-chart.pdf',
      note: 'The southern sky is new.',
    },
    fewKeys: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      product: 'Star chart',
      left: '3',
    },
    paymentInstructions: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      total: '€59.55',
      paymentMethod: 'Bank transfer',
    },
    paymentProblem: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      amount: '€39.90',
      problem:
        'The payment provider could not carry out a refund. Please check your account there, then refund the amount again or pay it back another way.',
    },
    documentProblem: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      documentType: 'invoice',
      documentNumber: '1001',
      reason: 'e-invoice.be answered 422',
    },
    shipped: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      carrier: 'DHL',
      trackingCode: '00340434161094021501',
      trackingUrl: 'https://www.dhl.com/global-en/home/tracking.html?tracking-id=00340434161094021501',
      restFollows: 'The rest of your order will follow.',
      lines: 'the table',
    },
    invoice: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      documentType: 'invoice',
      documentNumber: '1001',
      total: '€59.55',
    },
    cancelled: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      cause: 'We are sorry: we had to cancel your order.',
      paid: '€30.00',
    },
    backorderMoved: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      date: '1 March 2027',
      lines: 'the table',
    },
    backorderReady: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      lines: 'the table',
    },
    returned: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      lines: 'the table',
    },
    refund: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      amount: '€9.80',
    },
    giftCard: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      amount: '€50.00',
      name: 'Anna',
      giver: 'Ada Lovelace',
      message: 'Happy birthday!',
    },
    returnApproved: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      note: 'Please use the box it came in.',
      lines: 'the table',
    },
    returnRejected: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      note: 'Please use the box it came in.',
      lines: 'the table',
    },
    withdrawalLink: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
    },
    returnNotice: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      wish: 'A customer would like to return items. Please approve or decline the return.',
      reason: 'Too small',
      lines: 'the table',
    },
    withdrawalAcknowledgement: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      orderNumber: 'ORD261115/1001',
      name: 'Ada Lindqvist',
      contact: 'ada.lindqvist@mail.example',
      date: '15 November 2026 at 08:30 UTC',
      lines: 'the table',
    },
    newsletter: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      newsletters: 'Tide letter, Tea post',
    },
    signIn: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      code: signInCodes(context.installationKey).digits(
        context.shopId,
        '019A8C1E-0000-7000-8000-000000001005',
      ),
    },
    accessApproved: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
    },
    webhook: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      appName: 'Stock sync',
      eventType: 'ORDER_CREATE',
      callbackUrl: 'https://app.example/hook',
      webhookId: '019A8C1E-0000-7000-8000-000000001003',
      reason: 'The receiver answered 500',
    },
    invitation: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      invitedBy: 'owner@shop.example',
      email: context.to,
    },
    password: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      email: context.to,
    },
    supportEntered: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      name: 'Anna Weber',
      email: 'anna@host.example',
      reason: 'Ticket 4711: delivery costs to France',
      until: '20 November 2026 at 10:00 UTC',
    },
    hostMessage: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      message: 'On Sunday from 2 to 4 am the service is not available.',
    },
    rule: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      subject: 'Order 1042 is large',
      rule: 'Large orders',
    },
    ruleCustomer: {
      shopName: 'Harbour & Hearth',
      shopUrl: 'https://shop.example/shop/Harbour',
      subject: 'Order 1042 is large',
      rule: 'Large orders',
    },
  };

  test.each(KIND_NAMES)('of %s can name no link that carries a secret', (name) => {
    const kind = kindOf(name);
    const valuesWith = (installationKey: Buffer) =>
      Object.entries(kind.placeholders).map(([placeholder, one]) => {
        const messages = kind.messages(messagesIn('en_GB').email);
        return [
          placeholder,
          one.value(sampleFacts(kind, 'en_GB'), { ...context, installationKey }, messages),
        ];
      });
    const others = valuesWith(Buffer.alloc(32, 'x'));
    const secrets = valuesWith(context.installationKey).filter(([, value], at) => value !== others[at]![1]);
    // The digits are no link, and worth nothing but in the browser that asked for them.
    expect(secrets.map(([placeholder]) => placeholder)).toEqual(name === 'signIn' ? ['code'] : []);
  });

  test.each([
    ['invitation', 'passwordUrl'],
    ['signIn', 'signInUrl'],
    ['newsletter', 'confirmUrl'],
    ['newsletter', 'unsubscribeUrl'],
    ['cartReminder', 'unsubscribeUrl'],
  ])('of %s that were saved with {%s} lose it', (name, placeholder) => {
    const text = `Open this: https://evil.example/?u={${placeholder}} now\nBye`;
    const email = withOwn(name, { en_GB: { subject: `a {${placeholder}} b`, text } });
    expect([email.subject, bodyOf(email)]).toEqual(['a b', 'Open this: https://evil.example/?u= now\nBye']);
  });

  test.each(KIND_NAMES)('of %s know these placeholders', (name) => {
    const values = VALUES[name]!;
    expect(Object.keys(placeholderMeanings(kindOf(name)))).toEqual(Object.keys(values));
    for (const [placeholder, value] of Object.entries(values).filter(([key]) => key !== 'lines')) {
      const own = { en_GB: { subject: `a {${placeholder}}`, text: `b {${placeholder}} c` } };
      const email = withOwn(name, own);
      expect([placeholder, email.subject, bodyOf(email).split('\n')[0]]).toEqual([
        placeholder,
        `a ${value}`,
        `b ${value} c`,
      ]);
    }
  });

  test.each(KIND_NAMES)('of %s are explained in docs/settings-file.md', (name) => {
    const page = readFileSync(new URL('../../docs/settings-file.md', import.meta.url), 'utf8');
    const [row] = new RegExp(`^\\| \`${name}\` .*`, 'm').exec(page)!;
    const named = [...row.matchAll(/`\{(\w+)\}`/g)].map(([, name]) => name);
    expect(['shopName', 'shopUrl', ...named]).toEqual(Object.keys(placeholderMeanings(kindOf(name))));
  });

  const own = { de_DE: { subject: 'DE' }, de_CH: { subject: 'CH' }, en_GB: { subject: 'GB' } };
  test.each([
    ['the locale', 'de_CH', own, 'CH'],
    ['the same language', 'en_US', own, 'GB'],
    ['the same language, the default locale first', 'de_AT', own, 'DE'],
    ['the default locale', 'fr_FR', own, 'DE'],
    ['the built-in ones', 'fr_FR', { en_GB: { subject: 'GB' } }, 'Remboursement de votre commande 1'],
    ['the built-in ones', 'de_AT', {}, 'Erstattung zu Ihrer Bestellung 1'],
  ])('are those of %s', (_, locale, texts, subject) => {
    expect(withOwn('refund', texts, locale, { orderNumber: '1' }).subject).toBe(subject);
  });

  test('leave the rest of the email in their own language', () => {
    const german = withOwn('order', { de_DE: { subject: 'Danke' } }, 'fr_FR');
    expect(german).toMatchObject({ subject: 'Danke', language: 'de' });
    expect(german.text).toContain('Gesamtbetrag: 59,55 €');
    const dutch = withOwn('order', { nl_NL: { text: 'Bedankt!' } }, 'nl_NL');
    expect(dutch).toMatchObject({ subject: 'Your order ORD261115/1001', language: 'nl' });
    expect(dutch.html).toContain('<html lang="nl">');
    expect(withOwn('order', { nl_NL: { subject: 'Bedankt' } }, 'nl_NL').language).toBe('en');
  });

  test('have the table where {lines} stands, else behind them', () => {
    const goods = `2${NBSP}× Ginger tea\n1${NBSP}× Kettle`;
    const body = (text: string) => bodyOf(withOwn('shipped', { en_GB: { text } }));
    expect(body('Hello,\n \n\n  {lines}\n\nBye')).toBe(`Hello,\n\n${goods}\n\nBye`);
    expect(body('Hello:\r\n{lines}\r\nBye\r\nAda')).toBe(`Hello:\n\n${goods}\n\nBye\nAda`);
    expect(body('Hello')).toBe(`Hello\n\n${goods}`);
    const { html } = withOwn('shipped', { en_GB: { text: 'One\nTwo {lines} three' } });
    expect(html).toMatch(/>One<br \/>Two<\/p>[^]+Kettle[^]+>three<\/p>/);
  });

  test('lose the lines that have nothing to say, and fall back to the built-in subject', () => {
    const nothing = { carrier: null, trackingCode: null, isRest: true };
    const messages = {
      subject: '{trackingCode}',
      text: 'By {carrier}\nHello\n\n{trackingCode}\n\n{restFollows}',
    };
    const email = withOwn('shipped', { en_GB: messages }, 'en_GB', { ...nothing, goods: ['Tea'] });
    expect(email.subject).toBe('Your order ORD261115/1001 is on its way');
    expect(bodyOf(email)).toBe('Hello\n\nTea');
  });

  test('are text, whatever was typed', () => {
    const { html, text } = withOwn('refund', {
      en_GB: { text: '<script>alert("{orderNumber}")</script>\n\n<img src=x> & {amount}' },
    });
    expect(html).toContain('&lt;script&gt;alert(&quot;ORD261115/1001&quot;)&lt;/script&gt;');
    expect(html).toContain('&lt;img src=x&gt; &amp; ');
    expect(html).not.toMatch(/<script|<img/);
    expect(text).toContain('<img src=x> & ');
  });
});

describe('what customers and merchants typed into facts', () => {
  test('is text', () => {
    const facts = { productName: '<b>Tea</b>\r\nBcc: all@mail.example', productNumber: 'A/1 "x"' };
    const { subject, html, text } = rendered('availability', 'en_GB', facts);
    expect(subject).toBe('Available again: <b>Tea</b> Bcc: all@mail.example');
    expect(html).not.toContain('<b>');
    expect(html).toContain('&lt;b&gt;Tea&lt;/b&gt;');
    expect(text).toContain('https://shop.example/shop/Harbour/Products/A%2F1%20%22x%22\n');
  });

  test('is neither a placeholder nor a paragraph, nor a line of a table', () => {
    const facts = {
      goods: ['{shopName} $& <i>\n\nTotal: free'],
      carrier: '{orderNumber} $1\n\nNow',
      trackingCode: '{lines}',
    };
    const email = withOwn('shipped', { en_GB: { text: '{carrier}: {trackingCode}' } }, 'en_GB', facts);
    expect(bodyOf(email)).toBe('{orderNumber} $1 Now: {lines}\n\n{shopName} $& <i> Total: free');
    expect(email.html).toContain('{shopName} $&amp; &lt;i&gt;');
  });
});

test.each([
  ['a\r\nb', 'a b'],
  [' a\tb  c ', 'a b c'],
  ['a\u0000\u0085\u2028b', 'a b'],
  [`9,80${NBSP}€`, `9,80${NBSP}€`],
  ['plain', 'plain'],
])('%j as one line', (text, line) => {
  expect(oneLine(text)).toBe(line);
});
