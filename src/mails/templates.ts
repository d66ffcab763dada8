import { html, type Markup } from '../http/html.ts';

/** The words of all mails, in the languages that are built in; other locales get English. */

const LANGUAGES = ['en', 'de', 'fr'] as const;
type Language = (typeof LANGUAGES)[number];

/** What a mail says, before it becomes text and HTML. */
interface Letter {
  subject: string;
  paragraphs: string[];
  /** What stands between the paragraphs and the link, an amount behind each. */
  rows?: Row[];
  link: { label: string; href: string };
  /** Why one gets this mail. */
  footer: string;
}

interface Row {
  text: string;
  amount: string;
}

/** The shop that writes, as the recipient's locale calls it. */
export interface Sender {
  name: string;
  /** Where its storefront begins: `https://shop.example/shop/DemoShop`. */
  storefront: string;
}

type Template<Facts> = Readonly<Record<Language, (facts: Facts, sender: Sender) => Letter>>;

interface ProductIsBack {
  productName: string;
  productNumber: string;
}

const productPage = ({ productNumber }: ProductIsBack, { storefront }: Sender) =>
  `${storefront}/Products/${encodeURIComponent(productNumber)}`;

const availability: Template<ProductIsBack> = {
  en: (facts, sender) => ({
    subject: `Available again: ${facts.productName}`,
    paragraphs: ['Good news!', `${facts.productName} is available again at ${sender.name}.`],
    link: { label: 'To the product', href: productPage(facts, sender) },
    footer:
      'You receive this one mail because this address asked to be told. You need not do anything to unsubscribe.',
  }),
  de: (facts, sender) => ({
    subject: `Wieder verfügbar: ${facts.productName}`,
    paragraphs: ['Gute Nachrichten!', `${facts.productName} ist bei ${sender.name} wieder verfügbar.`],
    link: { label: 'Zum Artikel', href: productPage(facts, sender) },
    footer:
      'Sie erhalten diese eine E-Mail, weil mit dieser Adresse darum gebeten wurde. Sie müssen sich nicht abmelden.',
  }),
  fr: (facts, sender) => ({
    subject: `De nouveau disponible : ${facts.productName}`,
    paragraphs: ['Bonne nouvelle !', `${facts.productName} est de nouveau disponible chez ${sender.name}.`],
    link: { label: 'Voir le produit', href: productPage(facts, sender) },
    footer:
      'Vous recevez ce seul e-mail car cette adresse a demandé à être prévenue. Aucune désinscription n’est nécessaire.',
  }),
};

/** An order that was placed; amounts are formatted already. What is not there is not said. */
export interface OrderPlaced {
  orderId: string;
  orderNumber: string;
  lines: Row[];
  subTotal: string;
  basketDiscount: string | null;
  coupon: string | null;
  /** Deposits and recycling fees. */
  extras: string | null;
  shipping: Row | null;
  payment: Row | null;
  grandTotal: string;
  /** Tax that the total holds; null: none. */
  totalTax: string | null;
}

interface OrderWords {
  subTotal: string;
  basketDiscount: string;
  coupon: string;
  extras: string;
  shipping: (method: string) => string;
  payment: (method: string) => string;
  grandTotal: string;
  totalTax: string;
}

function orderRows(facts: OrderPlaced, words: OrderWords): Row[] {
  const row = (text: string, amount: string | null): Row[] => (amount === null ? [] : [{ text, amount }]);
  return [
    ...facts.lines,
    ...row(words.subTotal, facts.subTotal),
    ...row(words.basketDiscount, facts.basketDiscount),
    ...row(words.coupon, facts.coupon),
    ...row(words.extras, facts.extras),
    ...(facts.shipping ? row(words.shipping(facts.shipping.text), facts.shipping.amount) : []),
    ...(facts.payment ? row(words.payment(facts.payment.text), facts.payment.amount) : []),
    ...row(words.grandTotal, facts.grandTotal),
    ...row(words.totalTax, facts.totalTax),
  ];
}

const order: Template<OrderPlaced> = {
  en: (facts, { name, storefront }) => ({
    subject: `Your order ${facts.orderNumber}`,
    paragraphs: ['Thank you!', `${name} has received your order ${facts.orderNumber}:`],
    rows: orderRows(facts, {
      subTotal: 'Goods',
      basketDiscount: 'Discount',
      coupon: 'Coupon',
      extras: 'Deposits and recycling fees',
      shipping: (method) => `Delivery: ${method}`,
      payment: (method) => `Payment: ${method}`,
      grandTotal: 'Total',
      totalTax: 'of which tax',
    }),
    link: { label: 'To the shop', href: storefront },
    footer: 'You receive this mail because an order was placed with this address.',
  }),
  de: (facts, { name, storefront }) => ({
    subject: `Ihre Bestellung ${facts.orderNumber}`,
    paragraphs: ['Vielen Dank!', `${name} hat Ihre Bestellung ${facts.orderNumber} erhalten:`],
    rows: orderRows(facts, {
      subTotal: 'Waren',
      basketDiscount: 'Rabatt',
      coupon: 'Gutschein',
      extras: 'Pfand und Recyclingbeiträge',
      shipping: (method) => `Lieferung: ${method}`,
      payment: (method) => `Zahlung: ${method}`,
      grandTotal: 'Gesamtbetrag',
      totalTax: 'davon Steuern',
    }),
    link: { label: 'Zum Shop', href: storefront },
    footer: 'Sie erhalten diese E-Mail, weil mit dieser Adresse bestellt wurde.',
  }),
  fr: (facts, { name, storefront }) => ({
    subject: `Votre commande ${facts.orderNumber}`,
    paragraphs: ['Merci !', `${name} a bien reçu votre commande ${facts.orderNumber} :`],
    rows: orderRows(facts, {
      subTotal: 'Articles',
      basketDiscount: 'Remise',
      coupon: 'Bon de réduction',
      extras: 'Consignes et éco-participations',
      shipping: (method) => `Livraison : ${method}`,
      payment: (method) => `Paiement : ${method}`,
      grandTotal: 'Total',
      totalTax: 'dont taxes',
    }),
    link: { label: 'Vers la boutique', href: storefront },
    footer: 'Vous recevez cet e-mail car une commande a été passée avec cette adresse.',
  }),
};

/** Goods of an order are on their way. */
export interface OrderShipped {
  orderNumber: string;
  /** What was sent: "2 pieces Harbour Tea". */
  goods: string[];
  /** Whether it is all that was still to come. */
  isRest: boolean;
  carrier: string | null;
  trackingCode: string | null;
}

const parcel = (facts: OrderShipped, words: { carrier: string; code: string }): string[] => [
  ...(facts.carrier === null ? [] : [`${words.carrier}: ${facts.carrier}`]),
  ...(facts.trackingCode === null ? [] : [`${words.code}: ${facts.trackingCode}`]),
];

const shipped: Template<OrderShipped> = {
  en: (facts, { name, storefront }) => ({
    subject: `Your order ${facts.orderNumber} is on its way`,
    paragraphs: [
      facts.isRest
        ? `${name} has sent your order ${facts.orderNumber}:`
        : `${name} has sent a part of your order ${facts.orderNumber}; the rest follows:`,
      facts.goods.join('\n'),
      ...parcel(facts, { carrier: 'Carrier', code: 'Tracking code' }),
    ],
    link: { label: 'To the shop', href: storefront },
    footer: 'You receive this mail because an order was placed with this address.',
  }),
  de: (facts, { name, storefront }) => ({
    subject: `Ihre Bestellung ${facts.orderNumber} ist unterwegs`,
    paragraphs: [
      facts.isRest
        ? `${name} hat Ihre Bestellung ${facts.orderNumber} versandt:`
        : `${name} hat einen Teil Ihrer Bestellung ${facts.orderNumber} versandt; der Rest folgt:`,
      facts.goods.join('\n'),
      ...parcel(facts, { carrier: 'Versand durch', code: 'Sendungsnummer' }),
    ],
    link: { label: 'Zum Shop', href: storefront },
    footer: 'Sie erhalten diese E-Mail, weil mit dieser Adresse bestellt wurde.',
  }),
  fr: (facts, { name, storefront }) => ({
    subject: `Votre commande ${facts.orderNumber} est en route`,
    paragraphs: [
      facts.isRest
        ? `${name} a expédié votre commande ${facts.orderNumber} :`
        : `${name} a expédié une partie de votre commande ${facts.orderNumber} ; le reste suivra :`,
      facts.goods.join('\n'),
      ...parcel(facts, { carrier: 'Transporteur', code: 'Numéro de suivi' }),
    ],
    link: { label: 'Vers la boutique', href: storefront },
    footer: 'Vous recevez cet e-mail car une commande a été passée avec cette adresse.',
  }),
};

/** An invoice or a credit note, with the file. */
export interface DocumentFinalised {
  orderNumber: string;
  documentId: string;
  documentType: 'Invoice' | 'CreditNote';
  documentNumber: string;
  grandTotal: string;
}

const invoice: Template<DocumentFinalised> = {
  en: (facts, { name, storefront }) => {
    const kind = facts.documentType === 'Invoice' ? 'invoice' : 'credit note';
    return {
      subject: `Your ${kind} ${facts.documentNumber}`,
      paragraphs: [
        `${name} sends you the ${kind} ${facts.documentNumber} for your order ${facts.orderNumber}.`,
        `Total: ${facts.grandTotal}`,
      ],
      link: { label: 'To the shop', href: storefront },
      footer: 'You receive this mail because an order was placed with this address.',
    };
  },
  de: (facts, { name, storefront }) => {
    const kind = facts.documentType === 'Invoice' ? 'Rechnung' : 'Gutschrift';
    return {
      subject: `Ihre ${kind} ${facts.documentNumber}`,
      paragraphs: [
        `${name} sendet Ihnen die ${kind} ${facts.documentNumber} zu Ihrer Bestellung ${facts.orderNumber}.`,
        `Gesamtbetrag: ${facts.grandTotal}`,
      ],
      link: { label: 'Zum Shop', href: storefront },
      footer: 'Sie erhalten diese E-Mail, weil mit dieser Adresse bestellt wurde.',
    };
  },
  fr: (facts, { name, storefront }) => {
    const kind = facts.documentType === 'Invoice' ? 'facture' : 'note de crédit';
    return {
      subject: `Votre ${kind} ${facts.documentNumber}`,
      paragraphs: [
        `${name} vous envoie la ${kind} ${facts.documentNumber} pour votre commande ${facts.orderNumber}.`,
        `Total : ${facts.grandTotal}`,
      ],
      link: { label: 'Vers la boutique', href: storefront },
      footer: 'Vous recevez cet e-mail car une commande a été passée avec cette adresse.',
    };
  },
};

/** Money goes back to the customer. */
export interface OrderRefunded {
  orderNumber: string;
  amount: string;
}

const refund: Template<OrderRefunded> = {
  en: (facts, { name, storefront }) => ({
    subject: `Refund for your order ${facts.orderNumber}`,
    paragraphs: [`${name} has refunded ${facts.amount} for your order ${facts.orderNumber}.`],
    link: { label: 'To the shop', href: storefront },
    footer: 'You receive this mail because an order was placed with this address.',
  }),
  de: (facts, { name, storefront }) => ({
    subject: `Erstattung zu Ihrer Bestellung ${facts.orderNumber}`,
    paragraphs: [`${name} hat Ihnen ${facts.amount} für Ihre Bestellung ${facts.orderNumber} erstattet.`],
    link: { label: 'Zum Shop', href: storefront },
    footer: 'Sie erhalten diese E-Mail, weil mit dieser Adresse bestellt wurde.',
  }),
  fr: (facts, { name, storefront }) => ({
    subject: `Remboursement de votre commande ${facts.orderNumber}`,
    paragraphs: [`${name} vous a remboursé ${facts.amount} pour votre commande ${facts.orderNumber}.`],
    link: { label: 'Vers la boutique', href: storefront },
    footer: 'Vous recevez cet e-mail car une commande a été passée avec cette adresse.',
  }),
};

/** Every mail there is. A new one is one more entry. */
const TEMPLATES = { availability, order, shipped, invoice, refund };

type TemplateName = keyof typeof TEMPLATES;
type FactsOf<Name extends TemplateName> =
  (typeof TEMPLATES)[Name] extends Template<infer Facts> ? Facts : never;

/** A mail as it waits in the queue: facts, and no words yet. */
export type Mail = {
  [Name in TemplateName]: { to: string; locale: string; template: Name; facts: FactsOf<Name> };
}[TemplateName];

export interface RenderedMail {
  subject: string;
  language: string;
  text: string;
  html: string;
}

export function renderedMail({ template, locale, facts }: Mail, sender: Sender): RenderedMail {
  const asked = locale.slice(0, 2).toLowerCase();
  const language = LANGUAGES.find((known) => known === asked) ?? 'en';
  const letter = (TEMPLATES[template][language] as (facts: object, sender: Sender) => Letter)(facts, sender);
  return {
    subject: oneLine(letter.subject),
    language,
    text: plainLetter(letter, sender),
    html: String(htmlLetter(letter, sender, language)),
  };
}

/** For headers: a product's name may hold line breaks, a header must not. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
}

function plainLetter({ paragraphs, rows = [], link, footer }: Letter, { name }: Sender): string {
  const table = rows.map(({ text, amount }) => `${oneLine(text)}: ${amount}`).join('\n');
  const parts = [...paragraphs, table, `${link.label}: ${link.href}`, name, `-- \n${footer}`];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function htmlLetter(
  { subject, paragraphs, rows = [], link, footer }: Letter,
  { name }: Sender,
  language: Language,
): Markup {
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <title>${subject}</title>
      </head>
      <body style="font-family: sans-serif; line-height: 1.5; max-width: 36em">
        ${paragraphs.map((paragraph) => html`<p>${paragraph}</p> `)}
        ${
          rows.length > 0 &&
          html`<table style="border-spacing: 0 0.3em">
            ${rows.map(
              ({ text, amount }) =>
                html`<tr>
                  <td style="padding-right: 2em">${text}</td>
                  <td style="text-align: right; white-space: nowrap">${amount}</td>
                </tr> `,
            )}
          </table>`
        }
        <p><a href="${link.href}">${link.label}</a></p>
        <p>${name}</p>
        <p style="color: #666; font-size: 85%">${footer}</p>
      </body>
    </html> `;
}
