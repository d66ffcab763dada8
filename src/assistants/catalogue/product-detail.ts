import { dayAt } from '../../catalogue/products/backorders.ts';
import { Type, type Static } from 'typebox';
import { isAvailable } from '../../storefront/product/product-card.ts';
import { preferredVariation } from '../../storefront/product/variations.ts';
import type { AssistantContext } from '../context.ts';
import { messagesMember, type Message } from '../messages.ts';
import { Context, Filters, Text } from '../schema.ts';
import { priceMessage, productMessages, productPolicies } from './disclosures.ts';
import { findMatches, hasCategory } from './lookup.ts';
import { loadOffered, readProducts } from './offered.ts';
import { priceBounds, withinBounds } from './price-bounds.ts';
import { shownProduct, type OfferedProduct, type ShownProduct } from './product.ts';
import { findVariationVersions, type NamedProduct } from './queries.ts';
import { choose, type Choice } from './selection.ts';

const MAX_OPTIONS = 20;

export const ProductRequest = Type.Object({
  id: Text('Id or number of a product or of a variation.', 100),
  selected: Type.Optional(
    Type.Array(
      Type.Object({
        name: Text('Name of the option, such as Colour.'),
        id: Type.Optional(Text('Id of the value.')),
        label: Text('The value, such as Blue.'),
      }),
      { description: 'What the buyer has chosen.', maxItems: MAX_OPTIONS },
    ),
  ),
  preferences: Type.Optional(
    Type.Array(Text('Name of an option.'), {
      description: 'Which options matter most, the most important first.',
      maxItems: MAX_OPTIONS,
    }),
  ),
  filters: Type.Optional(Filters),
  context: Type.Optional(Context),
});
type ProductRequest = Static<typeof ProductRequest>;

/** One product with its variations. undefined: there is none, or it does not pass the filters. */
export async function showProduct(context: AssistantContext, request: ProductRequest) {
  const match = (await findMatches(context, [request.id])).get(request.id);
  const found = match && (await loadDetail(context, request, match));
  const product = found && shownProduct(found.offered, context);
  if (!found || !product) return undefined;
  const messages: Message[] = [priceMessage(context)];
  const policies = found.offered.variants.flatMap((variant) => {
    const place = product.variants.findIndex(({ id }) => id === variant.productId);
    if (place === -1) return [];
    const path = `$.product.variants[${place}]`;
    messages.push(...productMessages(variant, path, context));
    return productPolicies(variant, path, context);
  });
  const detail: ShownProduct & Partial<Pick<Choice, 'selected' | 'options'>> = {
    ...product,
    ...(found.choice && { selected: found.choice.selected, options: found.choice.options }),
  };
  return { product: detail, ...messagesMember(messages), ...(policies.length > 0 && { policies }) };
}

/** The product, and of a product with variations the choice among them. */
async function loadDetail(
  context: AssistantContext,
  request: ProductRequest,
  { productId, masterId }: NamedProduct,
): Promise<{ offered: OfferedProduct; choice?: Choice } | undefined> {
  const { db, shopId } = context;
  const id = masterId ?? productId;
  const [offered] = await loadOffered(context, [{ productId: id, variantIds: [] }]);
  if (!offered || !hasCategory(offered.categories, request.filters?.categories)) return undefined;
  const bounds = priceBounds(request.filters?.price, request.context?.currency, context);
  const isWithin = (product: OfferedProduct['product']) => withinBounds(product, bounds);
  if (offered.product.productVariationType !== 'master') {
    return { offered: { ...offered, variants: offered.variants.filter(isWithin) } };
  }
  const today = dayAt(db.now, context.settings.deliveryTimes.timeZone);
  const versions = await findVariationVersions(db, shopId, [id], today);
  const variations = (await readProducts(context, versions)).filter(isWithin);
  const named = masterId === null ? undefined : productId;
  const bestId = named ?? preferredVariation(context, versions)?.productId;
  const best = variations.find((variation) => variation.productId === bestId) ?? variations[0];
  if (!best) return undefined;
  // The id of a variation says all of the selection.
  const asked = named === undefined ? request.selected : undefined;
  const choice = choose(variations, best, asked, request.preferences ?? [], (product) =>
    isAvailable(context, product),
  );
  return { offered: { ...offered, variants: choice.variants }, choice };
}
