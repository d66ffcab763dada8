import type { ProductFile } from '../../catalogue/products/csv-file.ts';
import type { Address } from '../../shops/countries/address.ts';
import type { CouponRecord, CustomerRecord, Read } from '../records.ts';
import type { SourceFile } from '../source-files.ts';
import { tableRows, type TableRow } from '../table.ts';
import { decimalIn, isYes, listIn, momentIn, namesIn } from '../values.ts';

/*
 * WooCommerce has no export of customers and coupons of its own but the list of customers of its reports, so these are
 * the columns of the extensions that shops use for it. They agree in the names of WordPress.
 */

const EMAIL = ['billing_email', 'user_email', 'customer_email', 'email'] as const;
const REGISTERED = [
  'user_registered',
  'date_registered',
  'registered',
  'Sign up',
  'Date registered',
] as const;

export const isCustomerTable = ({ columns }: SourceFile): boolean =>
  EMAIL.some((name) => columns.has(name)) &&
  ['user_login', 'username', 'user_registered', 'date_registered', 'billing_first_name'].some((name) =>
    columns.has(name),
  );

/** Other users of WordPress, who write or administrate. */
const isNoCustomer = (roles: string) =>
  roles !== '' && !listIn(roles.replaceAll('|', ',')).some((role) => /^(?:customer|subscriber)$/i.test(role));

export async function* wooCommerceCustomers(file: ProductFile): AsyncGenerator<Read<CustomerRecord>> {
  for await (const row of tableRows(file)) {
    const place = { file: file.name, line: row.line };
    const email = row.cell('user_email', 'email', 'customer_email') || row.cell(...EMAIL);
    const sourceId = row.cell('customer_id', 'ID', 'user_id') || email.toLowerCase();
    const problem = (text: string) => ({ kind: 'problem', of: 'customer', place, text }) as const;
    if (sourceId === '') yield problem('has neither an id nor an email address');
    else if (isNoCustomer(row.cell('roles', 'role'))) yield problem('is a user of the admin, not a customer');
    else {
      const billing = wooCommerceAddress(row, 'billing');
      const names = namesIn(row.cell('Name', 'display_name'));
      yield {
        kind: 'customer',
        sourceId,
        place,
        formerAddresses: [],
        number: '',
        createdAt: momentIn(row.cell(...REGISTERED)),
        address: {
          ...billing,
          firstName: billing.firstName || row.cell('first_name') || names.firstName,
          lastName: billing.lastName || row.cell('last_name') || names.lastName,
          city: billing.city || row.cell('City') || null,
          zipCode: billing.zipCode || row.cell('Postal code', 'postcode') || null,
          country: billing.country || row.cell('Country / Region', 'country') || null,
          emailAddress: email || null,
        },
        tags: [],
        group: '',
        note: '',
        newsletter: undefined,
      };
    }
  }
}

/** `billing_address_1` of most extensions, `Address 1&2 (Billing)` of the others. */
export function wooCommerceAddress(row: TableRow, kind: 'billing' | 'shipping'): Partial<Address> {
  const title = kind === 'billing' ? 'Billing' : 'Shipping';
  const part = (name: string, ...titles: string[]) =>
    row.cell(`${kind}_${name}`, ...titles.map((one) => `${one} (${title})`)) || null;
  return {
    firstName: part('first_name', 'First Name'),
    lastName: part('last_name', 'Last Name'),
    company: part('company', 'Company'),
    street: part('address_1', 'Address 1', 'Address 1&2', 'Address 1 & 2'),
    streetDetails: part('address_2', 'Address 2'),
    city: part('city', 'City'),
    zipCode: part('postcode', 'Postcode', 'Zip'),
    state: part('state', 'State Code', 'State'),
    country: part('country', 'Country Code', 'Country'),
    phoneNumber: part('phone', 'Phone'),
  };
}

const CODE = ['post_title', 'Coupon code', 'code', 'coupon_code'] as const;

export const isCouponTable = ({ columns }: SourceFile): boolean =>
  (columns.has('discount_type') || columns.has('discount type') || columns.has('type')) &&
  (columns.has('coupon_amount') || columns.has('coupon amount') || columns.has('amount')) &&
  CODE.some((name) => columns.has(name.toLowerCase()));

/** Limits that no coupon has here. Without them it would be worth more than was promised, so it is refused. */
const LIMITS = [
  ['exclude_product_ids', 'Exclude product IDs', 'exclude_products'],
  ['product_categories', 'Product categories'],
  ['exclude_product_categories', 'Exclude categories'],
  ['customer_email', 'Allowed emails', 'customer_emails', 'email_restrictions'],
  ['maximum_amount', 'Maximum amount'],
] as const;

/** Limits that change little: they are left out and reported. */
const SMALL_LIMITS = [
  ['usage_limit_per_user', 'Usage limit per user'],
  ['limit_usage_to_x_items', 'Limit usage to X items'],
] as const;
const SWITCHES = [
  ['individual_use', 'Individual use only'],
  ['exclude_sale_items', 'Exclude sale items'],
] as const;

const isSet = (text: string) =>
  text !== '' && decimalNumber(text) !== 0 && !/^(?:no|false|a:0:\{\}|\[\])$/i.test(text);
const decimalNumber = (text: string) => (decimalIn(text) === text ? Number(text) : Number.NaN);

export async function* wooCommerceCoupons(file: ProductFile): AsyncGenerator<Read<CouponRecord>> {
  for await (const row of tableRows(file)) {
    const place = { file: file.name, line: row.line };
    const problem = couponProblem(row);
    if (problem === undefined) yield toCoupon(row, place);
    else yield { kind: 'problem', of: 'coupon', place, text: problem };
  }
}

const typeOf = (row: TableRow) =>
  row
    .cell('discount_type', 'Discount type', 'type')
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');

function couponProblem(row: TableRow): string | undefined {
  const code = row.cell(...CODE);
  if (code === '') return 'has no code';
  const status = row.cell('post_status', 'Status', 'status').toLowerCase();
  if (!['', 'publish', 'published'].includes(status)) return `${code} is not published`;
  const type = typeOf(row);
  if (type === 'fixed_product') return `${code} takes off from each piece, which no coupon does here`;
  if (!['percent', 'fixed_cart', 'fixed', 'percent_product'].includes(type))
    return `${code} is of the type ${type}, which this shop does not have`;
  const limit = LIMITS.find((names) => isSet(row.cell(...names)));
  if (limit) return `${code} is limited by ${limit[0]}, which this shop does not have`;
  if (usesLeft(row) === 0) return `${code} is used up`;
  return undefined;
}

/** How often the code can still be used; undefined: any number of times. */
function usesLeft(row: TableRow): number | undefined {
  const limit = Number(decimalIn(row.cell('usage_limit', 'Usage limit per coupon')));
  const used = Number(decimalIn(row.cell('usage_count', 'No of times used')));
  return limit > 0 ? Math.max(0, limit - used) : undefined;
}

function toCoupon(row: TableRow, place: CouponRecord['place']): CouponRecord {
  const code = row.cell(...CODE);
  const amount = decimalIn(row.cell('coupon_amount', 'Coupon amount', 'amount'));
  const isShippingFree = isYes(row.cell('free_shipping', 'Allow free shipping', 'enable_free_shipping'));
  const isOnlyShipping = isShippingFree && !(Number(amount) > 0);
  const products = listIn(
    (
      row.cell('product_ids', 'Product IDs', 'products') || row.cell('product_SKUs', 'Product SKUs')
    ).replaceAll('|', ','),
  );
  const left = usesLeft(row);
  return {
    kind: 'coupon',
    sourceId: row.cell('ID', 'coupon_id') || code.toLowerCase(),
    place,
    formerAddresses: [],
    codes: [code],
    name: row.cell('post_excerpt', 'Description', 'description') || code,
    type: isOnlyShipping ? 'SHIPPING' : typeOf(row).startsWith('percent') ? 'PERCENT' : 'FIX',
    amount: isOnlyShipping ? '' : amount,
    currency: '',
    isShippingFree,
    minimum: decimalIn(row.cell('minimum_amount', 'Minimum amount')),
    usesPerCode: left === undefined ? '' : String(left),
    uses: '',
    validFrom: undefined,
    validTo: endOf(row.cell('date_expires', 'Expiry date', 'expiry_date')),
    products: products.length > 0 ? products : undefined,
    remarks: [
      ...SMALL_LIMITS.filter((names) => isSet(row.cell(...names))),
      ...SWITCHES.filter((names) => isSet(row.cell(...names))),
    ].map(([name]) => `its limit ${name} is left out`),
  };
}

/** A coupon ends at the beginning of its last day. Newer files have seconds since 1970. */
function endOf(text: string): Date | undefined {
  return /^\d{9,11}$/.test(text) ? new Date(Number(text) * 1_000) : momentIn(text);
}
