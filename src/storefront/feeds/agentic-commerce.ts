import type { FeedItem } from './feed-item.ts';
import type { FeedFormat, FeedShop } from './feed-format.ts';

/**
 * The product feed of the Agentic Commerce Protocol: one JSON object per line, with the fields that ChatGPT accepts.
 */
export const agenticCommerceFeed: FeedFormat = {
  type: 'application/x-ndjson; charset=utf-8',
  head: () => '',
  // Undefined values are left out.
  item: (item, shop) => `${JSON.stringify(agenticCommerceRecord(item, shop))}\n`,
  foot: '',
};

function agenticCommerceRecord(item: FeedItem, shop: FeedShop) {
  const [picture, ...otherPictures] = item.pictures;
  const { group, features, size, measure } = item;
  const isReturnable = item.isReturnable && shop.returnDays > 0;
  const [weight, weightUnit] = item.weight?.split(' ') ?? [];
  const label = (name: string) => item.labels.find((one) => one.name === name)?.value;
  return {
    is_eligible_search: true,
    // A purchase inside the assistant needs an interface that this service does not have.
    is_eligible_checkout: false,
    item_id: item.id,
    gtin: item.gtin,
    mpn: item.mpn,
    title: item.title,
    description: item.description,
    url: item.link,
    // A product without a manufacturer is the shop's own brand.
    brand: item.brand ?? shop.name,
    condition: item.condition,
    product_category: item.category,
    material: features.material,
    weight,
    item_weight_unit: weightUnit,
    age_group: label('age_group'),
    gender: label('gender'),
    dimensions: size && `${size.length}x${size.width}x${size.height} mm`,
    image_url: picture,
    additional_image_urls: otherPictures.length === 0 ? undefined : otherPictures.join(','),
    price: item.price,
    sale_price: item.salePrice,
    unit_pricing_measure: measure?.content,
    base_measure: measure?.base,
    availability: item.availability,
    availability_date: item.availableFrom,
    group_id: group?.id,
    listing_has_variations: group !== undefined,
    variant_dict: group && Object.fromEntries(item.options.map(({ name, value }) => [name, value])),
    item_group_title: group?.title,
    color: shorter(features.color, 40),
    size: shorter(features.size, 20),
    shipping: shippingText(item.shipping),
    is_digital: item.isDigital,
    seller_name: shop.name,
    seller_url: shop.home,
    seller_privacy_policy: shop.privacyPolicy,
    seller_tos: shop.terms,
    accepts_returns: isReturnable,
    return_deadline_in_days: isReturnable ? shop.returnDays : undefined,
    return_policy: shop.returnPolicy,
    target_countries: shop.targetCountries,
    store_country: shop.country,
  };
}

/** A longer text is left out: half of a size would be another size. */
function shorter(text: string | undefined, maxLength: number): string | undefined {
  return text !== undefined && text.length <= maxLength ? text : undefined;
}

/**
 * An entry for each country: `country:region:service_class:price`, joined by commas as in Google's text files. A name
 * can't contain the characters that separate these.
 */
function shippingText(shipping: FeedItem['shipping']): string | undefined {
  const entries = (shipping ?? []).map(({ country, method, price }) =>
    [country, '', method.replaceAll(/[\s:;,]+/g, ' ').trim(), price].join(':'),
  );
  return entries.length === 0 ? undefined : entries.join(',');
}
