import { escapeHtml } from '../../http/html.ts';
import type { FeedItem } from './feed-item.ts';
import type { FeedFormat } from './feed-format.ts';

/** The product data of Google Merchant Center as RSS 2.0, which other channels read too. */
export const googleFeed: FeedFormat = {
  type: 'application/xml; charset=utf-8',
  head: ({ name, home }) =>
    '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>\n' +
    `${element('title', name)}${element('link', home)}${element('description', name)}\n`,
  item: (item) => `<item>${googleFields(item).map(written).join('')}</item>\n`,
  foot: '</channel></rss>\n',
};

/** The name of an element, and its text or the elements in it. */
type Field = readonly [name: string, value: string | readonly Field[] | undefined];

/** Title, link and description are elements of RSS itself; the others are Google's. */
function googleFields(item: FeedItem): Field[] {
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

function written([name, value]: Field): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return element(name, value);
  return `<${name}>${value.map(written).join('')}</${name}>`;
}

const element = (name: string, text: string) => `<${name}>${escapeHtml(text)}</${name}>`;
