import { createHash } from 'node:crypto';
import { Type, type Static } from 'typebox';
import { AnswerProblem } from '../apps/calls/answer.ts';
import type { AppAnswer, AppCalls } from '../apps/calls/calls.ts';
import { Refusal } from '../http/errors.ts';
import { textIn, type Localised } from '../http/locale.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Price, priceOf } from '../http/price.ts';
import { Id, Nullable } from '../http/schemas.ts';
import { anyText } from '../catalogue/products/render.ts';
import { contentOf, deliveryQuestionOf, named, type PricedContent } from '../pricing/content.ts';
import { zoneOfMethod } from '../pricing/delivery.ts';
import { methodOfOption, questionDigest } from '../pricing/delivery-option.ts';
import { transitDays } from '../pricing/delivery-span.ts';
import type { DeliveryOption } from '../pricing/input.ts';
import type { Settings, ShippingMethod, ShippingZone } from '../shops/settings/settings.ts';
import { answerOf, AppText, inLocales } from '../apps/calls/app-answer.ts';
import type { CartRow, PricedCart } from './cart.ts';
import type { CartStore } from './cart-store.ts';

/** Minor units; far above the costs of any delivery. */
const MAX_PRICE = 1_000_000_000;
const MAX_OPTIONS = 10;
const MAX_DAYS = 100;

const days = Type.Integer({ minimum: 0, maximum: MAX_DAYS });

const DeliveryAnswer = Type.Object({
  options: Type.Array(
    Type.Object({
      id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$' }),
      name: AppText,
      price: Type.Integer({ minimum: 0, maximum: MAX_PRICE }),
      days: Type.Optional(Type.Object({ from: days, to: days })),
    }),
    { maxItems: MAX_OPTIONS },
  ),
});
type DeliveryAnswer = Static<typeof DeliveryAnswer>;

function readDeliveryAnswer(answer: unknown): DeliveryAnswer {
  const { options } = answerOf(DeliveryAnswer, answer);
  if (new Set(options.map(({ id }) => id)).size < options.length) {
    throw new AnswerProblem('The answer is not valid: /options: an id is there twice');
  }
  if (options.some((option) => option.days && option.days.from > option.days.to)) {
    throw new AnswerProblem('The answer is not valid: /options: days end before they begin');
  }
  return { options };
}

/** The delivery methods that apps offer for a cart. */
export interface OfferedDeliveries {
  options: readonly DeliveryOption[];
  /** The name of an app that has not answered, and without which no delivery may be chosen; null: all have. */
  missing: string | null;
}

export const NOTHING_OFFERED: OfferedDeliveries = { options: [], missing: null };

/** Asks the apps of the shop. Call it outside of transactions: it may take most of a second. */
export async function askForDelivery(
  calls: AppCalls,
  { cart, settings }: Pick<PricedCart, 'cart' | 'settings'>,
  origin: string,
  now: Date,
): Promise<OfferedDeliveries> {
  const question = deliveryQuestionOf(cart, settings, now);
  if (!question) return NOTHING_OFFERED;
  const { shopId, version, taxModel } = settings;
  const answers = await calls.ask(
    { shopId, version, origin },
    { kind: 'deliveryOptions', about: { ...question, taxModel }, read: readDeliveryAnswer },
  );
  const digest = questionDigest(question);
  return {
    options: answers.flatMap((answer) => optionsOf(answer, digest, settings)),
    missing:
      answers.find(({ answer, call }) => answer === undefined && call.onFailure === 'refuse')?.app.name ??
      null,
  };
}

/** Its name for the option that is offered without an answer; no answer can have one like it. */
const FIXED = '-fixed';

function optionsOf(
  { app, call: { onFailure }, answer }: AppAnswer<DeliveryAnswer>,
  digest: string,
  settings: Settings,
): DeliveryOption[] {
  const optionWith = (optionId: string, name: string | Localised): DeliveryOption => ({
    shippingMethodId: methodIdOf(app.appId, optionId),
    appId: app.appId,
    optionId,
    name: inLocales(name, settings),
    price: null,
    fixedPrice: null,
    days: null,
    questionDigest: digest,
  });
  if (answer) {
    return answer.options.map(({ id, name, price, days: transit }) => ({
      ...optionWith(id, name),
      price,
      days: transit ? { from: transit.from, to: transit.to } : null,
    }));
  }
  if (typeof onFailure === 'string') return [];
  const { price, name } = onFailure;
  return [{ ...optionWith(FIXED, name ? { ...name } : app.name), fixedPrice: price }];
}

/** A UUID of version 8: the same option has the same id in every cart. */
function methodIdOf(appId: string, optionId: string): string {
  const bytes = createHash('sha256').update(`${appId} ${optionId}`).digest().subarray(0, 16);
  bytes[6] = 0x80 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return bytes
    .toString('hex')
    .toUpperCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The option of the cart as it is offered now; undefined: it is no longer. */
export function optionNow(
  { deliveryOption }: Pick<CartRow, 'deliveryOption'>,
  { options }: OfferedDeliveries,
): DeliveryOption | undefined {
  return options.find(({ shippingMethodId }) => shippingMethodId === deliveryOption?.shippingMethodId);
}

const listDeliveryOptions = operation({
  under: 'manage',
  method: 'GET',
  path: '/carts/:cartId/delivery-options',
  name: 'listDeliveryOptions',
  summary: 'List delivery options of a cart',
  description:
    'How this cart can be delivered, with prices: the shipping methods of the shop, then what its apps offer, which are asked now. `Update shipping data` chooses one by its id. 409: an app without which no delivery can be chosen does not answer.',
  tag: 'carts',
  labels: [],
  access: 'cart token',
  params: Type.Object({ cartId: Id }),
  answer: Type.Object(
    {
      items: Type.Array(
        Type.Object(
          {
            id: { ...Id, description: 'For Update shipping data.' },
            name: Type.String({ description: 'In the language of the cart.', examples: ['Express'] }),
            price: { ...Price, description: 'With this option.' },
            days: Nullable(
              Type.Object(
                {
                  from: Type.Integer({ description: 'At least.', examples: [1] }),
                  to: Type.Integer({ description: 'At most.', examples: [2] }),
                },
                {
                  title: 'delivery option days',
                  description:
                    'Working days in transit, as set for the method or its zone, or as an app has said; null: unknown.',
                },
              ),
            ),
            app: Nullable({
              ...Id,
              description: 'The client id of the app that offers it; null: a shipping method of the shop.',
            }),
            option: Nullable(
              Type.String({ description: 'The name of the option in the app.', examples: ['express'] }),
            ),
          },
          { title: 'delivery option' },
        ),
        { description: 'The options.' },
      ),
    },
    { title: 'delivery option list' },
  ),
});

export function deliveryOptions(
  api: Operations,
  { carts, calls }: { carts: CartStore; calls: AppCalls },
): void {
  api.read(listDeliveryOptions, async (call) => {
    const { db, origin } = call;
    const open = await carts.open(call);
    const { cart, settings } = open;
    const { options, missing } = await askForDelivery(calls, open, origin, db.now);
    if (missing !== null) throw new Refusal('APP_NOT_ANSWERING', { app: missing });
    const text = (name: Localised) => anyText(name, cart.locale, settings.defaultLocale)!;
    return {
      items: deliveryChoices(open, options, db.now).map(({ method, option, zone, price }) => ({
        id: method.shippingMethodId,
        name: option
          ? textIn(option.name, cart.locale, settings.defaultLocale)!
          : text(named(method, settings)),
        price: priceOf(price, cart.currency, cart.taxType, cart.locale),
        days: option ? option.days : (transitDays(method, zone, settings) ?? null),
        app: option ? option.appId : null,
        option: option ? option.optionId : null,
      })),
    };
  });
}

/** One of the ways to deliver a cart. */
export interface DeliveryChoice {
  method: ShippingMethod;
  /** What an app offers; null: it is a method of the shop. */
  option: DeliveryOption | null;
  /** The zone of a method of the shop; null: it has none. */
  zone: ShippingZone | null;
  /** What it costs, in minor units and the tax type of the cart. */
  price: number;
  /** The cart with it. */
  priced: PricedContent;
}

/** The ways to deliver a cart with their prices: the methods of the shop, then what its apps offer. */
export function deliveryChoices(
  { cart, settings, priced }: PricedCart,
  options: readonly DeliveryOption[],
  now: Date,
): DeliveryChoice[] {
  const { delivery } = priced.totals;
  if (!delivery.isNeeded) return [];
  const choice = (method: ShippingMethod, option: DeliveryOption | null): DeliveryChoice[] => {
    const { shippingMethodId } = method;
    const chosen = { ...cart, shippingMethodId, deliveryOption: option, shippingPrice: null };
    const priced = contentOf(chosen, settings, now);
    const { shipping } = priced.totals;
    if (!priced.totals.delivery.isChosen || !shipping) return [];
    return [{ method, option, zone: zoneOfMethod(delivery, method), price: shipping.price, priced }];
  };
  return [
    ...delivery.possible
      .filter(({ shippingMethodId }) => isOfShop(shippingMethodId, settings))
      .flatMap((method) => choice(method, null)),
    ...options.flatMap((option) => choice(methodOfOption(option), option)),
  ];
}

export const isOfShop = (id: string, { shippingMethods }: Pick<Settings, 'shippingMethods'>): boolean =>
  shippingMethods.some(({ shippingMethodId }) => shippingMethodId === id.toUpperCase());
