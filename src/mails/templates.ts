import { html, type Markup } from '../http/html.ts';

/** The words of all mails, in the languages that are built in; other locales get English. */

const LANGUAGES = ['en', 'de', 'fr'] as const;
type Language = (typeof LANGUAGES)[number];

/** What a mail says, before it becomes text and HTML. */
interface Letter {
  subject: string;
  paragraphs: string[];
  link: { label: string; href: string };
  /** Why one gets this mail. */
  footer: string;
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

/** Every mail there is. A new one is one more entry. */
const TEMPLATES = { availability };

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
  const letter = TEMPLATES[template][language](facts, sender);
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

function plainLetter({ paragraphs, link, footer }: Letter, { name }: Sender): string {
  return `${[...paragraphs, `${link.label}: ${link.href}`, name, `-- \n${footer}`].join('\n\n')}\n`;
}

function htmlLetter(
  { subject, paragraphs, link, footer }: Letter,
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
        <p><a href="${link.href}">${link.label}</a></p>
        <p>${name}</p>
        <p style="color: #666; font-size: 85%">${footer}</p>
      </body>
    </html> `;
}
