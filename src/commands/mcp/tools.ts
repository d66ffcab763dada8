import { z } from 'zod';
import { STATES } from '../../orders/schema.ts';

/** A call of the API, below `/rs/shops/ID` or, beyond the contract, below `/manage/shops/ID`. */
export interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH';
  under?: 'rs' | 'manage';
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
}

/** An assistant's action on a shop. The descriptions are all that it knows of a tool. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  input: z.ZodRawShape;
  writes: boolean;
  /** Cannot be undone. */
  isFinal: boolean;
  request: (input: never) => ApiRequest;
}

function tool<Shape extends z.ZodRawShape>(definition: {
  name: string;
  title: string;
  description: string;
  input: Shape;
  writes?: boolean;
  isFinal?: boolean;
  request: (input: z.infer<z.ZodObject<Shape>>) => ApiRequest;
}): Tool {
  return { writes: false, isFinal: false, ...definition };
}

const Id = (what: string) => z.uuid().describe(`Id of the ${what}.`);
const Page = z.number().int().min(1).max(100_000).optional().describe('Page of the list, from 1.');
const Moment = (what: string) =>
  z.iso.datetime().optional().describe(`${what}, such as 2026-11-01T00:00:00Z.`);
const Locale = z
  .string()
  .regex(/^[a-z]{2}_[A-Z]{2}$/)
  .optional()
  .describe('Language of the texts, such as en_GB; absent: the default of the shop.');
const Currency = z
  .string()
  .regex(/^[A-Z]{3}$/)
  .optional()
  .describe('ISO 4217 code; absent: the default of the shop.');

/** A number of entries that people read well and that fits into the context of an assistant. */
const PER_PAGE = 20;

export const TOOLS: readonly Tool[] = [
  tool({
    name: 'get_shop',
    title: 'Get shop',
    description: 'Name, address, country and contact of the shop.',
    input: {},
    request: () => ({ method: 'GET', path: '' }),
  }),
  tool({
    name: 'search_products',
    title: 'Search products',
    description:
      'Products of the shop with their prices and stock, best match first. Without a query all of them, by name. ' +
      `${PER_PAGE} on a page.`,
    input: {
      query: z.string().max(200).optional().describe('Words in names, descriptions, numbers.'),
      categoryId: Id('category').optional(),
      page: Page,
      locale: Locale,
      currency: Currency,
    },
    request: ({ query, ...others }) => ({
      method: 'GET',
      path: '/products',
      query: { q: query, ...others, resultsPerPage: PER_PAGE },
    }),
  }),
  tool({
    name: 'get_product',
    title: 'Get product',
    description: 'All about one product: texts, prices, stock, tax class.',
    input: { productId: Id('product'), locale: Locale, currency: Currency },
    request: ({ productId, ...query }) => ({ method: 'GET', path: `/products/${productId}`, query }),
  }),
  tool({
    name: 'list_categories',
    title: 'List categories',
    description: 'The categories below the top of the shop.',
    input: { locale: Locale },
    request: (query) => ({ method: 'GET', path: '/categories', query }),
  }),
  tool({
    name: 'list_orders',
    title: 'List orders',
    description: `Orders, newest first, with their customer, total and how far they are. ${PER_PAGE} on a page.`,
    input: {
      reached: z.enum(STATES).optional().describe('Only orders that have reached this state.'),
      notReached: z.enum(STATES).optional().describe('Only orders that have not, such as dispatchedOn.'),
      customerId: Id('customer').optional(),
      productId: Id('product that was ordered').optional(),
      createdAfter: Moment('Ordered after'),
      createdBefore: Moment('Ordered before'),
      page: Page,
    },
    request: ({ reached, notReached, ...query }) => ({
      method: 'GET',
      path: '/orders',
      query: {
        ...query,
        ...(reached && { [reached]: true }),
        ...(notReached && { [notReached]: false }),
        resultsPerPage: PER_PAGE,
      },
    }),
  }),
  tool({
    name: 'get_order',
    title: 'Get order',
    description: 'One order: lines, addresses, totals, states, what was paid, sent and returned.',
    input: { orderId: Id('order') },
    request: ({ orderId }) => ({ method: 'GET', under: 'manage', path: `/orders/${orderId}` }),
  }),
  tool({
    name: 'sales_report',
    title: 'Sales report',
    description:
      'What the orders of a period came to, per currency, without those that were rejected; the last 30 days if none is named.',
    input: {
      createdAfter: Moment('Ordered after'),
      createdBefore: Moment('Ordered before'),
      productId: Id('only product that counts').optional(),
    },
    request: (query) => ({ method: 'GET', path: '/sales', query }),
  }),
  tool({
    name: 'list_returns',
    title: 'List returns',
    description: 'Returns that wait for the merchant, oldest first.',
    input: { page: Page },
    request: ({ page }) => ({
      method: 'GET',
      under: 'manage',
      path: '/returns',
      query: { page, resultsPerPage: PER_PAGE },
    }),
  }),
  tool({
    name: 'list_customers',
    title: 'List customers',
    description: `Customers with their addresses, oldest first. ${PER_PAGE} on a page.`,
    input: { page: Page },
    request: ({ page }) => ({ method: 'GET', path: '/customers', query: { page, resultsPerPage: PER_PAGE } }),
  }),
  tool({
    name: 'get_customer',
    title: 'Get customer',
    description: 'One customer: number, addresses, the note of the merchant.',
    input: { customerId: Id('customer') },
    request: ({ customerId }) => ({ method: 'GET', path: `/customers/${customerId}` }),
  }),

  tool({
    name: 'change_price',
    title: 'Change price',
    description: 'Sets the price of a product. Shoppers pay it from now on.',
    input: {
      productId: Id('product'),
      price: z
        .number()
        .min(0)
        .max(1_000_000_000)
        .describe('With tax where the prices of the shop contain it.'),
      currency: Currency,
    },
    writes: true,
    request: ({ productId, price, currency }) => ({
      method: 'PATCH',
      path: `/products/${productId}`,
      query: { currency },
      body: [{ op: 'replace', path: '/priceInfo/price/amount', value: price }],
    }),
  }),
  tool({
    name: 'set_stock',
    title: 'Set stock',
    description: 'Sets how many of a product are in stock, as counted.',
    input: { productId: Id('product'), stock: z.number().min(-1_000_000).max(1_000_000_000) },
    writes: true,
    request: ({ productId, stock }) => ({
      method: 'PATCH',
      path: `/products/${productId}`,
      body: [{ op: 'replace', path: '/stocklevel', value: stock }],
    }),
  }),
  tool({
    name: 'ship_order',
    title: 'Ship order',
    description:
      'Records that everything of an order that was not sent yet is on its way. The customer gets an email.',
    input: {
      orderId: Id('order'),
      carrier: z.string().max(200).optional().describe('Who carries it, such as DHL.'),
      trackingCode: z.string().max(200).optional(),
    },
    writes: true,
    isFinal: true,
    request: ({ orderId, ...body }) => ({
      method: 'POST',
      under: 'manage',
      path: `/orders/${orderId}/shipments`,
      body,
    }),
  }),
  tool({
    name: 'record_payment',
    title: 'Record payment',
    description:
      'Records money that came in for an order, outside of a payment provider. The customer gets an email.',
    input: {
      orderId: Id('order'),
      amount: z.number().positive().max(1_000_000_000).describe('In the currency of the order.'),
      reference: z.string().max(200).optional().describe('What the bank calls it.'),
    },
    writes: true,
    isFinal: true,
    request: ({ orderId, ...body }) => ({
      method: 'POST',
      under: 'manage',
      path: `/orders/${orderId}/payments`,
      body,
    }),
  }),
  tool({
    name: 'cancel_order',
    title: 'Cancel order',
    description:
      'Cancels an order: what was not sent goes back into the stock, what was paid through a provider is paid back, and the ' +
      'customer gets an email. It cannot be taken back.',
    input: {
      orderId: Id('order'),
      reason: z.string().max(1000).optional().describe('It stays in the history; name no person.'),
    },
    writes: true,
    isFinal: true,
    request: ({ orderId, ...body }) => ({
      method: 'POST',
      under: 'manage',
      path: `/orders/${orderId}/cancel`,
      body,
    }),
  }),
];
