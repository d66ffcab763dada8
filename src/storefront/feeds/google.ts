import { escapeHtml } from '../../http/html.ts';
import type { FeedItem } from './feed-item.ts';
import type { FeedFormat, FeedShop } from './feed-format.ts';

/** The product data of Google Merchant Center as RSS 2.0, which other channels read too. */
export const googleFeed: FeedFormat = {
  type: 'application/xml; charset=utf-8',
  head: ({ name, home }) =>
    '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>\n' +
    `${element('title', name)}${element('link', home)}${element('description', name)}\n`,
  item: (item, shop) => `<item>${googleFields(item, shop).map(written).join('')}</item>\n`,
  foot: '</channel></rss>\n',
};

/** The name of an element, and its text or the elements in it. */
type Field = readonly [name: string, value: string | readonly Field[] | undefined];

/** Title, link and description are elements of RSS itself; the others are Google's. */
function googleFields(item: FeedItem, shop: FeedShop): Field[] {
  const [picture, ...otherPictures] = item.pictures;
  const { features, energy, measure } = item;
  const hasIdentifier = item.gtin !== undefined || (item.brand !== undefined && item.mpn !== undefined);
  return [
    ['g:id', item.id],
    ['title', item.title],
    ['description', item.description],
    ['link', item.link],
    ['g:image_link', picture],
    ...otherPictures.map((url): Field => ['g:additional_image_link', url]),
    ['g:availability', item.availability],
    ['g:availability_date', item.availableFrom],
    ['g:min_handling_time', item.handling && String(item.handling.from)],
    ['g:max_handling_time', item.handling && String(item.handling.to)],
    ['g:price', item.price],
    ['g:sale_price', item.salePrice],
    ['g:expiration_date', expiry(item, shop)],
    ['g:brand', item.brand],
    ['g:gtin', item.gtin],
    ['g:mpn', item.mpn],
    ['g:identifier_exists', hasIdentifier ? undefined : 'no'],
    ['g:condition', item.condition],
    ['g:product_type', item.category],
    ['g:item_group_id', item.group?.id],
    ['g:color', features.color],
    ['g:size', features.size],
    ['g:material', features.material],
    ['g:pattern', features.pattern],
    ...item.labels.map(({ name, value }): Field => [`g:${name}`, value]),
    // Google takes two of them or none.
    ...(item.highlights.length < 2 ? [] : item.highlights).map((text): Field => [
      'g:product_highlight',
      text,
    ]),
    ...item.details.map(({ name, value }): Field => [
      'g:product_detail',
      [
        ['g:attribute_name', name],
        ['g:attribute_value', value],
      ],
    ]),
    ...(item.shipping ?? []).map(({ country, price, transit }): Field => [
      'g:shipping',
      [
        ['g:country', country],
        ['g:price', price],
        ['g:min_transit_time', transit && String(transit.from)],
        ['g:max_transit_time', transit && String(transit.to)],
      ],
    ]),
    ['g:shipping_weight', item.weight],
    ['g:return_policy_label', item.isReturnable ? undefined : 'no_returns'],
    ...sizeFields(item.size),
    ['g:unit_pricing_measure', measure?.content],
    ['g:unit_pricing_base_measure', measure?.base],
    [
      'g:certification',
      item.eprelNumber === undefined
        ? undefined
        : [
            ['g:certification_authority', 'EC'],
            ['g:certification_name', 'EPREL'],
            ['g:certification_code', item.eprelNumber],
          ],
    ],
    ['g:energy_efficiency_class', energy?.label],
    // The scale from A to G has its best class on the label; older scales end elsewhere.
    ['g:min_energy_efficiency_class', energy?.best === 'A' ? 'G' : undefined],
    ['g:max_energy_efficiency_class', energy?.best],
  ];
}

const DAY = 24 * 60 * 60 * 1000;

/** Google shows nothing for longer than 30 days after its last fetch, and takes no later date. */
function expiry({ forSaleUntil }: FeedItem, { now }: FeedShop): string | undefined {
  if (forSaleUntil === undefined) return undefined;
  return new Date(forSaleUntil).getTime() - now.getTime() < 30 * DAY ? forSaleUntil : undefined;
}

/** In centimetres, from 1 to 3000. */
function sizeFields(size: FeedItem['size']): Field[] {
  const entries = Object.entries(size ?? {}).map(([name, millimetres]) => [name, millimetres / 10] as const);
  if (entries.some(([, value]) => value < 1 || value > 3_000)) return [];
  return entries.map(([name, value]): Field => [`g:product_${name}`, `${value} cm`]);
}

function written([name, value]: Field): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return element(name, value);
  return `<${name}>${value.map(written).join('')}</${name}>`;
}

const element = (name: string, text: string) => `<${name}>${escapeHtml(text)}</${name}>`;
