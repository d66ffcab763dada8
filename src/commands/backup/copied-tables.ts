/**
 * What a copy of a shop within the installation takes of each table that a backup has. A backup under another id leaves
 * out what belongs to one shop only; a copy is made beside the shop, for people who may not know its customers.
 *
 * shop: what the shop sells and says. people: only with --with-customers: people, what they have ordered, and what names
 * them or the staff. never: what proves something (tokens, secrets, sessions, hosts), and what was seen, sent or paid
 * elsewhere. `copy.test.ts` fails for a table that is missing here.
 */
export const COPIED_TABLES: Readonly<Record<string, 'shop' | 'people' | 'never'>> = {
  account: 'people',
  account_address: 'people',
  account_passkey: 'never',
  app: 'never',
  audit_entry: 'never',
  bank_entry: 'people',
  cart: 'never',
  cart_day: 'people',
  category: 'shop',
  category_listing: 'shop',
  counter: 'shop',
  coupon: 'shop',
  coupon_campaign: 'shop',
  coupon_day: 'people',
  coupon_revenue: 'people',
  cross_selling: 'shop',
  customer: 'people',
  customer_group: 'shop',
  customer_note: 'people',
  customer_order: 'people',
  customer_segment: 'people',
  customer_tag: 'people',
  demo_payment: 'never',
  event: 'never',
  import_record: 'people',
  legal_page: 'shop',
  library_image: 'shop',
  listing: 'shop',
  listing_rebuild: 'shop',
  listing_size: 'shop',
  listing_upgrade: 'shop',
  listing_word: 'shop',
  // A copy must not send what the shop has planned.
  mailing: 'never',
  mailing_text: 'never',
  newsletter_bounce: 'people',
  newsletter_campaign: 'shop',
  newsletter_request: 'never',
  newsletter_subscriber: 'people',
  order_day: 'people',
  order_document: 'people',
  order_event: 'people',
  order_line: 'people',
  order_payment: 'people',
  order_return: 'people',
  order_shipment: 'people',
  page: 'shop',
  page_text: 'shop',
  page_version: 'people',
  payment_account: 'never',
  payment_attempt: 'never',
  payment_method: 'shop',
  pending_domain: 'never',
  price_history: 'shop',
  privacy_request: 'never',
  product: 'shop',
  product_category: 'shop',
  product_image: 'shop',
  product_type: 'shop',
  redirect: 'shop',
  script_tag: 'never',
  settings_version: 'people',
  shipping_method: 'shop',
  shop: 'shop',
  shop_domain: 'never',
  subcategory_listing: 'shop',
  tax_class: 'shop',
  tax_rate: 'shop',
  token: 'never',
  watcher: 'people',
  webhook: 'never',
  webhook_delivery: 'never',
  wish: 'never',
};

/** A table that nobody has decided about is not copied. */
export function isCopied(table: string, withCustomers: boolean): boolean {
  const kind = COPIED_TABLES[table];
  return kind === 'shop' || (withCustomers && kind === 'people');
}
