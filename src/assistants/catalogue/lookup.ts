import { Type, type Static } from 'typebox';
import { isId } from '../../kernel/ids.ts';
import type { AssistantContext } from '../context.ts';
import { messagesMember, type Message } from '../messages.ts';
import { ProtocolProblem } from '../problem.ts';
import { Context, Filters, Text } from '../schema.ts';
import { priceMessage } from './disclosures.ts';
import { priceBounds, withinBounds } from './price-bounds.ts';
import { describeProducts, loadOffered, type RequestedProduct } from './offered.ts';
import type { ShownVariant } from './product.ts';
import { findNamed, type NamedProduct } from './queries.ts';

const MAX_IDS = 25;

export const LookupRequest = Type.Object({
  ids: Type.Array(Text('Id or number of a product or of a variation.', 100), {
    description: `At most ${MAX_IDS}.`,
    minItems: 1,
    maxItems: 1_000,
  }),
  filters: Type.Optional(Filters),
  context: Type.Optional(Context),
});

/** Products by the ids or numbers of them or of their variations. */
export async function lookUpCatalogue(context: AssistantContext, request: Static<typeof LookupRequest>) {
  const ids = [...new Set(request.ids)];
  if (ids.length > MAX_IDS) {
    throw new ProtocolProblem('request_too_large', `At most ${MAX_IDS} ids are looked up at once`);
  }
  const matches = await findMatches(context, ids);
  const requested = requestedProducts(ids.flatMap((id) => matches.get(id) ?? []));
  const bounds = priceBounds(request.filters?.price, request.context?.currency, context);
  const offered = await loadOffered(context, requested);
  const { products, messages, policies } = describeProducts(
    context,
    offered
      .map((one) => ({ ...one, variants: one.variants.filter((variant) => withinBounds(variant, bounds)) }))
      .filter(({ categories }) => hasCategory(categories, request.filters?.categories)),
  );
  for (const product of products) {
    for (const variant of product.variants) variant.inputs = inputsOf(variant, product.id, ids, matches);
  }
  const shown = new Set(
    products.flatMap(({ variants }) => variants.flatMap(({ inputs = [] }) => inputs.map(({ id }) => id))),
  );
  const missing: Message[] = ids.flatMap((id) =>
    shown.has(id) ? [] : [{ type: 'info', code: 'not_found', content: id }],
  );
  return {
    products,
    ...messagesMember([...missing, ...(products.length > 0 ? [priceMessage(context)] : []), ...messages]),
    ...(policies.length > 0 && { policies }),
  };
}

/** What each of these ids names. */
export async function findMatches(
  { db, shopId }: AssistantContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, NamedProduct>> {
  const named = await findNamed(db, shopId, {
    productIds: ids.filter(isId),
    numbers: ids.filter((id) => !isId(id)),
  });
  return new Map(
    ids.flatMap((id) => {
      const found = named.find(
        ({ productId, productNumber }) => productId === id.toUpperCase() || productNumber === id,
      );
      return found ? [[id, found] as const] : [];
    }),
  );
}

/** A variation is shown with its master, and a product once, however often it is named. */
function requestedProducts(named: readonly NamedProduct[]): RequestedProduct[] {
  const requested = new Map<string, string[]>();
  for (const { productId, masterId } of named) {
    const variantIds = requested.get(masterId ?? productId) ?? [];
    if (masterId !== null) variantIds.push(productId);
    requested.set(masterId ?? productId, variantIds);
  }
  return [...requested].map(([productId, variantIds]) => ({ productId, variantIds }));
}

/** Which of the ids have led to this variant: those of it, or of the product that it stands for. */
function inputsOf(
  variant: ShownVariant,
  productId: string,
  ids: readonly string[],
  matches: ReadonlyMap<string, NamedProduct>,
): NonNullable<ShownVariant['inputs']> {
  return ids.flatMap((id): NonNullable<ShownVariant['inputs']> => {
    const match = matches.get(id);
    if (match?.productId === variant.id) return [{ id, match: 'exact' }];
    return match?.productId === productId ? [{ id, match: 'featured' }] : [];
  });
}

export function hasCategory(names: readonly string[], asked: readonly string[] | undefined): boolean {
  const lowered = asked?.map((name) => name.trim().toLowerCase());
  return lowered === undefined || names.some((name) => lowered.includes(name.toLowerCase()));
}
