import { toDecimal } from '../kernel/money.ts';

/**
 * The catalogue of refusals: the stable code of each, its status, its message and the field it is about. The codes and
 * the messages are part of the API, and never change; the page /docs/errors lists them.
 */
export interface RefusalEntry {
  status: number;
  /** English. Placeholders are in braces. */
  message: string;
  field?: string;
}

/** Refusals that only clients of the API meet: of addresses, headers, tokens and the form of a body. */
export const API_REFUSALS = {
  ADDRESS_MALFORMED: { status: 400, message: 'The address is not well formed' },
  ADDRESS_WITH_NUL: { status: 400, message: 'The address holds a NUL character' },
  HOST_MALFORMED: { status: 400, message: 'The Host header is not a host name' },
  CONTENT_TYPE_NOT_ACCEPTED: {
    status: 400,
    message: 'The body must have one of these Content-Types: {types}',
  },
  CONTENT_LENGTH_WRONG: { status: 400, message: 'The Content-Length does not fit the body' },
  BODY_NOT_UTF8: { status: 400, message: 'The body is not UTF-8' },
  BODY_NOT_UNICODE: { status: 400, message: 'The body holds text that is not valid Unicode' },
  BODY_NOT_JSON: { status: 400, message: 'The body is not valid JSON: {reason}' },
  BODY_TOO_DEEP: { status: 400, message: 'The body is nested more than {limit} levels deep' },
  BODY_WITH_TOO_MANY_FIELDS: { status: 400, message: 'The body holds more than {limit} fields' },
  BODY_WITH_TOO_MANY_VALUES: { status: 400, message: 'The body holds more than {limit} values' },
  IDEMPOTENCY_KEY_MALFORMED: {
    status: 400,
    message: 'Idempotency-Key must be 1 to 255 visible ASCII characters',
    field: 'Idempotency-Key',
  },
  LOCALE_INCOMPLETE: { status: 400, message: 'expected full locale for example en_US', field: 'locale' },
  INSTALL_CODE_WRONG: {
    status: 400,
    message: 'The code is wrong, was used before, or is older than ten minutes',
    field: 'code',
  },
  WEBHOOK_SIGNATURE_WRONG: { status: 400, message: 'The signature of the webhook is missing or wrong' },
  WEBHOOK_ADDRESS_REFUSED: { status: 400, message: 'callbackUrl {problem}', field: 'callbackUrl' },
  TOKEN_NEEDED: { status: 401, message: 'A token is needed', field: 'Authorization' },
  TOKEN_MALFORMED: {
    status: 401,
    message: 'The Authorization header is not a bearer token',
    field: 'Authorization',
  },
  TOKEN_UNKNOWN: { status: 401, message: 'The token is unknown in this shop', field: 'Authorization' },
  HOST_TOKEN_UNKNOWN: { status: 401, message: 'The token is no token of the host', field: 'Authorization' },
  TOKEN_EXPIRED: { status: 401, message: 'The token has expired', field: 'Authorization' },
  TOKEN_FROM_OTHER_ADDRESS: {
    status: 401,
    message: 'The token is not valid for calls from this address',
    field: 'Authorization',
  },
  METRICS_TOKEN_NEEDED: {
    status: 401,
    message: 'The metrics need the token METRICS_TOKEN',
    field: 'Authorization',
  },
  CART_TOKEN_WRONG: {
    status: 403,
    message: 'Missing or wrong cart token, send it in the header X-ePages-Cart-Token',
    field: 'X-ePages-Cart-Token',
  },
  CLIENT_SECRET_WRONG: { status: 403, message: 'Wrong client_id or client_secret', field: 'client_secret' },
  SCRIPT_TAG_OF_OTHER_APP: { status: 403, message: 'This script tag belongs to another app' },
  SHOP_SUSPENDED: { status: 403, message: 'This shop is suspended' },
  PATH_NOT_FOUND: { status: 404, message: 'HTTP 404 Not Found' },
  SHOP_NOT_FOUND: { status: 404, message: 'HTTP 404 Not Found', field: 'shopId' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'HTTP 405 Method Not Allowed, allowed here: {methods}' },
  NOT_ACCEPTABLE: {
    status: 406,
    message: "The Accept header can't be met, send one of: {types}",
    field: 'Accept',
  },
  TOO_MANY_WEBHOOKS: { status: 409, message: 'A shop has at most {limit} webhooks, delete one first' },
  EVENTS_GONE: {
    status: 410,
    message: 'The events after {position} are gone; the oldest position is {oldest}',
    field: 'after',
  },
  ETAG_CHANGED: {
    status: 412,
    message: 'It has changed: its ETag is none of those in the If-Match header',
    field: 'If-Match',
  },
  SHOP_ID_TAKEN: { status: 409, message: 'There is a shop of this id already', field: 'shopId' },
  SHOP_SETTINGS_INVALID: { status: 400, message: 'The settings are not valid: {problem}', field: 'settings' },
  DOMAIN_REFUSED: { status: 409, message: 'The shop can not have this domain: {problem}', field: 'domain' },
  TOO_MANY_DOMAINS: { status: 409, message: 'A shop has at most {limit} domains', field: 'domain' },
  OWNER_EXISTS: { status: 409, message: 'This person works in the shop already', field: 'email' },
  LAST_OWNER: {
    status: 409,
    message: 'A shop keeps an owner who has signed in, invite another one first',
    field: 'ownerId',
  },
  TOO_MANY_PEOPLE: { status: 409, message: 'At most {limit} people work in a shop' },
  SUPPORT_NOT_GRANTED: {
    status: 403,
    message:
      'The shop has no open support access: ask its owner to grant it in the admin, under Settings, Staff, Support access',
  },
  PERSON_NOT_IN_SHOP: {
    status: 404,
    message: 'No person with this address works in the shop',
    field: 'email',
  },
  PERSON_RUNS_INSTALLATION: {
    status: 403,
    message: 'This person runs the installation, and signs in without the host',
    field: 'email',
  },
  INVITATION_NOT_ACCEPTED: {
    status: 409,
    message: 'This person has not accepted the invitation yet, which is in an email',
    field: 'email',
  },
  TOO_MANY_UPLOADS: {
    status: 409,
    message: 'At most {limit} backups are sent at a time: restore those that wait, or try again in two days',
  },
  BACKUPS_OFF: { status: 409, message: 'This installation stores no backups: BACKUP_URL is not set' },
  BACKUPS_UNAVAILABLE: { status: 503, message: 'Backups can not be reached at the moment, try again' },
  PLAN_UNKNOWN: { status: 400, message: 'There is no plan {plan}, the plans are: {plans}', field: 'plan' },
  TOO_MANY_EVENT_READERS: { status: 429, message: 'Too many readers wait for events, try again in 5 s' },
  TOO_MANY_WEBHOOK_TESTS: { status: 429, message: 'Too many webhooks are being tested, try again in 10 s' },
} as const satisfies Readonly<Record<string, RefusalEntry>>;

/** Refusals that pages of the admin meet too: its messages have words for each of them, in every language. */
export const SHARED_REFUSALS = {
  // Carts and their lines
  CART_TOO_VALUABLE: { status: 400, message: 'The cart would be worth more than can be ordered at once' },
  CART_FULL: { status: 400, message: 'A cart has at most {limit} lines' },
  CART_TEXTS_TOO_LONG: {
    status: 400,
    message: 'The texts of a cart have at most {limit} characters',
    field: 'customText',
  },
  CART_ORDERED: { status: 410, message: 'This cart has become an order', field: 'cartId' },
  CART_CURRENCY_ENDED: { status: 410, message: 'Nothing is sold in the currency of this cart any more' },
  CART_CHANGED: { status: 409, message: 'The cart has changed since it was reviewed' },
  COUPON_UNKNOWN: { status: 400, message: 'There is no coupon with this code', field: 'code' },
  GIFT_CARD_UNKNOWN: { status: 400, message: 'There is no gift card with this code', field: 'code' },
  GIFT_CARD_EXPIRED: { status: 409, message: 'The gift card has expired' },
  GIFT_CARD_BLOCKED: { status: 409, message: 'The gift card is blocked' },
  GIFT_CARD_EMPTY: { status: 409, message: 'Nothing is left on the gift card' },
  GIFT_CARD_CURRENCY: { status: 409, message: 'The gift card is in {currency}, and the cart is not' },
  GIFT_CARDS_FULL: { status: 409, message: 'A cart is paid with at most {limit} gift cards' },
  GIFT_CARD_CHANGED: {
    status: 409,
    message: 'A gift card can no longer pay its part: look at the cart, and order again',
  },
  GIFT_CARD_BALANCE_TOO_LOW: {
    status: 409,
    message: 'No more than {amount} is left on the gift card',
    field: 'amount',
  },
  GIFT_CARD_VALUE_NOT_POSSIBLE: {
    status: 409,
    message: 'The value of {product} is no longer possible: put it into the cart again',
  },
  GIFT_CARD_SPENT: {
    status: 409,
    message: 'A gift card that this order has sold was redeemed: it cannot be revoked',
  },
  PRODUCT_IS_MASTER: {
    status: 400,
    message: '{product} has variations, put one of them into the cart',
    field: 'productId',
  },
  PART_NOT_CHOSEN: {
    status: 400,
    message: '{product} has a part with variations, {part}: name the one that the customer has chosen',
    field: 'choices',
  },
  BUNDLE_IS_VARIATION: {
    status: 409,
    message: 'A product with variations, or a variation, can not be a bundle',
    field: 'parts',
  },
  PART_IS_BUNDLE: { status: 409, message: '{product} is a bundle itself', field: 'parts' },
  BUNDLE_OF_GIFT_CARDS: {
    status: 409,
    message: 'A gift card is neither a bundle nor a part of one',
    field: 'parts',
  },
  BUNDLE_ON_BACKORDER: {
    status: 409,
    message: 'A bundle is sold beyond its stock as its parts are',
    field: 'backorder',
  },
  BUNDLE_IS_PART: { status: 409, message: 'The product is a part of a bundle', field: 'parts' },
  LINE_IS_BUNDLE: {
    status: 409,
    message: '{product} is a bundle, which can not be added to an order',
    field: 'productId',
  },
  PRODUCT_NOT_FOR_SALE: { status: 400, message: '{product} is not for sale', field: 'productId' },
  PRODUCT_SOLD_OUT: { status: 400, message: '{product} is out of stock', field: 'quantity' },
  PRODUCT_LIMIT_REACHED: {
    status: 400,
    message: 'No more than {limit} of {product} can be ordered at once',
    field: 'quantity',
  },
  DELIVERY_OPTION_CHANGED: {
    status: 409,
    message: 'What an app offers for the delivery has changed: look at the cart, and order again',
  },
  DELIVERY_OPTION_OUTDATED: {
    status: 400,
    message:
      'What an app offered for the delivery was for other goods or another address: list the options again, and choose one',
  },
  DELIVERY_NOT_CHOSEN: {
    status: 400,
    message: 'Only apps deliver this cart: list the delivery options, and choose one',
  },
  LINE_PRICE_CHANGED: {
    status: 409,
    message: 'The price that an app gives for an item has changed: look at the cart, and order again',
  },
  APP_TAX_CHANGED: {
    status: 409,
    message: 'A tax that an app gives for this cart has changed: look at the cart, and order again',
  },
  APP_NOT_ANSWERING: { status: 409, message: '{app} does not answer, try again in a moment' },
  CHECKOUT_REFUSED: { status: 409, message: '{reason} ({app})' },
  SHIPPING_METHOD_NOT_POSSIBLE: {
    status: 400,
    message: 'Not all goods of the cart can be delivered by this shipping method',
  },
  SHIPPING_METHOD_ELSEWHERE: {
    status: 400,
    message: 'The chosen shipping method does not deliver to this address, choose another one',
  },

  // Shops of the installation
  SHOP_ID_SIMILAR: {
    status: 409,
    message: 'There is a shop {shop} already, and ids must differ in more than upper and lower case',
    field: 'shopId',
  },
  DEMO_READ_ONLY: {
    status: 403,
    message: 'This is a demo: everybody may look around and buy, and nobody can change anything else',
  },
  SHOP_DELETION_BEGUN: { status: 409, message: 'The deletion of this shop has begun' },

  // Limits of plans
  PLAN_PRODUCTS_REACHED: {
    status: 402,
    message:
      'The plan {plan} of this shop has room for {limit} products, ask the operator of this installation for a larger one',
  },
  PLAN_ORDERS_REACHED: {
    status: 402,
    message:
      'The plan {plan} of this shop has room for {limit} orders a month, ask the operator of this installation for a larger one',
  },
  PLAN_MEDIA_REACHED: {
    status: 402,
    message:
      'The plan {plan} of this shop has room for {limit} MB of images, delete some or ask the operator of this installation for a larger one',
  },
  PLAN_PEOPLE_REACHED: {
    status: 402,
    message:
      'The plan {plan} of this shop has room for {limit} people, ask the operator of this installation for a larger one',
  },
  PLAN_LANGUAGES_REACHED: {
    status: 402,
    message:
      'The plan {plan} of this shop has room for {limit} languages, ask the operator of this installation for a larger one',
  },
  PLAN_FEATURE_MISSING: {
    status: 402,
    message:
      'The plan {plan} of this shop does not include {feature}, ask the operator of this installation for a larger one',
  },

  // Redirects
  REDIRECT_SOURCE_INVALID: { status: 400, message: 'This is not an address of a shop', field: 'source' },
  REDIRECT_SOURCE_HAS_PAGE: { status: 400, message: 'The front page cannot be redirected', field: 'source' },
  REDIRECT_SOURCE_TOO_SPECIFIC: {
    status: 400,
    message: 'The address of a redirect has at most {limit} parameters',
    field: 'source',
  },
  REDIRECT_SOURCE_TAKEN: { status: 409, message: 'This address is redirected already', field: 'source' },
  REDIRECT_TARGET_MISSING: { status: 400, message: 'A redirect needs a target', field: 'target' },
  REDIRECT_TARGET_UNKNOWN: { status: 400, message: 'There is no {kind} {target}', field: 'target' },
  REDIRECT_TARGET_INVALID: {
    status: 400,
    message: 'The target is neither a path that begins with / nor an https address',
    field: 'target',
  },
  REDIRECT_LOOP: { status: 400, message: 'The redirect would lead to itself', field: 'target' },
  REDIRECT_CHAIN: {
    status: 400,
    message: 'The redirect would lead to another one, or another one to it',
    field: 'target',
  },
  TOO_MANY_REDIRECTS: { status: 409, message: 'A shop has at most {limit} redirects' },

  // Custom fields
  CUSTOM_FIELD_TAKEN: {
    status: 409,
    message: 'There is a custom field of this namespace and key already',
    field: 'key',
  },
  NAMESPACE_OF_OTHER: {
    status: 403,
    message: 'The namespace {namespace} belongs to another app or to the merchant',
    field: 'namespace',
  },
  CUSTOM_FIELD_READ_ONLY: {
    status: 403,
    message: 'The custom field {field} can be read but not changed here',
  },
  CUSTOM_FIELD_CONTRADICTORY: { status: 400, message: 'The custom field contradicts itself: {problem}' },
  CUSTOM_FIELD_TARGET_UNKNOWN: {
    status: 400,
    message: 'A custom field refers to something that does not exist',
  },
  TOO_MANY_CUSTOM_FIELDS: { status: 409, message: 'Of one kind a shop has at most {limit} custom fields' },
  TOO_MANY_STOREFRONT_FILTERS: {
    status: 409,
    message: 'Shoppers filter by at most {limit} custom fields',
    field: 'isFacet',
  },
  CUSTOM_FIELDS_TOO_LONG: {
    status: 409,
    message: 'The custom fields of one thing hold at most {limit} characters together',
  },
  CUSTOM_FIELDS_OF_ANSWER_TOO_LONG: {
    status: 409,
    message:
      'The custom fields of this answer hold more than {limit} characters together: ask for fewer things',
  },

  // Rules
  RULE_CONTRADICTORY: { status: 400, message: 'The rule contradicts itself: {problem}' },
  TOO_MANY_RULES: { status: 409, message: 'A shop has at most {limit} rules' },
  TOO_MANY_TASKS: { status: 409, message: 'A shop has at most {limit} open tasks' },

  // Sandboxes
  NOT_A_SANDBOX: { status: 409, message: 'The shop is no sandbox' },
  DURATION_MALFORMED: {
    status: 400,
    message: 'A duration is like P15D, PT1H or 15d, and longer than nothing',
    field: 'advance',
  },
  CLOCK_TOO_FAR: {
    status: 409,
    message: 'The clock of a sandbox can be at most ten years ahead',
    field: 'advance',
  },

  // Placing an order
  TAX_FREE_NOT_ALLOWED: {
    status: 403,
    message: 'Without tax only a cart can be ordered that an app with the scope carts_price_write has made',
  },
  BILLING_ADDRESS_MISSING: {
    status: 400,
    message: 'The cart has no billing address, set it with PUT billing-address',
    field: 'billingAddress',
  },
  CURRENCY_ENDED: {
    status: 400,
    message: 'The shop does not sell in {currency} any more, make a new cart',
    field: 'currency',
  },
  MINIMUM_NOT_REACHED: { status: 400, message: 'The cart does not reach the minimum of {minimum}' },
  NO_SHIPPING_METHOD: {
    status: 400,
    message: 'There is no shipping method that all goods of the cart can be delivered by',
  },
  ADDRESS_UNDELIVERABLE: {
    status: 400,
    message: 'Address undeliverable: no shipping method of the shop delivers these goods to this address',
  },
  CUSTOM_TEXT_NOT_POSSIBLE: { status: 409, message: 'The text for {product} is not possible: {problem}' },
  ORDER_LIMIT_EXCEEDED: { status: 409, message: 'No more than {limit} of {product} can be ordered at once' },
  COUPON_USED_UP: {
    status: 409,
    message: 'The coupon is used up, delete it from the cart to order without it',
  },
  PROMOTION_USED_UP: {
    status: 409,
    message: 'A promotion of the cart is used up meanwhile: look at the cart without it, and order again',
  },
  OUT_OF_STOCK: { status: 409, message: 'There is not enough in stock of {products}' },
  ORDER_NOT_NUMBERED: { status: 409, message: 'The order could not be numbered, try again' },
  CUSTOMER_ERASED_MEANWHILE: { status: 409, message: 'The customer was erased in the meantime, try again' },
  CART_CUSTOMER_ERASED: { status: 409, message: 'The customer was erased in the meantime' },

  // Orders
  ORDER_NUMBER_TAKEN: { status: 409, message: 'This orderNumber is taken', field: 'orderNumber' },
  ORDER_EDITED: { status: 409, message: 'The order is being edited' },
  ORDER_EDITED_BY_OTHER: { status: 409, message: 'The order is being edited by another app' },
  ORDER_EDITING_OPEN: { status: 409, message: 'The order is in edit mode: end that first' },
  ORDER_NOT_EDITED: {
    status: 409,
    message: 'The order is not in edit mode, POST to its path .../edit first',
  },
  ORDER_CANCELLED: { status: 409, message: 'The order is cancelled and can not be changed' },
  ORDER_CANCELLED_UNINVOICED: { status: 409, message: 'The order is cancelled' },
  ORDER_NOT_CANCELLABLE: { status: 409, message: 'The order can not be cancelled any more' },
  ORDER_SHIPPED: { status: 409, message: 'All of the order was sent, record a return instead' },
  ORDER_CUSTOMER_ERASED: { status: 409, message: 'The customer of the order was erased' },
  ORDER_INVOICED: { status: 409, message: 'The order is invoiced, credit it first with a credit note' },
  VAT_NUMBER_NOT_CHECKABLE: {
    status: 409,
    message: 'The billing address has no VAT number of another member state, or the shop has none itself',
  },
  VAT_NUMBER_NOT_VALID: { status: 409, message: 'The tax authorities have not confirmed the VAT number' },
  TAX_ALREADY_RIGHT: { status: 409, message: 'The order is taxed as its VAT number demands' },
  ORDER_EMPTY: { status: 409, message: 'The order has no lines' },
  ORDER_TOO_VALUABLE: { status: 400, message: 'The order would be worth more than can be ordered at once' },
  ORDER_FULL: { status: 400, message: 'An order has at most {limit} lines' },
  ORDER_CURRENCY_ENDED: {
    status: 400,
    message: 'The shop does not sell in {currency} any more, name a price',
    field: 'price',
  },
  LAST_LINE: { status: 409, message: 'The last line can not be removed, cancel the order instead' },
  LINE_SHIPPED: { status: 409, message: '{quantity} of this line were sent already', field: 'quantity' },
  LINE_IS_MASTER: {
    status: 400,
    message: '{product} has variations, add one of them',
    field: 'productId',
  },
  LINE_WITHOUT_PRICE: { status: 400, message: '{product} has no price in {currency}', field: 'price' },
  PAYMENT_METHOD_NOT_POSSIBLE: { status: 409, message: 'The order can not be paid with this method' },
  PAYMENT_TOO_HIGH: { status: 400, message: 'No more than {amount} are outstanding', field: 'amount' },
  PAYMENT_REPORT_DIFFERS: { status: 409, message: 'The payment is about {amount}', field: 'amount' },
  PAYMENT_REPORT_OUTDATED: { status: 409, message: 'The payment is {state} already', field: 'state' },
  NOTHING_TO_CAPTURE: { status: 409, message: 'No payment provider has reserved money for the order' },
  REFUND_TOO_HIGH: { status: 409, message: 'No more than {amount} can be refunded', field: 'amount' },
  NOTHING_TO_REFUND: { status: 409, message: 'Nothing is left of the payments that could be refunded' },
  NOTHING_TO_SHIP: { status: 409, message: 'There is nothing left to be sent' },
  GOODS_AWAITED: { status: 409, message: 'Part of the order is not in stock yet' },
  ORDER_UNPAID: {
    status: 409,
    message:
      '{amount} of the order are not paid yet; if they came in another way, record them with POST payments first',
  },
  TOO_MANY_SENT: { status: 409, message: 'Of {product} no more than {quantity} can be sent', field: 'lines' },
  TOO_MANY_RETURNED: {
    status: 409,
    message: 'Of {product} no more than {quantity} can be returned',
    field: 'lines',
  },
  TOO_MANY_WITHDRAWN: {
    status: 409,
    message: 'Of {product} no more than {quantity} can be withdrawn',
    field: 'lines',
  },
  RETURN_STATE_NOT_POSSIBLE: {
    status: 409,
    message: 'A return that is {from} can not become {to}',
    field: 'state',
  },
  RETURN_NOT_REFUNDABLE: {
    status: 409,
    message: 'A return that is {state} can not be refunded',
    field: 'returnId',
  },
  REFUND_BEYOND_RETURN: {
    status: 409,
    message: 'More than the {amount} that are left of the return needs goodwill',
    field: 'amount',
  },
  SHIPMENT_ANNOUNCED: {
    status: 409,
    message: 'The shipment can not be undone any more, the customer has been told of it',
  },
  SHIPMENT_DELIVERED: { status: 409, message: 'The order is delivered, its shipments can not be undone' },
  SHIPMENT_BEING_RETURNED: {
    status: 409,
    message: 'Items of this shipment are being returned, it can not be undone',
  },

  // Invoices and credit notes
  NOTHING_TO_INVOICE: { status: 409, message: 'Nothing is left to invoice' },
  RETURN_NOT_CREDITABLE: {
    status: 409,
    message: 'A return that is {state} can not be credited',
    field: 'returnId',
  },
  RETURN_CREDITED_BY_LINES: {
    status: 400,
    message: 'A credit note of a return is over its items, leave out lines',
    field: 'lines',
  },
  NOTHING_TO_CREDIT: { status: 409, message: 'Nothing is left to credit of invoice {invoice}' },
  TOO_MUCH_INVOICED: {
    status: 409,
    message: 'More than is left to invoice, which is {left}',
    field: 'lines',
  },
  TOO_MUCH_CREDITED: {
    status: 409,
    message: 'More than is left to credit of invoice {invoice}, which is {left}',
    field: 'lines',
  },
  SHIPPING_INVOICED: {
    status: 409,
    message: 'The cost of delivery and payment is not left to invoice',
    field: 'shipping',
  },
  SHIPPING_CREDITED: {
    status: 409,
    message: 'The cost of delivery and payment is not left to credit of invoice {invoice}',
    field: 'shipping',
  },
  SHIPPING_NOT_INVOICED: {
    status: 400,
    message: 'The last invoice of an order must carry the cost of delivery and payment',
    field: 'shipping',
  },
  NO_INVOICE: { status: 409, message: 'The order has no invoice that could be credited' },
  SEVERAL_INVOICES: {
    status: 400,
    message: 'The order has several invoices, name one as invoiceNumber: {invoices}',
    field: 'invoiceNumber',
  },
  SELLER_INCOMPLETE: {
    status: 409,
    message:
      'Invoices and credit notes must name the seller, and the shop lacks {missing}. Set it in the admin: {page}',
  },
  ELECTRONIC_SELLER_INCOMPLETE: {
    status: 400,
    message:
      'Electronic invoices need settings that the shop lacks: {missing}; set them with npx kontor shop apply',
  },

  ELECTRONIC_FORMAT_INCOMPLETE: {
    status: 409,
    message: 'The document does not exist as {format}, because it lacks {missing}',
  },

  TRANSPORT_NOT_SET: {
    status: 409,
    message: 'The shop has no account of a provider that sends electronic documents',
  },

  SHOP_NOT_READY: {
    status: 409,
    message: 'The shop is not ready to open, these steps are missing: {steps}',
  },

  // Customers and coupons
  CUSTOMER_NUMBER_TAKEN: {
    status: 409,
    message: 'This customerNumber is taken',
    field: 'customerNumber',
  },
  CUSTOMER_GROUP_UNKNOWN: {
    status: 409,
    message: 'The shop has no such customer group',
    field: 'customerGroupId',
  },
  ACCESS_DECIDED: { status: 409, message: 'This request was decided already' },
  CUSTOMER_JUST_ORDERED: { status: 409, message: 'The customer has ordered at this moment, try again' },
  CUSTOMER_WITH_OPEN_ORDERS: {
    status: 409,
    message:
      'The customer has orders that are not finished: {orders}. Close or cancel them first, or erase with force',
  },
  CUSTOMER_WITH_MANY_OPEN_ORDERS: {
    status: 409,
    message:
      'The customer has orders that are not finished: {orders} and {more} more. Close or cancel them first, or erase with force',
  },
  PRICE_LIST_STEPS: {
    status: 400,
    message: 'A product has at most {limit} quantities in a price list',
    field: 'prices',
  },
  COUPON_IDENTIFIER_TAKEN: { status: 409, message: 'This identifier is taken', field: 'identifier' },
  COUPON_CODE_TAKEN: { status: 409, message: 'This code belongs to another campaign', field: 'code' },

  // Products and categories
  PRODUCT_NUMBER_TAKEN: { status: 409, message: 'This productNumber is taken', field: 'productNumber' },
  PRODUCT_MASTER_HAS_NO_STOCK: {
    status: 400,
    message: 'A master has no stock of its own, change its variations',
    field: 'stocklevel',
  },
  NOTIFICATION_FOR_MASTER: {
    status: 400,
    message: 'This product is a master and has no stock, name one of its variations',
    field: 'productId',
  },
  VARIATION_WITH_MASTER_TYPE: {
    status: 400,
    message: 'A variation has the product type of its master',
    field: 'productTypeId',
  },
  VARIATION_OF_VARIATION: { status: 400, message: 'A variation can not have variations of its own' },
  VARIATION_NOT_COPIED: { status: 400, message: 'A variation is copied with its master' },
  VARIATION_ATTRIBUTE_FIXED: {
    status: 400,
    message: "{attribute} is what this variation was chosen by, so it can't be changed",
  },
  TOO_MANY_VARIATIONS: { status: 400, message: 'These are more than {limit} combinations' },
  TOO_MANY_MAILINGS: { status: 400, message: 'A shop has at most {limit} mailings, delete an old one first' },
  MAILING_NOT_DRAFT: { status: 409, message: 'Only a draft can be changed' },
  MAILING_UNDER_WAY: { status: 409, message: 'The mailing is under way' },
  MAILING_STATE_NOT_POSSIBLE: {
    status: 409,
    message: 'The mailing can not get this state from its present one',
    field: 'state',
  },
  MAILING_SHOP_NOT_PUBLIC: {
    status: 409,
    message: 'Nobody could read the pages of the shop or unsubscribe there, because they are not public',
  },
  EMAILS_FROZEN: { status: 409, message: 'The operator of the service has stopped the emails of this shop' },
  TOO_MANY_HOST_MESSAGES: {
    status: 409,
    message: 'There are {limit} messages already, delete an old one first',
  },
  TOO_MANY_PAGES: { status: 400, message: 'A shop has at most {limit} pages of its own' },
  PAGE_SLUG_TAKEN: {
    status: 409,
    message: 'Another page has this slug in the same language',
    field: 'slug',
  },
  PAGE_PLACE_TAKEN: {
    status: 409,
    message: 'The shop has a front page, or the category a top, already',
    field: 'kind',
  },
  PAGE_TOO_LONG: {
    status: 400,
    message: 'The blocks of a page have at most {limit} characters in one language',
    field: 'blocks',
  },
  PAGE_WITH_TOO_MANY_PICTURES: {
    status: 400,
    message: 'A page has at most {limit} pictures in one language',
    field: 'blocks',
  },
  PAGE_WITH_TOO_MANY_LISTS: {
    status: 400,
    message: 'A page has at most {limit} lists of products in one language',
    field: 'blocks',
  },
  TOO_MANY_SEGMENTS: { status: 400, message: 'A shop has at most {limit} customer segments' },
  SEGMENT_NAME_TAKEN: { status: 409, message: 'A segment of this name exists', field: 'name' },
  TOO_MANY_TAGS: { status: 400, message: 'A customer has at most {limit} tags', field: 'add' },
  TOO_MANY_NOTES: { status: 400, message: 'A customer has at most {limit} notes' },
  TOO_MANY_COPIED: { status: 400, message: 'At most {limit} variations' },
  COMBINATION_TOO_LONG: { status: 400, message: 'The names and values of a combination are too long' },
  ATTRIBUTE_TWICE: { status: 400, message: 'An attribute is named twice' },
  TOO_MANY_ATTRIBUTES: { status: 400, message: 'At most {limit} attributes' },
  TOO_MANY_CROSS_SELLINGS: { status: 400, message: 'At most {limit} products' },
  PRODUCT_TYPE_USED: { status: 409, message: 'The product {product} uses what is to be removed' },
  CATEGORY_ALIAS_TAKEN: { status: 409, message: 'This alias is taken', field: 'alias' },
  ROOT_CATEGORY_ALIAS: {
    status: 409,
    message: 'The alias of the root category can not be changed',
    field: 'alias',
  },
  ROOT_CATEGORY_NOT_DELETABLE: { status: 409, message: 'The root category can not be deleted' },
  ROOT_CATEGORY_NOT_MOVABLE: { status: 409, message: 'The root category can not be moved' },
  CATEGORY_BELOW_ITSELF: { status: 409, message: 'A category can not be moved below itself' },
  TOO_MANY_ASSIGNMENTS: {
    status: 400,
    message: 'These are more than {limit} pairs of a category and a product',
  },

  // Images and files
  MASTER_NOT_DELIVERED: {
    status: 400,
    message: 'The product has variations: files and keys belong to each of them',
    field: 'productId',
  },
  DOWNLOAD_OF_OTHER_KIND: {
    status: 400,
    message: 'The file is no {kind} file, but its name says so',
    field: 'file',
  },
  DOWNLOADS_FULL: { status: 409, message: 'A product has at most {limit} files', field: 'file' },
  KEYS_FULL: { status: 409, message: 'A product has at most {limit} licence keys', field: 'keys' },
  KEY_GIVEN: { status: 409, message: 'A customer has got this licence key' },
  DOWNLOAD_ENDED: { status: 409, message: 'The file can no longer be downloaded with this order' },
  DOWNLOADS_USED_UP: { status: 409, message: 'All downloads of this file are used up' },
  IMAGE_NAME_TAKEN: {
    status: 400,
    message: 'The product has an image of this name; delete it first',
    field: 'image',
  },
  IMAGE_NAME_TOO_LONG: {
    status: 400,
    message: 'The name of an image has at most {limit} characters',
    field: 'image',
  },
  IMAGE_NAME_MALFORMED: {
    status: 400,
    message: 'The name of an image must not hold slashes or control characters',
    field: 'image',
  },
  IMAGE_KIND_UNKNOWN: {
    status: 400,
    message: 'The name of an image must end with .png, .jpg, .jpeg, .gif or .ico',
    field: 'image',
  },
  IMAGE_NAME_EMPTY: {
    status: 400,
    message: 'The name of an image must have a letter or a digit before its ending',
    field: 'image',
  },
  IMAGE_OF_OTHER_KIND: {
    status: 400,
    message: 'The file is no {kind} image, but its name says so',
    field: 'image',
  },
  IMAGE_DAMAGED: { status: 400, message: 'The image is damaged or cut off', field: 'image' },
  IMAGE_TOO_LARGE: {
    status: 400,
    message: 'The image has more than 50 megapixels, over all of its frames',
    field: 'image',
  },
  IMAGE_TOO_LONG: {
    status: 400,
    message: 'The image is longer than {limit} pixels on one side',
    field: 'image',
  },
  IMAGE_WITH_TOO_MANY_FRAMES: {
    status: 400,
    message: 'The image has more than {limit} frames',
    field: 'image',
  },
  IMAGE_TOO_LARGE_AT_ONCE: {
    status: 400,
    message: 'A GIF or an interlaced PNG has at most 16 megapixels',
    field: 'image',
  },
  IMAGE_QUOTA_REACHED: {
    status: 413,
    message: 'The images of the shop would take more than {limit} MB, delete some first',
    field: 'image',
  },
  SHOP_IMAGES_WAITING: {
    status: 429,
    message: 'Too many images of this shop are waiting, try again in {seconds} s',
  },
  IMAGES_WAITING: { status: 503, message: 'Too many images are waiting, try again in {seconds} s' },
  IMAGES_UNAVAILABLE: { status: 503, message: 'The store of images can not be reached, try again soon' },
  UPLOAD_MALFORMED: { status: 400, message: 'The body is not a valid form: {reason}' },
  UPLOAD_WITHOUT_NAME: { status: 400, message: 'The part {part} has no filename' },
  UPLOAD_TWICE: { status: 400, message: 'There must be one part {part} only' },
  UPLOAD_MISSING: { status: 400, message: 'The body has no part {part} with a file' },

  // Webhooks
  WEBHOOK_INACTIVE: { status: 409, message: 'The webhook is not active' },
  WEBHOOK_SECRET_MISSING: {
    status: 409,
    message: 'Its secret was left out when the shop was restored, make a new one first',
  },
  EVENT_GONE: {
    status: 410,
    message: 'The event at {position} is gone, the oldest position is {oldest}',
    field: 'from',
  },

  // Any operation
  LOCALE_NOT_OFFERED: {
    status: 400,
    message: 'The shop has no locale {locale}, it has {offered}',
    field: 'locale',
  },
  LEGAL_LOCALE_NOT_OFFERED: {
    status: 400,
    message: 'The shop does not have the locale {locale}, only {offered}',
    field: 'locale',
  },
  CURRENCY_NOT_OFFERED: {
    status: 400,
    message: 'The shop has no currency {currency}, it has {offered}',
    field: 'currency',
  },
  PERIOD_TOO_LONG: {
    status: 400,
    message: 'createdAfter and createdBefore must not be more than {limit} apart',
    field: 'createdAfter',
  },
  TOO_MANY_IDS: { status: 400, message: 'At most {limit} ids', field: 'id' },
  CART_TOKEN_ENDED: {
    status: 403,
    message: 'The cart was picked up in the shop, so its token has ended',
    field: 'X-ePages-Cart-Token',
  },
  SCOPE_MISSING: { status: 403, message: 'The token lacks the scope {scope}', field: 'Authorization' },
  NOT_FOUND: { status: 404, message: 'HTTP 404 Not Found' },
  IDEMPOTENCY_KEY_REUSED: {
    status: 409,
    message: 'This Idempotency-Key was used for another request',
    field: 'Idempotency-Key',
  },
  CONTRADICTION: { status: 409, message: 'The change contradicts the data of the shop' },
  VALUE_NOT_STORABLE: { status: 400, message: 'A value can not be stored' },
  BODY_TOO_LARGE: { status: 413, message: 'The body is larger than {limit} bytes' },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    message: 'More than {limit} {what} in this hour, try again in {seconds} s',
  },
  TOO_MANY_AT_ONCE: {
    status: 429,
    message: 'More than {limit} requests at the same time, wait for their answers',
  },
  INTERNAL_ERROR: { status: 500, message: 'Internal Server Error' },
  UNAVAILABLE: {
    status: 503,
    message: 'The service is starting or its database can not be reached, try again soon',
  },
  BUSY: { status: 503, message: 'Others are changing the same data, or it took too long; try again soon' },
} as const satisfies Readonly<Record<string, RefusalEntry>>;

export const REFUSALS = { ...API_REFUSALS, ...SHARED_REFUSALS };

export type RefusalCode = keyof typeof REFUSALS;
export type SharedRefusalCode = keyof typeof SHARED_REFUSALS;

export type RefusalValue = string | number | readonly string[] | Money;

/** An amount in minor units, which each reader gets in the notation of their language. */
export interface Money {
  minor: number;
  currency: string;
}

type Placeholder<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;

/** The values of the placeholders in the message of a refusal. */
export type RefusalValues<Code extends RefusalCode> = {
  readonly [Name in Placeholder<(typeof REFUSALS)[Code]['message']>]: RefusalValue;
};

/** The message of a refusal, as the API says it. */
export function refusalMessage(code: RefusalCode, values: Readonly<Record<string, RefusalValue>>): string {
  return REFUSALS[code].message.replaceAll(/\{(\w+)\}/g, (_, name: string) => plainText(values[name]!));
}

function plainText(value: RefusalValue): string {
  if (typeof value !== 'object') return String(value);
  return 'currency' in value
    ? `${toDecimal(value.minor, value.currency)} ${value.currency}`
    : value.join(', ');
}
