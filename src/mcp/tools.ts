import { Type, type Static, type TObject, type TSchema } from 'typebox';
import {
  createSubcategory,
  deleteCategory,
  getCategory,
  listCategories,
  updateCategory,
} from '../catalogue/categories/routes.ts';
import { moveCategory } from '../catalogue/categories/move.ts';
import { createAssignments, deleteAssignments } from '../catalogue/categories/assignments.ts';
import { getLowestPrice } from '../catalogue/products/lowest-price.ts';
import { copyProduct } from '../catalogue/products/manage-routes.ts';
import { getProduct, listProducts } from '../catalogue/products/routes.ts';
import { listVariations } from '../catalogue/products/variations.ts';
import { listWatchedProducts } from '../catalogue/products/watched-products.ts';
import { createProduct, deleteProduct, updateProduct } from '../catalogue/products/write-routes.ts';
import {
  createRedirect,
  deleteRedirect,
  dismissMissedAddress,
  listMissedAddresses,
  listRedirects,
  updateRedirect,
} from '../catalogue/redirects/routes.ts';
import {
  createMailing,
  deleteMailing,
  getMailing,
  listMailings,
  setMailingState,
  updateMailing,
} from '../content/mailings/routes.ts';
import { createPage, deletePage, getPage, listPages, updatePage } from '../content/pages/routes.ts';
import { changeCouponCampaign, deleteCouponCampaign, makeCouponCodes } from '../coupons/manage-routes.ts';
import { createCouponCampaign, getCouponCampaign } from '../coupons/routes.ts';
import type { Operation } from '../http/operation.ts';
import { CurrencyParameter, Id } from '../http/schemas.ts';
import { scopesOf, type Scope } from '../http/scopes.ts';
import { finaliseCreditNote, finaliseInvoice, getOrderDocuments } from '../orders/documents/routes.ts';
import { cancelOrder, getManagedOrder, listOrderHistory } from '../orders/manage.ts';
import { correctOrderTax } from '../orders/manage-buyer.ts';
import { sendOrderEmail } from '../orders/manage-emails.ts';
import { captureOrderPayment, createOrderPayment, createOrderRefund } from '../orders/manage-payments.ts';
import { listReturns, updateReturn } from '../orders/manage-returns.ts';
import { createReturn, createShipment, undoShipment } from '../orders/manage-shipments.ts';
import { getReadiness } from '../orders/readiness.ts';
import { listOrders } from '../orders/routes.ts';
import { getSales } from '../orders/sales/routes.ts';
import { getOrderTags, listOrderTags, listTaggedOrders, setOrderTags } from '../orders/tags.ts';
import { setCustomerGroup } from '../people/customers/manage-routes.ts';
import {
  createCustomerNote,
  deleteCustomerNote,
  listCustomerNotes,
  updateCustomerNote,
} from '../people/customers/notes.ts';
import { createCustomer, getCustomer, listCustomers, updateCustomer } from '../people/customers/routes.ts';
import {
  createSegment,
  deleteSegment,
  getSegment,
  listSegments,
  updateSegment,
} from '../people/customers/segments.ts';
import { changeCustomerTags, getCustomerTags, setCustomerTags } from '../people/customers/tags.ts';
import { eraseCustomer } from '../people/privacy/routes.ts';
import { getRule, listRuleRuns, listRules, previewRule } from '../rules/routes.ts';
import { listTasks } from '../rules/tasks.ts';
import { listShippingMethods } from '../shops/shipping-methods/routes.ts';
import { getShop } from '../shops/shop/routes.ts';
import { listTaxClasses } from '../shops/taxes/routes.ts';

/** A call of an operation, with the parts of its request. */
export interface PlannedCall {
  operation: string;
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body?: unknown;
}

/**
 * What a tool does. `reads` and `writes` act at once. `plans`: a person confirms it first, because it moves money, deletes
 * or reaches many people.
 */
export type ToolKind = 'reads' | 'writes' | 'plans';

/** An operation for an assistant, or several calls of one. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  kind: ToolKind;
  /** What it calls. */
  operation: string;
  scopes: readonly Scope[];
  input: TObject;
  calls: (input: Record<string, unknown>) => PlannedCall[];
}

// oxlint-disable-next-line typescript/no-explicit-any
type AnyOperation = Operation<any, any, any, any>;

/** What tools call, by name. */
export const OPERATIONS = new Map<string, AnyOperation>();

/** `createOrderRefund` is `create_order_refund`. */
const toolName = (operation: string) =>
  operation.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function toolOf(kind: ToolKind, operation: AnyOperation): Tool {
  OPERATIONS.set(operation.name, operation);
  const { name, summary, description = '', access } = operation;
  const parts = partsOf(operation);
  return {
    name: toolName(name),
    title: summary,
    description: description === '' ? `${summary}.` : description,
    kind,
    operation: name,
    scopes: scopesOf(access) as readonly Scope[],
    input: Type.Object({ ...parts.params, ...parts.query, ...parts.body }, { additionalProperties: false }),
    calls: (input) => [callOf(name, parts, input)],
  };
}

interface Parts {
  params: Record<string, TSchema>;
  query: Record<string, TSchema>;
  /** The fields of the body, or `body` where it is no object, or where a field is called like a parameter. */
  body: Record<string, TSchema>;
  isBodyWhole: boolean;
}

function partsOf({ params, query, body }: AnyOperation): Parts {
  const own = (part: TObject | undefined) => part?.properties ?? {};
  const taken = { ...own(params), ...own(query) };
  const fields = own(body);
  const isWhole =
    body !== undefined && (body.type !== 'object' || Object.keys(fields).some((name) => name in taken));
  return {
    params: own(params),
    query: own(query),
    body: isWhole ? { body } : fields,
    isBodyWhole: isWhole,
  };
}

function callOf(operation: string, parts: Parts, input: Record<string, unknown>): PlannedCall {
  const pick = (names: Record<string, TSchema>) =>
    Object.fromEntries(Object.entries(input).filter(([name]) => Object.hasOwn(names, name)));
  const hasBody = Object.keys(parts.body).length > 0;
  const body = parts.isBodyWhole ? input['body'] : pick(parts.body);
  return { operation, params: pick(parts.params), query: pick(parts.query), ...(hasBody && { body }) };
}

const PRICE_PATH = '/priceInfo/price/amount';
export const MAX_PRICES = 100;

const PriceChange = Type.Object(
  {
    prices: Type.Array(
      Type.Object(
        {
          productId: Id,
          price: Type.Number({
            minimum: 0,
            maximum: 1_000_000_000,
            description: 'With tax where the prices of the shop contain it.',
            examples: [49.9],
          }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: MAX_PRICES, description: `The new prices of 1 to ${MAX_PRICES} products.` },
    ),
    currency: CurrencyParameter,
  },
  { additionalProperties: false },
);

OPERATIONS.set(updateProduct.name, updateProduct);

/** One price is changed at once, and several by a plan: `callTool` decides. */
export const CHANGE_PRICES: Tool = {
  name: 'change_prices',
  title: 'Change prices',
  description:
    'Sets the prices of products; shoppers pay them from then on. One product is changed at once, but not one after the other; more need a person who confirms.',
  kind: 'writes',
  operation: updateProduct.name,
  scopes: ['products_write'],
  input: PriceChange,
  calls: (input) => {
    const { prices, currency } = input as Static<typeof PriceChange>;
    return prices.map(({ productId, price }) => ({
      operation: updateProduct.name,
      params: { productId },
      query: currency === undefined ? {} : { currency },
      body: [{ op: 'replace', path: PRICE_PATH, value: price }],
    }));
  },
};

/** Prices are changed by the tool for them, which counts them. */
export const changesPrice = (tool: Tool, input: Record<string, unknown>): boolean =>
  tool.name === 'update_product' &&
  Array.isArray(input['body']) &&
  input['body'].some((change: { path?: unknown }) => /price|manufacturer/i.test(String(change.path)));

const reads = (...operations: AnyOperation[]) => operations.map((one) => toolOf('reads', one));
const writes = (...operations: AnyOperation[]) => operations.map((one) => toolOf('writes', one));
const plans = (...operations: AnyOperation[]) => operations.map((one) => toolOf('plans', one));

export const TOOLS: readonly Tool[] = [
  ...reads(getShop, getReadiness, listShippingMethods, listTaxClasses),
  ...reads(listProducts, getProduct, listVariations, getLowestPrice, listWatchedProducts),
  ...writes(createProduct, updateProduct, copyProduct),
  CHANGE_PRICES,
  ...plans(deleteProduct),
  ...reads(listCategories, getCategory),
  ...writes(createSubcategory, updateCategory, moveCategory, createAssignments, deleteAssignments),
  ...plans(deleteCategory),
  ...reads(listRedirects, listMissedAddresses),
  ...writes(createRedirect, updateRedirect, dismissMissedAddress),
  ...plans(deleteRedirect),
  ...reads(listOrders, getManagedOrder, listOrderHistory, getOrderDocuments, getSales, listReturns),
  ...reads(getOrderTags, listOrderTags, listTaggedOrders),
  ...writes(setOrderTags, createShipment, sendOrderEmail),
  ...plans(createOrderPayment, captureOrderPayment, createOrderRefund, cancelOrder, correctOrderTax),
  ...plans(createReturn, updateReturn, undoShipment),
  ...plans(finaliseInvoice, finaliseCreditNote),
  ...reads(listCustomers, getCustomer, getCustomerTags, listCustomerNotes, listSegments, getSegment),
  ...writes(createCustomer, updateCustomer, setCustomerTags, createCustomerNote, updateCustomerNote),
  ...writes(createSegment, updateSegment),
  ...plans(eraseCustomer, setCustomerGroup, changeCustomerTags, deleteCustomerNote, deleteSegment),
  ...reads(getCouponCampaign),
  ...plans(createCouponCampaign, changeCouponCampaign, makeCouponCodes, deleteCouponCampaign),
  ...reads(listPages, getPage),
  ...writes(createPage, updatePage),
  ...plans(deletePage),
  ...reads(listMailings, getMailing),
  ...writes(createMailing, updateMailing),
  ...plans(setMailingState, deleteMailing),
  ...reads(listRules, getRule, previewRule, listRuleRuns, listTasks),
];
