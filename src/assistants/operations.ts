import type { Static, TObject } from 'typebox';
import { LookupRequest, lookUpCatalogue } from './catalogue/lookup.ts';
import { ProductRequest, showProduct } from './catalogue/product-detail.ts';
import { searchCatalogue, SearchRequest } from './catalogue/search.ts';
import { envelope, type Capability } from './capabilities.ts';
import type { AssistantContext } from './context.ts';
import type { Message } from './messages.ts';

/** An operation of the protocol: a route of its REST binding, and a tool of its MCP binding. */
export interface AssistantOperation {
  /** The name of the tool. */
  name: string;
  title: string;
  description: string;
  /** Below the address of the service. */
  path: string;
  capability: Capability;
  /** The argument of the tool that holds the request. */
  argument: 'catalog';
  input: TObject;
  /** The body of the answer. */
  run(context: AssistantContext, request: unknown): Promise<object>;
}

function operation<Input extends TObject>(
  definition: Omit<AssistantOperation, 'run' | 'input'> & {
    input: Input;
    run: (context: AssistantContext, request: Static<Input>) => Promise<object>;
  },
): AssistantOperation {
  return definition;
}

const SEARCH = 'dev.ucp.shopping.catalog.search';
const LOOKUP = 'dev.ucp.shopping.catalog.lookup';

const success = (capability: Capability, body: object) => ({ ucp: envelope([capability]), ...body });

/** What the buyer asks for does not exist: an outcome, not a problem of the protocol. */
function failure(capability: Capability, code: string, content: string): object {
  const messages: Message[] = [{ type: 'error', code, content, severity: 'unrecoverable' }];
  return { ucp: envelope([capability], 'error'), messages };
}

export const OPERATIONS: readonly AssistantOperation[] = [
  operation({
    name: 'search_catalog',
    title: 'Search products',
    description: 'Searches the products of this shop by words, category and price.',
    path: '/catalog/search',
    capability: SEARCH,
    argument: 'catalog',
    input: SearchRequest,
    run: async (context, request) => success(SEARCH, await searchCatalogue(context, request)),
  }),
  operation({
    name: 'lookup_catalog',
    title: 'Look products up',
    description: 'Products of this shop by their ids or numbers.',
    path: '/catalog/lookup',
    capability: LOOKUP,
    argument: 'catalog',
    input: LookupRequest,
    run: async (context, request) => success(LOOKUP, await lookUpCatalogue(context, request)),
  }),
  operation({
    name: 'get_product',
    title: 'Show a product',
    description: 'One product with its variations, and which of them have what the buyer has chosen.',
    path: '/catalog/product',
    capability: LOOKUP,
    argument: 'catalog',
    input: ProductRequest,
    run: async (context, request) => {
      const found = await showProduct(context, request);
      return found
        ? success(LOOKUP, found)
        : failure(LOOKUP, 'not_found', `Product not found: ${request.id}`);
    },
  }),
];
