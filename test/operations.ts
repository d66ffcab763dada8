import { authorise, createApp } from '../src/apps/apps.ts';
import type { Address } from '../src/shops/countries/address.ts';
import type { StoredCart } from '../src/carts/cart.ts';
import { insertCart, updateCart } from '../src/carts/queries.ts';
import { findSequence, insertAssignments, insertCategory } from '../src/catalogue/categories/queries.ts';
import { sql, type Sql } from '../src/db/sql.ts';
import { newCartToken } from '../src/http/cart-token.ts';
import type { Label } from '../src/http/operation.ts';
import type { Scope } from '../src/http/scopes.ts';
import { isId, newId, newSecret, secretHash } from '../src/kernel/ids.ts';
import { STATES } from '../src/orders/schema.ts';
import type { ProductFacts } from '../src/catalogue/products/facts.ts';
import { refreshListing } from '../src/catalogue/products/listing.ts';
import { insertProduct } from '../src/catalogue/products/queries.ts';
import { insertProductType } from '../src/catalogue/producttypes/queries.ts';
import { recordEvents } from '../src/platform/events/log.ts';
import { deliveryIdOf } from '../src/apps/webhooks/delivery-id.ts';
import { moveSettingsVersion } from '../src/shops/shop/queries.ts';
import { givenToken } from './builders.ts';
import type { CallOptions, Service } from './service.ts';
import { formOf, PNG, type Part } from './upload.ts';
import { takeNumber } from '../src/platform/counters.ts';

/**
 * Every operation of the API in one table, written from the contract and not from the code. The sweeps of this
 * folder go over it, and fail when the service has an operation that is missing here.
 */

/** A shop, seen by the app that holds the token. */
export interface Shop {
  service: Service;
  shopId: string;
  token: string;
}

/** The ids that the path of a call names, as far as they are known. */
type Params = Readonly<Record<string, string>>;

/** Something a valid call needs, made or looked up in the shop just before it. */
type Fact<Value> = (shop: Shop, params?: Params) => Value | Promise<Value>;

export interface Operation {
  /** `GET /customers/{customerId}`, below /rs/shops/{shopId}; `GET /manage/audit` is below /manage/shops/{shopId}. */
  name: string;
  method: string;
  path: string;
  /** Each of them is needed; none: anybody may call, unless it needs a token. */
  scopes: readonly Scope[];
  /** It needs a token of the shop, whatever its scopes are. */
  anyToken: boolean;
  /** It needs the token of the cart that its path names, beside the scope if there is one. */
  cartToken: boolean;
  labels: readonly Label[];
  status: 200 | 201 | 204;
  writes: boolean;
  /** It reads, and leaves an entry in the audit log. */
  auditedRead: boolean;
  /** The answer holds a secret, so it is not stored for the Idempotency-Key of a caller without a token. */
  secret: boolean;
  /** The query parameters it knows. */
  query: readonly string[];
  /** The largest page, where it has pages. */
  largestPage: number;
  /** The query that a valid call can't do without. */
  search: string | Fact<string>;
  params: Readonly<Record<string, Fact<string>>>;
  /** A body with every key that there is. */
  body: Fact<unknown> | undefined;
  /** A form; JSON with the same keys is taken as well. */
  form: boolean;
  /** A form with a file and nothing else; `body` gives its parts. */
  multipart: boolean;
  /** The shape of the body. */
  request: string;
  /** The entries of a list in the body that are left out when they are bad, while the good ones are taken: `items[]`. */
  lenient: string;
  /** For JSON Patch: the shape of `value` by path. */
  patch: Readonly<Record<string, string>>;
  /** The shape of the answer; '' for an empty one. */
  answer: string;
  /** The answer is a stream of CSV instead. */
  csv: boolean;
  /** The answer names the moment of the call, so that no two are the same. */
  momentary: boolean;
  /** The answer is sent piece by piece, so that nothing can be said of the whole: it has no ETag. */
  streamed: boolean;
}

type Facts = Partial<Omit<Operation, 'name' | 'method' | 'path' | 'scopes' | 'anyToken'>>;

function operation(
  name: string,
  access: Scope | 'public' | 'any token' | readonly Scope[],
  facts: Facts,
): Operation {
  const [method, path] = name.split(' ') as [string, string];
  return {
    name,
    method,
    path: path === '/' ? '' : path,
    scopes:
      access === 'public' || access === 'any token' ? [] : typeof access === 'string' ? [access] : access,
    anyToken: access === 'any token',
    cartToken: /^(\/manage)?\/carts\//.test(path),
    labels: ['Base', 'Now'],
    status: 200,
    writes: method !== 'GET',
    auditedRead: false,
    secret: false,
    query: [],
    largestPage: 100,
    search: '',
    params: {},
    body: undefined,
    form: false,
    multipart: false,
    request: '',
    lenient: '',
    patch: {},
    answer: '',
    csv: false,
    momentary: false,
    streamed: false,
    ...facts,
  };
}

/*
 * Shapes: one line per key, `key.path: type|type`. `[]` stands for the entries of a list, `?` behind a key means
 * that it may be missing, `~` that what is below it need not occur. The lines of an object stand in the order of its keys on the wire.
 */

function shape(...parts: string[]): string {
  const lines = parts.flatMap((part) => part.split('\n')).map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}

function under(place: string, inner: string): string {
  return inner.replaceAll(/^/gm, `${place}.`);
}

const links = 'links: array\nlinks[].rel: string\nlinks[].href: string';

const object = (key: string, inner: string, type = 'object') => shape(`${key}: ${type}`, under(key, inner));

/** An object that is null in most answers, so that what is in it need not occur. */
const rareObject = (key: string, inner: string) => shape(`${key}~: object|null`, under(key, inner));

const array = (key: string, inner: string) => shape(`${key}: array`, under(`${key}[]`, inner));

const price = 'taxType: string\nformatted: string\namount: number\ncurrency: string';

const paged = (item: string) =>
  shape('results: integer\npage: integer\nresultsPerPage: integer\nitems: array', under('items[]', item));

const list = (item: string) => under('[]', item);

const words = (text: string) => text.trim().split(/\s+/);

const ADDRESS_KEYS = words(`
  company salutation firstName lastName street streetDetails zipCode city state country title vatId birthday
  emailAddress addressExtension bankAccountHolder bankAccountNumber bankName bankSortCode businessEmailAddress
  businessPhoneNumber department displayName doorCode faxNumber fiscalCode gender jobTitle middleName
  mobilePhoneNumber phoneNumber privateEmailAddress privatePhoneNumber websiteUrl`);

const address = ADDRESS_KEYS.map((key) => `${key}: string|null`).join('\n');

const addressRequest = ADDRESS_KEYS.map((key) =>
  key === 'zipCode' ? 'zipCode?: string|number|null' : `${key}?: string|null`,
).join('\n');

const fullAddress = {
  ...Object.fromEntries(ADDRESS_KEYS.map((key) => [key, `A ${key}`])),
  country: 'DE',
  birthday: '1990-12-31',
  emailAddress: 'someone@mail.example',
  gender: 'FEMALE',
} as Address;

/** Custom fields, on request. */
const shownFields = shape(`
  fields?~: array
  fields[].namespace: string
  fields[].key: string
  fields[].name: string
  fields[].type: string
  fields[].value: string|number|boolean|object|array|null
  fields[].label?: string`);

const shopInfo = `
  name: string
  email: string
  slogan: string|null
  logoUrl: string|null
  sfUrl: string
  mboUrl: string
  isInEU: boolean
  countryCode2: string`;

const country = shape(`
  nativeName: string
  countryIsDefault: integer
  code3: string
  code2: string
  englishName: string
  countryIsEU: integer
  countryID: string`);

const codes = 'default: string\nitems: array\nitems[]: string';

const customer = shape(
  'customerId: string\ncustomerNumber: string\ncreationDate: string\nbillingAddress: object|null',
  under('billingAddress', address),
  'internalNote: string|null',
  links,
  shownFields,
);

const page = 'name\ntitle?\nnavigationCaption\nshortDescription?\ndescription'.replaceAll(/$/gm, ': string');

const contact = shape(`
  name: string
  title: string
  navigationCaption: string
  shortDescription: string
  description: string
  company: string
  contactPerson: string
  contactPersonJobTitle: string
  address: string
  phone: string
  email: string`);

const summary = shape(
  ...words(`
    contactInformation privacyPolicy termsAndConditions rightsOfWithdrawal shippingInformation
    cookiePolicy`).map((key) => `${key}: object|null\n${key}.name: string`),
  links,
);

const campaign = shape(`
  campaignId: string
  language: string
  identifier: string
  name: string
  description: string|null
  numberOfSubscribers: integer
  subject: string|null`);

const couponCampaign = shape(
  `campaignId: string
  identifier: string
  name: string
  currency: string
  type: object
  type.name: string
  type.waiveShippingCosts: boolean
  type.amount?: number
  minimumOrderValue: object|null`,
  under('minimumOrderValue', price),
  `usageLimit?: integer
  campaignUsageLimit?: integer
  validFrom?: string
  validTo?: string
  productIds?: array
  productIds[]?: string
  shippingMethodIds?: array
  shippingMethodIds[]?: string
  paymentMethodIds?: array
  paymentMethodIds[]?: string`,
  links,
);

const webhookFields = shape(
  'active: boolean\neventType: string\ncallbackUrl: string\ncreatedOn: string\nupdatedOn: string',
  links,
);

const webhookAttempt =
  'statusCode: integer|null\nmilliseconds: integer|null\nanswer: string|null\nerror: string|null';

const webhookDeliveryShape = shape(
  `deliveryId: string
  messageId: string
  position: integer
  resourceId: string|null
  status: string
  attempts: integer`,
  webhookAttempt,
  `createdOn: string
  triedOn: string|null
  deliveredOn: string|null
  nextTryOn: string|null`,
);

const scriptTag = shape(
  'scriptTagId: string\nscriptUrl: string\nscriptType: string\ncreatedOn: string\nupdatedOn: string',
  links,
);

const pictureTexts = array('items', 'name: string\nlocale: string\ntext: string');
const shippingMethod = shape(
  'shippingMethodId: string\nname: string\ndescription: string|null\nlogo: string|null\nprice: object|null',
  under('price', price),
);

const taxClass = shape('taxClassId: string\nname: string', links);

const taxClasses = shape(
  paged(taxClass),
  'defaultTaxClass: object',
  under('defaultTaxClass', taxClass),
  'defaultTaxClassDigital: object',
  under('defaultTaxClassDigital', taxClass),
);

const taxModel = `
  model: string
  displayTaxes: boolean
  noTaxesMessage: string|null
  deliveryThresholdIsActive: boolean
  countryCode2: string`;

const quantity = 'amount: number\nunit: string';

const image = shape(`
  url: string
  classifier: string
  isZoomEnabled: boolean
  width: integer
  height: integer
  fileSize: integer`);

const basePrice = (key: string) =>
  shape(
    `${key}: object|null`,
    `${key}.refQuantity: object`,
    under(`${key}.refQuantity`, quantity),
    `${key}.refPrice: object`,
    under(`${key}.refPrice`, price),
    `${key}.formatted: string`,
    `${key}.quantity: object`,
    under(`${key}.quantity`, quantity),
  );

const bulkPrice = shape(
  'quantity: object',
  under('quantity', quantity),
  'price: object',
  under('price', price),
  basePrice('basePrice'),
  'priceSavings: object|null\npriceSavings.percent: object',
  'priceSavings.percent.percentage: number\npriceSavings.percent.formatted: string',
  'priceSavings.regularBulkPrice: object',
  under('priceSavings.regularBulkPrice', price),
);

const groupPrice = shape(
  'customerGroup: string\ncustomerGroupId: string\npriceInfo: array',
  under('priceInfo[]', bulkPrice),
);

const nullablePrice = (key: string) => shape(`${key}: object|null`, under(key, price));

const priceInfo = shape(
  'quantity: object',
  under('quantity', quantity),
  'taxClass: object\ntaxClass.taxClassId: string\ntaxClass.name: string\ntaxClass.percentage: number',
  ...words('price depositPrice ecoParticipationPrice priceWithDeposits lowestPrice').map(nullablePrice),
  'lowestRefPriceFormatted: string|null',
  ...words('highestPrice manufacturerPrice').map(nullablePrice),
  basePrice('basePrice'),
  nullablePrice('lowestPrice30Days'),
);

const taxClassInfo = 'taxClassId: string\nname: string\npercentage: number';
const priced = (...keys: string[]) => shape(...keys.map((key) => object(key, price)));
const taxInfo = shape(object('taxClass', taxClassInfo), priced('price'));

const productLineItem = shape(
  'lineItemId: string\nsku: string\nname: string\nproductId: string',
  object('quantity', quantity),
  priced('lineItemPrice', 'singleItemPrice'),
  nullablePrice('lineItemCouponDiscount'),
  array('images', image),
  object('additionalInformation', array('bulkPriceInfo', bulkPrice)),
  links,
  `intervalOrder: string
  minOrder: string
  orderUnitShort: string
  orderUnit: string
  priceQuantity: string`,
  priced('quantityPrice'),
  'variationString: string|null\nessentialFeatures: string|null',
  object('taxClass', taxClassInfo),
  object('deliveryWeight', quantity, 'object|null'),
  `energyLabelsString: string|null
  energyLabelsMaxEfficiencyString: string|null
  energyLabelSourceFile: string|null
  productDataSheetSourceFile: string|null
  isInWishlist: boolean`,
  shownFields,
);

/** Without what is below these keys. */
const lacking = (text: string, ...keys: string[]) =>
  keys.reduce((lines, key) => lines.replace(`\n${key}: `, `\n${key}~: `), text);

const lineItem = shape('name: string', priced('lineItemPrice'));

const couponLineItem = shape(
  'couponLineItemId: string\ncouponCampaignId: string',
  priced('lineItemPrice'),
  'validationErrors: array\nvalidationErrors[]?: string',
);

/** The service has no extras of a delivery, and a discount links to nothing. */
const lineItemContainer = lacking(
  shape(
    priced('grandTotal', 'totalBeforeTax', 'totalTax', 'lineItemsSubTotal'),
    array('productLineItems', productLineItem),
    object('couponLineItem', couponLineItem, 'object|null'),
    priced('shippingPrice'),
    array('deposits', shape(lineItem, 'lineItemProductGuid: string')),
    array('ecoParticipations', lineItem),
    array('shippingOptions', lineItem),
    object('basketDiscount', shape(lineItem, links)),
  ),
  'shippingOptions',
  'basketDiscount.links',
);

const shippingData = object(
  'shippingData',
  shape(object('shippingMethod', 'id: string\nname: string'), priced('price'), array('taxes', taxInfo)),
  'object|null',
);

/** What providers say differs, and its order means nothing: it is that of the database. */
const additionalData = words(`
  InvoiceBIC InvoiceIBAN InvoiceAmount InvoiceBankName InvoiceCurrency InvoicePaymentDueDate
  InvoiceReferenceNumber InvoiceAccountHolderName`)
  .map((key) => `${key}?: string`)
  .join('\n');

const paymentData = shape(
  object(
    'paymentMethod',
    shape(
      'id: string\nname: string\nproviderName: string|null',
      object('additionalData', additionalData, 'object|null'),
    ),
    'object|null',
  ),
  'transactionId: string|null',
  priced('price'),
  'status: string|null\ntaxes: array|null',
  under('taxes[]', taxInfo),
);

/** `status` is there where several lines may come at once. */
const cartShape = ({ hasStatus } = { hasStatus: false }) =>
  shape(
    'cartId: string',
    object('billingAddress', address, 'object|null'),
    object('shippingAddress', address, 'object|null'),
    object('lineItemContainer', lineItemContainer),
    shippingData,
    object('paymentData', paymentData, 'object|null'),
    object('minimumCart', shape('status: boolean\ncode: string', nullablePrice('amount'))),
    'pickupToken: string\ncreationDate: string\ncheckoutUrl: string\nregisterSessionUrl: string',
    hasStatus ? 'status: string' : '',
    object('cartValidation', 'possibleShippingMethods: array\npossibleShippingMethods[]: string'),
    array(
      'potentialBasketDiscounts',
      shape(
        nullablePrice('absolute'),
        priced('minimumAmount'),
        object('percent', 'percentage: number\nformatted: string', 'object|null'),
      ),
    ),
    links,
    shownFields,
  );

const COUPON = [
  'lineItemContainer.couponLineItem',
  'lineItemContainer.productLineItems[].lineItemCouponDiscount',
];

const order = shape(
  `orderId: string
  orderNumber: string
  creationDate: string
  customerId: string
  customerNumber: string
  locale: string|null
  currencyId: string
  taxModel: string
  grandTotal: string
  totalBeforeTax: string
  totalTax: string
  customerComment: string|null
  internalNote: string|null`,
  object('billingAddress', address),
  object('shippingAddress', address, 'object|null'),
  shippingData,
  object('paymentData', paymentData),
  ...words(`
    viewedOn lastUpdatedOnDate rejectedOn inProcessOn pendingOn readyForDispatchOn partiallyDispatchedOn
    dispatchedOn deliveredOn partiallyInvoicedOn invoicedOn partiallyPaidOn paidOn returnedOn closedOn
    archivedOn`).map((key) => `${key}: string|null`),
  object('lineItemContainer', lineItemContainer),
  links,
  shownFields,
);

const listedOrder = order
  .split('\n')
  .filter((line) => !line.startsWith('lineItemContainer'))
  .join('\n');

const salesSummary = shape(
  'createdAfter: string\ncreatedBefore: string',
  array(
    'salesPerCurrency',
    'currency: string\ntotalGrossRevenue: number\ntotalNetRevenue: number\nunitsSold: number\ntotalOrders: integer',
  ),
);

const variationIdentifier = 'name: string\ndisplayName: string\nvalue: string\ndisplayValue: string';

/** What is null or a list may be so in every product of an answer. */
const sparse = (text: string) => text.replaceAll(/(?<!~)(?=: [a-z|]*(null|array))/g, '~');

/** `full`: the product itself; `list`: in lists; `search`: found by search. */
const productShape = (variant: 'full' | 'list' | 'search') => sparse(allOfProduct(variant));

/** Beyond the contract: only a product that has safety data says so. */
const legalInfo = shape(
  object(
    'durabilityGuarantee',
    'years: number\nbrand: string\nmodel: string\nguarantor: string\naddress: string\ntermsUrl: string',
    'object',
  ),
  object('environmentalClaim', 'claim: string\nsource: string', 'object'),
  'repairability: string\nsoftwareUpdates: string\neprelNumber: string\neprelUrl: string\nhsCode: string',
  'originCountry: string\nproductPassport: string',
);
const safetyInfo = shape(
  ...['manufacturer', 'responsiblePerson'].map((party) =>
    shape(`${party}?~: object`, under(party, 'name: string\naddress: string\ncontact: string')),
  ),
  'text?: string',
);

const allOfProduct = (variant: 'full' | 'list' | 'search') =>
  shape(
    `productId: string
    name: string
    visible: boolean
    productVariationType: string
    productVariationMasterName: string|null
    productVariationMasterId: string|null
    manufacturerProductNumber: string|null
    productLength: number|null
    productWidth: number|null
    productHeight: number|null
    productVariationSelection: array|null`,
    under('productVariationSelection[]', variationIdentifier),
    `shortDescription: string|null
    deliveryPeriod: string|null
    description: string|null
    title: string|null
    productImage: string|null
    images: array`,
    under('images[]', image),
    'priceInfo: object',
    under('priceInfo', priceInfo),
    variant === 'search' ? '' : shape('bulkPriceInfo: array', under('bulkPriceInfo[]', bulkPrice)),
    variant === 'search'
      ? ''
      : shape('customerSpecificPriceInfo: array', under('customerSpecificPriceInfo[]', groupPrice)),
    `forSale: boolean
    specialOffer: boolean
    deliveryWeight: object|null`,
    under('deliveryWeight', quantity),
    variant === 'full'
      ? `shippingMethodsRestrictedTo: array|null
        shippingMethodsRestrictedTo[].rel: string
        shippingMethodsRestrictedTo[].href: string`
      : '',
    `availabilityText: string
    availability: string|null
    energyLabelsString: string|null
    energyLabelsMaxEfficiencyString: string|null
    energyLabelSourceFile: string|null
    productDataSheet: string|null
    sfUrl: string
    productNumber: string
    isProductNumberVisible: boolean
    isNew: boolean
    isManufacturerPriceRRP: boolean
    isShippingLinkVisible: boolean
    isCustomizable: boolean
    customizableTextLength: number
    customizableHeadlineText: string
    newnessDate: string|null
    refAmount: number
    refUnit: string
    refContentAmount: number
    priceQuantity: number
    orderUnit: string
    minOrder: number
    intervalOrder: number`,
    'withdrawalExcluded?~: string',
    variant === 'full' ? `safetyInfo?~: object\n${under('safetyInfo', safetyInfo)}` : '',
    `giftCard?~: object\n${under('giftCard', sparse(priced('minimum', 'maximum')))}`,
    `backorder?~: object\n${under(
      'backorder',
      sparse('kind: string\nexpectedOn: string|null\nisOpen: boolean\nlimit?: number\npromised?: number'),
    )}`,
    variant === 'full' ? `legalInfo?~: object\n${under('legalInfo', sparse(legalInfo))}` : '',
    `productCode: string|null
    manufacturer: string|null
    upc: string|null
    ean: string|null
    essentialFeatures: string|null
    searchKeywords: array|null
    searchKeywords[]: string
    stocklevel: number|null
    minStocklevel?: number|null
    isInWishlist: boolean
    videos: array
    videos[].type: string
    videos[].source: string
    links: array
    links[].rel: string
    links[].href: string
    links[].title?: string
    `,
    shownFields,
  );

const crossselling = shape(
  'manualCrossSellingTitle: string\nembedded: object',
  sparse(under('embedded', paged(productShape('full')))),
  links,
);

const customAttributes = shape(`
  items~: array
  items[].key: string
  items[].displayKey: string
  items[].singleValue: boolean
  items[].type: string
  items[].values: array
  items[].values[].value: string|null
  items[].values[].displayValue: string`);

const variationList = shape(
  `results: integer
  resultsPerPage: integer
  page: integer
  links: array
  variationAttributes: array
  variationAttributes[].name: string
  variationAttributes[].displayName: string
  variationAttributes[].values: array
  variationAttributes[].values[].value: string
  variationAttributes[].values[].displayValue: string
  items: array
  items[].link: object
  items[].link.rel: string
  items[].link.href: string
  items[].attributeSelection: array`,
  under('items[].attributeSelection[]', variationIdentifier),
  under('items[]', shownFields),
);

const PATCH_REQUEST = '[].op: string\n[].path: string\n[].value?: string|number|boolean|object|array|null';

const PAGING = ['page', 'resultsPerPage'];

/** The id that a statement finds in the shop. */
const idOf =
  (select: (shopId: string) => Sql): Fact<string> =>
  async ({ service, shopId }) =>
    (await service.db.one<{ id: string }>(select(shopId)))!.id.toUpperCase();

const customerId = idOf(
  (shopId) =>
    sql`select customer_id as id from customer where shop_id = ${shopId} order by created_at limit 1`,
);
const campaignId = idOf(
  (shopId) =>
    sql`select campaign_id as id from newsletter_campaign where shop_id = ${shopId} order by position limit 1`,
);
const couponCampaignId = idOf(
  (shopId) =>
    sql`select campaign_id as id from coupon_campaign where shop_id = ${shopId} and identifier = 'summer_sale'`,
);
const paymentMethodId = idOf(
  (shopId) =>
    sql`select payment_method_id as id from payment_method where shop_id = ${shopId} order by position limit 1`,
);
const payLaterId = idOf(
  (shopId) =>
    sql`select payment_method_id as id from payment_method where shop_id = ${shopId} and key = 'paylater'`,
);
const shippingMethodId = idOf(
  (shopId) =>
    sql`select shipping_method_id as id from shipping_method where shop_id = ${shopId} order by position limit 1`,
);
const taxClassId = idOf(
  (shopId) =>
    sql`select tax_class_id as id from tax_class where shop_id = ${shopId} order by position limit 1`,
);

/**
 * What a call needs is made with this token, because the caller may have no right to make it. It is one for all, because
 * the rows of tokens are the slowest part of a fingerprint.
 */
const makerToken = once(({ service, shopId }) => givenToken(service, shopId));

/** Somebody who can be forgotten without a trace. */
const passingCustomer: Fact<string> = async (shop) =>
  customerMadeWith(shop.service, shop.shopId, await makerToken(shop));

const taggedCustomer = once(async (shop) => {
  const customerId = await passingCustomer(shop);
  const path = `/manage/shops/${shop.shopId}/customers/${customerId}/tags`;
  await shop.service.call('PUT', path, { token: await makerToken(shop), body: { tags: ['wholesale'] } });
  return customerId;
});

/** A customer who waits to be let in. */
const askingCustomer: Fact<string> = async (shop) => {
  const customerId = await passingCustomer(shop);
  const { db } = shop.service;
  await db.run(sql`
    insert into access_request (shop_id, customer_id, email, locale, company, vat_id, text, state, asked_at)
    values (${shop.shopId}, ${customerId}, 'asks@cafe.example', 'en_GB', 'Quay Café', '', '', 'waiting', ${db.now})`);
  return customerId;
};
const lastingRequest = once(askingCustomer);

const sweepGroup = once(async ({ service: { db }, shopId }: Shop) => {
  const customerGroupId = newId(db.now);
  await db.transaction(async (tx) => {
    await tx.run(sql`
      insert into customer_group (shop_id, customer_group_id, name)
      values (${shopId}, ${customerGroupId}, 'Sweep')`);
    await moveSettingsVersion(tx, shopId);
  });
  return customerGroupId;
});

const accessRequestShape = (decidedOn: string) =>
  shape(
    `customerId: string\nemail: string\ncompany: string\nvatId: string\ntext: string\nstate: string\naskedOn: string\ndecidedOn: ${decidedOn}`,
  );

const SEGMENT = { name: 'Berlin', filter: { country: 'DE' } };
const FILTER = words(
  'q tags group country language newsletter minOrders maxOrders minValue maxValue currency after before',
);
const segmentShape = shape(
  'segmentId: string\nname: string\nfilter: object',
  FILTER.map((name) => `filter.${name}?: string`).join('\n'),
  'creationDate: string\nauthor: string',
);
const segmentRequest = shape(
  'name: string\nfilter: object',
  FILTER.map((name) => `filter.${name}?: string`).join('\n'),
);
const wholeSegment = () => ({
  name: `Berlin ${freeNumber()}`,
  filter: {
    ...SEGMENT.filter,
    q: 'Ada',
    tags: 'wholesale',
    group: newId(new Date()),
    language: 'de',
    newsletter: 'yes',
    minOrders: '1',
    maxOrders: '9',
    minValue: '10.00',
    maxValue: '99.00',
    currency: 'EUR',
    after: '2026-01-01',
    before: '2026-11-01',
  },
});

const redirectShape = shape(
  'redirectId: string\nsource: string\nstatus: integer\nkind: string\ntarget: string\norigin: string\ncreationDate: string',
);
const redirectRequest = 'source: string\nstatus: integer\nkind?: string|null\ntarget?: string|null';
const wholeRedirect = () => ({
  source: `/old/${freeNumber()}.html`,
  status: 301,
  kind: 'address',
  target: '/Categories',
});

const fieldChange = {
  name: { en_GB: 'Colour' },
  description: 'As on the label.',
  readableBy: 'merchant',
  writableBy: 'owner',
  isFilter: true,
  isFacet: false,
  feedAttribute: null,
  choices: [{ key: 'red', label: { en_GB: 'Red' } }],
  jsonSchema: null,
};
const fieldChangeRequest = shape(`
  name: object
  description?: string|null
  readableBy: string
  writableBy: string
  isFilter?: boolean
  isFacet?: boolean
  feedAttribute?: string|null
  choices?: array|null
  choices[].key: string
  choices[].label: object
  jsonSchema?: object|null`);
const customFieldShape = shape(`
  fieldId: string
  resource: string
  namespace: string
  key: string
  type: string
  isList: boolean
  isLocalised: boolean
  appId: string|null
  name: object
  description: string|null
  readableBy: string
  writableBy: string
  isFilter: boolean
  isFacet: boolean
  feedAttribute: string|null
  choices: array|null
  choices[].key: string
  choices[].label: object
  jsonSchema: object|null`);

let fieldNames = 0;

/** A choice of the app that calls. */
const customField: Fact<string> = async ({ service: { db }, shopId, token }) => {
  const fieldId = newId(db.now);
  const namespace = `fact${++fieldNames}`;
  await db.transaction(async (tx) => {
    await tx.run(sql`
      insert into custom_field_namespace (shop_id, namespace, app_name, app_id)
      select app.shop_id, ${namespace}, app.name, app.app_id
      from token join app on app.shop_id = token.shop_id and app.app_id = token.app_id
      where token.shop_id = ${shopId} and token_hash = ${secretHash(token)}`);
    await tx.run(sql`
      insert into custom_field (shop_id, field_id, resource, namespace, key, type, name, description, is_list,
        is_localised, readable_by, writable_by, is_filter, choices, created_at)
      values (${shopId}, ${fieldId}, 'customer', ${namespace}, 'colour', 'choice', ${fieldChange.name},
        ${fieldChange.description}, false, false, 'merchant', 'owner', true, ${JSON.stringify(fieldChange.choices)}::jsonb,
        ${tx.now})`);
    await moveSettingsVersion(tx, shopId);
  });
  return fieldId;
};

const lastingField = once(customField);

/** A value of a field that shoppers may fill in. */
const shopperValue =
  (resource: 'cart' | 'cartLine'): Fact<unknown> =>
  async ({ service: { db }, shopId }) => {
    await db.transaction(async (tx) => {
      await tx.run(sql`
        insert into custom_field_namespace (shop_id, namespace) values (${shopId}, 'shopper')
        on conflict (shop_id, namespace) do nothing`);
      const added = await tx.run(sql`
        insert into custom_field (shop_id, field_id, resource, namespace, key, type, name, is_list, is_localised,
          readable_by, writable_by, is_filter, created_at)
        values (${shopId}, ${newId(tx.now)}, ${resource}, 'shopper', 'note', 'text', '{"en_GB": "Note"}', false, false,
          'public', 'shopper', false, ${tx.now})
        on conflict do nothing`);
      if (added > 0) await moveSettingsVersion(tx, shopId);
    });
    return { fields: { 'shopper.note': 'For Ada' } };
  };

/** Why a rule has failed. */
const ruleReason = shape('code: string\nvalues: object', array('problems', 'code: string\nfield: string'));

const ruleShape = shape(
  `ruleId: string
  name: string
  isActive: boolean
  event: string|null
  schedule: object|null
  schedule.about?: string|null
  schedule.every: string
  schedule.hour: integer
  schedule.weekday: integer|null
  schedule.day: integer|null
  resource: string
  needsAll: boolean
  conditions: array
  conditions[].fact: string
  conditions[].operator: string
  conditions[].value: string|null
  actions: array
  actions[].kind: string
  actions[].to: string|null
  actions[].subject: string|null
  actions[].text: string|null
  actions[].address: string|null
  actions[].field: string|null
  actions[].value: string|null
  nextRunOn: string|null
  paused: string|null`,
  rareObject(
    'pausedReason',
    shape('code: string\ncount: integer', rareObject('reason', ruleReason), 'answer: string|null'),
  ),
);

const ruleRequest = shape(`name: string
  isActive: boolean
  needsAll: boolean
  conditions: array
  conditions[].fact: string
  conditions[].operator: string
  conditions[].value?: string|null
  actions: array
  actions[].kind: string
  actions[].to?: string|null
  actions[].subject?: string|null
  actions[].text?: string|null
  actions[].address?: string|null
  actions[].field?: string|null
  actions[].value?: string|null
  event?: string|null
  schedule?: object|null
  schedule.about?: string|null
  schedule.every: string
  schedule.hour: integer
  schedule.weekday?: integer|null
  schedule.day?: integer|null`);

const RULE_CONDITIONS = [{ fact: 'newOrders', operator: 'atLeast', value: '3' }];
const RULE_ACTIONS = [
  {
    kind: 'email',
    to: 'shop',
    subject: '{newOrders} orders',
    text: 'Look at them',
    address: null,
    field: null,
    value: null,
  },
];

const wholeRule = () => ({
  name: 'Busy days',
  isActive: false,
  needsAll: true,
  conditions: RULE_CONDITIONS,
  actions: RULE_ACTIONS,
  event: null,
  schedule: { about: 'shop', every: 'month', hour: 7, weekday: null, day: 1 },
});

/** Made with SQL, for the same reason as a segment. */
const rule: Fact<string> = async ({ service: { db }, shopId }) => {
  const ruleId = newId(db.now);
  await db.run(sql`delete from rule where shop_id = ${shopId} and name = 'Busy nights'`);
  await db.run(sql`
    insert into rule (shop_id, rule_id, name, is_active, schedule, needs_all, conditions, actions, created_at, changed_at,
      position)
    values (${shopId}, ${ruleId}, 'Busy nights', false, '{"every": "day", "hour": 7}', true,
      ${JSON.stringify(RULE_CONDITIONS)}::jsonb, ${JSON.stringify(RULE_ACTIONS)}::jsonb, ${db.now}, ${db.now}, 0)`);
  return ruleId;
};

const lastingRule = once(async ({ service: { db }, shopId }: Shop) => {
  const ruleId = newId(db.now);
  await db.run(sql`
    insert into rule (shop_id, rule_id, name, is_active, schedule, needs_all, conditions, actions, created_at, changed_at,
      position)
    values (${shopId}, ${ruleId}, 'Busy weeks', false, '{"every": "day", "hour": 7}', true,
      ${JSON.stringify(RULE_CONDITIONS)}::jsonb, ${JSON.stringify(RULE_ACTIONS)}::jsonb, ${db.now}, ${db.now}, 0)`);
  await db.run(sql`
    insert into rule_run (shop_id, run_id, rule_id, at, resource, outcome, actions)
    values (${shopId}, ${newId(db.now)}, ${ruleId}, ${db.now}, 'shop', 'done',
      '[{"kind": "email", "outcome": "done", "note": null}]')`);
  return ruleId;
});

const taskShape = shape(`taskId: string
  createdOn: string
  text: string
  resource: string
  resourceId: string|null
  ruleId: string|null
  doneOn: string|null
  doneBy: string|null`);

const task: Fact<string> = async ({ service: { db }, shopId }) => {
  const taskId = newId(db.now);
  await db.run(sql`
    insert into task (shop_id, task_id, created_at, text, resource)
    values (${shopId}, ${taskId}, ${db.now}, 'Count the stock', 'shop')`);
  return taskId;
};

const lastingTask = once(task);

const reviewShape = shape(`reviewId: string
  productId: string
  productNumber: string
  orderId: string
  orderNumber: string
  customerId: string
  stars: integer
  title: string
  text: string
  name: string
  locale: string
  state: string
  createdOn: string
  changedOn: string
  answer: string|null
  answeredOn: string|null
  openReports: integer`);

/** A review of a product of its own, which was reported. */
const review: Fact<string> = async (shop) => {
  const { db } = shop.service;
  const { shopId } = shop;
  const reviewId = newId(db.now);
  const [productId, orderId] = [await product(shop), await lastingOrder(shop)];
  await db.run(sql`
    insert into review (shop_id, review_id, product_id, order_id, customer_id, stars, title, text, name, locale, state,
      created_at, changed_at, open_reports)
    select shop_id, ${reviewId}, ${productId}, order_id, customer_id, 4, 'Fine', 'It works.', 'Ada L.', 'en_GB', 'waiting',
      ${db.now}::timestamptz, ${db.now}::timestamptz, 1
    from customer_order where shop_id = ${shopId} and order_id = ${orderId}`);
  await db.run(sql`
    insert into review_report (shop_id, report_id, review_id, reported_at, reason, email)
    values (${shopId}, ${newId(db.now)}, ${reviewId}, ${db.now}, 'It is about me.', 'eve@mail.example')`);
  return reviewId;
};

const digitalShape = shape(
  'productId: string\nhasKeys: boolean\nmaxDownloads: integer|null\ndays: integer|null\nfewKeys: integer',
  array(
    'files',
    'fileId: string\nname: string\nversion: integer\nnote: string|null\nbytes: integer\nsha256: string\nchangedOn: string',
  ),
  object('keys', 'free: integer\ngiven: integer\nrevoked: integer'),
);

/** A product of its own with a file that has no bytes. */
const digitalProduct: Fact<string> = async (shop) => {
  const { db } = shop.service;
  const productId = await product(shop);
  await db.run(sql`
    insert into digital_product (shop_id, product_id, has_keys, max_downloads, days, few_keys)
    values (${shop.shopId}, ${productId}, true, 5, null, 0)`);
  await db.run(sql`
    insert into download_file (shop_id, file_id, product_id, name, note, version, storage_key, bytes, sha256, created_at,
      changed_at)
    values (${shop.shopId}, ${newId(db.now)}, ${productId}, 'chart.pdf', 'New.', 1, ${newId(db.now)}, 9, 'ab',
      ${db.now}, ${db.now})`);
  return productId;
};
const lastingDigitalProduct = once(digitalProduct);

const fileOfProduct: Fact<string> = async ({ service: { db }, shopId }, { productId } = {}) => {
  const row = await db.one<{ id: string }>(sql`
    select upper(file_id::text) as id from download_file
    where shop_id = ${shopId} and product_id::text = lower(${productId!}) limit 1`);
  return row?.id ?? newId(db.now);
};

/** A free key, or that of an order. The sealed bytes are never opened. */
async function givenLicenceKey({ service: { db }, shopId }: Shop, productId: string, orderId?: string) {
  const keyId = newId(db.now);
  const lineItemId = orderId === undefined ? null : newId(db.now);
  await db.run(sql`
    insert into licence_key (shop_id, key_id, product_id, key_sealed, key_hash, last_characters, order_id, line_item_id,
      given_at)
    values (${shopId}, ${keyId}, ${productId}, ${Buffer.from('sealed')}, ${Buffer.from(keyId)}, 'HP4S',
      ${orderId ?? null}, ${lineItemId}, ${orderId === undefined ? null : db.now})`);
  return keyId;
}

/** A new key of a product; of one that is not there, or has no such id, it is nobody's. */
const freeKeyOf: Fact<string> = async (shop, { productId } = {}) => {
  const { db } = shop.service;
  const known = await db.one(sql`
    select product_id from digital_product
    where shop_id = ${shop.shopId} and product_id::text = lower(${productId!})`);
  return known ? givenLicenceKey(shop, productId!) : newId(db.now);
};

const keyedProduct = once(async (shop: Shop) => {
  const productId = await digitalProduct(shop);
  await givenLicenceKey(shop, productId);
  return productId;
});

const deliveryShape = array(
  'items',
  shape(
    'lineItemId: string\nproductId: string\nstate: string\ndeliveredOn: string|null\nbeginsOn: string|null',
    'expiresOn: string|null\nmaxDownloads: integer|null\nisRevoked: boolean\nmissingKeys: integer',
    array('files', 'fileId: string\nname: string\ndownloads: integer\nlastDownloadOn: string|null'),
    array('keys', 'keyId: string\nlastCharacters: string\nisRevoked: boolean'),
  ),
);

/** An order whose first line was delivered, with a file and a key. */
const deliveredOrder: Fact<string> = async (shop) => {
  const { db } = shop.service;
  const [orderId, productId] = [await placedOrder(shop), await digitalProduct(shop)];
  const keyId = await givenLicenceKey(shop, productId, orderId);
  const line = await db.one<{ id: string }>(sql`
    select line_item_id as id from order_line where shop_id = ${shop.shopId} and order_id = ${orderId}
    order by line_item_id limit 1`);
  await db.run(sql`
    insert into download_delivery (shop_id, order_id, line_item_id, product_id, created_at, delivered_at, has_keys)
    values (${shop.shopId}, ${orderId}, ${line!.id}, ${productId}, ${db.now}, ${db.now}, true)`);
  await db.run(sql`
    update licence_key set line_item_id = ${line!.id} where shop_id = ${shop.shopId} and key_id = ${keyId}`);
  return orderId;
};
const lastingDelivery = once(deliveredOrder);

const deliveredLine: Fact<string> = async ({ service: { db }, shopId }, { orderId } = {}) => {
  const row = await db.one<{ id: string }>(sql`
    select upper(line_item_id::text) as id from download_delivery
    where shop_id = ${shopId} and order_id = ${orderId!}`);
  return row!.id;
};

/** Reading and writing the custom fields of one kind of thing. */
function valueOperations(
  path: string,
  read: Scope | 'public',
  write: Scope | 'public',
  params: Operation['params'],
  body: Fact<unknown> = () => ({ fields: {} }),
): Operation[] {
  return [
    operation(`GET ${path}/custom-fields`, read, { labels: [], params, answer: 'fields: object' }),
    operation(`PATCH ${path}/custom-fields`, write, {
      labels: [],
      params,
      body,
      request: 'fields: object',
      answer: 'fields: object',
    }),
  ];
}

const freshRedirect: Fact<string> = async ({ service: { db }, shopId }) => {
  const redirectId = newId(db.now);
  const source = `/old/${freeNumber()}.html`;
  await db.run(sql`
    insert into redirect (shop_id, redirect_id, source, source_key, status, address, target_path, target_parameters,
      origin, created_at)
    values (${shopId}, ${redirectId}, ${source}, ${source}, 301, '/Categories', '/categories', '{}', 'manual', ${db.now})`);
  return redirectId;
};
const readRedirect = once(freshRedirect);

const priceLists = once(async ({ service: { db }, shopId }: Shop) => {
  const lists = ['sweep', 'emptied'].map((key) => ({
    priceListId: newId(db.now),
    key,
    name: key,
    active: true,
    customerGroups: ['Cafes'],
    from: '2026-01-01T00:00:00Z',
    to: '2199-01-01T00:00:00Z',
  }));
  await db.transaction(async (tx) => {
    await tx.run(sql`
      update shop set settings = settings || ${{ priceLists: lists }}::jsonb where shop_id = ${shopId}`);
    await moveSettingsVersion(tx, shopId);
  });
  return lists.map(({ priceListId }) => priceListId);
});
const priceList = async (shop: Shop) => (await priceLists(shop))[0]!;
/** Other operations read the prices of the first. */
const emptiedPriceList = async (shop: Shop) => (await priceLists(shop))[1]!;

const listedNumber = async (shop: Shop): Promise<string> => {
  const productId = await lastingProduct(shop);
  const row = await shop.service.db.one<{ number: string }>(sql`
    select product_number as number from product
    where shop_id = ${shop.shopId} and product_id = ${productId}`);
  return row!.number;
};

/** A list in which a product has a price. */
const filledPriceList = once(async (shop: Shop) => {
  const priceListId = await priceList(shop);
  await shop.service.db.run(sql`
    update product set version = version + 1, facts = facts || ${{
      listPrices: [{ priceListId, tiers: [{ quantity: '5', prices: { EUR: 700 } }] }],
    }}::jsonb
    where shop_id = ${shop.shopId} and product_number = ${await listedNumber(shop)}`);
  return priceListId;
});

/** Visitors have asked for it. */
const missedAddress = async ({ service: { db }, shopId }: Shop, address: string) => {
  await db.run(sql`
    insert into missed_address (shop_id, day, address, referrer, hits)
    values (${shopId}, ${db.now}, ${address}, 'https://blog.example/tea', 3)
    on conflict (shop_id, day, address, referrer) do nothing`);
};
const OWN_PAGE = {
  kind: 'page',
  category: null,
  published: true,
  publishAt: '2026-11-15T08:00:00Z',
  author: 'Ada',
  picture: 'https://shop.example/x.png',
};
const ownPageText = () => ({
  locale: 'en_GB',
  title: 'About us',
  slug: `about-${freeNumber().toLowerCase()}`,
  pageTitle: 'Who we are',
  description: 'Three people.',
  summary: 'We.',
  pictureText: 'Us',
  blocks: [{ type: 'quote', text: 'Ahoy', source: 'Ada' }],
});
const wholeOwnPage = () => ({ ...OWN_PAGE, texts: [ownPageText()] });
const ownPageRequest = shape(
  'kind: string\ncategory?: string|null\npublished?: boolean\npublishAt?: string|null\nauthor?: string|null',
  'picture?: string|null',
  array(
    'texts',
    shape(
      'locale: string\ntitle?: string|null\nslug?: string|null\npageTitle?: string|null\ndescription?: string|null',
      'summary?: string|null\npictureText?: string|null',
      'blocks: array\nblocks[]: object',
    ),
  ),
);
const ownPageFacts = shape(
  'pageId: string\nkind: string\ncategory: string|null\npublished: boolean\npublishAt: string|null',
  'author: string|null\npicture: string|null\nversion: number\ncreationDate: string\nlastChangeDate: string',
);
const ownPageShape = shape(
  ownPageFacts,
  array(
    'texts',
    shape(
      'locale: string\ntitle: string|null\nslug: string|null\npageTitle: string|null\ndescription: string|null',
      'summary: string|null\npictureText: string|null',
      array('blocks', 'text: string\ntype: string\nsource: string'),
    ),
  ),
);

/** Made with SQL, for the same reason as a segment. */
async function insertOwnPage({ service: { db }, shopId }: Shop): Promise<string> {
  const pageId = newId(db.now);
  const { locale, title, slug, blocks } = ownPageText();
  await db.run(sql`
    insert into page (shop_id, page_id, kind, version, created_at, changed_at)
    values (${shopId}, ${pageId}, 'page', 1, ${db.now}, ${db.now})`);
  await db.run(sql`
    insert into page_text (shop_id, page_id, locale, kind, slug, title, blocks)
    values (${shopId}, ${pageId}, ${locale}, 'page', ${slug}, ${title}, ${JSON.stringify(blocks)}::jsonb)`);
  return pageId;
}
const readOwnPage = once(insertOwnPage);

const mailingBlocks = [{ type: 'quote', text: 'Ahoy', source: 'Ada' }];
const wholeMailing: Fact<object> = async (shop) => ({
  newsletters: [await campaignId(shop)],
  segmentId: await readSegment(shop),
  couponCampaignId: await couponCampaignId(shop),
  perHour: 500,
  texts: [{ locale: 'en_GB', subject: 'Ahoy', preheader: 'News', blocks: mailingBlocks }],
});
const mailingRequest = shape(
  'newsletters: array\nnewsletters[]: string\nsegmentId?: string|null\ncouponCampaignId?: string|null',
  'perHour?: integer|null',
  array('texts', 'locale: string\nsubject: string\npreheader?: string|null\nblocks: array\nblocks[]: object'),
);
const mailingFacts = shape(
  'mailingId: string\nstate: string\nnewsletters: array\nnewsletters[]: string\nsegmentId: string|null',
  'couponCampaignId: string|null\nperHour: integer|null\nsendAt: string|null\nstartDate: string|null',
  'endDate: string|null\nproblem: string|null\nauthor: string\nversion: integer\ncreationDate: string',
  'lastChangeDate: string',
  object(
    'results',
    'recipients: integer\nsent: integer\nskipped: integer\nrefused: integer\nbounced: integer\ncomplained: integer\nunsubscribed: integer',
  ),
);
const mailingShape = shape(
  mailingFacts,
  'revenue: array',
  array(
    'texts',
    shape(
      'locale: string\nsubject: string\npreheader: string|null',
      array('blocks', 'text: string\ntype: string\nsource: string'),
    ),
  ),
);

/** Made with SQL, for the same reason as a segment. */
async function insertDraft(shop: Shop): Promise<string> {
  const { service, shopId } = shop;
  const { db } = service;
  const mailingId = newId(db.now);
  await db.run(sql`
    insert into mailing (shop_id, mailing_id, state, newsletter_ids, author, version, created_at, changed_at, recipients,
      sent, skipped, refused, bounced, complained, unsubscribed)
    values (${shopId}, ${mailingId}, 'draft', array[${await campaignId(shop)}::uuid], 'ada', 1, ${db.now}, ${db.now},
      0, 0, 0, 0, 0, 0, 0)`);
  await db.run(sql`
    insert into mailing_text (shop_id, mailing_id, locale, subject, blocks, image_keys)
    values (${shopId}, ${mailingId}, 'en_GB', 'Ahoy', ${JSON.stringify(mailingBlocks)}::jsonb, '{}')`);
  return mailingId;
}
const readDraft = once(insertDraft);

async function insertScheduled(shop: Shop): Promise<string> {
  const { service, shopId } = shop;
  const { db } = service;
  const mailingId = await insertDraft(shop);
  const at = new Date(db.now.getTime() + 86_400_000);
  await db.run(sql`
    update mailing set state = 'scheduled', send_at = ${at} where shop_id = ${shopId} and mailing_id = ${mailingId}`);
  await db.run(sql`
    insert into mailing_run (shop_id, mailing_id, run_at, attempts, collected_to, is_collected)
    values (${shopId}, ${mailingId}, ${at}, 0, '', false)`);
  return mailingId;
}

const noteShape = 'noteId: string\ncreationDate: string\nauthor: string\nnote: string';

/** Made with SQL, because the caller may have no right to make one, and a call would leave a trace. */
async function insertSegment({ service: { db }, shopId }: Shop, name: string): Promise<string> {
  const segmentId = newId(db.now);
  await db.run(sql`
    insert into customer_segment (shop_id, segment_id, name, filter, created_at, author)
    values (${shopId}, ${segmentId}, ${name}, ${SEGMENT.filter}, ${db.now}, 'ada@mail.example')`);
  return segmentId;
}

/** For operations that only read. */
const readSegment = once((shop) => insertSegment(shop, SEGMENT.name));

/** A shop has few of them, so those that former calls have left are removed. */
const segment: Fact<string> = async (shop) => {
  await shop.service.db.run(sql`
    delete from customer_segment where shop_id = ${shop.shopId} and name <> ${SEGMENT.name}`);
  return insertSegment(shop, `${SEGMENT.name} ${freeNumber()}`);
};

const notedCustomer = once(passingCustomer);

const note: Fact<string> = async (shop, params) => {
  const { db } = shop.service;
  const noteId = newId(db.now);
  const { customerId } = params as { customerId: string };
  if (!isId(customerId)) return noteId;
  await db.run(sql`
    insert into customer_note (shop_id, customer_id, note_id, created_at, author, note)
    select shop_id, customer_id, ${noteId}, ${db.now}, 'ada@mail.example', 'Rings twice' from customer
    where shop_id = ${shop.shopId} and customer_id = ${customerId}`);
  return noteId;
};

/** A customer whose notes are only read. */
const readNotes = once(async (shop) => {
  const customerId = await passingCustomer(shop);
  await note(shop, { customerId });
  return customerId;
});

async function customerMadeWith(service: Service, shopId: string, token: string): Promise<string> {
  const body = { billingAddress: { emailAddress: `${freeNumber()}@mail.example` } };
  return (await service.call('POST', `/${shopId}/customers`, { token, body })).body.customerId;
}

/** The entries of an app that has made a customer and nothing else. */
const ownEntries = once(async (shop) => {
  const { service, shopId } = shop;
  const token = await givenToken(service, shopId);
  await customerMadeWith(service, shopId, token);
  const row = await service.db.one<{ appId: string }>(sql`
    select app_id as "appId" from token where shop_id = ${shopId} and token_hash = ${secretHash(token)}`);
  return `appId=${row!.appId}`;
});

const auditEntry = shape(
  'entryId: string\nat: string',
  object('app', 'appId: string\nname: string', 'object|null'),
  'method: string\nroute: string\nobject: object\nobject.customerId?: string',
);

const personExport = shape(
  'customerId: string\nexportedOn: string',
  object(
    'customer',
    shape(
      'customerNumber: string\ncreationDate: string\ncustomerGroup: string|null',
      object('billingAddress', address, 'object|null'),
      'vatCheck: object|null\ninternalNote: string|null',
    ),
  ),
  'emailAddresses: array\nemailAddresses[]: string',
  ...words(`notes tags accessRequests storeCredit newsletterSubscriptions newsletterRequests newsletterBounces mailings availabilityWatches customFields carts wishList accounts accountSessions
    signInRequests mails orderTags tasks reviews reviewReports downloads orders assistants`).map(
    (key) => `${key}: array`,
  ),
  // This very request is one of them.
  array('privacyRequests', 'kind: string\nsource: string\ndoneBy: string|null\nrequestedOn: string'),
  array('auditEntries', auditEntry),
);

/** A script tag that the calling app may delete. */
const ownScriptTag: Fact<string> = async ({ service: { db }, shopId, token }) => {
  const scriptTagId = newId(db.now);
  await db.run(sql`
    insert into script_tag (shop_id, script_tag_id, app_id, script_url, created_at, updated_at)
    select shop_id, ${scriptTagId}, app_id, 'https://cdn.example/passing.js', ${db.now}, ${db.now}
    from token where shop_id = ${shopId} and token_hash = ${secretHash(token)}`);
  return scriptTagId;
};

/** What an app sends that a merchant has just agreed to install. */
/** A webhook of the calling app. Nobody listens at its address, which says so at once. */
const webhook: Fact<string> = async ({ service, shopId, token }) => {
  const { body } = await service.call('POST', `/${shopId}/webhooks`, { token, body: newWebhook() });
  return body.webhookId;
};

const newWebhook = () => ({
  callbackUrl: 'http://127.0.0.1:65535/hook',
  eventType: 'SETTINGS_CHANGED',
  active: true,
});

/** What the webhook of the path has delivered; something else where there is no such webhook. */
const webhookDelivery: Fact<string> = async ({ service: { db }, shopId }, params) => {
  const webhookId = params!['webhookId']!;
  if (!isId(webhookId)) return newId(db.now);
  await db.run(sql`
    insert into webhook_delivery (shop_id, webhook_id, position, resource_id, status, attempts, created_at)
    select shop_id, webhook_id, 1, webhook_id, 'delivered', 1, created_at from webhook
    where shop_id = ${shopId} and webhook_id = ${webhookId} on conflict do nothing`);
  return deliveryIdOf(shopId, webhookId, 1);
};

const deliveredWebhook: Fact<string> = async (shop) => {
  const webhookId = await webhook(shop);
  await webhookDelivery(shop, { webhookId });
  return webhookId;
};

/** An app sees its own only. */
const lastingWebhook = once(webhook, { perToken: true });
const lastingDeliveredWebhook = once(deliveredWebhook, { perToken: true });

const appUninstalled = once(async ({ service: { db }, shopId }) => {
  await db.transaction(async (tx) =>
    recordEvents(tx, shopId, [{ type: 'APP_UNINSTALL', resourceId: newId(tx.now) }]),
  );
  return 'types=APP_UNINSTALL';
});

const installation: Fact<unknown> = ({ service, shopId }) =>
  service.db.transaction(async (tx) => {
    const key = Buffer.alloc(32);
    const { clientId, clientSecret } = await createApp(tx, key, shopId, {
      name: `Install ${newSecret(24)}`,
      callbackUrl: 'https://app.example/install',
      scopes: ['products_read'],
    });
    const callback = await authorise(tx, key, shopId, clientId, `https://shop.example/rs/shops/${shopId}`);
    const code = new URL(callback).searchParams.get('code');
    return { code, client_id: clientId, client_secret: clientSecret };
  });

/** A number that nobody has. */
const freeNumber = () => `T-${newSecret(24)}`;

/** The same answer for a shop each time, for calls that change nothing. */
function once<Value>(
  fact: Fact<Value>,
  { perToken }: { perToken: boolean } = { perToken: false },
): (shop: Shop) => Promise<Value> {
  const made = new Map<string, Promise<Value>>();
  return (shop) => {
    const key = `${shop.service.database} ${shop.shopId} ${perToken ? shop.token : ''}`;
    if (!made.has(key)) made.set(key, Promise.resolve(fact(shop)));
    return made.get(key)!;
  };
}

/** A product that nobody else uses, with a number of its own. */
const product: Fact<string> = ({ service: { db }, shopId }) =>
  db.transaction(async (tx) => {
    const productId = newId(tx.now);
    const productNumber = freeNumber();
    await insertProduct(tx, shopId, {
      productId,
      productNumber,
      kind: 'regular',
      masterId: null,
      selection: null,
      visible: true,
      stock: 7,
      minStock: null,
      taxClassId: null,
      productTypeId: null,
      prices: { EUR: 1299 },
      mainImage: null,
      facts: { name: { en_GB: `Passing ${productNumber}` } },
    });
    await refreshListing(tx, shopId, [productId]);
    return productId;
  });

/** A master whose two variations have prices of their own. */
const master: Fact<string> = async (shop) => {
  const { service, shopId } = shop;
  const productId = await product(shop);
  await service.db.transaction(async (tx) => {
    await tx.run(sql`
      update product set kind = 'master', stock = null,
        facts = facts || '{"variationAttributes": [{"key": "Size", "values": ["S", "L"]}]}'
      where shop_id = ${shopId} and product_id = ${productId}`);
    for (const [size, price] of [
      ['S', 1299],
      ['L', 1599],
    ] as const) {
      await insertProduct(tx, shopId, {
        productId: newId(tx.now),
        productNumber: freeNumber(),
        kind: 'variation',
        masterId: productId,
        selection: { Size: size },
        visible: true,
        stock: 3,
        minStock: null,
        taxClassId: null,
        productTypeId: null,
        prices: { EUR: price },
        mainImage: null,
        facts: {},
      });
    }
    await refreshListing(tx, shopId, [productId]);
  });
  return productId;
};

const titledLink = 'rel: string\nhref: string\ntitle: string';

const categoryText = `
  categoryId: string
  alias: string
  name: string
  visible: boolean
  visibleInNavigation: boolean
  pageTitle: string|null
  navigationCaption: string|null
  description: string|null`;

const facetSettings = `
  facetedSearchShowFacetsOnCategory: boolean
  facetedSearchCategoryStartDepth: integer`;

const category = shape(
  categoryText,
  'specialOffer: boolean',
  facetSettings,
  'images: array',
  under('images[]', image),
  'parent: object|null',
  under('parent', titledLink),
  'subCategories: array',
  under('subCategories[]', titledLink),
  'sfUrl: string',
  links,
  shownFields,
);

const subcategory = shape(
  categoryText,
  facetSettings,
  'parent: object',
  under('parent', titledLink),
  'sfUrl: string',
  links,
);

const categoryTexts = {
  name: 'Ropes',
  pageTitle: 'Ropes of all sizes',
  navigationCaption: 'Ropes',
  description: '<p>By the metre</p>',
};

const categoryRequest = Object.keys(categoryTexts)
  .map((key) => `${key}?: string|null`)
  .join('\n');

const productType = shape(`
  name: string
  productTypeId: string
  attributes: array
  attributes[].visible: boolean
  attributes[].name: string
  attributes[].values: array
  attributes[].values[].value: string
  attributes[].values[].name: string
  attributes[].preDefAttribute: boolean
  alias: string`);

const attributeRequest = shape(`
  name: string
  visible?: boolean|null
  values?: array|null
  values[].value?: string|null
  values[].name: string
  preDefAttribute?: boolean|null`);

const rootCategory = idOf(
  (shopId) => sql`select category_id as id from category where shop_id = ${shopId} and parent_id is null`,
);

/** A visible category, last among its siblings; below the root when no parent is named. */
async function givenCategory(shop: Shop, parentId?: string): Promise<string> {
  const { service, shopId } = shop;
  const above = parentId ?? (await rootCategory(shop));
  return service.db.transaction(async (tx) => {
    const categoryId = newId(tx.now);
    const number = await takeNumber(tx, shopId, 'category');
    const texts = { name: {}, pageTitle: {}, navigationCaption: {}, description: {} };
    await insertCategory(tx, shopId, {
      categoryId,
      number,
      alias: freeNumber(),
      parentId: above,
      ...texts,
    });
    await tx.run(
      sql`update category set visible = true where shop_id = ${shopId} and category_id = ${categoryId}`,
    );
    return categoryId;
  });
}

/** With everything that a category may have: two below it, a picture, a product. */
const lastingCategory = once(async (shop) => {
  const { service, shopId } = shop;
  const categoryId = await givenCategory(shop);
  await givenCategory(shop, categoryId);
  await givenCategory(shop, categoryId);
  const sizes = { Large: { file: 'rope.png', width: 8, height: 6, bytes: 90 } };
  await service.db.run(sql`
    update category set image_key = ${newId(service.db.now)}, image_sizes = ${sizes}
    where shop_id = ${shopId} and category_id = ${categoryId}`);
  await givenAssignment(shop, categoryId, await lastingProduct(shop));
  return categoryId;
});

async function givenAssignment({ service, shopId }: Shop, categoryId: string, productId: string) {
  await service.db.transaction(async (tx) => {
    await insertAssignments(tx, shopId, [categoryId], [productId]);
    await refreshListing(tx, shopId, [productId]);
  });
}

const reversedSequence: Fact<string[]> = async (shop) => {
  const { service, shopId } = shop;
  return (await findSequence(service.db, shopId, await lastingCategory(shop)))!.toReversed();
};

const lastingProductType = once(({ service, shopId }) =>
  service.db.transaction(async (tx) => {
    const productTypeId = newId(tx.now);
    await moveSettingsVersion(tx, shopId);
    await insertProductType(tx, shopId, {
      productTypeId,
      alias: freeNumber(),
      name: { en_GB: 'Rope' },
      attributes: [
        {
          number: await takeNumber(tx, shopId, 'attribute'),
          key: 'Fibre',
          name: { en_GB: 'Fibre' },
          visible: true,
          preDefined: true,
          values: [{ value: 'hemp', name: { en_GB: 'Hemp' } }],
        },
      ],
    });
    return productTypeId;
  }),
);

const lastingProduct = once(product);
const lastingMaster = once(master);

const picturedProduct = once(async (shop) => {
  const productId = await product(shop);
  for (const name of ['front.png', 'back.png']) await givenImage(shop, productId, name);
  return productId;
});

/** A row alone: what is swept here needs no files. */
async function givenImage(
  { service: { db }, shopId }: Shop,
  productId: string,
  name: string,
): Promise<string> {
  await db.run(sql`
    insert into product_image (shop_id, product_id, name, position, image_key, sizes, created_at)
    select ${shopId}, ${productId}, ${name}, coalesce(max(position) + 1, 0), ${newId(db.now)},
      '{"Large": {"file": "front.png", "width": 2, "height": 1, "bytes": 90}}', ${db.now}
    from product_image where shop_id = ${shopId} and product_id = ${productId}`);
  return name;
}

const imageSequence: Fact<string[]> = async (shop) => {
  const rows = await shop.service.db.many<{ name: string }>(sql`
    select name from product_image
    where shop_id = ${shop.shopId} and product_id = ${await picturedProduct(shop)} order by position`);
  return rows.map(({ name }) => name);
};

/** A product with everything that a search shows. */
const searchedProduct = once(async (shop) => {
  const { service, shopId } = shop;
  const productId = await product(shop);
  await service.db.run(sql`
    update product set facts = '{"name": {"en_GB": "Found Lamp"}, "manufacturer": "Finders"}'
    where shop_id = ${shopId} and product_id = ${productId}`);
  await givenAssignment(shop, await givenCategory(shop), productId);
  return productId;
});

/** A product with everything that a line can show, such as deposit, recycling fee, tiers and picture; a variation. */
const lampIds = once(async (shop) => {
  const { service, shopId } = shop;
  const productId = await product(shop);
  await givenImage(shop, productId, 'front.png');
  const facts: ProductFacts = {
    name: { en_GB: 'Storm Lantern Oil' },
    essentialFeatures: { en_GB: 'burns for 40 hours' },
    bulkPrices: [{ quantity: '5', prices: { EUR: 2200 } }],
    depositPrices: { EUR: 25 },
    ecoParticipationPrices: { EUR: 50 },
    deliveryWeight: { amount: 260, unit: 'gram' },
    reference: { amount: 100, unit: 'millilitre', content: 250 },
    energyLabel: { classes: 'B,D', best: 'A', file: '/media/label.png' },
    dataSheet: { fileName: 'oil.pdf', url: '/media/oil.pdf' },
  };
  const masterId = await master(shop);
  const variationId = await service.db.transaction(async (tx) => {
    await tx.run(sql`
      update product set stock = 1000000, prices = '{"EUR": 2400}', main_image = 'front.png', facts = ${facts}
      where shop_id = ${shopId} and product_id = ${productId}`);
    const variation = await tx.one<{ id: string }>(sql`
      update product set stock = 1000000
      where shop_id = ${shopId} and master_id = ${masterId} and selection ->> 'Size' = 'S'
      returning product_id as id`);
    // A payment that costs something and says more about itself.
    await moveSettingsVersion(tx, shopId);
    await tx.run(sql`update payment_method set amount = 150 where shop_id = ${shopId} and key = 'paylater'`);
    return variation!.id.toUpperCase();
  });
  return { productId, variationId };
});

/** What belongs to the carts that were made here, by their ids. */
const madeCarts = new Map<string, { token: string; lineItemId: string; couponLineItemId: string }>();

function cartOf(cartId: string) {
  const unknown = {
    token: newSecret(24),
    lineItemId: newId(new Date()),
    couponLineItemId: newId(new Date()),
  };
  return madeCarts.get(cartId.toUpperCase()) ?? unknown;
}

/** A cart in which nothing is missing: two lines, both addresses, a coupon that counts, a discount. */
export const cart: Fact<string> = async (shop) => {
  const { service, shopId } = shop;
  const { productId, variationId } = await lampIds(shop);
  const payLater = await payLaterId(shop);
  const shipping = await shippingMethodId(shop);
  return service.db.transaction(async (tx) => {
    const [cartId, lineItemId, couponLineItemId] = [newId(tx.now), newId(tx.now), newId(tx.now)];
    const { token, hash } = newCartToken();
    const stored: StoredCart = {
      cartId,
      tokenHash: hash,
      createdAt: tx.now,
      changedAt: tx.now,
      appId: null,
      pickedUpAt: null,
      version: 1,
      currency: 'EUR',
      locale: 'en_GB',
      taxType: 'GROSS',
      customerId: null,
      lines: [
        { lineItemId, productId: variationId, quantity: '1' },
        { lineItemId: newId(tx.now), productId, quantity: '6' },
      ],
      couponLineItemId,
      couponCodeKey: 'SUMMER20',
      giftCardIds: [],
      billingAddress: fullAddress,
      shippingAddress: fullAddress,
      buyer: null,
      shippingMethodId: shipping,
      shippingPrice: null,
      assistantNotes: null,
      deliveryOption: null,
      linePrices: null,
      appTaxes: null,
      paymentMethodId: payLater,
      paymentTransactionId: 'QP-4711',
      paymentStatus: 'FAILED',
      paymentName: null,
      paymentPrice: null,
      assistantSessionId: null,
    };
    await insertCart(tx, shopId, stored);
    await updateCart(tx, shopId, stored);
    madeCarts.set(cartId, { token, lineItemId, couponLineItemId });
    return cartId;
  });
};

const lastingCart = once(cart);

/** The order that a cart became in which nothing was missing. */
export const placedOrder: Fact<string> = async (shop) => {
  const { service, shopId } = shop;
  const cartId = await cart(shop);
  const { body } = await service.call('POST', `/${shopId}/carts/${cartId}/order`, {
    token: await makerToken(shop),
    cartToken: cartOf(cartId).token,
  });
  return body.orderId;
};
/** With a VAT number that can be checked. */
const businessOrder: Fact<string> = async (shop) => {
  const { service, shopId } = shop;
  const orderId = await placedOrder(shop);
  const token = await makerToken(shop);
  const value = { ...fullAddress, country: 'FR', zipCode: '13002', vatId: 'FR40303265045' };
  await service.call('PATCH', `/${shopId}/orders/${orderId}`, {
    token,
    body: ['/billingAddress', '/shippingAddress'].map((path) => ({ op: 'add', path, value })),
  });
  return orderId;
};
/** Its number was confirmed after it was placed. */
const confirmedOrder: Fact<string> = async (shop) => {
  const orderId = await businessOrder(shop);
  const vatCheck = { vatNumber: 'FR40303265045', result: 'valid', checkedAt: '2026-11-15T08:30:00.000Z' };
  await shop.service.db.run(sql`
    update customer_order set buyer = ${{ vatCheck }} where shop_id = ${shop.shopId} and order_id = ${orderId}`);
  return orderId;
};
const lastingOrder = once(placedOrder);
const lastingReview = once(review);

const taggedOrder = once(async (shop: Shop) => {
  const orderId = await placedOrder(shop);
  await shop.service.db.run(sql`
    insert into order_tag (shop_id, order_id, tag_key, tag) values (${shop.shopId}, ${orderId}, 'gift', 'Gift')`);
  return orderId;
});

/** A line that all orders have which goods are sent of. */
const SENT_LINE = newId(new Date());

/** An order of which something can be sent, come back, be paid and be refunded. */
const openOrder: Fact<string> = async (shop) => {
  const { service, shopId } = shop;
  const orderId = await placedOrder(shop);
  await service.db.run(sql`
    update customer_order set paid_amount = 1000, content = jsonb_set(content, '{lines,1,lineItemId}', ${`"${SENT_LINE}"`})
    where shop_id = ${shopId} and order_id = ${orderId}`);
  await service.db.run(sql`
    insert into order_shipment (shop_id, order_id, shipment_id, at, lines)
    values (${shopId}, ${orderId}, ${newId(service.db.now)}, ${service.db.now},
      ${JSON.stringify([{ lineItemId: SENT_LINE, quantity: '1' }])})`);
  return orderId;
};

/** An order that the calling app edits. */
const editedOrder: Fact<string> = async (shop) => {
  const { service, shopId, token } = shop;
  const orderId = await placedOrder(shop);
  await service.db.run(sql`
    update customer_order set editing_since = ${service.db.now}, editing_app_id = (
      select app_id from token where token.shop_id = ${shopId} and token_hash = ${secretHash(token)})
    where shop_id = ${shopId} and order_id = ${orderId}`);
  return orderId;
};

/** The first of two. */
const orderLine: Fact<string> = async ({ service, shopId }, params) => {
  // Sweeps send text that can't be an id, too.
  if (!isId(params!['orderId']!)) return newId(new Date());
  const row = await service.db.one<{ id: string }>(sql`
    select content #>> '{lines,0,lineItemId}' as id from customer_order
    where shop_id = ${shopId} and order_id = ${params!['orderId']!}::uuid`);
  return row?.id ?? newId(new Date());
};

/** An order that was invoiced. */
const invoicedOrder: Fact<string> = async (shop) => {
  const { service, shopId } = shop;
  const orderId = await openOrder(shop);
  const token = await makerToken(shop);
  await service.call('POST', `/manage/shops/${shopId}/orders/${orderId}/invoices`, { token, body: {} });
  return orderId;
};
const lastingInvoice = once(invoicedOrder);

/** The document of an order that was invoiced. */
const documentOf: Fact<string> = async ({ service, shopId }, params) => {
  if (!isId(params!['orderId']!)) return newId(new Date());
  const row = await service.db.one<{ id: string }>(sql`
    select upper(document_id::text) as id from order_document
    where shop_id = ${shopId} and order_id = ${params!['orderId']!}::uuid`);
  return row?.id ?? newId(new Date());
};

/** An invoice of a shop that has an account of a provider. Nothing is sent here, so the account need not be opened. */
const sendableInvoice: Fact<string> = async (shop) => {
  const { db } = shop.service;
  // Sandboxes send nothing.
  await endSandbox(shop);
  await db.run(sql`
    insert into transport_account (shop_id, provider, fields_sealed, updated_at)
    values (${shop.shopId}, 'e-invoice.be', '\\x00', ${db.now}) on conflict do nothing`);
  const orderId = await businessOrder(shop);
  const path = `/manage/shops/${shop.shopId}/orders/${orderId}/invoices`;
  await shop.service.call('POST', path, { token: await makerToken(shop), body: {} });
  return orderId;
};

const clockShape = 'now: string\naheadSeconds: integer\nsandboxOf: string|null';

/** Only the clock of a sandbox is advanced. */
async function makeSandbox({ service: { db }, shopId }: Shop): Promise<void> {
  await db.run(sql`
    update shop set sandbox_of = 'Original', settings_version = settings_version + 1
    where shop_id = ${shopId} and sandbox_of is null`);
}

/** The operation on the clock may have made a sandbox of the shop. */
export async function endSandbox({ service: { db }, shopId }: Shop): Promise<void> {
  await db.run(sql`
    update shop set sandbox_of = null, sandbox_clock = 0, settings_version = settings_version + 1
    where shop_id = ${shopId} and sandbox_of is not null`);
}

/** An email that was not sent. */
async function keepEmail({ service: { db }, shopId }: Shop): Promise<void> {
  await db.run(sql`
    insert into sandbox_email (shop_id, email_id, at, kind, recipient, subject, body, attachments)
    values (${shopId}, '00000000-0000-7000-8000-000000000001', ${db.now}, 'order', 'ada@mail.example', 'Order', 'Text', '{a.pdf}')
    on conflict do nothing`);
}

/** An order to which everything has happened that can. */
/** An order for which a payment provider has reserved money. */
const reservedOrder: Fact<string> = async (shop) => {
  const { service, shopId } = shop;
  const orderId = await placedOrder(shop);
  const { now } = service.db;
  await service.db.run(sql`
    insert into payment_attempt (shop_id, attempt_id, order_id, provider, payment_method_id, amount, currency, state,
      reference, error, created_at, updated_at)
    values (${shopId}, ${newId(now)}, ${orderId}, 'demo', ${newId(now)}, 100, 'EUR', 'authorized', ${newId(now)},
      'The provider did not answer', ${now}, ${now})`);
  return orderId;
};
/** One that the calling app was asked to begin. */
const appPayment: Fact<string> = async (shop) => {
  const { service, shopId, token } = shop;
  const orderId = await placedOrder(shop);
  const { now } = service.db;
  const paymentId = newId(now);
  await service.db.run(sql`
    insert into payment_attempt (shop_id, attempt_id, order_id, provider, payment_method_id, amount, currency, state,
      reference, created_at, updated_at)
    values (${shopId}, ${paymentId}, ${orderId}, 'app', ${newId(now)}, 100, 'EUR', 'open', ${paymentId}, ${now}, ${now})`);
  await service.db.run(sql`
    insert into app_payment (shop_id, payment_id, order_id, app_id, method, issuer, state)
    select shop_id, ${paymentId}::uuid, ${orderId}::uuid, app_id, 'later', 'http://localhost:8080', 'open' from token
    where shop_id = ${shopId} and token_hash = ${secretHash(token)}`);
  return paymentId;
};
const lastingPayment = once(appPayment);
const appPaymentAnswer = shape(`paymentId: string
  orderId: string
  method: string
  amount: number
  currencyId: string
  state: string
  captured: number
  refunded: number`);
const managedOrder = once(async (shop) => {
  const { service, shopId } = shop;
  const orderId = await openOrder(shop);
  const token = await makerToken(shop);
  const lines = [{ lineItemId: SENT_LINE, quantity: 1 }];
  for (const [part, body] of [
    ['payments', { amount: 5, reference: 'QP-4711', note: 'by bank transfer' }],
    ['shipments', { lines, carrier: 'DHL', trackingCode: '0034' }],
    ['returns', { lines, refund: 2, note: 'unopened' }],
    ['edit', undefined],
  ] as const) {
    await service.call('POST', `/manage/shops/${shopId}/orders/${orderId}/${part}`, { token, body });
  }
  return orderId;
});
/** A return that the customer has asked for. */
const requestedReturn: Fact<string> = async ({ service, shopId }, params) => {
  const returnId = newId(service.db.now);
  if (!isId(params!['orderId']!)) return returnId;
  const lines = JSON.stringify([{ lineItemId: SENT_LINE, quantity: '1' }]);
  await service.db.run(sql`
    insert into order_return (shop_id, order_id, return_id, at, lines, restocked, state, origin, reason)
    select shop_id, order_id, ${returnId}::uuid, ${service.db.now}::timestamptz, ${lines}::jsonb, false, 'requested',
      'customer', 'too small'
    from customer_order where shop_id = ${shopId} and order_id = ${params!['orderId']!}::uuid`);
  return returnId;
};
/** A shipment that was recorded just now. */
const sentShipment: Fact<string> = async ({ service, shopId, token }, params) => {
  const orderId = params!['orderId']!;
  if (!isId(orderId)) return newId(service.db.now);
  const lines = [{ lineItemId: SENT_LINE, quantity: 1 }];
  const path = `/manage/shops/${shopId}/orders/${orderId}/shipments`;
  const { body } = await service.call('POST', path, { token, body: { lines } });
  return body.management?.shipments.at(-1).shipmentId ?? newId(service.db.now);
};
/** The line of the variation: the other one stays when it is taken away. */
const lineItemId: Fact<string> = (_shop, params) => cartOf(params!['cartId']!).lineItemId;
const couponLineItemId: Fact<string> = (_shop, params) => cartOf(params!['cartId']!).couponLineItemId;

const newOrderLine = 'productId: string\nquantity: number|string\ncustomText?: string|null';
const newLine = shape(newOrderLine, 'choices?: array|null\nchoices[]: string');
const newCartLine = shape(
  newLine,
  `giftCard?: object|null
  giftCard.value?: number|string|null
  giftCard.email?: string|null
  giftCard.name?: string|null
  giftCard.message?: string|null
  giftCard.sendOn?: string|null`,
);

/** An address in which these keys must not be empty. */
const requiring = (...keys: string[]) =>
  keys.reduce((lines, key) => lines.replace(`${key}?: string|null`, `${key}: string`), addressRequest);

const facet = shape(`
  attributeName: string
  attributeType: string
  values: array
  values[].matches: integer
  values[].name: string
  values[].filter: object
  values[].filter.fieldName: string
  values[].filter.attributeValue?: string
  values[].filter.attributeRange?: object
  values[].filter.attributeRange.min: string
  values[].filter.attributeRange.max: string
  values[].selectedValue?: string
  values[].selectedRange?: object
  values[].selectedRange.min: string
  values[].selectedRange.max: string`);

const imageInfo =
  'name: string\nsizes: array\nsizes[].url: string|null\nsizes[].classifier: string\nsizes[].isZoomEnabled: boolean';

const legalPages = words(`
  contact-information privacy-policy terms-and-conditions rights-of-withdrawal shipping-information
  cookie-policy`).flatMap((name) => {
  const answer = name === 'contact-information' ? contact : page;
  const keys = answer.split('\n').map((line) => line.split(/[?:]/)[0]!);
  const labels: readonly Label[] = name === 'cookie-policy' ? ['Now'] : ['Base', 'Now'];
  return [
    operation(`GET /legal/${name}`, 'legal_read', { labels, query: ['locale'], answer }),
    operation(`PUT /legal/${name}`, 'legal_write', {
      labels,
      query: ['locale'],
      search: 'locale=en_GB',
      body: () => Object.fromEntries(keys.map((key) => [key, `<p>A ${key}</p>`])),
      request: keys.map((key) => `${key}?: string|null`).join('\n'),
      answer: keys.map((key) => `${key}: string`).join('\n'),
    }),
  ];
});

const partLines = array('lines', 'lineItemId: string\nquantity: number');

const managedReturn = shape(
  'returnId: string\nreturnedOn: string\nstate: string\norigin: string',
  partLines,
  'unsentLines: array\nrestocked: boolean\nreason: string|null\nnote: string|null',
  'declaredBy: string|null\ncontact: string|null',
);

/** What a business says of itself. */
const buyer = shape(
  'buyerReference: string|null\npurchaseOrderNumber: string|null\nvatCheck: object|null',
  under(
    'vatCheck',
    'vatNumber?: string\nresult?: string\ncheckedOn?: string\nconsultationNumber?: string|null',
  ),
);
const buyerUpdate = 'buyerReference?: string|null\npurchaseOrderNumber?: string|null';

/** What only the back office sees of an order. */
const management = shape(
  object('editing', 'appId: string\nsince: string', 'object|null'),
  'state: string\ncancelledOn: string|null',
  priced('paidAmount', 'refundedAmount', 'refundableAmount', 'outstandingAmount'),
  array('taxes', shape('rate: number\ntreatment?: string', priced('amount', 'tax'))),
  'promotions~: array',
  under(
    'promotions[]',
    shape('promotionId: string\nname: string\ncode?: string', priced('amount', 'deliveryAmount')),
  ),
  'backorders?~: array',
  under(
    'backorders[]',
    sparse(
      'lineItemId: string\nquantity: number\nwaiting: number\nexpectedOn: string|null\nreadyOn: string|null',
    ),
  ),
  'bundles?~: array',
  under(
    'bundles[]',
    shape(
      'lineItemId: string',
      array(
        'parts',
        shape(
          'lineItemId: string\nproductId: string\nsku: string\nname: string\nvariationString: string|null',
          'quantity: number',
          priced('amount'),
          'taxRate: number',
        ),
      ),
    ),
  ),
  object('buyer', buyer),
  rareObject('deliveryOption', 'appId: string\noptionId: string|null\nname: string'),
  array(
    'shipments',
    shape(
      'shipmentId: string\nshippedOn: string',
      partLines,
      'carrier: string|null\ntrackingCode: string|null',
      array('parcels', 'trackingCode: string\ntrackingUrl: string|null'),
    ),
  ),
  array('returns', shape(managedReturn, priced('dueAmount', 'refundedAmount', 'refundableAmount'))),
  array(
    'payments',
    shape(
      'paymentId: string\nrecordedOn: string\nkind: string',
      priced('amount'),
      'reference: string|null\nnote: string|null\nreturnId: string|null\ngiftCardId?~: string\nstate?: string',
      'goodwill?~: object',
      under('goodwill', shape(priced('amount'), 'reason: string|null')),
    ),
  ),
  'paymentAttempts?~: array',
  under(
    'paymentAttempts[]',
    shape(
      'attemptId: string\nstartedOn: string\nprovider: string\nstate: string',
      priced('amount'),
      'reference: string|null\nerror: string|null',
    ),
  ),
);

const orderDocument = (file = '') =>
  shape(
    'orderId: string\ndocumentType: string\ndocumentNumber: string\nissueDate: string\ncreationDate: string',
    object('address', address),
    object('lineItemContainer', lineItemContainer),
    file,
    links,
  );
const documentDelivery = 'provider: string\nstate: string\nerror: string|null\nupdatedOn: string';
/** One line need not have everything that an order may have. */
const partOfOrder = sparse(orderDocument()).replaceAll(
  /(?<=basketDiscount\.(name|lineItemPrice))(?=: )/g,
  '?',
);
const wantedDocument: Fact<unknown> = ({ service }) => ({
  lines: [{ lineItemId: SENT_LINE, quantity: 1 }],
  issueDate: service.db.now.toISOString(),
  note: 'As agreed on the phone',
  shipping: false,
});
const documentRequest = shape(
  'lines?: array|null\nlines[].lineItemId: string\nlines[].quantity: number|string',
  'issueDate?: string|null\nnote?: string|null\nshipping?: boolean|null',
);

/** A change of an order the way a merchant does it; nothing of what may have happened to it need have happened. */
const managing = (method: string, part: string, facts: Facts) =>
  operation(`${method} /manage/orders/{orderId}/${part}`, 'orders_write', {
    labels: [],
    query: ['locale'],
    answer: shape(order, object('management', sparse(management))),
    ...facts,
  });

const campaignTerms = async (shop: Shop) => ({
  name: 'Spring tide',
  currency: 'EUR',
  minimumOrderValue: 25,
  type: { name: 'FIX', waiveShippingCosts: true, amount: 7.5 },
  usageLimit: 3,
  campaignUsageLimit: 100,
  validFrom: '2026-03-01T00:00:00Z',
  validTo: '2126-06-01T00:00:00Z',
  productIds: [await lastingProduct(shop)],
  shippingMethodIds: [await shippingMethodId(shop)],
  paymentMethodIds: [await paymentMethodId(shop)],
});

const campaignTermsShape = shape(`
  name: string
  currency: string
  minimumOrderValue?: number|string|null
  type: object
  type.name: string
  type.waiveShippingCosts?: boolean|null
  type.amount?: number|string|null
  usageLimit?: integer|null
  campaignUsageLimit?: integer|null
  validFrom?: string|null
  validTo?: string|null
  productIds?: array|null
  productIds[]: string
  shippingMethodIds?: array|null
  shippingMethodIds[]: string
  paymentMethodIds?: array|null
  paymentMethodIds[]: string`);

/** A campaign of its own, which nothing else uses. */
const freshCampaign: Fact<string> = async (shop) => {
  const { body } = await shop.service.call('POST', `/${shop.shopId}/coupon-campaigns?locale=en_GB`, {
    token: await makerToken(shop),
    body: { identifier: freeNumber(), ...(await campaignTerms(shop)) },
  });
  return body.campaignId;
};

/** A gift card with a note, which was corrected once. */
const issuedGiftCard = async (shop: Shop) => {
  const { service, shopId } = shop;
  const token = await makerToken(shop);
  const path = `/manage/shops/${shopId}/gift-cards`;
  const { body } = await service.call('POST', path, { token, body: { value: 50, note: 'Raffle' } });
  await service.call('POST', `${path}/${body.giftCardId}/corrections`, {
    token,
    body: { amount: -1, reason: 'Till' },
  });
  return body as { giftCardId: string; code: string };
};
const giftCard: Fact<string> = async (shop) => (await issuedGiftCard(shop)).giftCardId;
const readGiftCard = once(giftCard);
const giftCardShape = shape(
  'giftCardId: string\nlastCharacters: string\nstate: string',
  priced('balance'),
  'creationDate: string\nexpiresOn: string|null\ncustomerId: string|null\nnote: string|null',
);
const cartGiftCardsShape = shape(
  array('items', shape('giftCardId: string\nlastCharacters: string', priced('amount'))),
  priced('outstandingAmount'),
);
/** A card that the cart is paid with. */
const cardOfCart: Fact<string> = async (shop, params) => {
  const { giftCardId } = await issuedGiftCard(shop);
  const cartId = params!['cartId']!;
  // The sweep of tenants asks with ids of a form that no cart has.
  if (/^[\dA-F-]{36}$/i.test(cartId)) {
    await shop.service.db.run(sql`
      update cart set gift_card_ids = ${[giftCardId]}, version = version + 1
      where shop_id = ${shop.shopId} and cart_id = ${cartId}`);
  }
  return giftCardId;
};

/** A cart that a card pays for. */
const cartWithCard = once(async (shop) => {
  const cartId = await cart(shop);
  await cardOfCart(shop, { cartId });
  return cartId;
});

export const OPERATIONS: readonly Operation[] = [
  operation('GET /', 'products_read', {
    query: ['locale', 'includeFields'],
    answer: shape(shopInfo, shownFields),
  }),

  operation('GET /carts', 'carts_read', {
    query: words('locale page resultsPerPage createdBefore createdAfter hasAddressData includeFields'),
    search: async (shop) => {
      await lastingCart(shop);
      return 'hasAddressData=true';
    },
    // Not all carts of the shop have a discount.
    answer: paged(cartShape()).replaceAll(/(?<=basketDiscount\.(name|lineItemPrice))(?=: )/g, '?'),
  }),
  operation('POST /carts', 'public', {
    status: 201,
    secret: true,
    // Without customerId, which needs a scope.
    body: async (shop) => {
      const { productId, variationId } = await lampIds(shop);
      return {
        currency: 'EUR',
        taxType: 'GROSS',
        locale: 'en_GB',
        lineItems: [
          { productId: variationId, quantity: 1 },
          { productId, quantity: 6 },
        ],
        forceCreate: true,
        billingAddress: fullAddress,
      };
    },
    request: shape(
      'currency?: string|null\ntaxType?: string|null\nlocale?: string|null\nlineItems?: array|null',
      under('lineItems[]', newCartLine),
      'forceCreate?: boolean|null\ncustomerId?: string|null',
      'billingAddress?: object|null',
      under('billingAddress', requiring('country', 'emailAddress')),
    ),
    lenient: 'lineItems[]',
    answer: lacking(
      cartShape({ hasStatus: true }),
      'shippingAddress',
      ...COUPON,
      'paymentData.paymentMethod.additionalData',
      'paymentData.taxes',
    ),
  }),
  operation('GET /carts/{cartId}', 'public', {
    query: ['includeFields'],
    params: { cartId: lastingCart },
    answer: cartShape(),
  }),
  operation('POST /carts/{cartId}/coupon', 'public', {
    labels: ['Base'],
    params: { cartId: cart },
    body: () => ({ code: 'AUTUMN15' }),
    form: true,
    request: 'code: string',
    answer: cartShape(),
  }),
  operation('GET /carts/{cartId}/gift-cards', 'public', {
    labels: [],
    params: { cartId: cartWithCard },
    answer: cartGiftCardsShape,
  }),
  operation('POST /carts/{cartId}/gift-cards', 'public', {
    labels: [],
    status: 201,
    params: { cartId: cart },
    body: async (shop) => ({ code: (await issuedGiftCard(shop)).code }),
    request: 'code: string',
    answer: cartGiftCardsShape,
  }),
  operation('DELETE /carts/{cartId}/gift-cards/{giftCardId}', 'public', {
    labels: [],
    params: { cartId: cart, giftCardId: cardOfCart },
    answer: shape('items: array', priced('outstandingAmount')),
  }),
  operation('DELETE /carts/{cartId}/coupon/{couponLineItemId}', 'public', {
    labels: ['Base'],
    params: { cartId: cart, couponLineItemId },
    answer: lacking(cartShape(), ...COUPON),
  }),
  operation('POST /carts/{cartId}/order', 'orders_write', {
    status: 201,
    params: { cartId: cart },
    answer: order,
  }),
  operation('POST /carts/{cartId}/line-items', 'public', {
    status: 201,
    params: { cartId: cart },
    body: async (shop) => ({ productId: await product(shop), quantity: 2 }),
    request: newCartLine,
    answer: cartShape(),
  }),
  operation('PUT /carts/{cartId}/line-items/{lineItemId}', 'public', {
    params: { cartId: cart, lineItemId },
    body: () => ({ quantity: 3 }),
    request: 'quantity: number|string',
    answer: cartShape(),
  }),
  operation('DELETE /carts/{cartId}/line-items/{lineItemId}', 'public', {
    params: { cartId: cart, lineItemId },
    answer: cartShape(),
  }),
  operation('PUT /carts/{cartId}/line-items/{lineItemId}/product-price', 'carts_price_write', {
    params: { cartId: cart, lineItemId },
    body: () => ({ singleItemPrice: 9.5 }),
    request: 'singleItemPrice: number|string',
    answer: cartShape(),
  }),
  operation('POST /carts/{cartId}/multi-line-items', 'public', {
    status: 201,
    params: { cartId: cart },
    body: async (shop) => [
      { productId: await product(shop), quantity: 1 },
      { productId: await product(shop), quantity: 2 },
    ],
    request: list(newCartLine),
    lenient: '[]',
    answer: cartShape({ hasStatus: true }),
  }),
  operation('PUT /carts/{cartId}/billing-address', 'public', {
    params: { cartId: cart },
    body: () => fullAddress,
    request: requiring('country', 'emailAddress'),
    answer: cartShape(),
  }),
  operation('DELETE /carts/{cartId}/billing-address', 'public', {
    params: { cartId: cart },
    answer: lacking(cartShape(), 'billingAddress'),
  }),
  operation('PUT /carts/{cartId}/shipping-address', 'public', {
    params: { cartId: cart },
    body: () => fullAddress,
    request: requiring('country'),
    answer: cartShape(),
  }),
  operation('DELETE /carts/{cartId}/shipping-address', 'public', {
    params: { cartId: cart },
    answer: lacking(cartShape(), 'shippingAddress'),
  }),
  operation('GET /manage/carts/{cartId}/delivery-options', 'public', {
    labels: [],
    params: { cartId: cart },
    answer: shape(
      'items: array\nitems[].id: string\nitems[].name: string',
      object('items[].price', price),
      'items[].days~: object|null\nitems[].days.from: integer\nitems[].days.to: integer',
      'items[].app: string|null\nitems[].option: string|null',
    ),
  }),
  operation('GET /manage/carts/{cartId}/buyer', 'public', {
    labels: [],
    params: { cartId: cart },
    answer: buyer,
  }),
  operation('PUT /manage/carts/{cartId}/buyer', 'public', {
    labels: [],
    params: { cartId: cart },
    body: () => ({ buyerReference: '04011000-12345-67', purchaseOrderNumber: 'PO-4711' }),
    request: buyerUpdate,
    answer: buyer,
  }),
  operation('PUT /carts/{cartId}/payment-data', 'carts_price_write', {
    params: { cartId: cart },
    // Without id, which stands for a name and a price.
    body: () => ({ name: 'Cash', priceAmount: 1.95, transactionId: 'QP-4711', status: 'FAILED' }),
    request: shape(`
      name: string
      priceAmount?: number|string|null
      id?: string|null
      transactionId?: string|null
      status?: string|null`),
    answer: lacking(cartShape(), 'paymentData.paymentMethod', 'paymentData.taxes'),
  }),
  operation('PUT /carts/{cartId}/shipping-data', 'carts_price_write', {
    params: { cartId: cart },
    body: async (shop) => ({ id: await shippingMethodId(shop), priceAmount: 3.95 }),
    request: 'id: string\npriceAmount?: number|string|null',
    answer: cartShape(),
  }),

  operation('GET /countries', 'public', { answer: list(country) }),
  operation('POST /coupon-campaigns', 'coupons_write', {
    status: 201,
    query: ['locale'],
    search: 'locale=en_GB',
    body: async (shop) => ({ identifier: freeNumber(), ...(await campaignTerms(shop)) }),
    request: shape('identifier: string', campaignTermsShape),
    answer: couponCampaign,
  }),
  operation('GET /coupon-campaigns/{couponCampaignId}', 'coupons_read', {
    params: { couponCampaignId },
    answer: couponCampaign,
  }),
  operation('PUT /coupon-campaigns/{couponCampaignId}/coupons', 'coupons_write', {
    status: 204,
    params: { couponCampaignId },
    body: () => ({ code: freeNumber() }),
    form: true,
    request: 'code: string',
  }),
  operation('GET /manage/gift-cards', 'giftcards_read', {
    labels: [],
    query: words('page resultsPerPage locale customerId lastCharacters'),
    search: async (shop) => {
      await readGiftCard(shop);
      return '';
    },
    answer: paged(giftCardShape),
  }),
  operation('POST /manage/gift-cards', 'giftcards_write', {
    labels: [],
    status: 201,
    secret: true,
    query: ['locale'],
    body: () => ({ value: 50, currency: 'EUR', expiresOn: '2099-12-31', customerId: null, note: 'Raffle' }),
    request: shape(
      'value: number|string\ncurrency?: string|null\nexpiresOn?: string|null\ncustomerId?: string|null',
      'note?: string|null',
    ),
    answer: shape(giftCardShape, 'code: string'),
  }),
  operation('GET /manage/gift-cards/{giftCardId}', 'giftcards_read', {
    labels: [],
    query: ['locale'],
    params: { giftCardId: readGiftCard },
    answer: giftCardShape,
  }),
  operation('GET /manage/gift-cards/{giftCardId}/entries', 'giftcards_read', {
    labels: [],
    query: words('page resultsPerPage locale'),
    params: { giftCardId: readGiftCard },
    answer: paged(
      shape(
        'entryId: string\nrecordedOn: string\nkind: string',
        priced('amount'),
        'orderId: string|null\nreason: string|null',
      ),
    ),
  }),
  operation('PUT /manage/gift-cards/{giftCardId}/state', 'giftcards_write', {
    labels: [],
    query: ['locale'],
    params: { giftCardId: giftCard },
    body: () => ({ state: 'blocked' }),
    request: 'state: string',
    answer: giftCardShape,
  }),
  operation('POST /manage/gift-cards/{giftCardId}/corrections', 'giftcards_write', {
    labels: [],
    status: 201,
    query: ['locale'],
    params: { giftCardId: giftCard },
    body: () => ({ amount: -2.5, reason: 'Redeemed at the till' }),
    request: 'amount: number|string\nreason: string',
    answer: giftCardShape,
  }),
  operation('GET /manage/gift-card-liability', 'giftcards_read', {
    labels: [],
    query: words('locale on'),
    search: async (shop) => {
      await readGiftCard(shop);
      return '';
    },
    answer: shape(
      'on: string',
      array(
        'items',
        shape(
          'currency: string',
          priced('issued', 'redeemed', 'refunded', 'corrected', 'expired', 'revoked', 'owed'),
        ),
      ),
    ),
  }),
  operation('PUT /manage/coupon-campaigns/{couponCampaignId}', 'coupons_write', {
    labels: [],
    query: ['locale'],
    search: 'locale=en_GB',
    params: { couponCampaignId: freshCampaign },
    body: campaignTerms,
    request: campaignTermsShape,
    answer: couponCampaign,
  }),
  operation('DELETE /manage/coupon-campaigns/{couponCampaignId}', 'coupons_write', {
    labels: [],
    status: 204,
    params: { couponCampaignId: freshCampaign },
  }),
  operation('POST /manage/coupon-campaigns/{couponCampaignId}/codes', 'coupons_write', {
    labels: [],
    status: 201,
    params: { couponCampaignId: freshCampaign },
    body: () => ({ count: 3, prefix: 'TIDE-' }),
    request: 'count: integer\nprefix?: string|null',
    answer: 'codes: array\ncodes[]: string',
  }),
  operation('GET /currencies', 'products_read', { answer: codes }),
  operation('GET /locales', 'products_read', { answer: codes }),

  operation('GET /categories', 'products_read', {
    query: ['locale', 'productId', 'includeInvisible', 'includeFields'],
    search: async (shop) => {
      await lastingCategory(shop);
      return `productId=${await lastingProduct(shop)}`;
    },
    answer: list(category),
  }),
  operation('GET /categories/{categoryId}', 'products_read', {
    query: ['locale', 'includeInvisible', 'includeFields'],
    params: { categoryId: lastingCategory },
    answer: category,
  }),
  operation('POST /categories/{categoryId}', 'products_write', {
    query: ['locale'],
    params: { categoryId: rootCategory },
    body: () => ({ ...categoryTexts, alias: 'ropes' }),
    request: shape(categoryRequest, 'alias?: string|null'),
    answer: subcategory,
  }),
  operation('PUT /categories/{categoryId}', 'products_write', {
    query: ['locale'],
    params: { categoryId: lastingCategory },
    body: async (shop) => ({
      categoryId: await lastingCategory(shop),
      ...categoryTexts,
      alias: 'lasting-ropes',
      visible: true,
      visibleInNavigation: true,
      specialOffer: false,
      facetedSearchShowFacetsOnCategory: true,
      facetedSearchCategoryStartDepth: 3,
    }),
    request: shape(
      'categoryId: string',
      categoryRequest,
      'alias?: string|null\nvisible?: boolean|null\nvisibleInNavigation?: boolean|null',
      'specialOffer?: boolean|null\nfacetedSearchShowFacetsOnCategory?: boolean|null',
      'facetedSearchCategoryStartDepth?: integer|null',
    ),
    answer: category,
  }),
  operation('PUT /manage/categories/{categoryId}/place', 'products_write', {
    labels: [],
    status: 204,
    params: { categoryId: (shop) => givenCategory(shop) },
    body: async (shop) => ({ parentId: await lastingCategory(shop), position: 0 }),
    request: 'parentId: string\nposition: integer',
  }),
  operation('DELETE /categories/{categoryId}', 'products_write', {
    labels: ['Base'],
    status: 204,
    params: { categoryId: (shop) => givenCategory(shop) },
  }),
  operation('GET /categories/{categoryId}/sequence', 'products_write', {
    params: { categoryId: lastingCategory },
    answer: '[]: string',
  }),
  operation('PUT /categories/{categoryId}/sequence', 'products_write', {
    params: { categoryId: lastingCategory },
    body: reversedSequence,
    request: '[]?: string',
    answer: '[]: string',
  }),

  operation('POST /product-category-assignments', 'products_write', {
    status: 204,
    body: async (shop) => ({ categoryId: [await givenCategory(shop)], productId: [await product(shop)] }),
    form: true,
    request: 'categoryId: string|array\ncategoryId[]?: string\nproductId: string|array\nproductId[]?: string',
  }),
  operation('DELETE /product-category-assignments', 'products_write', {
    labels: ['Base'],
    status: 204,
    query: ['categoryId', 'productId'],
    search: async (shop) => {
      const [categoryId, productId] = [await givenCategory(shop), await product(shop)];
      await givenAssignment(shop, categoryId, productId);
      return `categoryId=${categoryId}&productId=${productId}`;
    },
  }),

  operation('GET /producttypes', 'products_read', {
    labels: ['Now'],
    query: ['locale', ...PAGING],
    answer: sparse(paged(productType)),
  }),
  operation('POST /producttypes', 'products_write', {
    labels: ['Now'],
    query: ['locale'],
    status: 201,
    body: () => ({
      name: 'Lantern',
      alias: 'lantern',
      attributes: [
        { name: 'Light', visible: true, preDefAttribute: true, values: [{ value: 'warm', name: 'Warm' }] },
      ],
    }),
    request: shape(
      'name: string\nalias?: string|null\nattributes?: array|null',
      under('attributes[]', attributeRequest),
    ),
    answer: productType,
  }),
  operation('GET /producttypes/{productTypeId}', 'products_read', {
    labels: ['Now'],
    query: ['locale'],
    params: { productTypeId: lastingProductType },
    answer: productType,
  }),
  operation('PATCH /producttypes/{productTypeId}', 'products_write', {
    labels: ['Now'],
    query: ['locale'],
    params: { productTypeId: lastingProductType },
    body: () => [
      {
        op: 'add',
        path: '/attributevalues',
        value: {
          name: 'Fibre',
          visible: true,
          preDefAttribute: true,
          values: [{ value: 'sisal', name: 'Sisal' }],
        },
      },
      { op: 'remove', path: '/attribute', value: { name: 'Passing' } },
    ],
    request: PATCH_REQUEST,
    patch: {
      '/attributevalues': shape('value: object', under('value', attributeRequest)),
      '/attribute': 'value: object\nvalue.name: string',
    },
    answer: productType,
  }),

  operation('GET /customers', 'customers_read', {
    query: ['locale', ...PAGING, 'field', 'includeFields'],
    answer: paged(customer),
  }),
  operation('POST /customers', 'customers_write', {
    status: 201,
    body: () => ({
      customerNumber: freeNumber(),
      internalNote: 'asks for a receipt',
      billingAddress: fullAddress,
    }),
    request: shape(
      'customerNumber?: string|null\ninternalNote?: string|null\nbillingAddress: object',
      under('billingAddress', addressRequest),
    ),
    answer: customer,
  }),
  operation('GET /customers/{customerId}', 'customers_read', {
    query: ['locale', 'includeFields'],
    params: { customerId },
    answer: customer,
  }),
  operation('PATCH /customers/{customerId}', 'customers_write', {
    params: { customerId },
    body: () => [
      { op: 'add', path: '/customerNumber', value: freeNumber() },
      { op: 'add', path: '/billingAddress', value: fullAddress },
      { op: 'add', path: '/internalNote', value: 'asks for a receipt' },
    ],
    request: '[].op: string\n[].path: string\n[].value?: string|number|boolean|object|array|null',
    patch: {
      '/customerNumber': 'value: string',
      '/billingAddress': shape('value: object|null', under('value', addressRequest)),
      '/internalNote': 'value: string|null',
    },
    answer: customer,
  }),

  operation('GET /orders', 'orders_read', {
    query: words(`
      locale page resultsPerPage viewedOn pendingOn archivedOn rejectedOn closedOn dispatchedOn paidOn returnedOn
      deliveredOn invoicedOn lastUpdated customerId productId updatedFrom createdBefore createdAfter currency include field includeFields`),
    search: async (shop) => {
      await lastingOrder(shop);
      return '';
    },
    answer: sparse(paged(listedOrder)),
  }),
  operation('GET /orders/{orderId}', 'orders_read', {
    query: ['locale', 'includeFields'],
    params: { orderId: lastingOrder },
    answer: order,
  }),
  operation('PATCH /orders/{orderId}', 'orders_write', {
    query: ['locale'],
    params: { orderId: placedOrder },
    body: () => [
      { op: 'add', path: '/orderNumber', value: freeNumber() },
      { op: 'add', path: '/customerComment', value: 'Please ring twice' },
      { op: 'add', path: '/internalNote', value: 'asks for a receipt' },
      { op: 'add', path: '/billingAddress', value: fullAddress },
      { op: 'add', path: '/shippingAddress', value: fullAddress },
      { op: 'add', path: '/payment', value: 'Cash' },
      ...STATES.map((state) => ({ op: 'add', path: `/${state}`, value: '2026-11-15T08:30:00Z' })),
    ],
    request: '[].op: string\n[].path: string\n[].value?: string|number|boolean|object|array|null',
    patch: {
      '/orderNumber': 'value: string',
      '/customerComment': 'value: string|null',
      '/internalNote': 'value: string|null',
      '/billingAddress': shape('value: object', under('value', addressRequest)),
      '/shippingAddress': shape('value: object', under('value', addressRequest)),
      '/payment': 'value: string',
      ...Object.fromEntries(STATES.map((state) => [`/${state}`, 'value: string|null'])),
    },
    answer: lacking(order, 'paymentData.paymentMethod', 'paymentData.taxes'),
  }),
  operation('GET /sales', 'orders_read', {
    query: ['createdBefore', 'createdAfter', 'productId'],
    search: async (shop) => {
      await lastingOrder(shop);
      const yesterday = new Date(shop.service.db.now.getTime() - 86_400_000).toISOString().slice(0, 10);
      return `createdAfter=${yesterday}&productId=${(await lampIds(shop)).productId}`;
    },
    answer: salesSummary,
  }),

  operation('GET /orders/{orderId}/documents', 'orders_read', {
    query: words('locale page resultsPerPage includePdf'),
    search: 'includePdf=true',
    params: { orderId: lastingInvoice },
    answer: paged(orderDocument('documentPdf: string')),
  }),
  operation('GET /manage/orders/{orderId}/documents/{documentId}/electronic', 'orders_read', {
    labels: [],
    query: ['format'],
    params: { orderId: lastingInvoice, documentId: documentOf },
    answer: shape(
      'documentId: string\nformat: string\nfileName: string\nxml: string\nsha256: string',
      // A backup leaves deliveries out, so the compared document has none.
      `delivery~: object|null\n${under('delivery', documentDelivery)}`,
    ),
  }),
  operation('POST /manage/orders/{orderId}/documents/{documentId}/delivery', 'orders_write', {
    labels: [],
    params: { orderId: sendableInvoice, documentId: documentOf },
    answer: documentDelivery,
  }),
  operation('POST /manage/orders/{orderId}/invoices', 'orders_write', {
    labels: [],
    status: 201,
    params: { orderId: openOrder },
    body: wantedDocument,
    request: shape(documentRequest),
    answer: shape('documentId: string', partOfOrder),
  }),
  operation('POST /manage/orders/{orderId}/credit-notes', 'orders_write', {
    labels: [],
    status: 201,
    params: { orderId: invoicedOrder },
    body: wantedDocument,
    request: shape(
      documentRequest,
      'invoiceNumber?: string|null',
      'returnId?: string|null\nrefund?: boolean|null',
    ),
    answer: shape('documentId: string', partOfOrder),
  }),

  operation('GET /manage/orders/{orderId}', 'orders_read', {
    labels: [],
    query: ['locale', 'includeFields'],
    params: { orderId: managedOrder },
    answer: shape(order, object('management', management)),
  }),
  operation('GET /manage/orders/{orderId}/history', 'orders_read', {
    labels: [],
    query: PAGING,
    params: { orderId: lastingOrder },
    answer: paged(
      'eventId: string\ndate: string\nappId: string|null\nappName: string|null\nkind: string\ndetails: object',
    ),
  }),
  managing('POST', 'edit', { params: { orderId: placedOrder } }),
  managing('DELETE', 'edit', { query: ['force', 'locale'], params: { orderId: editedOrder } }),
  managing('POST', 'line-items', {
    status: 201,
    params: { orderId: editedOrder },
    body: async (shop) => ({ productId: (await lampIds(shop)).variationId, quantity: 1, price: 9.5 }),
    request: shape(newOrderLine, 'price?: number|string|null'),
  }),
  managing('PUT', 'line-items/{lineItemId}', {
    params: { orderId: editedOrder, lineItemId: orderLine },
    body: () => ({ quantity: 2, price: 8 }),
    request: 'quantity?: number|string|null\nprice?: number|string|null',
  }),
  managing('DELETE', 'line-items/{lineItemId}', { params: { orderId: editedOrder, lineItemId: orderLine } }),
  managing('PUT', 'shipping', {
    params: { orderId: editedOrder },
    body: async (shop) => ({ shippingMethodId: await shippingMethodId(shop), price: 3.95 }),
    request: 'shippingMethodId: string\nprice?: number|string|null',
  }),
  managing('PUT', 'payment', {
    params: { orderId: editedOrder },
    body: async (shop) => ({ paymentMethodId: await payLaterId(shop), price: 1.5 }),
    request: 'paymentMethodId: string\nprice?: number|string|null',
  }),
  managing('PUT', 'buyer', {
    params: { orderId: placedOrder },
    body: () => ({ buyerReference: '04011000-12345-67', purchaseOrderNumber: 'PO-4711' }),
    request: buyerUpdate,
  }),
  managing('POST', 'vat-check', { params: { orderId: businessOrder } }),
  managing('POST', 'tax-correction', { params: { orderId: confirmedOrder } }),
  managing('POST', 'cancel', {
    params: { orderId: placedOrder },
    body: () => ({ reason: 'ordered twice' }),
    request: 'reason?: string|null',
  }),
  ...words('payments refunds').map((part) =>
    managing('POST', part, {
      status: 201,
      params: { orderId: openOrder },
      body: () => ({ amount: 1.5, reference: 'QP-4711', note: 'by bank transfer' }),
      request: shape(
        'amount: number|string\nreference?: string|null\nnote?: string|null',
        part === 'refunds'
          ? 'returnId?: string|null\nasStoreCredit?: boolean|null\ngoodwill?: string|null'
          : '',
      ),
    }),
  ),
  managing('POST', 'capture', { params: { orderId: reservedOrder } }),
  managing('POST', 'emails', {
    status: 201,
    params: { orderId: openOrder },
    body: () => ({ documentId: null }),
    request: 'documentId?: string|null',
  }),
  managing('POST', 'shipments', {
    status: 201,
    params: { orderId: openOrder },
    body: () => ({
      lines: [{ lineItemId: SENT_LINE, quantity: 1 }],
      carrier: 'DHL',
      trackingCode: '0034',
      parcels: [{ trackingCode: '0034', trackingUrl: 'https://tracking.example/0034' }],
    }),
    request: shape(
      'lines?: array|null\nlines[].lineItemId: string\nlines[].quantity: number|string',
      'carrier?: string|null\ntrackingCode?: string|null',
      'parcels?: array|null\nparcels[].trackingCode: string\nparcels[].trackingUrl?: string|null',
    ),
  }),
  managing('DELETE', 'shipments/{shipmentId}', {
    params: { orderId: openOrder, shipmentId: sentShipment },
  }),
  managing('POST', 'returns', {
    status: 201,
    params: { orderId: openOrder },
    body: () => ({
      lines: [{ lineItemId: SENT_LINE, quantity: 1 }],
      restock: true,
      refund: 1.5,
      note: 'unopened',
    }),
    request: shape(
      'lines: array\nlines[].lineItemId: string\nlines[].quantity: number|string',
      'restock?: boolean|null\nrefund?: number|string|null\ngoodwill?: string|null\nnote?: string|null',
    ),
  }),

  managing('PUT', 'returns/{returnId}', {
    params: { orderId: openOrder, returnId: requestedReturn },
    body: () => ({ state: 'received', restock: true, refund: null, note: 'unopened' }),
    request: shape(
      'state: string\nrestock?: boolean|null\nrefund?: number|string|null',
      'goodwill?: string|null\nnote?: string|null',
    ),
  }),
  operation('GET /manage/returns', 'orders_read', {
    labels: [],
    query: [...PAGING, 'state'],
    search: 'state=refunded',
    answer: paged(shape('orderId: string\norderNumber: string', managedReturn)),
  }),

  operation('GET /manage/customers/{customerId}/export', ['customers_read', 'orders_read'], {
    auditedRead: true,
    labels: [],
    streamed: true,
    params: { customerId: passingCustomer },
    answer: personExport,
  }),
  operation('POST /manage/customers/{customerId}/erase', ['customers_write', 'orders_write'], {
    labels: [],
    query: ['force'],
    params: { customerId: passingCustomer },
    answer: shape(
      'customerId: string\ncustomerNumber: string\ncustomer: string',
      words(`
        notesDeleted tagsDeleted accessRequestsDeleted storeCreditKept subscriptionsDeleted mailingRecipientsDeleted watchesDeleted customFieldsDeleted cartsDeleted wishesDeleted accountsDeleted mailsDeleted orderTagsDeleted tasksDeleted reviewsDeleted reviewReportsErased downloadsClosed ordersAnonymised
        documentsKept`)
        .map((key) => `${key}: integer`)
        .join('\n'),
      'note: string',
    ),
  }),
  operation('PUT /manage/customers/{customerId}/group', 'customers_write', {
    labels: [],
    params: { customerId: passingCustomer },
    body: () => ({ customerGroupId: null }),
    request: 'customerGroupId: string|null',
    answer: 'customerGroupId: string|null',
  }),
  operation('GET /manage/customers/{customerId}/tags', 'customers_read', {
    labels: [],
    params: { customerId: taggedCustomer },
    answer: 'tags: array\ntags[]: string',
  }),
  operation('PUT /manage/customers/{customerId}/tags', 'customers_write', {
    labels: [],
    params: { customerId: passingCustomer },
    body: () => ({ tags: ['wholesale'] }),
    request: 'tags: array\ntags[]: string',
    answer: 'tags: array\ntags[]: string',
  }),
  operation('POST /manage/customer-tags', 'customers_write', {
    labels: [],
    body: async (shop) => ({
      customerIds: [await passingCustomer(shop)],
      add: ['wholesale'],
      remove: ['retail'],
    }),
    request:
      'customerIds: array\ncustomerIds[]: string\nadd?: array\nadd[]: string\nremove?: array\nremove[]: string',
    answer: 'changed: integer',
  }),
  operation('GET /manage/customers/{customerId}/notes', 'customers_read', {
    labels: [],
    params: { customerId: readNotes },
    answer: array('items', noteShape),
  }),
  operation('POST /manage/customers/{customerId}/notes', 'customers_write', {
    labels: [],
    status: 201,
    params: { customerId: passingCustomer },
    body: () => ({ note: 'Rings twice' }),
    request: 'note: string',
    answer: noteShape,
  }),
  operation('PUT /manage/customers/{customerId}/notes/{noteId}', 'customers_write', {
    labels: [],
    params: { customerId: notedCustomer, noteId: note },
    body: () => ({ note: 'Rings once' }),
    request: 'note: string',
    answer: noteShape,
  }),
  operation('DELETE /manage/customers/{customerId}/notes/{noteId}', 'customers_write', {
    labels: [],
    status: 204,
    params: { customerId: notedCustomer, noteId: note },
  }),
  operation('GET /manage/segments', 'customers_read', {
    labels: [],
    search: async (shop) => {
      await readSegment(shop);
      return '';
    },
    answer: array('items', segmentShape),
  }),
  operation('POST /manage/segments', 'customers_write', {
    labels: [],
    status: 201,
    body: wholeSegment,
    request: segmentRequest,
    answer: segmentShape,
  }),
  operation('GET /manage/segments/{segmentId}', 'customers_read', {
    labels: [],
    params: { segmentId: readSegment },
    answer: segmentShape,
  }),
  operation('PUT /manage/segments/{segmentId}', 'customers_write', {
    labels: [],
    params: { segmentId: segment },
    body: wholeSegment,
    request: segmentRequest,
    answer: segmentShape,
  }),
  operation('DELETE /manage/segments/{segmentId}', 'customers_write', {
    labels: [],
    status: 204,
    params: { segmentId: segment },
  }),
  operation('GET /manage/orders/{orderId}/tags', 'orders_read', {
    labels: [],
    params: { orderId: taggedOrder },
    answer: 'tags: array\ntags[]: string',
  }),
  operation('PUT /manage/orders/{orderId}/tags', 'orders_write', {
    labels: [],
    params: { orderId: placedOrder },
    body: () => ({ tags: ['gift'] }),
    request: 'tags: array\ntags[]: string',
    answer: 'tags: array\ntags[]: string',
  }),
  operation('GET /manage/order-tags', 'orders_read', {
    labels: [],
    search: async (shop) => {
      await taggedOrder(shop);
      return '';
    },
    answer: 'tags: array\ntags[]: string',
  }),
  operation('GET /manage/tagged-orders', 'orders_read', {
    labels: [],
    query: [...PAGING, 'tag'],
    search: async (shop) => {
      await taggedOrder(shop);
      return 'tag=gift';
    },
    answer: paged('orderId: string\norderNumber: string\ncreationDate: string\ntags: array\ntags[]: string'),
  }),
  operation('GET /manage/rules', 'any token', {
    labels: [],
    search: async (shop) => {
      await lastingRule(shop);
      return '';
    },
    answer: array('items', ruleShape),
  }),
  operation('POST /manage/rules', ['orders_read', 'orders_write'], {
    labels: [],
    status: 201,
    body: wholeRule,
    request: ruleRequest,
    answer: ruleShape,
  }),
  operation('GET /manage/rules/{ruleId}', 'orders_read', {
    labels: [],
    params: { ruleId: lastingRule },
    answer: ruleShape,
  }),
  operation('PUT /manage/rules/{ruleId}', ['orders_read', 'orders_write'], {
    labels: [],
    params: { ruleId: rule },
    body: wholeRule,
    request: ruleRequest,
    answer: ruleShape,
  }),
  operation('DELETE /manage/rules/{ruleId}', ['orders_read', 'orders_write'], {
    labels: [],
    status: 204,
    params: { ruleId: rule },
  }),
  operation('GET /manage/rules/{ruleId}/preview', 'orders_read', {
    labels: [],
    params: { ruleId: lastingRule },
    momentary: true,
    answer: array(
      'items',
      shape(`position: null
      date: string
      resourceId: null
      name: string
      conditions: array
      conditions[]: boolean
      runs: boolean
      actions: array
      actions[].kind: string
      actions[].text: string|null`),
    ),
  }),
  operation('GET /manage/rules/{ruleId}/runs', 'orders_read', {
    labels: [],
    query: ['before', 'limit'],
    params: { ruleId: lastingRule },
    answer: shape(
      array(
        'items',
        shape(
          `runId: string
          ruleId: string
          date: string
          position: integer|null
          resource: string
          resourceId: string|null
          outcome: string
          actions: array
          actions[].kind: string
          actions[].outcome: string
          actions[].code: string|null
          actions[].note: string|null
          error: string|null`,
          rareObject('reason', ruleReason),
        ),
      ),
      'next: string|null',
    ),
  }),
  operation('GET /manage/tasks', 'any token', {
    labels: [],
    query: [...PAGING, 'state'],
    search: async (shop) => {
      await lastingTask(shop);
      return '';
    },
    answer: paged(taskShape),
  }),
  operation('POST /manage/tasks', 'orders_write', {
    labels: [],
    status: 201,
    body: () => ({ text: 'Call Ada' }),
    request: 'text: string',
    answer: taskShape,
  }),
  operation('PUT /manage/tasks/{taskId}', 'orders_write', {
    labels: [],
    params: { taskId: task },
    body: () => ({ isDone: true }),
    request: 'isDone: boolean',
    answer: taskShape,
  }),
  operation('GET /manage/products/{productId}/downloads', 'products_read', {
    labels: [],
    params: { productId: lastingDigitalProduct },
    answer: digitalShape,
  }),
  operation('PUT /manage/products/{productId}/downloads', 'products_write', {
    labels: [],
    params: { productId: digitalProduct },
    body: () => ({ hasKeys: true, maxDownloads: 3, days: 365, fewKeys: 10 }),
    request: 'hasKeys: boolean\nmaxDownloads: integer|null\ndays: integer|null\nfewKeys: integer',
    answer: digitalShape,
  }),
  operation('POST /manage/products/{productId}/downloads/files', 'products_write', {
    labels: [],
    status: 201,
    params: { productId: product },
    body: (): Part[] => [{ name: 'file', filename: 'chart.txt', content: 'A chart.' }],
    multipart: true,
    request: 'file: string',
    answer: digitalShape,
  }),
  operation('POST /manage/products/{productId}/downloads/files/{fileId}/versions', 'products_write', {
    labels: [],
    status: 201,
    params: { productId: digitalProduct, fileId: fileOfProduct },
    body: (): Part[] => [{ name: 'file', filename: 'chart.txt', content: 'A chart.' }],
    multipart: true,
    request: 'file: string',
    answer: digitalShape,
  }),
  operation('PUT /manage/products/{productId}/downloads/files/{fileId}', 'products_write', {
    labels: [],
    params: { productId: digitalProduct, fileId: fileOfProduct },
    body: () => ({ note: 'Chapter 7 is new.', notify: true }),
    request: 'note: string|null\nnotify?: boolean',
    answer: digitalShape,
  }),
  operation('DELETE /manage/products/{productId}/downloads/files/{fileId}', 'products_write', {
    labels: [],
    status: 204,
    params: { productId: digitalProduct, fileId: fileOfProduct },
  }),
  operation('GET /manage/products/{productId}/keys', 'products_read', {
    labels: [],
    query: [...PAGING, 'state'],
    params: { productId: keyedProduct },
    answer: paged(
      'keyId: string\nlastCharacters: string\nstate: string\norderId: string|null\norderNumber: string|null\ngivenOn: string|null',
    ),
  }),
  operation('POST /manage/products/{productId}/keys', 'products_write', {
    labels: [],
    status: 201,
    params: { productId: product },
    body: () => ({ keys: ['7QXM-2KTR-9DWA-HP4S'] }),
    request: 'keys: array\nkeys[]: string',
    answer: 'added: integer\nknown: integer\nfree: integer',
  }),
  operation('DELETE /manage/products/{productId}/keys/{keyId}', 'products_write', {
    labels: [],
    status: 204,
    params: {
      productId: digitalProduct,
      keyId: freeKeyOf,
    },
  }),
  operation('GET /manage/orders/{orderId}/deliveries', 'orders_read', {
    labels: [],
    params: { orderId: lastingDelivery },
    answer: deliveryShape,
  }),
  operation('POST /manage/orders/{orderId}/deliveries', 'orders_write', {
    labels: [],
    params: { orderId: deliveredOrder },
    body: () => ({ isReleased: true, sendsEmail: true }),
    request: 'isReleased?: boolean\nsendsEmail?: boolean',
    answer: deliveryShape,
  }),
  operation('PUT /manage/orders/{orderId}/deliveries/{lineItemId}', 'orders_write', {
    labels: [],
    params: { orderId: deliveredOrder, lineItemId: deliveredLine },
    body: () => ({ isRevoked: false, maxDownloads: 20, expiresOn: '2099-12-31T23:59:59Z' }),
    request: 'isRevoked: boolean\nmaxDownloads: integer|null\nexpiresOn: string|null',
    answer: deliveryShape,
  }),
  operation('GET /manage/reviews', 'orders_read', {
    labels: [],
    query: [...PAGING, 'state'],
    search: async (shop) => {
      await lastingReview(shop);
      return '';
    },
    answer: paged(reviewShape),
  }),
  operation('GET /manage/reviews/{reviewId}', 'orders_read', {
    labels: [],
    params: { reviewId: lastingReview },
    answer: reviewShape,
  }),
  operation('PUT /manage/reviews/{reviewId}/state', 'orders_write', {
    labels: [],
    params: { reviewId: review },
    body: () => ({ state: 'published' }),
    request: 'state: string',
    answer: reviewShape,
  }),
  operation('PUT /manage/reviews/{reviewId}/answer', 'orders_write', {
    labels: [],
    params: { reviewId: review },
    body: () => ({ answer: 'Thank you!' }),
    request: 'answer: string|null',
    answer: reviewShape,
  }),
  operation('GET /manage/reviews/{reviewId}/reports', 'orders_read', {
    labels: [],
    query: PAGING,
    params: { reviewId: lastingReview },
    answer: paged(
      shape(`reportId: string
        reportedOn: string
        reason: string
        email: string|null
        closedOn: string|null`),
    ),
  }),
  operation('GET /manage/custom-fields', 'any token', {
    labels: [],
    query: ['resource'],
    search: async (shop) => {
      await lastingField(shop);
      return '';
    },
    answer: array('items', customFieldShape),
  }),
  operation('POST /manage/custom-fields', 'customers_write', {
    labels: [],
    status: 201,
    body: () => ({
      resource: 'customer',
      namespace: `sweep${++fieldNames}`,
      key: 'colour',
      type: 'choice',
      isList: true,
      isLocalised: false,
      ...fieldChange,
    }),
    request: shape(
      'resource: string\nnamespace: string\nkey: string\ntype: string\nisList?: boolean\nisLocalised?: boolean',
      fieldChangeRequest,
    ),
    answer: customFieldShape,
  }),
  operation('GET /manage/custom-fields/{fieldId}', 'customers_read', {
    labels: [],
    params: { fieldId: lastingField },
    answer: customFieldShape,
  }),
  operation('PUT /manage/custom-fields/{fieldId}', 'customers_write', {
    labels: [],
    params: { fieldId: customField },
    body: () => fieldChange,
    request: fieldChangeRequest,
    answer: customFieldShape,
  }),
  operation('DELETE /manage/custom-fields/{fieldId}', 'customers_write', {
    labels: [],
    status: 204,
    params: { fieldId: customField },
  }),
  ...valueOperations('/manage/shop', 'products_read', 'products_write', {}),
  ...valueOperations('/manage/products/{productId}', 'products_read', 'products_write', {
    productId: lastingProduct,
  }),
  ...valueOperations('/manage/categories/{categoryId}', 'products_read', 'products_write', {
    categoryId: lastingCategory,
  }),
  ...valueOperations('/manage/customers/{customerId}', 'customers_read', 'customers_write', { customerId }),
  ...valueOperations('/manage/orders/{orderId}', 'orders_read', 'orders_write', { orderId: managedOrder }),
  ...valueOperations('/manage/orders/{orderId}/line-items/{lineItemId}', 'orders_read', 'orders_write', {
    orderId: managedOrder,
    lineItemId: orderLine,
  }),
  ...valueOperations('/manage/carts/{cartId}', 'public', 'public', { cartId: cart }, shopperValue('cart')),
  ...valueOperations(
    '/manage/carts/{cartId}/line-items/{lineItemId}',
    'public',
    'public',
    { cartId: cart, lineItemId },
    shopperValue('cartLine'),
  ),
  operation('GET /manage/redirects', 'products_write', {
    labels: [],
    search: async (shop) => {
      await readRedirect(shop);
      return 'source=/old';
    },
    largestPage: 500,
    query: words('page resultsPerPage source'),
    answer: paged(redirectShape),
  }),
  operation('POST /manage/redirects', 'products_write', {
    labels: [],
    status: 201,
    body: wholeRedirect,
    request: redirectRequest,
    answer: redirectShape,
  }),
  operation('GET /manage/redirects/{redirectId}', 'products_write', {
    labels: [],
    params: { redirectId: readRedirect },
    answer: redirectShape,
  }),
  operation('PUT /manage/redirects/{redirectId}', 'products_write', {
    labels: [],
    params: { redirectId: freshRedirect },
    body: wholeRedirect,
    request: redirectRequest,
    answer: redirectShape,
  }),
  operation('DELETE /manage/redirects/{redirectId}', 'products_write', {
    labels: [],
    status: 204,
    params: { redirectId: freshRedirect },
  }),
  operation('GET /manage/access-requests', 'customers_read', {
    labels: [],
    query: words('page resultsPerPage state'),
    search: async (shop) => {
      await lastingRequest(shop);
      return 'state=waiting';
    },
    answer: paged(accessRequestShape('null')),
  }),
  operation('POST /manage/access-requests/{customerId}/approve', 'customers_write', {
    labels: [],
    params: { customerId: askingCustomer },
    body: async (shop) => ({ customerGroupId: await sweepGroup(shop) }),
    request: 'customerGroupId: string',
    answer: accessRequestShape('string'),
  }),
  operation('POST /manage/access-requests/{customerId}/decline', 'customers_write', {
    labels: [],
    params: { customerId: askingCustomer },
    answer: accessRequestShape('string'),
  }),
  operation('GET /manage/price-lists', 'products_read', {
    labels: [],
    search: async (shop) => {
      await filledPriceList(shop);
      return '';
    },
    answer: shape(
      'items: array',
      under(
        'items[]',
        shape(
          'priceListId: string\nkey: string\nname: string\nactive: boolean\ncustomerGroups: array\ncustomerGroups[]: string\nfrom: string\nto: string\nproducts: integer',
        ),
      ),
    ),
  }),
  operation('GET /manage/price-lists/{priceListId}/prices', 'products_write', {
    labels: [],
    largestPage: 500,
    query: words('page resultsPerPage'),
    params: { priceListId: filledPriceList },
    answer: paged(
      shape(
        'productId: string\nproductNumber: string\nprices: array',
        under('prices[]', shape('currency: string\nquantity: string\nprice: number')),
      ),
    ),
  }),
  operation('PATCH /manage/price-lists/{priceListId}/prices', 'products_write', {
    labels: [],
    params: { priceListId: priceList },
    body: async (shop) => ({
      prices: [{ productNumber: await listedNumber(shop), currency: 'EUR', quantity: 10, price: 6.5 }],
    }),
    request: shape(
      'prices: array',
      under(
        'prices[]',
        shape(
          'productNumber: string\ncurrency?: string|null\nquantity?: number|string|null\nprice: number|string|null',
        ),
      ),
    ),
    answer: shape('changed: integer'),
  }),
  operation('DELETE /manage/price-lists/{priceListId}/prices', 'products_write', {
    labels: [],
    status: 204,
    params: { priceListId: emptiedPriceList },
  }),
  operation('GET /manage/missed-addresses', 'products_write', {
    labels: [],
    search: async (shop) => {
      await missedAddress(shop, '/old/teapot.html');
      return '';
    },
    largestPage: 500,
    query: words('page resultsPerPage'),
    answer: paged('address: string\nhits: integer\nlastDay: string\nreferrers: array\nreferrers[]: string'),
  }),
  operation('POST /manage/missed-addresses/dismiss', 'products_write', {
    labels: [],
    status: 204,
    body: async (shop) => {
      await missedAddress(shop, '/old/dismissed.html');
      return { address: '/old/dismissed.html' };
    },
    request: 'address: string',
  }),
  operation('GET /manage/mailings', 'newsletters_read', {
    labels: [],
    query: words('page resultsPerPage'),
    search: async (shop) => {
      await readDraft(shop);
      return '';
    },
    answer: paged(shape(mailingFacts, array('texts', 'locale: string\nsubject: string'))),
  }),
  operation('POST /manage/mailings', ['newsletters_read', 'coupons_write'], {
    labels: [],
    status: 201,
    body: wholeMailing,
    request: mailingRequest,
    answer: mailingShape,
  }),
  operation('GET /manage/mailings/{mailingId}', 'newsletters_read', {
    labels: [],
    params: { mailingId: readDraft },
    answer: mailingShape,
  }),
  operation('PUT /manage/mailings/{mailingId}', ['newsletters_read', 'coupons_write'], {
    labels: [],
    params: { mailingId: insertDraft },
    body: wholeMailing,
    request: mailingRequest,
    answer: mailingShape,
  }),
  operation('PUT /manage/mailings/{mailingId}/state', ['newsletters_read', 'coupons_write'], {
    labels: [],
    params: { mailingId: insertScheduled },
    // A shop whose pages are not public can take one back, and schedule none.
    body: () => ({ state: 'draft', sendAt: null }),
    request: 'state: string\nsendAt?: string|null',
    answer: mailingShape,
  }),
  operation('DELETE /manage/mailings/{mailingId}', ['newsletters_read', 'coupons_write'], {
    labels: [],
    status: 204,
    params: { mailingId: insertDraft },
  }),
  operation('POST /manage/newsletter-bounces', ['newsletters_read', 'customers_write'], {
    labels: [],
    status: 204,
    body: () => ({ items: [{ email: 'ada@pelican.example', type: 'bounced' }] }),
    request: array('items', 'email: string\ntype: string'),
  }),
  operation('GET /manage/pages', ['legal_read', 'legal_write'], {
    labels: [],
    query: words('page resultsPerPage kind'),
    search: async (shop) => {
      await readOwnPage(shop);
      return '';
    },
    answer: paged(
      shape(ownPageFacts, array('texts', 'locale: string\ntitle: string|null\nslug: string|null')),
    ),
  }),
  operation('POST /manage/pages', 'legal_write', {
    labels: [],
    status: 201,
    body: wholeOwnPage,
    request: ownPageRequest,
    answer: ownPageShape,
  }),
  operation('GET /manage/pages/{pageId}', ['legal_read', 'legal_write'], {
    labels: [],
    params: { pageId: readOwnPage },
    answer: ownPageShape,
  }),
  operation('PUT /manage/pages/{pageId}', 'legal_write', {
    labels: [],
    params: { pageId: insertOwnPage },
    body: wholeOwnPage,
    request: ownPageRequest,
    answer: ownPageShape,
  }),
  operation('PUT /manage/pages/{pageId}/preview', 'legal_write', {
    labels: [],
    secret: true,
    params: { pageId: insertOwnPage },
    body: wholeOwnPage,
    request: ownPageRequest,
    answer: 'path: string',
  }),
  operation('DELETE /manage/pages/{pageId}', 'legal_write', {
    labels: [],
    status: 204,
    params: { pageId: insertOwnPage },
  }),
  operation('GET /manage/domains', 'orders_read', {
    labels: [],
    // The demo shop has none: one that was in use and has to be proved again.
    search: async ({ service: { db }, shopId }) => {
      const host = `${shopId.toLowerCase()}.example`;
      await db.run(sql`
        insert into pending_domain (shop_id, host, position, added_at) values (${shopId}, ${host}, 0, ${db.now})
        on conflict (shop_id, host) do nothing`);
      await db.run(sql`
        insert into domain_status (shop_id, host, due_at, checked_at, routing, addresses, certificate, issuer, valid_until,
          names)
        values (${shopId}, ${host}, ${db.now}, ${db.now}, 'here', '{203.0.113.5}', 'valid', 'An authority', ${db.now},
          ${[host]})
        on conflict (shop_id, host) do nothing`);
      return '';
    },
    answer: array(
      'items',
      sparse(
        shape(
          'host: string\nused: boolean\ndone: boolean\ncheckedAt: string|null',
          'addresses: array\naddresses[]: string',
          object(
            'certificate',
            'issuer: string\nvalidUntil: string\nnames: array\nnames[]: string',
            'object|null',
          ),
          array(
            'steps',
            shape(
              'step: string\nstate: string\nreason: string',
              array('choices', array('records', 'type: string\nname: string\nvalue: string')),
            ),
          ),
        ),
      ),
    ),
  }),
  operation('GET /manage/clock', 'orders_read', { labels: [], answer: clockShape, momentary: true }),
  operation('POST /manage/clock', 'orders_write', {
    labels: [],
    body: async (shop) => {
      await makeSandbox(shop);
      return { advance: '1s' };
    },
    request: 'advance: string',
    answer: clockShape,
  }),
  operation('GET /manage/sandbox-emails', ['orders_read', 'customers_read'], {
    labels: [],
    search: async (shop) => {
      await keepEmail(shop);
      return '';
    },
    answer: array(
      'items',
      shape(
        'emailId: string\nat: string\nkind: string\nto: string\nsubject: string\ntext: string\nattachments: array',
        'attachments[]: string',
      ),
    ),
  }),
  operation('GET /manage/readiness', 'orders_read', {
    labels: [],
    answer: shape(
      'ready: boolean\nopen: boolean',
      array(
        'steps',
        sparse(
          shape(
            'key: string\nrequired: boolean\ndone: boolean\nreason: string',
            array('missing', 'field: string\nhref: string'),
            'href: string',
          ),
        ),
      ),
    ),
  }),
  operation('GET /manage/audit', 'orders_write', {
    labels: [],
    query: words('page resultsPerPage createdAfter createdBefore appId method'),
    search: ownEntries,
    answer: paged(auditEntry),
  }),

  operation('GET /products', 'products_read', {
    query: words(
      'locale currency page resultsPerPage direction sort q categoryId id includeInvisible field includeFields',
    ),
    answer: paged(productShape('list')),
  }),
  operation('POST /products', 'products_write', {
    query: ['locale', 'currency'],
    status: 201,
    body: () => ({
      productNumber: freeNumber(),
      name: 'Tide Clock',
      shortDescription: 'Shows when the sea comes back.',
      description: '<p>Brass, with one hand.</p>',
      manufacturer: 'Lantern Point',
      price: 89.5,
      essentialFeatures: 'one hand',
      upc: '012345678905',
      ean: '4012345678901',
      deliveryPeriod: '3-5',
      searchKeywords: ['tide', 'clock'],
      visible: true,
      taxClassId: '',
      stocklevel: 12,
      depositPrice: 0.25,
      manufacturerPrice: 99,
      deliveryWeight: { amount: 640, unit: 'g' },
    }),
    request: shape(
      `productNumber?: string|null
      name?: string|null
      shortDescription?: string|null
      description?: string|null
      manufacturer?: string|null
      price?: number|string|null
      essentialFeatures?: string|null
      upc?: string|null
      ean?: string|null
      deliveryPeriod?: string|null
      searchKeywords?: array|null
      searchKeywords[]: string
      visible?: boolean|null
      taxClassId?: string|null
      stocklevel?: number|string|null
      depositPrice?: number|string|null
      manufacturerPrice?: number|string|null
      deliveryWeight?: object|null
      deliveryWeight.amount: number|string
      deliveryWeight.unit: string`,
    ),
    answer: productShape('full'),
  }),
  operation('GET /products/{productId}', 'products_read', {
    query: ['locale', 'currency', 'includeFields'],
    params: { productId: lastingProduct },
    answer: productShape('full'),
  }),
  operation('PATCH /products/{productId}', 'products_write', {
    query: ['locale', 'currency'],
    params: { productId: product },
    body: () => [
      { op: 'add', path: '/name', value: 'Tide Clock' },
      { op: 'add', path: '/priceInfo/price/amount', value: 79.5 },
      { op: 'replace', path: '/stocklevel', value: 4 },
      { op: 'add', path: '/visible', value: true },
    ],
    request: PATCH_REQUEST,
    patch: {
      '/name': 'value: string|null',
      '/priceInfo/price/amount': 'value: number|string|null',
      '/stocklevel': 'value: number|string|null',
      '/visible': 'value: boolean',
    },
    answer: productShape('full'),
  }),
  operation('DELETE /products/{productId}', 'products_write', {
    status: 204,
    params: { productId: product },
  }),
  operation('PATCH /manage/products/{productId}', 'products_write', {
    labels: [],
    query: ['currency'],
    params: { productId: product },
    body: async (shop) => ({
      specialOffer: true,
      isProductNumberVisible: false,
      ecoParticipationPrice: 0.5,
      shippingSurcharge: 25,
      giftCard: { minimum: 10, maximum: 100 },
      durabilityGuarantee: {
        years: 5,
        brand: 'Beacon',
        model: 'K 17',
        guarantor: 'Beacon GmbH',
        address: 'Kai 4, 20457 Hamburg, Germany',
        termsUrl: 'https://shop.example/guarantee',
      },
      environmentalClaims: [
        { locale: 'en_GB', claim: 'Recycled steel', source: 'https://shop.example/report' },
      ],
      repairability: '7.9',
      softwareUpdates: '5',
      eprelNumber: '1234567',
      hsCode: '851610',
      originCountry: 'DE',
      productPassport: 'https://shop.example/passport',
      energyLabel: { classes: 'B,D', best: 'A', file: 'https://shop.example/labels/AP-110.png' },
      backorder: { kind: 'preorder', limit: 50, expectedOn: '2027-03-01' },
      forSaleFrom: '2026-01-01T00:00:00Z',
      forSaleUntil: '2027-01-31T00:00:00Z',
      patches: [
        {
          locale: 'de_DE',
          currency: 'EUR',
          operations: [{ op: 'add', path: '/manufacturer', value: 'Beacon' }],
        },
      ],
      categoryIds: [await lastingCategory(shop)],
    }),
    request: shape(
      `specialOffer?: boolean
      isProductNumberVisible?: boolean
      ecoParticipationPrice?: number|string|null
      shippingSurcharge?: number|string|null
      durabilityGuarantee?: object|null
      durabilityGuarantee.years: number
      durabilityGuarantee.brand: string
      durabilityGuarantee.model: string
      durabilityGuarantee.guarantor: string
      durabilityGuarantee.address: string
      durabilityGuarantee.termsUrl: string
      environmentalClaims?: array|null
      environmentalClaims[].locale: string
      environmentalClaims[].claim: string
      environmentalClaims[].source: string
      repairability?: string|null
      softwareUpdates?: string|null
      eprelNumber?: string|null
      hsCode?: string|null
      originCountry?: string|null
      productPassport?: string|null
      energyLabel?: object|null
      energyLabel.classes: string
      energyLabel.best: string
      energyLabel.file: string
      giftCard?: object|null
      giftCard.minimum: number|string
      giftCard.maximum: number|string
      parts?: array|null
      parts[].productId: string
      parts[].quantity: integer
      partsDiscount?: number|string|null
      backorder?: object|null
      backorder.kind: string
      backorder.limit: integer
      backorder.expectedOn?: string|null
      forSaleFrom?: string|null
      forSaleUntil?: string|null
      patches?: array|null
      patches[].locale: string
      patches[].currency: string
      patches[].operations: array
      patches[].operations[].op: string
      patches[].operations[].path: string
      patches[].operations[].value?: string|number|boolean|object|array|null
      categoryIds?: array|null
      categoryIds[]: string`,
    ),
    answer: productShape('full'),
  }),
  operation('GET /manage/products/{productId}/picture-texts', 'products_write', {
    labels: [],
    params: { productId: picturedProduct },
    answer: sparse(pictureTexts),
  }),
  operation('PUT /manage/products/{productId}/picture-texts', 'products_write', {
    labels: [],
    params: { productId: picturedProduct },
    body: async (shop) => {
      const [name] = await imageSequence(shop);
      return { items: [{ name, locale: 'en_GB', text: 'A lamp on a desk' }] };
    },
    request: pictureTexts,
    answer: sparse(pictureTexts),
  }),
  operation('POST /manage/products/{productId}/copies', 'products_write', {
    labels: [],
    status: 201,
    params: { productId: product },
    answer: productShape('full'),
  }),
  operation('POST /products/find', 'products_read', {
    labels: ['Now'],
    writes: false,
    body: () => ({ productNumber: 'AP-100' }),
    request: 'productNumber: string',
    answer: sparse(paged(productShape('list'))),
  }),
  operation('GET /products/updated/{productProperty}', 'products_write', {
    query: words('locale currency changedAfter page resultsPerPage'),
    params: { productProperty: () => 'stocklevel' },
    answer: sparse(paged(shape('item: object', under('item', productShape('list')), 'lastUpdated: string'))),
  }),
  operation('GET /products/export', 'products_read_batch', { query: ['locale'], csv: true }),
  operation('GET /products/{productId}/crossselling', 'products_read', {
    labels: ['Now'],
    query: words('locale currency includeInvisible'),
    params: { productId: lastingProduct },
    answer: crossselling,
  }),
  operation('PUT /products/{productId}/crossselling', 'products_write', {
    labels: ['Now'],
    params: { productId: product },
    body: async (shop) => [await product(shop)],
    request: '[]: string',
    answer: crossselling,
  }),
  operation('PATCH /products/{productId}/crossselling', 'products_write', {
    labels: ['Now'],
    params: { productId: product },
    body: async (shop) => [{ op: 'add', path: '/', value: await product(shop) }],
    request: PATCH_REQUEST,
    patch: { '/': 'value: string|null' },
    answer: crossselling,
  }),
  operation('GET /products/{productId}/custom-attributes', 'products_read', {
    query: ['locale'],
    params: { productId: lastingProduct },
    answer: customAttributes,
  }),
  operation('PATCH /products/{productId}/custom-attributes', 'products_write', {
    labels: ['Now'],
    query: ['locale'],
    params: { productId: product },
    body: () => [{ op: 'add', path: '/', value: { key: 'Wood', displayValue: 'Oak' } }],
    request: PATCH_REQUEST,
    patch: {
      '/': 'value: object\nvalue.key: string\nvalue.displayValue: string|number|boolean',
    },
    answer: customAttributes,
  }),
  operation('GET /products/{productId}/lowest-price', 'products_read', {
    labels: ['Base'],
    query: ['locale', 'currency'],
    params: { productId: lastingMaster },
    answer: shape(
      'priceInfo: object\npriceInfo.price: object',
      under('priceInfo.price', price),
      'priceInfo.quantity: object',
      under('priceInfo.quantity', quantity),
      'bulkPriceInfo~: array',
      under('bulkPriceInfo[]', bulkPrice),
      'customerSpecificPriceInfo~: array',
      under('customerSpecificPriceInfo[]', groupPrice),
      links,
    ),
  }),
  operation('GET /products/{productId}/slideshow', 'products_read', {
    params: { productId: picturedProduct },
    answer: shape('items: array', under('items[]', imageInfo)),
  }),
  operation('POST /products/{productId}/slideshow', 'products_write', {
    status: 201,
    params: { productId: product },
    body: (): Part[] => [{ filename: 'lamp.png', content: PNG }],
    multipart: true,
    request: 'image: string',
    answer: imageInfo,
  }),
  operation('DELETE /products/{productId}/slideshow/{imageName}', 'products_write', {
    status: 204,
    params: {
      productId: picturedProduct,
      imageName: async (shop) => givenImage(shop, await picturedProduct(shop), `${freeNumber()}.png`),
    },
  }),
  operation('GET /products/{productId}/slideshow/sequence', 'products_read', {
    params: { productId: picturedProduct },
    answer: '[]: string',
  }),
  operation('PUT /products/{productId}/slideshow/sequence', 'products_write', {
    params: { productId: picturedProduct },
    body: async (shop) => (await imageSequence(shop)).toReversed(),
    request: '[]?: string',
    answer: '[]: string',
  }),
  operation('GET /products/{productId}/variations', 'products_read', {
    labels: ['Base'],
    query: ['locale', ...PAGING, 'includeFields'],
    largestPage: 1_000,
    params: { productId: lastingMaster },
    answer: variationList,
  }),
  operation('POST /products/{productId}/variations', 'products_write', {
    labels: ['Now'],
    status: 204,
    params: { productId: product },
    body: () => ({
      productType: 'Default',
      visibleAfterCreation: true,
      variationAttributes: [
        { name: 'Size', defaultForExistingProducts: 'S', values: [{ value: 'S' }, { value: 'L' }] },
      ],
    }),
    request: shape(`
      productType: string
      visibleAfterCreation?: boolean|null
      variationAttributes: array
      variationAttributes[].name: string
      variationAttributes[].defaultForExistingProducts?: string|null
      variationAttributes[].values: array
      variationAttributes[].values[].value: string`),
  }),

  operation('POST /products/{productId}/availability-notifications', 'products_write', {
    labels: ['Now'],
    params: { productId: product },
    body: () => ({ email: 'someone@mail.example', locale: 'en_GB' }),
    request: 'email: string\nlocale: string',
  }),
  operation('GET /watched-products', 'products_write', {
    query: ['locale', ...PAGING],
    answer: paged(shape('productId: string\nname: string\nproductNumber: string\nwatchers: integer', links)),
  }),

  operation('GET /legal', 'legal_read', { query: ['locale'], answer: summary }),
  ...legalPages,

  operation('GET /newsletter-campaigns', 'newsletters_read', {
    labels: ['Base'],
    query: PAGING,
    answer: paged(campaign),
  }),
  operation('GET /newsletter-campaigns/{campaignId}/subscribers', 'newsletters_read', {
    labels: ['Base'],
    query: PAGING,
    params: { campaignId },
    answer: paged('email: string\nname: string\nsubscribed: boolean'),
  }),

  operation('POST /search/products', 'products_write', {
    labels: ['Now'],
    writes: false,
    query: ['locale', ...PAGING],
    body: async (shop) => {
      await searchedProduct(shop);
      return {
        query: 'found lamp',
        sortBy: 'RELEVANCE',
        attributeFilters: [
          { fieldName: 'ListPrice', attributeValue: null, attributeRange: { min: 1, max: '500' } },
          { fieldName: 'Manufacturer', attributeValue: 'Finders' },
        ],
      };
    },
    request: shape(`
      query?: string|null
      sortBy?: string|null
      attributeFilters?: array|null
      attributeFilters[].fieldName: string
      attributeFilters[].attributeValue?: string|number|null
      attributeFilters[].attributeRange?: object|null
      attributeFilters[].attributeRange.min?: number|string|null
      attributeFilters[].attributeRange.max?: number|string|null`),
    answer: shape(
      paged(productShape('search')),
      'query: string\nfallbackQuery: string\nfacets: array',
      under('facets[]', facet),
    ),
  }),
  operation('GET /search/product-suggest', 'products_read', {
    labels: ['Base'],
    query: ['locale', 'query', 'limit'],
    search: 'query=lamp',
    // A shop may have no product of that name.
    answer: sparse(
      shape(
        'products: array',
        under(
          'products[]',
          shape(
            'name: string\nimages: array',
            under('images[]', image),
            'link: object\nlink.rel: string\nlink.href: string',
          ),
        ),
      ),
    ),
  }),

  operation('GET /script-tags', 'scripttags_read', {
    labels: ['Now'],
    query: ['myScriptTagsOnly'],
    answer: shape('items: array', under('items[]', scriptTag)),
  }),
  operation('POST /script-tags', 'scripttags_write', {
    labels: ['Now'],
    status: 201,
    body: () => ({ scriptUrl: 'https://cdn.example/hello.js' }),
    request: 'scriptUrl: string\nnecessary?: boolean|null',
    answer: scriptTag,
  }),
  operation('DELETE /script-tags/{scriptTagId}', 'scripttags_write', {
    labels: ['Now'],
    status: 204,
    params: { scriptTagId: ownScriptTag },
  }),

  operation('GET /shipping-methods', 'products_read', { query: ['locale'], answer: list(shippingMethod) }),
  operation('GET /shipping-methods/{shippingMethodId}', 'products_read', {
    query: ['locale'],
    params: { shippingMethodId },
    answer: shippingMethod,
  }),

  operation('GET /tax-classes', 'products_read', { query: ['locale', ...PAGING], answer: taxClasses }),
  operation('GET /tax-classes/{taxClassId}', 'products_read', {
    query: ['locale'],
    params: { taxClassId },
    answer: taxClass,
  }),
  operation('GET /tax-model', 'products_read', { answer: shape(taxModel) }),

  operation('GET /manage/events', 'any token', {
    labels: [],
    query: ['after', 'types', 'limit', 'wait'],
    search: appUninstalled,
    answer: shape(
      array(
        'items',
        shape(`position: integer
        eventType: string
        createdOn: string
        resource: string
        resourceId: string|null
        entityUrl: string|null
        appId: string|null
        data: object`),
      ),
      'next: integer',
    ),
  }),

  operation('GET /manage/app/calls', 'any token', { labels: [], answer: shape('items: array') }),
  operation('GET /manage/app/payments/{paymentId}', 'any token', {
    labels: [],
    params: { paymentId: lastingPayment },
    answer: appPaymentAnswer,
  }),
  operation('PUT /manage/app/payments/{paymentId}', 'any token', {
    labels: [],
    params: { paymentId: appPayment },
    body: () => ({
      state: 'paid',
      amount: 1,
      currencyId: 'EUR',
      message: 'Batch 4711',
      refunds: [{ reference: 'R-1', refundId: newId(new Date()), amount: 0.3, state: 'done' }],
    }),
    request: shape(`state: string
      amount: number|string
      currencyId: string
      message?: string
      refunds?: array
      refunds[].reference: string
      refunds[].refundId?: string
      refunds[].amount: number|string
      refunds[].state: string`),
    answer: appPaymentAnswer,
  }),
  operation('GET /manage/app/settings', 'any token', { labels: [], answer: shape('settings: object') }),

  operation('GET /webhooks', 'any token', {
    labels: [],
    query: ['page', 'size'],
    search: async (shop) => {
      await lastingWebhook(shop);
      return '';
    },
    answer: shape(
      links,
      array('content', shape('id: string', webhookFields)),
      object('page', 'size: integer\ntotalElements: integer\ntotalPages: integer\nnumber: integer'),
    ),
  }),
  operation('POST /webhooks', 'any token', {
    labels: [],
    status: 201,
    body: newWebhook,
    request: 'callbackUrl: string\neventType: string\nactive?: boolean',
    answer: shape('webhookId: string', webhookFields),
  }),
  operation('GET /webhooks/{webhookId}', 'any token', {
    labels: [],
    params: { webhookId: lastingWebhook },
    answer: shape('webhookId: string', webhookFields),
  }),
  operation('POST /webhooks/{webhookId}', 'any token', {
    labels: [],
    params: { webhookId: webhook },
    body: () => ({ active: 'false' }),
    form: true,
    request: 'active: string|boolean',
    answer: shape('webhookId: string', webhookFields),
  }),
  operation('DELETE /webhooks/{webhookId}', 'any token', {
    labels: [],
    status: 204,
    params: { webhookId: webhook },
  }),
  operation('POST /manage/webhooks', 'any token', {
    labels: [],
    status: 201,
    body: newWebhook,
    request: 'callbackUrl: string\neventType: string\nactive?: boolean\nincludeFields?: boolean',
    answer: shape('webhookId: string', webhookFields, 'includeFields: boolean\nsecret: string'),
  }),
  operation('POST /manage/webhooks/{webhookId}/secret', 'any token', {
    labels: [],
    params: { webhookId: webhook },
    answer: 'secret: string\nformerSecretUntil: string|null',
  }),
  operation('GET /manage/webhooks/{webhookId}/deliveries', 'any token', {
    labels: [],
    query: ['status', 'before', 'limit'],
    params: { webhookId: lastingDeliveredWebhook },
    answer: shape(array('items', webhookDeliveryShape), 'next: integer|null'),
  }),
  operation('POST /manage/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver', 'any token', {
    labels: [],
    params: { webhookId: webhook, deliveryId: webhookDelivery },
    answer: webhookDeliveryShape,
  }),
  operation('POST /manage/webhooks/{webhookId}/replay', 'any token', {
    labels: [],
    params: { webhookId: webhook },
    body: async (shop) => {
      await appUninstalled(shop);
      return { from: 1 };
    },
    request: 'from: integer',
    answer: shape('webhookId: string', webhookFields),
  }),
  operation('POST /manage/webhooks/{webhookId}/test', 'any token', {
    labels: [],
    writes: false,
    params: { webhookId: webhook },
    answer: shape('isDelivered: boolean', webhookAttempt),
  }),

  operation('POST /token', 'public', {
    labels: [],
    secret: true,
    body: installation,
    form: true,
    request: 'code: string\nclient_id: string\nclient_secret: string',
    answer: 'access_token: string',
  }),
];

/** The paths, each with its methods in the order of the Allow header. */
export function methodsByPath(): Map<string, string[]> {
  const order = ['HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  const found = new Map<string, string[]>();
  for (const { method, path } of OPERATIONS) {
    const methods = [...(found.get(path) ?? []), method, ...(method === 'GET' ? ['HEAD'] : [])];
    found.set(
      path,
      methods.toSorted((left, right) => order.indexOf(left) - order.indexOf(right)),
    );
  }
  return found;
}

export interface ValidCall {
  method: string;
  /** For `service.call`, without the query. */
  path: string;
  params: Params;
  /** `?locale=en_GB`, or nothing. */
  search: string;
  options: CallOptions;
}

function placeOf(shopId: string, path: string): string {
  return path.startsWith('/manage/')
    ? path.replace('/manage/', `/manage/shops/${shopId}/`)
    : `/${shopId}${path}`;
}

/** A call that succeeds in this shop; with `idsFrom`, one that names another shop's things. */
export async function validCall(
  { method, path, cartToken, search, params, body, form, multipart }: Operation,
  shop: Shop,
  idsFrom: Shop = shop,
): Promise<ValidCall> {
  const given: Record<string, string> = {};
  for (const [name, fact] of Object.entries(params)) given[name] = await fact(idsFrom, given);
  const sent = await body?.(shop);
  const needed = typeof search === 'string' ? search : await search(shop);
  return {
    method,
    path: placeOf(shop.shopId, path).replaceAll(/\{(\w+)\}/g, (_hole, name: string) => given[name]!),
    params: given,
    search: needed === '' ? '' : `?${needed}`,
    options: {
      token: shop.token,
      ...(cartToken ? { cartToken: cartOf(given['cartId']!).token } : {}),
      ...(sent === undefined
        ? {}
        : multipart
          ? formOf(...(sent as Part[]))
          : form
            ? {
                body: new URLSearchParams(sent as Record<string, string>).toString(),
                headers: { 'content-type': 'application/x-www-form-urlencoded' },
              }
            : { body: sent }),
    },
  };
}

export interface ShapeLine {
  /** `items[].name` */
  path: string;
  types: string[];
  optional: boolean;
  /** An answer may do without what is below it: null, or an empty list. */
  rare: boolean;
}

const RECORDS = /^\.?(?:fields|(?:items\[\]\.)?(?:name|choices\[\]\.label))$/;

export function shapeLines(text: string): ShapeLine[] {
  return text.split('\n').map((line) => {
    const [, path, mark, rare, types] = /^(.+?)(\??)(~?): ([a-z|]+)$/.exec(line)!;
    return { path: path!, types: types!.split('|'), optional: mark === '?', rare: rare === '~' };
  });
}

/** The JSON types of a value: a whole number is an integer and a number. */
export function typesOf(value: unknown): string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return [typeof value];
}

/**
 * What is wrong with an answer: keys that the shape does not list, other types, missing keys, another order. A
 * path that never occurs is a problem too, so that nothing passes because a list was empty.
 */
export function shapeProblems(answer: unknown, text: string): string[] {
  const lines = shapeLines(text);
  const problems: string[] = [];
  const seen = new Set<string>();
  const findChildren = (place: string) =>
    lines.flatMap((line) => {
      const key = line.path.startsWith(place) ? line.path.slice(place.length).replace(/^\./, '') : '';
      return /^[^.[\]]+$/.test(key) && (place === '' || line.path[place.length] === '.')
        ? [{ ...line, key }]
        : [];
    });
  // The entries of a list have the same.
  const children = new Map<string, ReturnType<typeof findChildren>>();
  const childrenOf = (place: string) => {
    if (!children.has(place)) children.set(place, findChildren(place));
    return children.get(place)!;
  };

  const visit = (value: unknown, place: string): void => {
    seen.add(place);
    if (Array.isArray(value)) {
      const entry = lines.find(({ path }) => path === `${place}[]`);
      for (const one of value) {
        if (!typesOf(one).some((type) => (entry?.types ?? ['object']).includes(type))) {
          problems.push(`${place}[] is ${typesOf(one)[0]}`);
        } else visit(one, `${place}[]`);
      }
    } else if (typeof value === 'object' && value !== null) {
      const known = childrenOf(place);
      // A record has any keys: the locales of a text, the names of custom fields.
      if (known.length === 0 && RECORDS.test(place)) return;
      const order = known.filter(({ key }) => key in value).map(({ key }) => key);
      const found = Object.keys(value);
      const unknown = found.filter((key) => !order.includes(key));
      problems.push(...unknown.map((key) => `${place}.${key} is not in the contract`));
      if (unknown.length === 0 && found.join() !== order.join()) {
        problems.push(`${place} has the order ${found.join()}`);
      }
      for (const { key, path, types, optional } of known) {
        const inner = (value as Record<string, unknown>)[key];
        if (!(key in value)) {
          if (!optional) problems.push(`${path} is missing`);
        } else if (typesOf(inner).some((type) => types.includes(type))) visit(inner, path);
        else problems.push(`${path} is ${typesOf(inner)[0]}, not ${types.join('|')}`);
      }
    }
  };

  if (Array.isArray(answer) !== text.startsWith('[]')) problems.push('the answer is a list or an object');
  visit(answer, '');
  const rare = lines.filter((line) => line.rare).map(({ path }) => path);
  const isBelowRare = (path: string) =>
    rare.some((one) => path.startsWith(one) && /^[.[]/.test(path.slice(one.length)));
  const never = lines.filter(({ path, optional }) => !optional && !seen.has(path) && !isBelowRare(path));
  problems.push(...never.map(({ path }) => `${path} never occurs`));
  return [...new Set(problems)];
}
