import type { Scope } from '../../http/scopes.ts';

/** The subject of an event. */
export type EventResource = 'order' | 'product' | 'customer' | 'coupon campaign' | 'cart' | 'app' | 'shop';

export interface EventTypeFacts {
  resource: EventResource;
  /** The scope to read the event, the same as for its subject; null: every app of the shop. */
  scope: Scope | null;
  summary: string;
}

/** The types of events. The first seven are those of the contract. */
export const EVENT_TYPES = {
  ORDER_CREATE: { resource: 'order', scope: 'orders_read', summary: 'An order was placed.' },
  ORDER_UPDATE: { resource: 'order', scope: 'orders_read', summary: 'An order was changed.' },
  ORDER_DELETE: { resource: 'order', scope: 'orders_read', summary: 'An order was deleted.' },
  PRODUCT_CREATE: { resource: 'product', scope: 'products_read', summary: 'A product was created.' },
  PRODUCT_UPDATE: {
    resource: 'product',
    scope: 'products_read',
    summary: 'A product was changed.',
  },
  PRODUCT_DELETE: { resource: 'product', scope: 'products_read', summary: 'A product was deleted.' },
  APP_UNINSTALL: { resource: 'app', scope: null, summary: 'An app was uninstalled.' },
  ORDER_PAID: { resource: 'order', scope: 'orders_read', summary: 'An order was paid in full.' },
  ORDER_SHIPPED: { resource: 'order', scope: 'orders_read', summary: 'An order, or a part of it, was sent.' },
  ORDER_SHIPMENT_UNDONE: {
    resource: 'order',
    scope: 'orders_read',
    summary: 'A shipment was recorded by mistake and was undone.',
  },
  ORDER_CANCELLED: { resource: 'order', scope: 'orders_read', summary: 'An order was cancelled.' },
  ORDER_REFUNDED: { resource: 'order', scope: 'orders_read', summary: 'Money of an order was paid back.' },
  ORDER_WITHDRAWN: {
    resource: 'order',
    scope: 'orders_read',
    summary: 'A customer has withdrawn from the contract, or from a part of it.',
  },
  RETURN_REQUESTED: { resource: 'order', scope: 'orders_read', summary: 'A customer asks for a return.' },
  RETURN_APPROVED: { resource: 'order', scope: 'orders_read', summary: 'A return was approved.' },
  RETURN_REJECTED: { resource: 'order', scope: 'orders_read', summary: 'A return was rejected.' },
  RETURN_RECEIVED: { resource: 'order', scope: 'orders_read', summary: 'The goods of a return are back.' },
  RETURN_REFUNDED: {
    resource: 'order',
    scope: 'orders_read',
    summary: 'The money for a return was paid back.',
  },
  DOCUMENT_ISSUED: {
    resource: 'order',
    scope: 'orders_read',
    summary: 'An invoice or a credit note of an order was issued.',
  },
  STOCK_LOW: {
    resource: 'product',
    scope: 'products_read',
    summary: 'The stock of a product fell to the level that the shop wants to hear of.',
  },
  STOCK_OUT: { resource: 'product', scope: 'products_read', summary: 'Nothing is left of a product.' },
  REVIEW_CREATE: {
    resource: 'product',
    scope: 'orders_read',
    summary: 'A customer has reviewed a product; the review may wait for the shop.',
  },
  REVIEW_PUBLISHED: {
    resource: 'product',
    scope: 'orders_read',
    summary: 'A review of a product was published.',
  },
  REVIEW_REJECTED: {
    resource: 'product',
    scope: 'orders_read',
    summary: 'A review of a product was rejected.',
  },
  REVIEW_REPORTED: {
    resource: 'product',
    scope: 'orders_read',
    summary: 'A visitor has reported a review of a product.',
  },
  DOWNLOADS_DELIVERED: {
    resource: 'order',
    scope: 'orders_read',
    summary: 'Files or licence keys of an order were delivered.',
  },
  KEYS_REVOKED: {
    resource: 'order',
    scope: 'orders_read',
    summary: 'Licence keys of an order were revoked, because it was refunded or cancelled, or by the shop.',
  },
  KEYS_ADDED: {
    resource: 'product',
    scope: 'products_read',
    summary: 'Licence keys of a product were added.',
  },
  KEYS_LOW: {
    resource: 'product',
    scope: 'products_read',
    summary: 'Fewer licence keys of a product are left than the shop wants to have.',
  },
  CUSTOMER_CREATE: { resource: 'customer', scope: 'customers_read', summary: 'A customer was created.' },
  ACCESS_REQUESTED: {
    resource: 'customer',
    scope: 'customers_read',
    summary: 'A customer asks to be let into a shop that is for some groups only.',
  },
  ACCESS_DECIDED: {
    resource: 'customer',
    scope: 'customers_read',
    summary: 'The shop has approved or declined such a request.',
  },
  CUSTOMER_ERASE: {
    resource: 'customer',
    scope: 'customers_read',
    summary: 'The personal data of a customer was erased.',
  },
  CART_ABANDONED: {
    resource: 'cart',
    scope: 'carts_read',
    summary: 'A cart with products in it was not touched for a while.',
  },
  COUPON_USED_UP: {
    resource: 'coupon campaign',
    scope: 'coupons_read',
    summary: 'A coupon, or its campaign, cannot be redeemed again.',
  },
  IMPORT_FINISHED: { resource: 'shop', scope: 'products_read', summary: 'An import of products has ended.' },
  SETTINGS_CHANGED: { resource: 'shop', scope: null, summary: 'The settings of the shop were changed.' },
} as const satisfies Record<string, EventTypeFacts>;

export type EventType = keyof typeof EVENT_TYPES;

export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as EventType[];

/** Shared by the schemas of all fields that hold an event type, so the reference has one name for them. */
export const EVENT_TYPE_CHOICE = { title: 'event type', enum: EVENT_TYPE_NAMES };

/** For the reference: every type with the scope that it needs. */
export const EVENT_TYPES_TEXT = EVENT_TYPE_NAMES.map((type) => {
  const { scope, summary } = EVENT_TYPES[type];
  return `- \`${type}\` (${scope ?? 'any token'}): ${summary}`;
}).join('\n');

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(EVENT_TYPES, text);
}
