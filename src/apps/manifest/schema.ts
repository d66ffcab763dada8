import { Type, type Static, type TProperties } from 'typebox';
import { SCOPES, type Scope } from '../../http/scopes.ts';
import { EVENT_TYPE_NAMES, type EventType } from '../../platform/events/types.ts';

/**
 * The manifest of an app: what it is called, what it may see, and what it adds to the admin. Keys that are not declared
 * here are ignored, so that a later version of the format can add some.
 */

/** Where a block is shown. */
export const PLACES = ['order', 'product', 'customer', 'settings'] as const;
export type BlockPlace = (typeof PLACES)[number];

/** Where a block is shown in the storefront: on pages that the merchant puts it on, or on all pages of products. */
export const STOREFRONT_PLACES = ['page', 'product'] as const;
export type StorefrontPlace = (typeof STOREFRONT_PLACES)[number];

export const FIELD_KINDS = ['text', 'longText', 'tick', 'choice', 'secret'] as const;

/** Most orders that one action takes. */
export const MAX_ACTION_ORDERS = 100;

/** One line: no control characters, and none that turn the direction of a text. */
export const MANIFEST_LINE = '^(?! )[^\\p{C}\\p{Zl}\\p{Zp}]+(?<! )$';

const line = (maxLength: number, description: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: MANIFEST_LINE,
    description,
    examples: [example],
  });

const localised = (maxLength: number, description: string, example: string) =>
  Type.Object(
    {
      en: line(maxLength, 'English.', example),
      de: Type.Optional(line(maxLength, 'German; without it English is shown.', example)),
      fr: Type.Optional(line(maxLength, 'French; without it English is shown.', example)),
    },
    { description },
  );

const address = (description: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: `${description} A path, or a whole address with the origin of the manifest.`,
    examples: [example],
  });

const name = Type.String({
  pattern: '^[a-z0-9][a-z0-9-]{0,39}$',
  description: 'Names it within the app. Addresses and tokens hold it, so it stays.',
  examples: ['labels'],
});

const entry = <More extends TProperties>(more: More) =>
  Type.Object({
    name,
    title: localised(60, 'Its title.', 'Labels'),
    url: address('The page that is shown.', '/kontor/labels'),
    ...more,
  });

const choiceOf = <Value extends string>(values: readonly Value[], description: string) =>
  Type.Unsafe<Value>({ type: 'string', enum: [...values], description, examples: [values[0]] });

/** What an app can be asked while a customer waits. */
export const CALL_KINDS = [
  'deliveryOptions',
  'linePrices',
  'taxes',
  'checkoutValidation',
  'payment',
] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** Milliseconds that a customer waits for an app. */
const MAX_CALL_TIMEOUT = 800;
/** A payment is begun by a click, and the app asks its bank meanwhile. */
const MAX_PAYMENT_TIMEOUT = 8_000;
export const maxTimeout = (kind: CallKind) => (kind === 'payment' ? MAX_PAYMENT_TIMEOUT : MAX_CALL_TIMEOUT);

export const MAX_CACHE_SECONDS = 3_600;
/** Minor units; the price of a delivery without an answer. */
const MAX_FIXED_PRICE = 1_000_000;

const callEntry = Type.Object({
  kind: choiceOf<CallKind>(
    CALL_KINDS,
    'deliveryOptions: how a cart can be delivered, and what it costs. linePrices: what the items of a cart cost. taxes: the taxes of a cart and their rates. checkoutValidation: whether a cart may be ordered. payment: to begin, capture, cancel and refund payments.',
  ),
  url: address('Is asked.', '/kontor/delivery'),
  timeoutMs: Type.Optional(
    Type.Integer({
      minimum: 50,
      maximum: MAX_PAYMENT_TIMEOUT,
      description: 'Milliseconds for the whole call, at most 800, and 8000 for payment; absent: as many.',
      examples: [600],
    }),
  ),
  cacheSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_CACHE_SECONDS,
      description:
        'For how long an answer holds for the same question; absent: 0, it is asked each time. Payments are asked each time.',
      examples: [300],
    }),
  ),
  onFailure: Type.Unsafe<CallFailure>({
    description:
      'What happens without a valid answer. hide: the checkout goes on without the app. refuse: it waits until the app answers; payment has this one, because an order without an answer is unpaid. An object, for deliveryOptions: one option with this price.',
    examples: ['hide'],
    anyOf: [
      { type: 'string', enum: ['hide', 'refuse'] },
      Type.Object({
        price: Type.Integer({
          minimum: 0,
          maximum: MAX_FIXED_PRICE,
          description: "Minor units of the shop's default currency.",
          examples: [690],
        }),
        name: Type.Optional(localised(60, 'Its name; absent: the name of the app.', 'Standard delivery')),
      }),
    ],
  }),
});

const codes = (pattern: string, maxItems: number, description: string, example: string) =>
  Type.Optional(
    Type.Array(Type.String({ pattern }), { minItems: 1, maxItems, description, examples: [[example]] }),
  );

const limit = (description: string, example: number) =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description, examples: [example] }),
  );

const paymentMethod = Type.Object({
  name,
  title: localised(60, 'What the merchant sees.', 'Pay later'),
  currencies: codes('^[A-Z]{3}$', 50, 'Currencies that can be paid; absent: all.', 'EUR'),
  countries: codes('^[A-Z]{2}$', 250, 'Countries of billing addresses; absent: all.', 'DE'),
  minimum: limit('The smallest amount in minor units, which needs one currency.', 1_000),
  maximum: limit('The largest amount in minor units, which needs one currency.', 150_000),
});

export const ManifestFile = Type.Object(
  {
    manifest: Type.Integer({
      minimum: 1,
      maximum: 1,
      description: 'The version of the format: 1.',
      examples: [1],
    }),
    name: line(60, 'The name of the app.', 'Labels'),
    description: Type.Optional(
      localised(300, 'What it does, in a sentence or two.', 'Prints shipping labels.'),
    ),
    icon: Type.Optional(address('A PNG or JPEG of at most 256 KB.', '/icon.png')),
    registerUrl: address(
      'Is sent the client id and the client secret of the app, when the merchant has agreed.',
      '/kontor/register',
    ),
    installUrl: address('Is opened after that, with the code that becomes a token.', '/kontor/install'),
    scopes: Type.Array(choiceOf<Scope>(SCOPES, 'A scope.'), {
      maxItems: SCOPES.length,
      description: 'What its token may do.',
    }),
    webhooks: Type.Optional(
      Type.Array(
        Type.Object({
          eventType: choiceOf<EventType>(EVENT_TYPE_NAMES, 'The events that it is called for.'),
          url: address('Is called.', '/kontor/hook'),
          includeFields: Type.Optional(
            Type.Boolean({ description: 'It is called with the custom fields that the app may read.' }),
          ),
        }),
        { maxItems: 30, description: 'Webhooks that exist as long as the app is installed.' },
      ),
    ),
    pages: Type.Optional(
      Type.Array(entry({}), { maxItems: 5, description: 'Pages with an entry in the menu.' }),
    ),
    blocks: Type.Optional(
      Type.Array(
        entry({
          place: choiceOf<BlockPlace>(PLACES, 'The page that shows it.'),
          height: Type.Optional(
            Type.Integer({
              minimum: 60,
              maximum: 1_000,
              description: 'Its height in pixels, until the app says another one.',
              examples: [240],
            }),
          ),
        }),
        { maxItems: 10, description: 'Blocks on pages of the admin.' },
      ),
    ),
    storefrontBlocks: Type.Optional(
      Type.Array(
        entry({
          place: choiceOf<StorefrontPlace>(
            STOREFRONT_PLACES,
            '`page`: where the merchant puts it, in the editor of pages. `product`: on all pages of products.',
          ),
          height: Type.Optional(
            Type.Integer({
              minimum: 60,
              maximum: 1_000,
              description: 'Its height in pixels, until the app says another one.',
              examples: [240],
            }),
          ),
        }),
        { maxItems: 10, description: 'Blocks in the storefront.' },
      ),
    ),
    actions: Type.Optional(
      Type.Array(
        entry({
          maxOrders: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: MAX_ACTION_ORDERS,
              description: 'The most orders it takes at once; 1: it is not in the list of orders.',
              examples: [50],
            }),
          ),
        }),
        { maxItems: 10, description: 'Actions on one or more orders.' },
      ),
    ),
    calls: Type.Optional(
      Type.Array(callEntry, {
        maxItems: CALL_KINDS.length,
        description:
          'What it is asked while a customer waits. They need the scope carts_read, and payment orders_read.',
      }),
    ),
    paymentMethods: Type.Optional(
      Type.Array(paymentMethod, {
        minItems: 1,
        maxItems: 10,
        description: 'Ways to pay that the merchant can offer. They need a call of the kind payment.',
      }),
    ),
    settings: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({
            pattern: '^[a-z][a-zA-Z0-9]{0,39}$',
            description: 'The key of the value.',
            examples: ['apiKey'],
          }),
          kind: choiceOf(FIELD_KINDS, 'A `secret` is stored encrypted, and shown to nobody.'),
          label: localised(100, 'The label of the field.', 'API key'),
          hint: Type.Optional(
            localised(300, 'Shown below the field.', 'From your account with the carrier.'),
          ),
          choices: Type.Optional(
            Type.Array(
              Type.Object({
                value: line(100, 'Is stored.', 'a6'),
                label: localised(100, 'Is shown.', 'A6'),
              }),
              { maxItems: 50, description: 'Of a `choice`.' },
            ),
          ),
        }),
        { maxItems: 30, description: 'Fields that the merchant fills in; the admin makes the form.' },
      ),
    ),
  },
  { title: 'app manifest' },
);

/** The manifest as it is written. */
export type ManifestFile = Static<typeof ManifestFile>;

export interface ManifestText {
  en: string;
  de?: string;
  fr?: string;
}

/** English where the app has no text in the language. */
export function inLanguage(text: ManifestText, language: keyof ManifestText): string {
  return text[language] ?? text.en;
}

export interface ManifestEntry {
  name: string;
  title: ManifestText;
  url: string;
}

export interface BlockEntry extends ManifestEntry {
  place: BlockPlace;
  height: number;
}

export interface StorefrontEntry extends ManifestEntry {
  place: StorefrontPlace;
  height: number;
}

export interface ActionEntry extends ManifestEntry {
  maxOrders: number;
}

export interface SettingField {
  name: string;
  kind: (typeof FIELD_KINDS)[number];
  label: ManifestText;
  hint: ManifestText | null;
  choices: { value: string; label: ManifestText }[];
}

/** Without an answer: the checkout goes on without the app, waits for it, or takes one option at a fixed price. */
export type CallFailure = 'hide' | 'refuse' | { price: number; name?: ManifestText };

export interface AppCall {
  kind: CallKind;
  url: string;
  timeoutMs: number;
  cacheSeconds: number;
  onFailure: CallFailure;
}

/** A way to pay that an app handles. */
export interface AppPaymentMethod {
  name: string;
  title: ManifestText;
  currencies?: string[];
  countries?: string[];
  /** Minor units. */
  minimum?: number;
  maximum?: number;
}

/** The manifest as it is stored: with whole addresses, and every key. */
export interface Manifest {
  name: string;
  description: ManifestText | null;
  icon: string | null;
  registerUrl: string;
  installUrl: string;
  scopes: Scope[];
  webhooks: { eventType: EventType; url: string; includeFields?: true }[];
  pages: ManifestEntry[];
  blocks: BlockEntry[];
  /** Absent where there are none, as in manifests that were stored before there were any. */
  storefrontBlocks?: StorefrontEntry[];
  actions: ActionEntry[];
  calls: AppCall[];
  /** Absent where there are none, as in manifests that were stored before there were any. */
  paymentMethods?: AppPaymentMethod[];
  settings: SettingField[];
}

export function manifestSchemaText(): string {
  const text = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...ManifestFile,
    title: 'Manifest of a Kontor app',
  };
  return `${JSON.stringify(text, null, 2)}\n`;
}
