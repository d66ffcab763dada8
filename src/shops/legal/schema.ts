import { Type, type TObject, type TString } from 'typebox';
import type { Label } from '../../http/operation.ts';
import { Links, Nullable } from '../../http/schemas.ts';

/** One line: headings, names, numbers. */
const line = (description: string, example: string, maxLength = 255) =>
  Type.String({ description, examples: [example], maxLength });

/** Seventy printed pages: longer than any legal text of a shop. Its page is rendered in one go. */
export const MAX_LEGAL_TEXT_LENGTH = 200_000;

const markup = (description: string, example: string, maxLength = MAX_LEGAL_TEXT_LENGTH) =>
  Type.String({ description, examples: [example], maxLength });

const contentTexts = {
  name: line('Heading of the page.', 'Delivery'),
  title: line('Title of the browser window.', 'Delivery | Harbour & Hearth'),
  navigationCaption: line('Label in the navigation.', 'Delivery'),
  shortDescription: markup('Summary; may contain markup.', '<p>We deliver within three days.</p>'),
  description: markup('The text; may contain markup.', '<p>Parcels leave our store every morning.</p>'),
};

const contactTexts = {
  ...contentTexts,
  company: line('Company.', 'Harbour & Hearth'),
  contactPerson: line('Whom to ask for.', 'Ina Feldkamp'),
  contactPersonJobTitle: line('Job of this person.', 'Owner'),
  address: markup('Postal address; may contain markup.', '<p>Speicherweg 4<br>20457 Hamburg</p>', 2_000),
  phone: line('Telephone.', '+49 40 123456', 64),
  email: line('Mail address.', 'hello@harbour-hearth.example', 254),
};

/** A response holds the texts that are set, as strings, never null; in a request null removes a text. */
function schemasOf(texts: Record<string, TString>, title: string): { answer: TObject; request: TObject } {
  const nullable = Object.entries(texts).map(([key, text]) => [key, Nullable(text)] as const);
  return {
    answer: Type.Partial(Type.Object(texts), { title }),
    request: Type.Partial(Type.Object(Object.fromEntries(nullable)), { title: `${title} (request)` }),
  };
}

const contentPage = schemasOf(contentTexts, 'contentPage');
const contactInfo = schemasOf(contactTexts, 'contactInfo');

const everywhere: readonly Label[] = ['Base', 'Now'];

/** The six pages: their paths below /legal, their keys and links in the summary, and their content. */
export const PAGES = [
  {
    page: 'contact-information',
    key: 'contactInformation',
    rel: 'contact',
    labels: everywhere,
    ...contactInfo,
  },
  { page: 'privacy-policy', key: 'privacyPolicy', rel: 'privacy', labels: everywhere, ...contentPage },
  { page: 'terms-and-conditions', key: 'termsAndConditions', rel: 'tac', labels: everywhere, ...contentPage },
  {
    page: 'rights-of-withdrawal',
    key: 'rightsOfWithdrawal',
    rel: 'withdrawal',
    labels: everywhere,
    ...contentPage,
  },
  {
    page: 'shipping-information',
    key: 'shippingInformation',
    rel: 'shipping',
    labels: everywhere,
    ...contentPage,
  },
  { page: 'cookie-policy', key: 'cookiePolicy', rel: 'cookie', labels: ['Now'], ...contentPage },
] as const;

export type PageName = (typeof PAGES)[number]['page'];

/** The texts of a page that are set, by their keys. */
export type LegalContent = Record<string, string>;

const SummaryItem = Nullable(
  Type.Object(
    { name: Type.String({ description: 'Name of the page.', examples: ['Delivery'] }) },
    { title: 'contentPageSummaryItem', description: 'null: there is no such page in this locale.' },
  ),
);

export const Summary = Type.Object(
  {
    contactInformation: SummaryItem,
    privacyPolicy: SummaryItem,
    termsAndConditions: SummaryItem,
    rightsOfWithdrawal: SummaryItem,
    shippingInformation: SummaryItem,
    cookiePolicy: SummaryItem,
    links: Links,
  },
  { title: 'contentPageSummary' },
);

export const WritingLocale = Type.String({
  description: 'Full locale of the text, language and country; the shop must offer it.',
  examples: ['en_GB'],
});
