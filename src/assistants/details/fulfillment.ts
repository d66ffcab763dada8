import { soldUnits } from '../../pricing/shown-lines.ts';
import type { AssistantNotes } from '../../carts/assistant-notes.ts';
import type { CartContext, CartPatch, CartRow, PricedCart } from '../../carts/cart.ts';
import { chooseShipping } from '../../carts/changes.ts';
import {
  deliveryChoices,
  type DeliveryChoice,
  type OfferedDeliveries,
} from '../../carts/delivery-options.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { cartDelivery } from '../../checkout/cart-delivery.ts';
import { isDelivered } from '../../checkout/new-order.ts';
import { isRefusal } from '../../http/errors.ts';
import { textIn } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { contentOf, named } from '../../pricing/content.ts';
import { deliveryText } from '../../pricing/delivery-span.ts';
import type { DeliveryOption } from '../../pricing/input.ts';
import { taxClassFor } from '../../pricing/tax.ts';
import type { Extension } from '../capabilities.ts';
import type { AssistantContext } from '../context.ts';
import type { Message } from '../messages.ts';
import { selectedDestination, toDestination, toPostalAddress } from './addresses.ts';
import type { Fulfillment, FulfillmentMethod } from './schema.ts';

export const FULFILLMENT: Extension = 'dev.ucp.shopping.fulfillment';

type Kind = 'shipping' | 'pickup';

/** A choice that can't be made; the cart stays as it was. */
export class ChoiceRefused extends Error {
  readonly problem: Message;

  constructor(problem: Message) {
    super(problem.content);
    this.problem = problem;
  }
}

const kindOf = ({ type, id }: FulfillmentMethod): Kind | undefined =>
  (['shipping', 'pickup'] as const).find((kind) => kind === (type ?? id));

/** What a request chooses: everything is delivered in one way. */
export interface WantedDelivery {
  kind: Kind;
  method: FulfillmentMethod;
  /** Its place in the request. */
  index: number;
  /** The request divides the goods. */
  isDivided: boolean;
}

/** The method that delivers something, else the one with a choice, else the first; undefined: none is known. */
export function wantedDelivery({ methods = [] }: Fulfillment): WantedDelivery | undefined {
  const known = methods.flatMap((method, index) => {
    const kind = kindOf(method);
    return kind ? [{ kind, method, index }] : [];
  });
  const withLines = known.filter(({ method }) => (method.line_item_ids?.length ?? 0) > 0);
  const wanted = withLines[0] ?? known.find(({ method }) => method.selected_destination_id) ?? known[0];
  return wanted && { ...wanted, isDivided: withLines.length > 1 };
}

/** The addresses of the buyer after a request. An address is named by its id, or given in full. */
export function notedDestinations(
  notes: AssistantNotes,
  { kind, method, index }: WantedDelivery,
): Pick<AssistantNotes, 'destinations' | 'destinationId'> {
  if (kind === 'pickup') return {};
  const { destinations: sent, selected_destination_id: selected } = method;
  const known = notes.destinations ?? [];
  const destinations = sent
    ? sent.map((one) => {
        const noted = toDestination(one);
        const isReference = Object.keys(noted.address).length === 0;
        return (isReference && known.find(({ id }) => id === noted.id)) || noted;
      })
    : known;
  const isThere = (id: string | null | undefined) => destinations.some((one) => one.id === id);
  if (typeof selected === 'string' && !isThere(selected)) {
    throw new ChoiceRefused({
      type: 'error',
      code: 'not_found',
      severity: 'recoverable',
      path: `$.fulfillment.methods[${index}].selected_destination_id`,
      content: `There is no destination ${selected}`,
    });
  }
  const only = destinations.length === 1 ? destinations[0]!.id : undefined;
  const former = isThere(notes.destinationId) ? notes.destinationId : undefined;
  const destinationId = selected === null ? undefined : (selected ?? former ?? only);
  return { destinations, ...(destinationId !== undefined && { destinationId }) };
}

/**
 * Chooses the delivery of a cart whose address is set. The only way there is needs no choice. What was chosen before
 * stays if it is still possible.
 */
export function applyDelivery(
  cart: CartRow,
  { kind, method, index }: WantedDelivery,
  context: CartContext,
  options: readonly DeliveryOption[],
): CartPatch {
  const { settings, now } = context;
  const { delivery } = contentOf(cart, settings, now).totals;
  const isPickup = (id: string | null) =>
    settings.shippingMethods.some((one) => one.shippingMethodId === id && one.kind === 'pickup');
  const ids = [...delivery.possible, ...options].map(({ shippingMethodId }) => shippingMethodId);
  const possible = [...new Set(ids)].filter((id) => isPickup(id) === (kind === 'pickup'));
  const optionId = method.groups?.find((group) => group.selected_option_id !== undefined)?.selected_option_id;
  const wanted = kind === 'pickup' ? (method.selected_destination_id ?? optionId) : optionId;
  const former = possible.find((id) => id === cart.shippingMethodId);
  const only = possible.length === 1 && kind === 'shipping' ? possible[0] : undefined;
  const id = wanted === null ? undefined : (wanted ?? former ?? only);
  if (id === undefined) return { shippingMethodId: null, deliveryOption: null, shippingPrice: null };
  if (id === former && cart.deliveryOption === null) return {};
  try {
    if (!possible.includes(id.toUpperCase())) throw unavailable(context, kind, index, cart.locale);
    return chooseShipping(cart, { id }, context, options);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw unavailable(context, kind, index, cart.locale);
  }
}

function unavailable(_context: CartContext, kind: Kind, index: number, locale: string): ChoiceRefused {
  const field = kind === 'pickup' ? 'selected_destination_id' : 'groups[0].selected_option_id';
  return new ChoiceRefused({
    type: 'error',
    code: 'option_unavailable',
    severity: 'recoverable',
    path: `$.fulfillment.methods[${index}].${field}`,
    content: messagesIn(locale).storefront.checkout.chooseShipping,
  });
}

interface ShownOption {
  id: string;
  title: string;
  description?: { plain: string };
  totals: { type: 'total'; amount: number }[];
}

interface ShownGroup {
  id: string;
  line_item_ids: string[];
  options: ShownOption[];
  selected_option_id: string | null;
}

interface ShownMethod {
  id: Kind;
  type: Kind;
  line_item_ids: string[];
  destinations?: object[];
  selected_destination_id?: string;
  groups?: ShownGroup[];
}

export interface ShownFulfillment {
  methods: ShownMethod[];
}

/** How a cart can be delivered, and what is chosen; undefined: nothing is shipped. */
export function shownFulfillment(
  open: PricedCart,
  { options }: OfferedDeliveries,
  context: Pick<AssistantContext, 'locale' | 'db'>,
): ShownFulfillment | undefined {
  const { cart, settings, priced } = open;
  const { delivery } = priced.totals;
  if (!delivery.isNeeded) return undefined;
  const notes = cart.assistantNotes ?? {};
  const destination = selectedDestination(notes);
  const choices = isDelivered(cart, settings) ? deliveryChoices(open, options, context.db.now) : [];
  const isPickup = ({ method, option }: DeliveryChoice) => option === null && method.kind === 'pickup';
  const places = choices.filter(isPickup);
  const shipping = choices.filter((choice) => !isPickup(choice));
  const chosenId = delivery.isChosen ? cart.shippingMethodId : null;
  const place = places.find(({ method }) => method.shippingMethodId === chosenId);
  const lineIds = soldUnits(priced).flatMap(({ line: { lineItemId }, goods }) =>
    goods.every(({ product: { taxClassId } }) => taxClassFor(taxClassId, settings).digital)
      ? []
      : [lineItemId],
  );
  const optionsOf = (of: readonly DeliveryChoice[]) => of.map((choice) => shownOption(choice, open, context));
  const group = (ids: string[], of: readonly DeliveryChoice[]): ShownGroup => ({
    id: 'all',
    line_item_ids: ids,
    options: optionsOf(of),
    selected_option_id:
      of.find(({ method }) => method.shippingMethodId === chosenId)?.method.shippingMethodId ?? null,
  });
  const shippedIds = place ? [] : lineIds;
  const destinations = notes.destinations ?? [];
  const byShipping: ShownMethod = {
    id: 'shipping',
    type: 'shipping',
    line_item_ids: shippedIds,
    ...(destinations.length > 0 && {
      destinations: destinations.map(({ id, address }) => ({
        type: 'shipping_address',
        id,
        ...toPostalAddress(address),
      })),
    }),
    ...(destination && { selected_destination_id: destination.id, groups: [group(shippedIds, shipping)] }),
  };
  const byPickup: ShownMethod = {
    id: 'pickup',
    type: 'pickup',
    line_item_ids: place ? lineIds : [],
    destinations: places.map(({ method }) => ({
      type: 'business_location',
      id: method.shippingMethodId,
      name: nameOf(method, settings, context.locale),
    })),
    ...(place && {
      selected_destination_id: place.method.shippingMethodId,
      groups: [group(lineIds, [place])],
    }),
  };
  return { methods: [byShipping, ...(places.length > 0 ? [byPickup] : [])] };
}

const nameOf = (method: DeliveryChoice['method'], settings: PricedCart['settings'], locale: string): string =>
  anyText(named(method, settings), locale, settings.defaultLocale) ?? method.key;

/** When it arrives, or where and when it can be collected, as the checkout of the shop says it. */
function shownOption(
  { method, price, priced }: DeliveryChoice,
  { cart, settings }: PricedCart,
  { locale, db }: Pick<AssistantContext, 'locale' | 'db'>,
): ShownOption {
  const days = cartDelivery({ cart, settings, priced }, priced.totals.delivery.method ?? method, db.now);
  const collected = [method.place, method.hours].flatMap(
    (texts) => textIn(texts, locale, settings.defaultLocale) ?? [],
  );
  const text = days
    ? deliveryText(days, locale)
    : method.kind === 'pickup'
      ? collected.join('\n')
      : textIn(method.description, locale, settings.defaultLocale);
  return {
    id: method.shippingMethodId,
    title: nameOf(method, settings, locale),
    ...(text && { description: { plain: text } }),
    totals: [{ type: 'total', amount: price }],
  };
}

/** The data missing for the delivery of a cart. */
export function fulfillmentMessages(
  shown: ShownFulfillment | undefined,
  { cart, settings, priced }: PricedCart,
  { missing }: OfferedDeliveries,
  { locale }: Pick<AssistantContext, 'locale'>,
): Message[] {
  const [shipping] = shown?.methods ?? [];
  const group = shipping?.groups?.[0];
  const { checkout, cart: cartTexts } = messagesIn(locale).storefront;
  if (!shown || !shipping || !group || shipping.line_item_ids.length === 0) return [];
  if (missing !== null) {
    return [
      { type: 'warning', code: 'delivery_unknown', path: '$.fulfillment', content: checkout.appMissing },
    ];
  }
  const { delivery } = priced.totals;
  const isUndeliverable = delivery.isUndeliverable || !isDelivered(cart, settings);
  if (isUndeliverable || (group.options.length === 0 && settings.shippingMethods.length > 0)) {
    return [
      {
        type: 'error',
        code: 'address_undeliverable',
        severity: 'recoverable',
        path: '$.fulfillment.methods[0].selected_destination_id',
        content: cartTexts.addressUndeliverable,
      },
    ];
  }
  if (group.options.length === 0) {
    return [
      { type: 'info', code: 'delivery_by_agreement', path: '$.fulfillment', content: checkout.noShipping },
    ];
  }
  if (group.selected_option_id !== null) return [];
  return [
    {
      type: 'error',
      code: 'field_required',
      severity: 'recoverable',
      path: '$.fulfillment.methods[0].groups[0].selected_option_id',
      content: checkout.chooseShipping,
    },
  ];
}
