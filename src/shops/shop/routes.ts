import { Type, type Static } from 'typebox';
import { isInEu } from '../countries/countries.ts';
import { storefrontUrl } from '../../http/links.ts';
import { readingLocale, textIn } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { LocaleParameter, Nullable } from '../../http/schemas.ts';
import { shopSettings, type Settings } from '../settings/settings.ts';

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
  },
  { title: 'shopInfo' },
);

const getShop = operation({
  method: 'GET',
  path: '',
  name: 'getShop',
  summary: 'Get shop',
  tag: 'shop',
  labels: ['Base', 'Now'],
  access: 'products_read',
  query: Type.Object({ locale: LocaleParameter }),
  answer: Shop,
});

export function shop(api: Operations): void {
  api.read(getShop, async ({ db, shopId, query, origin }) => {
    const settings = await shopSettings(db, shopId);
    return toShop(settings, readingLocale(query.locale, settings), origin);
  });
}

export function toShop(settings: Settings, locale: string, origin: string): Static<typeof Shop> {
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
