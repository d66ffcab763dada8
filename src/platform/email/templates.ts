import type { NewsletterUrls } from '../../people/newsletters/links.ts';
import { htmlLetter, plainLetter, type Row } from './letter.ts';
import { filledBody, filledSubject, LINES } from './placeholders.ts';

/** All mails and their built-in words; a shop's own words take their place. */

const LANGUAGES = ['en', 'de', 'fr'] as const;
type Language = (typeof LANGUAGES)[number];
type Spoken<Value = string> = Readonly<Record<Language, Value>>;

/** The shop that writes, as the recipient's locale calls it. */
export interface Sender {
  name: string;
  /** Where its storefront begins: `https://shop.example/shop/DemoShop`. */
  storefront: string;
  /** Signed for the recipient. */
  newsletter: NewsletterUrls;
}

interface Placeholder<Facts> {
  /** For whoever writes the words. */
  meaning: string;
  /** null: there is nothing to say. */
  value: (facts: Facts, sender: Sender, language: Language) => string | null;
}

interface Template<Facts> {
  /** When it is sent. */
  occasion: string;
  placeholders: Readonly<Record<string, Placeholder<Facts>>>;
  /** What `{lines}` stands for. */
  lines?: { meaning: string; rows: (facts: Facts, language: Language) => Row[] };
  /** Blank lines divide the paragraphs; a line whose placeholder has nothing to say is left out. */
  words: Spoken<{ subject: string; text: string }>;
  link: { label: Spoken; href: (facts: Facts, sender: Sender) => string };
  footer: Spoken;
}

const SHOP = {
  shopName: { meaning: 'Name of the shop.', value: (_: object, { name }: Sender) => name },
  shopUrl: {
    meaning: "Address of the shop's storefront.",
    value: (_: object, { storefront }: Sender) => storefront,
  },
};

interface ProductIsBack {
  productName: string;
  productNumber: string;
}

const productPage = ({ productNumber }: ProductIsBack, { storefront }: Sender) =>
  `${storefront}/Products/${encodeURIComponent(productNumber)}`;

const availability: Template<ProductIsBack> = {
  occasion: 'To those who asked to be told, when a product is in stock again.',
  placeholders: {
    ...SHOP,
    productName: { meaning: 'Name of the product.', value: ({ productName }) => productName },
    productNumber: { meaning: 'Number of the product.', value: ({ productNumber }) => productNumber },
    productUrl: { meaning: "Address of the product's page.", value: productPage },
  },
  words: {
    en: {
      subject: 'Available again: {productName}',
      text: 'Good news!\n\n{productName} is available again at {shopName}.',
    },
    de: {
      subject: 'Wieder verfügbar: {productName}',
      text: 'Gute Nachrichten!\n\n{productName} ist bei {shopName} wieder verfügbar.',
    },
    fr: {
      subject: 'De nouveau disponible : {productName}',
      text: 'Bonne nouvelle\u00a0!\n\n{productName} est de nouveau disponible chez {shopName}.',
    },
  },
  link: { label: { en: 'To the product', de: 'Zum Artikel', fr: 'Voir le produit' }, href: productPage },
  footer: {
    en: 'You receive this one mail because this address asked to be told. You need not do anything to unsubscribe.',
    de: 'Sie erhalten diese eine E-Mail, weil mit dieser Adresse darum gebeten wurde. Sie müssen sich nicht abmelden.',
    fr: 'Vous recevez ce seul e-mail car cette adresse a demandé à être prévenue. Aucune désinscription n’est nécessaire.',
  },
};

/** What the mails about an order share. */
const ORDER = {
  placeholders: {
    ...SHOP,
    orderNumber: {
      meaning: 'Number of the order.',
      value: ({ orderNumber }: { orderNumber: string }) => orderNumber,
    },
  },
  link: {
    label: { en: 'To the shop', de: 'Zum Shop', fr: 'Vers la boutique' },
    href: (_: object, { storefront }: Sender) => storefront,
  },
  footer: {
    en: 'You receive this mail because an order was placed with this address.',
    de: 'Sie erhalten diese E-Mail, weil mit dieser Adresse bestellt wurde.',
    fr: 'Vous recevez cet e-mail car une commande a été passée avec cette adresse.',
  },
};

/** A line must not end between an amount and its currency. */
const unbroken = (amount: string) => amount.replaceAll(' ', '\u00a0');

interface Priced {
  text: string;
  amount: string;
}

/** An order that was placed; amounts are formatted already. What is not there is not said. */
export interface OrderPlaced {
  orderId: string;
  orderNumber: string;
  lines: Priced[];
  subTotal: string;
  basketDiscount: string | null;
  coupon: string | null;
  /** Deposits and recycling fees. */
  extras: string | null;
  shipping: Priced | null;
  payment: Priced | null;
  grandTotal: string;
  /** Tax that the total holds; null: none. */
  totalTax: string | null;
}

const SUMS: Spoken<
  Record<'subTotal' | 'basketDiscount' | 'coupon' | 'extras' | 'grandTotal' | 'totalTax', string> &
    Record<'shipping' | 'payment', (method: string) => string>
> = {
  en: {
    subTotal: 'Goods',
    basketDiscount: 'Discount',
    coupon: 'Coupon',
    extras: 'Deposits and recycling fees',
    shipping: (method) => `Delivery: ${method}`,
    payment: (method) => `Payment: ${method}`,
    grandTotal: 'Total',
    totalTax: 'of which tax',
  },
  de: {
    subTotal: 'Waren',
    basketDiscount: 'Rabatt',
    coupon: 'Gutschein',
    extras: 'Pfand und Recyclingbeiträge',
    shipping: (method) => `Lieferung: ${method}`,
    payment: (method) => `Zahlung: ${method}`,
    grandTotal: 'Gesamtbetrag',
    totalTax: 'davon Steuern',
  },
  fr: {
    subTotal: 'Articles',
    basketDiscount: 'Remise',
    coupon: 'Bon de réduction',
    extras: 'Consignes et éco-participations',
    shipping: (method) => `Livraison\u00a0: ${method}`,
    payment: (method) => `Paiement\u00a0: ${method}`,
    grandTotal: 'Total',
    totalTax: 'dont taxes',
  },
};

function orderRows(facts: OrderPlaced, language: Language): Row[] {
  const words = SUMS[language];
  const row = (text: string, amount: string | null, as: NonNullable<Row['as']> = 'sum'): Row[] =>
    amount === null ? [] : [{ text, amount, as }];
  return [
    ...facts.lines,
    ...row(words.subTotal, facts.subTotal),
    ...row(words.basketDiscount, facts.basketDiscount),
    ...row(words.coupon, facts.coupon),
    ...row(words.extras, facts.extras),
    ...(facts.shipping ? row(words.shipping(facts.shipping.text), facts.shipping.amount) : []),
    ...(facts.payment ? row(words.payment(facts.payment.text), facts.payment.amount) : []),
    ...row(words.grandTotal, facts.grandTotal, 'total'),
    ...row(words.totalTax, facts.totalTax, 'note'),
  ];
}

const order: Template<OrderPlaced> = {
  ...ORDER,
  occasion: 'To the customer, when an order was placed.',
  placeholders: {
    ...ORDER.placeholders,
    total: {
      meaning: 'What the order costs, with its currency.',
      value: ({ grandTotal }) => unbroken(grandTotal),
    },
    tax: {
      meaning: 'Tax in the total; nothing if there is none.',
      value: ({ totalTax }) => totalTax && unbroken(totalTax),
    },
    shippingMethod: {
      meaning: 'Name of the shipping method; nothing if nothing is shipped.',
      value: ({ shipping }) => shipping?.text ?? null,
    },
    paymentMethod: {
      meaning: 'Name of the payment method; nothing if there is none.',
      value: ({ payment }) => payment?.text ?? null,
    },
  },
  lines: { meaning: 'The table of what was ordered, with discounts, costs and total.', rows: orderRows },
  words: {
    en: {
      subject: 'Your order {orderNumber}',
      text: 'Thank you!\n\n{shopName} has received your order {orderNumber}:\n\n{lines}',
    },
    de: {
      subject: 'Ihre Bestellung {orderNumber}',
      text: 'Vielen Dank!\n\n{shopName} hat Ihre Bestellung {orderNumber} erhalten:\n\n{lines}',
    },
    fr: {
      subject: 'Votre commande {orderNumber}',
      text: 'Merci\u00a0!\n\n{shopName} a bien reçu votre commande {orderNumber}\u00a0:\n\n{lines}',
    },
  },
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

const REST_FOLLOWS: Spoken = {
  en: 'The rest of your order follows.',
  de: 'Der Rest Ihrer Bestellung folgt.',
  fr: 'Le reste de votre commande suivra.',
};

const shipped: Template<OrderShipped> = {
  ...ORDER,
  occasion: 'To the customer, when goods of an order were sent.',
  placeholders: {
    ...ORDER.placeholders,
    carrier: { meaning: 'Who carries the parcel; nothing if unknown.', value: ({ carrier }) => carrier },
    trackingCode: {
      meaning: 'The tracking code; nothing if there is none.',
      value: ({ trackingCode }) => trackingCode,
    },
    restFollows: {
      meaning: `"${REST_FOLLOWS.en}"; nothing if this was all.`,
      value: ({ isRest }, _, language) => (isRest ? null : REST_FOLLOWS[language]),
    },
  },
  lines: { meaning: 'The goods in this parcel.', rows: ({ goods }) => goods.map((text) => ({ text })) },
  words: {
    en: {
      subject: 'Your order {orderNumber} is on its way',
      text: '{shopName} has sent these goods of your order {orderNumber}:\n\n{lines}\n\n{restFollows}\n\nCarrier: {carrier}\nTracking code: {trackingCode}',
    },
    de: {
      subject: 'Ihre Bestellung {orderNumber} ist unterwegs',
      text: '{shopName} hat diese Artikel Ihrer Bestellung {orderNumber} versandt:\n\n{lines}\n\n{restFollows}\n\nVersand durch: {carrier}\nSendungsnummer: {trackingCode}',
    },
    fr: {
      subject: 'Votre commande {orderNumber} est en route',
      text: '{shopName} a expédié ces articles de votre commande {orderNumber}\u00a0:\n\n{lines}\n\n{restFollows}\n\nTransporteur\u00a0: {carrier}\nNuméro de suivi\u00a0: {trackingCode}',
    },
  },
};

/** An invoice or a credit note; the worker adds the file. */
export interface DocumentFinalised {
  orderNumber: string;
  documentId: string;
  documentType: 'Invoice' | 'CreditNote';
  documentNumber: string;
  grandTotal: string;
}

const DOCUMENTS: Record<DocumentFinalised['documentType'], Spoken> = {
  Invoice: { en: 'invoice', de: 'Rechnung', fr: 'facture' },
  CreditNote: { en: 'credit note', de: 'Gutschrift', fr: 'note de crédit' },
};

const invoice: Template<DocumentFinalised> = {
  ...ORDER,
  occasion: 'To the customer, with an invoice or a credit note as PDF.',
  placeholders: {
    ...ORDER.placeholders,
    documentType: {
      meaning: '"invoice" or "credit note", in the language of the mail.',
      value: ({ documentType }, _, language) => DOCUMENTS[documentType][language],
    },
    documentNumber: {
      meaning: 'Number of the invoice or credit note.',
      value: ({ documentNumber }) => documentNumber,
    },
    total: { meaning: 'Its total, with its currency.', value: ({ grandTotal }) => unbroken(grandTotal) },
  },
  words: {
    en: {
      subject: 'Your {documentType} {documentNumber}',
      text: '{shopName} sends you the {documentType} {documentNumber} for your order {orderNumber}. You find it attached as a PDF.\n\nTotal: {total}',
    },
    de: {
      subject: 'Ihre {documentType} {documentNumber}',
      text: '{shopName} sendet Ihnen die {documentType} {documentNumber} zu Ihrer Bestellung {orderNumber}. Sie finden sie als PDF im Anhang.\n\nGesamtbetrag: {total}',
    },
    fr: {
      subject: 'Votre {documentType} {documentNumber}',
      text: '{shopName} vous envoie la {documentType} {documentNumber} pour votre commande {orderNumber}. Vous la trouverez en pièce jointe, au format PDF.\n\nTotal\u00a0: {total}',
    },
  },
};

/** Money goes back to the customer. */
export interface OrderRefunded {
  orderNumber: string;
  amount: string;
}

const refund: Template<OrderRefunded> = {
  ...ORDER,
  occasion: 'To the customer, when money was paid back.',
  placeholders: {
    ...ORDER.placeholders,
    amount: { meaning: 'What was paid back, with its currency.', value: ({ amount }) => unbroken(amount) },
  },
  words: {
    en: {
      subject: 'Refund for your order {orderNumber}',
      text: '{shopName} has refunded {amount} for your order {orderNumber}.',
    },
    de: {
      subject: 'Erstattung zu Ihrer Bestellung {orderNumber}',
      text: '{shopName} hat Ihnen {amount} für Ihre Bestellung {orderNumber} erstattet.',
    },
    fr: {
      subject: 'Remboursement de votre commande {orderNumber}',
      text: '{shopName} vous a remboursé {amount} pour votre commande {orderNumber}.',
    },
  },
};

/** Somebody asked for newsletters with this address. */
export interface NewsletterAsked {
  requestId: string;
  /** Their names. */
  newsletters: string[];
}

const confirmPage = ({ requestId }: NewsletterAsked, { newsletter }: Sender) => newsletter.confirm(requestId);

const newsletter: Template<NewsletterAsked> = {
  occasion: 'To whoever asked for a newsletter, with the link that confirms it.',
  placeholders: {
    ...SHOP,
    newsletters: {
      meaning: 'Names of the newsletters.',
      value: ({ newsletters }) => newsletters.join(', '),
    },
    confirmUrl: { meaning: 'Address of the page that confirms it.', value: confirmPage },
    unsubscribeUrl: {
      meaning: 'Address of the page that unsubscribes.',
      value: (_, { newsletter }) => newsletter.unsubscribe,
    },
  },
  words: {
    en: {
      subject: 'Please confirm: newsletter of {shopName}',
      text: 'This address was entered at {shopName} to receive: {newsletters}.\n\nPlease confirm it within 7 days. If it was not you, do nothing: you will not receive anything.\n\nYou can unsubscribe at any time: {unsubscribeUrl}',
    },
    de: {
      subject: 'Bitte bestätigen: Newsletter von {shopName}',
      text: 'Diese Adresse wurde bei {shopName} eingetragen für: {newsletters}.\n\nBitte bestätigen Sie das innerhalb von 7 Tagen. Falls Sie das nicht waren, müssen Sie nichts tun: Sie erhalten dann keine Post von uns.\n\nAbmelden können Sie sich jederzeit: {unsubscribeUrl}',
    },
    fr: {
      subject: 'À confirmer\u00a0: newsletter de {shopName}',
      text: 'Cette adresse a été saisie chez {shopName} pour recevoir\u00a0: {newsletters}.\n\nMerci de le confirmer sous 7 jours. Si vous n’êtes pas à l’origine de cette demande, ne faites rien\u00a0: vous ne recevrez rien.\n\nVous pouvez vous désinscrire à tout moment\u00a0: {unsubscribeUrl}',
    },
  },
  link: {
    label: { en: 'Confirm subscription', de: 'Anmeldung bestätigen', fr: 'Confirmer l’inscription' },
    href: confirmPage,
  },
  footer: {
    en: 'You receive this mail because a newsletter was requested with this address.',
    de: 'Sie erhalten diese E-Mail, weil mit dieser Adresse ein Newsletter angefordert wurde.',
    fr: 'Vous recevez cet e-mail car une newsletter a été demandée avec cette adresse.',
  },
};

/** Every mail there is. A new one is one more entry. */
const TEMPLATES = { order, shipped, invoice, refund, availability, newsletter };

export type TemplateName = keyof typeof TEMPLATES;
export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as TemplateName[];

type FactsOf<Name extends TemplateName> =
  (typeof TEMPLATES)[Name] extends Template<infer Facts> ? Facts : never;

/** A mail as it waits in the queue: facts, and no words yet. */
export type Mail = {
  [Name in TemplateName]: { to: string; locale: string; template: Name; facts: FactsOf<Name> };
}[TemplateName];

/** For whoever writes words for it: when it is sent, and what each placeholder means. */
export function templateGuide(name: TemplateName): { occasion: string; meanings: Record<string, string> } {
  const {
    occasion,
    placeholders,
    lines,
  }: Pick<Template<never>, 'occasion' | 'placeholders' | 'lines'> = TEMPLATES[name];
  const meanings = Object.entries(placeholders).map(([key, { meaning }]) => [key, meaning] as const);
  return {
    occasion,
    meanings: Object.fromEntries(lines ? [...meanings, [LINES, lines.meaning]] : meanings),
  };
}

export interface RenderedMail {
  subject: string;
  language: string;
  text: string;
  html: string;
}

/** The shop's own words, and where to look for them. */
export interface OwnWords {
  /** By template and locale. */
  mailTexts: Record<string, Record<string, { subject?: string; text?: string }>>;
  defaultLocale: string;
}

const NONE: OwnWords = { mailTexts: {}, defaultLocale: '' };

export function renderedMail(
  { template: name, locale, facts }: Mail,
  sender: Sender,
  { mailTexts, defaultLocale }: OwnWords = NONE,
): RenderedMail {
  const template = TEMPLATES[name] as unknown as Template<object>;
  const own = chosenWords(mailTexts[name] ?? {}, locale, defaultLocale);
  const spoken = languageOf(own?.locale ?? locale);
  const language = LANGUAGES.find((known) => known === spoken) ?? 'en';
  const builtIn = template.words[language];
  const values = new Map(
    Object.entries(template.placeholders).map(([key, { value }]) => [key, value(facts, sender, language)]),
  );
  const letter = {
    subject: filledSubject(own?.subject ?? '', values) || filledSubject(builtIn.subject, values),
    body: filledBody(own?.text ?? builtIn.text, values, template.lines?.rows(facts, language)),
    link: { label: template.link.label[language], href: template.link.href(facts, sender) },
    footer: template.footer[language],
  };
  const isOwn = own?.text !== undefined;
  return {
    subject: letter.subject,
    language: isOwn ? spoken : language,
    text: plainLetter(letter, sender.name),
    html: String(htmlLetter(letter, sender.name, isOwn ? spoken : language)),
  };
}

/**
 * Those of the locale, else of another one with its language, else of the default one. As a whole, so that one mail
 * does not speak two languages.
 */
function chosenWords(texts: OwnWords['mailTexts'][string], locale: string, defaultLocale: string) {
  const related = [defaultLocale, ...Object.keys(texts).toSorted()].filter(
    (other) => languageOf(other) === languageOf(locale),
  );
  const chosen = [locale, ...related, defaultLocale].find((one) => texts[one] !== undefined);
  return chosen === undefined ? undefined : { ...texts[chosen], locale: chosen };
}

function languageOf(locale: string): string {
  return locale.slice(0, 2).toLowerCase();
}
