import { Type, type Static, type TObject } from 'typebox';
import { cancelCart, CartRequest, createCart, readCart, replaceCart, type ShowCart } from './carts/carts.ts';
import { LookupRequest, lookUpCatalogue } from './catalogue/lookup.ts';
import { ProductRequest, showProduct } from './catalogue/product-detail.ts';
import { searchCatalogue, SearchRequest } from './catalogue/search.ts';
import { extensionsOf, type Capability } from './capabilities.ts';
import { CHECKOUT, ReplacedSession, SessionRequest } from './checkout-sessions.ts';
import { completeSession, CompleteRequest } from './complete.ts';
import type { OperationCall } from './context.ts';
import { failure, success } from './outcome.ts';
import { ORDER, readOrder } from './orders/orders.ts';
import { Context } from './schema.ts';
import { endSession, openSession, readSession, replaceSession } from './sessions.ts';

/** An operation of the protocol: a route of its REST binding, and a tool of its MCP binding. */
export interface AssistantOperation {
  /** The name of the tool. */
  name: string;
  title: string;
  description: string;
  method: 'GET' | 'POST' | 'PUT';
  /** Below the address of the service; it may hold the id of a cart. */
  path: string;
  capability: Capability;
  /** The argument of the tool that holds the request; absent: it has none. */
  argument?: 'catalog' | 'cart' | 'checkout';
  input: TObject;
  writes: boolean;
  /** The status of HTTP when something was made. */
  status?: 201;
  run(call: OperationCall): Promise<object>;
}

export const hasId = ({ path }: Pick<AssistantOperation, 'path'>) => path.includes('/:id');

/** An operation that only reads the catalogue. */
function reading<Input extends TObject>(
  definition: Pick<AssistantOperation, 'name' | 'title' | 'description' | 'path' | 'capability'>,
  input: Input,
  read: (context: OperationCall['context'], request: Static<Input>) => Promise<object>,
): AssistantOperation {
  return {
    ...definition,
    method: 'POST',
    argument: 'catalog',
    input,
    writes: false,
    run: ({ context, request }) => read(context, request as Static<Input>),
  };
}

const SEARCH = 'dev.ucp.shopping.catalog.search';
const LOOKUP = 'dev.ucp.shopping.catalog.lookup';
const CART = 'dev.ucp.shopping.cart';

const NoRequest = Type.Object({ context: Type.Optional(Context) });

const showCart: ShowCart = async ({ isOrderable: _ofSessions, ...cart }, { capabilities }) =>
  success([CART, ...extensionsOf(CART, capabilities)], cart);

/** What is done with a cart, and the same with a checkout session, which is one. */
interface CartOperations extends Pick<AssistantOperation, 'input'> {
  create: AssistantOperation['run'];
  read: AssistantOperation['run'];
  replace: AssistantOperation['run'];
  cancel: AssistantOperation['run'];
}

function cartOperations(
  name: 'cart' | 'checkout',
  path: string,
  capability: Capability,
  { input, create, read, replace, cancel }: CartOperations,
): AssistantOperation[] {
  const what = name === 'cart' ? 'cart' : 'checkout session';
  return [
    {
      name: `create_${name}`,
      title: `Make a ${what}`,
      description: `A ${what} with products of this shop. Its id is a secret of the buyer.`,
      method: 'POST',
      path,
      capability,
      argument: name,
      writes: true,
      status: 201,
      input,
      run: create,
    },
    {
      name: `get_${name}`,
      title: `Show a ${what}`,
      description: `A ${what} with its prices of now.`,
      method: 'GET',
      path: `${path}/:id`,
      capability,
      input: NoRequest,
      writes: false,
      run: read,
    },
    {
      name: `update_${name}`,
      title: `Replace a ${what}`,
      description: `Replaces everything in a ${what}.`,
      method: 'PUT',
      path: `${path}/:id`,
      capability,
      argument: name,
      input: name === 'cart' ? CartRequest : ReplacedSession,
      writes: true,
      run: replace,
    },
    {
      name: `cancel_${name}`,
      title: `End a ${what}`,
      description: `Ends a ${what}, and shows it for the last time.`,
      method: 'POST',
      path: `${path}/:id/cancel`,
      capability,
      input: NoRequest,
      writes: true,
      run: cancel,
    },
  ];
}

export const OPERATIONS: readonly AssistantOperation[] = [
  reading(
    {
      name: 'search_catalog',
      title: 'Search products',
      description: 'Searches the products of this shop by words, category and price.',
      path: '/catalog/search',
      capability: SEARCH,
    },
    SearchRequest,
    async (context, request) => success([SEARCH], await searchCatalogue(context, request)),
  ),
  reading(
    {
      name: 'lookup_catalog',
      title: 'Look products up',
      description: 'Products of this shop by their ids or numbers.',
      path: '/catalog/lookup',
      capability: LOOKUP,
    },
    LookupRequest,
    async (context, request) => success([LOOKUP], await lookUpCatalogue(context, request)),
  ),
  reading(
    {
      name: 'get_product',
      title: 'Show a product',
      description: 'One product with its variations, and which of them have what the buyer has chosen.',
      path: '/catalog/product',
      capability: LOOKUP,
    },
    ProductRequest,
    async (context, request) => {
      const found = await showProduct(context, request);
      return found
        ? success([LOOKUP], found)
        : failure(LOOKUP, 'not_found', `Product not found: ${request.id}`);
    },
  ),
  ...cartOperations('cart', '/carts', CART, {
    input: CartRequest,
    create: (call) => createCart(call, CART, showCart),
    read: (call) => readCart(call, CART, showCart),
    replace: (call) => replaceCart(call, CART, showCart),
    cancel: (call) => cancelCart(call, CART, showCart),
  }),
  ...cartOperations('checkout', '/checkout-sessions', CHECKOUT, {
    input: SessionRequest,
    create: openSession,
    read: readSession,
    replace: replaceSession,
    cancel: endSession,
  }),
  {
    name: 'complete_checkout',
    title: 'Complete a checkout session',
    description:
      'Places the order and pays it with a token of the buyer, if the shop takes one; else the answer leads to the shop.',
    method: 'POST',
    path: '/checkout-sessions/:id/complete',
    capability: CHECKOUT,
    argument: 'checkout',
    input: CompleteRequest,
    writes: true,
    run: completeSession,
  },
  {
    name: 'get_order',
    title: 'Show an order',
    description: 'An order that its buyer has placed after a checkout session of this assistant.',
    method: 'GET',
    path: '/orders/:id',
    capability: ORDER,
    input: NoRequest,
    writes: false,
    run: readOrder,
  },
];
