import type { CategoryCard } from '../../catalogue/categories/queries.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { imagesOf } from '../../platform/media/images.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { categoryPath, shopPath, type Visit } from '../visit.ts';

export function categoryCards(visit: Visit, cards: readonly CategoryCard[]): Markup {
  const { locale, settings } = visit;
  return html`<ul class="grid categories">
    ${cards.map(
      (card) =>
        html`<li class="card">
          <a href="${shopPath(visit, categoryPath(card.alias))}"
            >${picture(visit, card)}<span
              >${textIn(card.name, locale, settings.defaultLocale) ?? card.alias}</span
            ></a
          >
        </li>`,
    )}
  </ul>`;
}

/** Tiles grow, so that the last row is as wide as the others. */
export function categoryTiles(visit: Visit, cards: readonly CategoryCard[]): Markup {
  const { locale, settings } = visit;
  return html`<ul class="tiles">
    ${cards.map(
      (card) =>
        html`<li>
          <a href="${shopPath(visit, categoryPath(card.alias))}"
            >${picture(visit, card)}<span
              >${textIn(card.name, locale, settings.defaultLocale) ?? card.alias}</span
            ></a
          >
        </li>`,
    )}
  </ul>`;
}

function picture({ shopId }: Visit, { image }: CategoryCard): Markup {
  const found =
    image &&
    imagesOf('', shopId, image.imageKey, image.sizes, { isZoomEnabled: false }).find(
      ({ classifier }) => classifier === 'Medium',
    );
  if (!found) return html`<span class="no-picture" aria-hidden="true"></span>`;
  return html`<img
    src="${found.url}"
    width="${found.width}"
    height="${found.height}"
    alt=""
    loading="lazy"
  />`;
}

export function categoryLinks(
  visit: Visit,
  categories: readonly { alias: string; name: Localised }[],
): Markup {
  const { locale, settings } = visit;
  return html`<nav class="chips" aria-label="${messagesIn(locale).storefront.listing.subcategories}">
    <ul>
      ${categories.map(
        ({ alias, name }) =>
          html`<li>
            <a href="${shopPath(visit, categoryPath(alias))}"
              >${textIn(name, locale, settings.defaultLocale) ?? alias}</a
            >
          </li>`,
      )}
    </ul>
  </nav>`;
}
