import { Type, type Static } from 'typebox';
import { isInEu } from '../countries/countries.ts';
import { storefrontUrl } from '../../http/links.ts';
import { readingLocale, textIn } from '../../http/locale.ts';
import { operation, type ReadCall } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { LocaleParameter, Nullable } from '../../http/schemas.ts';
import { shopSettings, type Settings } from '../settings/settings.ts';
import { IncludeFields, ShownFields } from '../settings/shown-fields.ts';

const Shop = Type.Object(
  {
    name: Type.String({ description: 'Name of the shop.', examples: ['Harbour & Hearth'] }),
    email: Type.String({
      description: "The merchant's address.",
      examples: ['hello@harbour-hearth.example'],
    }),
    slogan: Nullable(
      Type.String({
        description: 'May contain markup.',
        examples: ['<p>Small things from the sea side</p>'],
      }),
    ),
    logoUrl: Nullable(
      Type.String({ description: 'Address of the logo.', examples: ['https://shop.example/logo.png'] }),
    ),
    sfUrl: Type.String({
      description: 'Address of the storefront.',
      examples: ['https://shop.example/shop/DemoShop'],
    }),
    mboUrl: Type.String({
      description: 'Address where the merchant runs the shop.',
      examples: ['https://shop.example/admin/shops/DemoShop'],
    }),
    isInEU: Type.Boolean({ description: 'The shop sits in the European Union.', examples: [true] }),
    countryCode2: Type.String({ description: 'ISO 3166-1 alpha-2.', examples: ['DE'] }),
    fields: ShownFields,
  },
  { title: 'shopInfo' },
);

export const getShop = operation({
  method: 'GET',
  path: '',
  name: 'getShop',
  summary: 'Get shop',
  tag: 'shop',
  labels: ['Base', 'Now'],
  access: 'products_read',
  query: Type.Object({ locale: LocaleParameter, includeFields: IncludeFields }),
  answer: Shop,
});

type Shop = Static<typeof Shop>;

interface Deps {
  /** The custom fields of the shop itself. */
  findFields: (
    call: Pick<ReadCall<unknown, unknown, unknown>, 'db' | 'caller'>,
    settings: Settings,
    locale: string,
  ) => Promise<NonNullable<Shop['fields']>>;
}

export function shop(api: Operations, { findFields }: Deps): void {
  api.read(getShop, async (call) => {
    const { db, shopId, query, origin } = call;
    const settings = await shopSettings(db, shopId);
    const locale = readingLocale(query.locale, settings);
    const answer = toShop(settings, locale, origin);
    return query.includeFields ? { ...answer, fields: await findFields(call, settings, locale) } : answer;
  });
}

export function toShop(settings: Settings, locale: string, origin: string): Shop {
  const { shopId, defaultLocale } = settings;
  return {
    name: textIn(settings.name, locale, defaultLocale) ?? shopId,
    email: settings.email,
    slogan: textIn(settings.slogan, locale, defaultLocale),
    // A file of our own is kept without the host it is served from.
    logoUrl: settings.logoUrl?.startsWith('/') ? origin + settings.logoUrl : settings.logoUrl,
    sfUrl: storefrontUrl(origin, settings),
    mboUrl: `${origin}/admin/shops/${shopId}`,
    isInEU: isInEu(settings.country),
    countryCode2: settings.country,
  };
}
