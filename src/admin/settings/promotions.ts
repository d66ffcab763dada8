import { formatsOf } from '../../http/formats.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { moneyText } from '../../http/price-text.ts';
import type { SettingsFile } from '../../shops/settings/file.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import {
  isEffectField,
  PROMOTION_EFFECTS,
  takesField,
  PROMOTION_WEEKDAYS,
} from '../../shops/settings/schema/promotions.ts';
import type { Promotion } from '../../shops/settings/settings.ts';
import { hasHours } from '../../pricing/cart-promotions.ts';
import { momentText } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { categoryTree } from '../products/category-tree.ts';
import { findCategoryChoices } from '../products/queries.ts';
import type { ShopVisit } from '../visit.ts';
import { sectionPage } from './section-page.ts';

export function promotionSettingsPages(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, {
    name: 'promotions',
    adjust: withoutOtherFields,
    choices: async (visit) => {
      const { locale, settings } = visit;
      const categories = categoryTree(await findCategoryChoices(visit.db, visit.shopId)).map(
        ({ categoryId, name, depth }) => ({
          value: categoryId,
          text: `${'– '.repeat(depth)}${textIn(name, locale, settings.defaultLocale) ?? categoryId}`,
        }),
      );
      return {
        'promotions.weekdays': weekdayChoices(visit),
        'promotions.categories': categories,
        'promotions.rewardCategories': categories,
      };
    },
    beside: async (visit) => explanations(visit),
  });
}

/** The days of the week from Monday on, in the language of the page. */
function weekdayChoices({ language }: ShopVisit) {
  const names = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' });
  // The first of June 2026 was a Monday.
  return [1, 2, 3, 4, 5, 6, 7].map((day) => ({
    value: PROMOTION_WEEKDAYS[day % 7]!,
    text: names.format(Date.UTC(2026, 5, day)),
  }));
}

/** The form has the fields of all effects; those of the other effects are dropped. */
function withoutOtherFields(file: SettingsFile): SettingsFile {
  const promotions = file.promotions?.map((promotion) => {
    const isKnown = PROMOTION_EFFECTS.includes(promotion.effect);
    const fields = Object.entries(promotion).filter(
      ([key]) => !isEffectField(key) || !isKnown || takesField(promotion.effect, key),
    );
    return Object.fromEntries(fields) as typeof promotion;
  });
  return { ...file, ...(promotions && { promotions }) };
}

/** What each promotion does, in words. */
function explanations(visit: ShopVisit): Markup {
  const { settings, locale } = visit;
  const messages = visit.messages.settings.promotionWords;
  return html`<section class="card">
    <h2>${messages.title}</h2>
    ${
      settings.promotions.length === 0
        ? html`<p class="quiet">${messages.empty}</p>`
        : html`<ul class="stack">
            ${settings.promotions.map(
              (promotion) =>
                html`<li>
                  <strong>${textIn(promotion.name, locale, settings.defaultLocale) ?? promotion.key}</strong>
                  <br />${promotionText(visit, promotion)}
                </li>`,
            )}
          </ul>`
    }
  </section>`;
}

/** `Buy 2, get 1 free, from an order value of €50.00, until 24 December` */
function promotionText(visit: ShopVisit, promotion: Promotion): string {
  const { messages: all, language, settings } = visit;
  const messages = all.settings.promotionWords;
  const { active, code, minimumAmount, minimumQuantity, from, to, combines } = promotion;
  const money = (minor: number) => moneyText(minor, settings.defaultCurrency, language);
  const conditions = [
    minimumAmount !== null && messages.from({ amount: money(minimumAmount) }),
    minimumQuantity !== null && messages.items({ count: minimumQuantity }),
    code !== null && messages.code({ code }),
    from !== null && messages.starts({ date: momentText(new Date(from), language) }),
    hasHours(promotion) && messages.hours,
    to !== null && messages.ends({ date: momentText(new Date(to), language) }),
    !combines && messages.alone,
    !active && messages.inactive,
  ];
  return [effectText(visit, promotion), ...conditions.filter((text) => text !== false)].join(', ');
}

function effectText(
  { messages: all, language, settings }: ShopVisit,
  { effect, on, percent, amount, buy, get, products, categories, manufacturers }: Promotion,
): string {
  const messages = all.settings.promotionWords;
  const money = (minor: number | null) => moneyText(minor ?? 0, settings.defaultCurrency, language);
  const share = formatsOf(language).percent.format((percent ?? 10_000) / 10_000);
  const isForAll = on === 'cart' || [...products, ...categories, ...manufacturers].length === 0;
  const isDelivery = on === 'delivery';
  const what = isDelivery ? messages.delivery : isForAll ? messages.all : messages.goods;
  switch (effect) {
    case 'percent':
      if (isDelivery && percent === 10_000) return messages.freeDelivery;
      return messages.percent({ percent: share, what });
    case 'amount':
      return messages.amount({ amount: money(amount), what });
    case 'price':
      return isDelivery
        ? messages.deliveryPrice({ amount: money(amount) })
        : messages.price({ amount: money(amount), what });
    case 'buyGet': {
      const units = { buy: buy ?? 0, get: get ?? 0 };
      return percent === null || percent === 10_000
        ? messages.buyGetFree(units)
        : messages.buyGet({ ...units, percent: share });
    }
  }
}
