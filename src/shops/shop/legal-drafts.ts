import { escapeHtml } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { formatMoney, toMinor } from '../../kernel/money.ts';
import { countryName } from '../countries/countries.ts';
import { draftLanguage, draftsIn } from '../legal/draft.ts';
import type { LegalContent, PageName } from '../legal/schema.ts';
import type { NewShop } from './insert-shop.ts';
import { starterDeliveryPrice, hasWithdrawal } from './starter-settings.ts';

/** Fields that may hold markup: the name of the shop must be escaped in them. */
const MARKUP: readonly string[] = ['address', 'description'];

/** Legal texts for a new shop, each visibly marked as a draft. */
export function legalDrafts(shop: NewShop): [page: PageName, content: LegalContent][] {
  const language = draftLanguage(shop.locale);
  const { mark, note, pages } = draftsIn(language);
  const price = formatMoney(
    toMinor(starterDeliveryPrice(shop.currency), shop.currency)!,
    shop.currency,
    shop.locale,
  );
  const values: Readonly<Record<string, string>> = {
    name: shop.name,
    email: shop.email,
    country: countryName(shop.country, language),
    delivery: `${messagesIn(shop.locale).newShop.parcel}: ${price}`,
  };
  const filled = (field: string, text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (_, key: string) =>
      MARKUP.includes(field) ? escapeHtml(values[key]!) : values[key]!,
    );
  return (Object.entries(pages) as [PageName, LegalContent][])
    .filter(([page]) => page !== 'rights-of-withdrawal' || hasWithdrawal(shop.country))
    .map(([page, content]) => {
      const texts = Object.entries(content).map(([field, text]) => [field, filled(field, text)]);
      const title = `${content['name']} ${mark}`;
      return [page, { ...Object.fromEntries(texts), name: title, title, shortDescription: note }];
    });
}
