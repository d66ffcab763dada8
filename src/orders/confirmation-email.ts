import type { BackorderLine } from '../catalogue/products/backorder-queue.ts';
import { waitText } from '../pricing/waiting-text.ts';
import { taxesByRate } from '../pricing/content.ts';
import { partsOfLine, shownLines, untaxedReasons } from '../pricing/shown-lines.ts';
import { discountParts } from '../pricing/cart-promotions.ts';
import { moneyText } from '../http/price-text.ts';
import { anyText } from '../catalogue/products/render.ts';
import type { Queries } from '../db/database.ts';
import { formatsOf } from '../http/formats.ts';
import { languageTag } from '../http/locale.ts';
import { dateTimeText } from '../http/dates.ts';
import { formatNumber } from '../http/amount-text.ts';
import { messagesIn, type Messages } from '../kernel/messages.ts';
import type { Attachment } from '../platform/email/delivery.ts';
import type { EmailKind, EmailRequest, EmailMessages } from '../platform/email/kind.ts';
import type { Row, LetterSection } from '../platform/email/letter.ts';
import { daySpanText } from '../pricing/delivery-span.ts';
import { countryName } from '../shops/countries/countries.ts';
import type { Content } from '../pricing/content.ts';
import { isGoods } from '../pricing/goods.ts';
import { guaranteeFileIn, guaranteeFiles } from '../shops/legal/guarantee-files.ts';
import { isBusinessBuyer } from '../shops/vat-numbers/buyer.ts';
import { guaranteeNotice, sellsToEuConsumers } from '../shops/legal/guarantee-notice.ts';
import { findLegalTexts, type LegalText } from '../shops/legal/queries.ts';
import { shopSettings, type Settings } from '../shops/settings/settings.ts';
import { bankTransfer, type BankTransfer } from './bank-transfer.ts';
import { addressLines, addresseeName } from './documents/address-lines.ts';
import { recordUnsentEmail } from './history.ts';
import { lineText } from './line-text.ts';
import { waitingOfOrder } from './backorders.ts';
import { findWaitingOf } from './manage-queries.ts';
import { outstandingOf } from './manage-change.ts';
import { ORDER_EMAIL, SAMPLE_ORDER, SAMPLE_TIME, sampleMoney, unbroken } from './order-email.ts';
import { findManagedOrder, type ManagedOrder } from './queries.ts';

interface PricedText {
  text: string;
  amount: string;
}

/** A placed order. Amounts are formatted; a row that is null does not appear. */
export interface OrderPlaced {
  orderId: string;
  orderNumber: string;
  orderedOn: string;
  lines: PricedText[];
  subTotal: string;
  /** Missing in an email that an earlier version has queued. */
  promotions?: PricedText[];
  /** Without the promotions. */
  basketDiscount: string | null;
  coupon: string | null;
  /** Deposits and recycling fees. */
  extras: string | null;
  shipping: PricedText | null;
  payment: PricedText | null;
  /** The days on which it arrives; null: unknown. */
  deliveryDays: string | null;
  /** Where and when the customer collects the goods; null: they are sent, or the shop has not said it. */
  pickup: { place: string[]; hours: string[] } | null;
  /** Where prices are net: the total before taxes. */
  totalBeforeTax: string | null;
  grandTotal: string;
  /** By rate, such as `19%`. */
  taxes: PricedText[];
  /** Why parts of it are not taxed; missing in an email that an earlier version has queued. */
  untaxed?: PricedText[];
  /** The tax that the total includes; null: none. */
  totalTax: string | null;
  /** null: the order is paid in another way, or is paid. */
  transfer: (BankTransfer & { amount: string }) | null;
  customerName: string;
  billingAddress: string[];
  /** null: it is delivered to the billing address, or nothing is. */
  shippingAddress: string[] | null;
  contact: { email: string; phone: string | null };
  comment: string | null;
}

/** Includes the texts that the customer must have on a durable medium (Consumer Rights Directive, article 8(7)). */
export interface OrderConfirmed extends OrderPlaced {
  legalTexts: LegalText[];
  /** Consents of the customer, the producers' guarantees, and the notice on the legal guarantee. */
  legalSections: LegalSection[];
  /** The order has goods that are sold to consumers: the official notice is attached, where there is one. */
  hasLegalGuarantee: boolean;
}

interface LegalSection {
  title: string;
  texts: string[];
}

export type OrderWords = EmailMessages & Messages['email']['order'];

export const ORDER_PLACED_PLACEHOLDERS = {
  ...ORDER_EMAIL.placeholders,
  orderDate: { meaning: 'When it was ordered.', value: ({ orderedOn }: OrderPlaced) => orderedOn },
  total: {
    meaning: 'What the order costs, with its currency.',
    value: ({ grandTotal }: OrderPlaced) => unbroken(grandTotal),
  },
  tax: {
    meaning: 'Tax in the total; nothing if there is none.',
    value: ({ totalTax }: OrderPlaced) => totalTax && unbroken(totalTax),
  },
  shippingMethod: {
    meaning: 'Name of the shipping method; nothing if nothing is shipped.',
    value: ({ shipping }: OrderPlaced) => shipping?.text ?? null,
  },
  deliveryDays: {
    meaning: 'The days on which the order arrives; nothing if they are unknown.',
    value: ({ deliveryDays }: OrderPlaced) => deliveryDays,
  },
  paymentMethod: {
    meaning: 'Name of the payment method; nothing if there is none.',
    value: ({ payment }: OrderPlaced) => payment?.text ?? null,
  },
};

/** Contains every fact. */
export function samplePlaced(locale: string): OrderPlaced {
  const money = (cents: number) => sampleMoney(cents, locale);
  const { percent, longDate } = formatsOf(locale);
  return {
    ...SAMPLE_ORDER,
    orderedOn: longDate.format(SAMPLE_TIME),
    lines: [
      { text: '2\u00a0× Ginger tea', amount: money(980) },
      { text: '1\u00a0× Kettle', amount: money(3_900) },
    ],
    subTotal: money(4_880),
    promotions: [],
    basketDiscount: money(-100),
    coupon: money(-200),
    extras: money(25),
    shipping: { text: 'Express', amount: money(1_200) },
    payment: { text: 'Bank transfer', amount: money(150) },
    deliveryDays: daySpanText({ from: '2026-11-17', to: '2026-11-19' }, locale),
    pickup: null,
    totalBeforeTax: null,
    grandTotal: money(5_955),
    taxes: [
      { text: percent.format(0.07), amount: money(64) },
      { text: percent.format(0.19), amount: money(801) },
    ],
    totalTax: money(865),
    transfer: {
      amount: money(5_955),
      holder: 'Harbour & Hearth GmbH',
      bank: 'Harbour Bank',
      iban: 'DE02 1203 0000 0000 2020 51',
      bic: 'BYLADEM1001',
      reference: SAMPLE_ORDER.orderNumber,
    },
    customerName: 'Ada Lindqvist',
    billingAddress: ['Ada Lindqvist', 'Speicherweg 4', '20457 Hamburg'],
    shippingAddress: [
      'Jonas Lindqvist',
      'Storgatan 7',
      '211 41 Malmö',
      countryName('SE', languageTag(locale)).toUpperCase(),
    ],
    contact: { email: 'ada@mail.example', phone: '+49 40 123456' },
    comment: 'Please ring twice.',
  };
}

const ATTACHED_PAGES = ['terms-and-conditions', 'rights-of-withdrawal'] as const;

export const orderConfirmation: EmailKind<OrderConfirmed, OrderWords> = {
  ...ORDER_EMAIL,
  name: 'order',
  occasion: 'To the customer, when an order was placed.',
  example: { en_GB: { subject: 'Order {orderNumber}', text: 'Thank you!\n\n{lines}\n\nYour {shopName}' } },
  isLimited: true,
  sample: (locale) => ({
    ...samplePlaced(locale),
    legalTexts: [
      {
        page: 'terms-and-conditions',
        title: 'Terms and conditions',
        text: 'Goods are ours until they are paid.',
      },
      {
        page: 'rights-of-withdrawal',
        title: 'Right of withdrawal',
        text: 'You may withdraw within 14 days.',
      },
    ],
    legalSections: [
      guaranteeSection(
        { invoicing: { company: 'Harbour & Hearth GmbH' }, name: {}, shopId: '', defaultLocale: locale },
        locale,
      ),
    ],
    hasLegalGuarantee: true,
  }),
  onLimited: (db, shopId, emailId, { orderId }) => recordUnsentEmail(db, shopId, orderId, emailId),
  placeholders: ORDER_PLACED_PLACEHOLDERS,
  lines: { meaning: 'The table of what was ordered, with discounts, costs and total.', rows: orderRows },
  sections: (facts, messages) => [
    ...transferSection(facts, messages),
    ...deliverySection(facts, messages),
    ...addressSections(facts, messages),
    ...facts.legalSections.map(({ title, texts }) => ({ title, rows: texts.map(plain) })),
    ...(facts.legalTexts.length === 0
      ? []
      : [{ title: messages.attached, rows: facts.legalTexts.map(({ title }) => plain(title)) }]),
  ],
  messages: (email) => ({ ...email.aboutOrder, ...email.order }),
  load: async (db, email) => {
    const { shopId, locale } = email;
    const settings = await shopSettings(db, shopId);
    const [order, awaited, legalTexts] = await Promise.all([
      findUnerasedOrder(db, email),
      findWaitingOf(db, shopId, [(email.facts as { orderId: string }).orderId]),
      // Terms of a contract in another language are better than none.
      findLegalTexts(db, shopId, ATTACHED_PAGES, [locale, settings.defaultLocale]),
    ]);
    if (!order) return undefined;
    const isConsumer = !isBusinessBuyer(order.billingAddress, order.buyer);
    const hasLegalGuarantee = isConsumer && sellsToEuConsumers(settings) && order.content.lines.some(isGoods);
    return {
      ...orderPlaced(order, locale, settings, awaited),
      legalTexts,
      legalSections: [
        ...consentSection(order.content, locale),
        ...durabilitySection(order.content, settings, locale),
        ...(hasLegalGuarantee ? [guaranteeSection(settings, locale)] : []),
      ],
      hasLegalGuarantee,
    };
  },
  attachments: async (_db, { facts: { legalTexts, hasLegalGuarantee }, locale }, config) => {
    const notice = hasLegalGuarantee ? guaranteeFileIn(guaranteeFiles(config), locale) : undefined;
    return [
      ...legalTexts.map(({ page, title, text }): Attachment => ({
        name: `${page}.txt`,
        type: 'text/plain; charset=utf-8',
        bytes: Buffer.from(`${title}\n\n${text}\n`),
      })),
      ...(notice
        ? [{ name: `legal-guarantee-${notice.name}`, type: notice.type, bytes: notice.content }]
        : []),
    ];
  },
};

/** The confirmation of a consent on a durable medium (Directive 2011/83/EU, article 8 (7) (b)). */
function consentSection({ lines }: Content, locale: string): LegalSection[] {
  const messages = messagesIn(locale).email.order;
  const consents = new Map(
    lines.flatMap(({ withdrawalConsent: given }) => (given ? [[given.text, given]] : [])),
  );
  if (consents.size === 0) return [];
  const texts = [...consents.values()].map(({ at, text }) =>
    messages.consent({ date: dateTimeText(new Date(at), locale), text }),
  );
  return [{ title: messages.consents, texts }];
}

/** The producers' guarantees of durability, each once. */
function durabilitySection({ lines }: Content, settings: Settings, locale: string): LegalSection[] {
  if (!sellsToEuConsumers(settings)) return [];
  const messages = messagesIn(locale).guarantee;
  const { labelled } = messagesIn(locale).documents;
  const texts = lines.flatMap(({ durabilityGuarantee: guarantee }) => {
    if (!guarantee) return [];
    const { brand, model, guarantor: name, address, termsUrl } = guarantee;
    const years = messages.years({ amount: formatNumber(guarantee.years, locale) });
    return [
      [
        messages.labelText({ years, brand, model }),
        `${messages.guarantor({ name, address })}.`,
        labelled({ label: messages.terms, text: termsUrl }),
      ].join(' '),
    ];
  });
  return texts.length === 0 ? [] : [{ title: messages.label, texts: [...new Set(texts)] }];
}

function guaranteeSection(
  settings: Pick<Settings, 'name' | 'shopId' | 'defaultLocale' | 'invoicing'>,
  locale: string,
): LegalSection {
  const { title, duration, texts, more, address } = guaranteeNotice(settings, locale);
  const { labelled } = messagesIn(locale).documents;
  return {
    title: labelled({ label: title, text: duration }),
    texts: [...texts, labelled({ label: more, text: address })],
  };
}

const plain = (text: string): Row => ({ text, as: 'plain' });

export function orderRows(facts: OrderPlaced, messages: OrderWords): Row[] {
  const row = (text: string, amount: string | null, as: NonNullable<Row['as']> = 'sum'): Row[] =>
    amount === null ? [] : [{ text, amount, as }];
  const isAdded = facts.totalBeforeTax !== null;
  return [
    ...facts.lines,
    ...row(messages.subTotal, facts.subTotal),
    ...(facts.promotions ?? []).flatMap(({ text, amount }) => row(text, amount)),
    ...row(messages.basketDiscount, facts.basketDiscount),
    ...row(messages.coupon, facts.coupon),
    ...row(messages.extras, facts.extras),
    ...(facts.shipping ? row(messages.shipping({ method: facts.shipping.text }), facts.shipping.amount) : []),
    ...(facts.payment ? row(messages.payment({ method: facts.payment.text }), facts.payment.amount) : []),
    ...row(messages.totalBeforeTax, facts.totalBeforeTax),
    ...(isAdded
      ? facts.taxes.flatMap(({ text, amount }) => row(messages.addedTax({ rate: text }), amount))
      : []),
    ...row(messages.grandTotal, facts.grandTotal, 'total'),
    ...(isAdded
      ? []
      : facts.taxes.flatMap(({ text, amount }) => row(messages.includedTax({ rate: text }), amount, 'note'))),
    ...(facts.untaxed ?? []).flatMap(({ text, amount }) => row(text, amount, 'note')),
  ];
}

export function transferSection({ transfer }: OrderPlaced, messages: OrderWords): LetterSection[] {
  if (!transfer) return [];
  const fact = (text: string, amount: string | undefined): Row[] =>
    amount === undefined ? [] : [{ text, amount, as: 'fact' }];
  const { holder, bank, iban, bic, reference, amount } = transfer;
  return [
    {
      title: messages.howToPay,
      rows: [
        plain(messages.transfer({ amount: unbroken(amount) })),
        ...fact(messages.bank.holder, holder),
        ...fact(messages.bank.name, bank),
        ...fact(messages.bank.iban, iban),
        ...fact(messages.bank.bic, bic),
        ...fact(messages.bank.reference, reference),
      ],
    },
  ];
}

function deliverySection({ deliveryDays, pickup }: OrderPlaced, messages: OrderWords): LetterSection[] {
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [{ title, rows: lines.map(plain) }];
  return [
    ...section(messages.expectedDelivery, deliveryDays === null ? [] : [deliveryDays]),
    ...section(messages.pickupPlace, pickup?.place ?? []),
    ...section(messages.openingHours, pickup?.hours ?? []),
  ];
}

export function addressSections(
  { billingAddress, shippingAddress }: OrderPlaced,
  messages: OrderWords,
): LetterSection[] {
  return [
    { title: messages.billingAddress, rows: billingAddress.map(plain) },
    ...(shippingAddress ? [{ title: messages.shippingAddress, rows: shippingAddress.map(plain) }] : []),
  ];
}

/** The order as it is when the email is sent; undefined: the customer was erased. */
export async function loadOrder(db: Queries, email: EmailRequest): Promise<OrderPlaced | undefined> {
  const { shopId, locale } = email;
  const [order, awaited, settings] = await Promise.all([
    findUnerasedOrder(db, email),
    findWaitingOf(db, shopId, [(email.facts as { orderId: string }).orderId]),
    shopSettings(db, shopId),
  ]);
  return order && orderPlaced(order, locale, settings, awaited);
}

async function findUnerasedOrder(
  db: Queries,
  { shopId, facts }: EmailRequest,
): Promise<ManagedOrder | undefined> {
  const order = await findManagedOrder(db, shopId, (facts as { orderId: string }).orderId);
  return order?.erasedAt ? undefined : order;
}

function orderPlaced(
  order: ManagedOrder,
  locale: string,
  settings: Settings,
  backorders: readonly BackorderLine[],
): OrderPlaced {
  const { content, billingAddress, shippingAddress } = order;
  const { shipping, payment, coupon } = content;
  const language = languageTag(locale);
  const money = (minor: number) => moneyText(minor, content.currency, locale);
  const unlessZero = (minor: number) => (minor === 0 ? null : money(minor));
  const text = (texts: Parameters<typeof anyText>[0]) => anyText(texts, locale, settings.defaultLocale) ?? '';
  const linesOf = (texts: Parameters<typeof anyText>[0]) =>
    text(texts)
      .split('\n')
      .filter((line) => line.trim() !== '');
  const waits = waitingOfOrder({ backorders });
  const waitRows = (lineItemId: string): PricedText[] => {
    const wait = waits.get(lineItemId);
    return wait ? [{ text: `– ${waitText(wait, locale)}`, amount: '' }] : [];
  };
  const { percent, longDate } = formatsOf(locale);
  const outstanding = outstandingOf(order);
  const transfer =
    outstanding === 0
      ? undefined
      : bankTransfer(
          { orderNumber: order.orderNumber, paymentMethodId: payment?.method?.paymentMethodId },
          settings,
        );
  const discounts = discountParts(content);
  const addressOf = (address: typeof billingAddress) => addressLines(address, settings.country, language);
  return {
    orderId: order.orderId,
    orderNumber: order.orderNumber,
    orderedOn: longDate.format(order.createdAt),
    lines: shownLines(content).flatMap((line) => [
      { text: lineText(line, line.quantity, locale, settings), amount: money(line.amount) },
      ...waitRows(line.lineItemId),
      ...partsOfLine(content, line.lineItemId).flatMap((part) => [
        { text: `– ${lineText(part, part.quantity, locale, settings)}`, amount: '' },
        ...waitRows(part.lineItemId),
      ]),
    ]),
    subTotal: money(content.subTotal),
    promotions: discounts.flatMap(({ name, amount }) =>
      name ? { text: text(name), amount: money(amount) } : [],
    ),
    basketDiscount: unlessZero(discounts.find(({ name }) => name === null)?.amount ?? 0),
    coupon: unlessZero(coupon?.amount ?? 0),
    extras: unlessZero(content.lines.reduce((sum, line) => sum + line.deposit + line.ecoParticipation, 0)),
    shipping: shipping && { text: text(shipping.name), amount: money(shipping.price) },
    payment: payment && {
      text: payment.method ? text(payment.method.name) : (payment.name ?? ''),
      amount: money(payment.price),
    },
    deliveryDays: content.expectedDelivery ? daySpanText(content.expectedDelivery, locale) : null,
    pickup: shipping?.pickup
      ? { place: linesOf(shipping.pickup.place), hours: linesOf(shipping.pickup.hours) }
      : null,
    totalBeforeTax: content.taxType === 'NET' ? money(content.totalBeforeTax) : null,
    grandTotal: money(content.grandTotal),
    taxes: taxesByRate(content.taxes)
      .filter(({ tax }) => tax !== 0)
      .map(({ rate, tax }) => ({ text: percent.format(rate / 10_000), amount: money(tax) })),
    untaxed: untaxedReasons(content, locale).map((reason) => ({ text: reason, amount: money(0) })),
    totalTax: unlessZero(content.totalTax),
    transfer: transfer ? { ...transfer, amount: money(outstanding) } : null,
    customerName: addresseeName(billingAddress),
    billingAddress: addressOf(billingAddress),
    shippingAddress: shipping && shippingAddress ? addressOf(shippingAddress) : null,
    contact: {
      email: billingAddress.emailAddress ?? '',
      phone: billingAddress.phoneNumber ?? billingAddress.mobilePhoneNumber,
    },
    comment: order.customerComment,
  };
}
