import { Type, type Static } from 'typebox';
import { notFound } from '../../http/errors.ts';
import { readingLocale, textIn } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { Id, Links, LocaleParameter, Nullable, Paged } from '../../http/schemas.ts';
import { shopSettings, type Settings, type TaxClass as StoredClass } from '../settings/settings.ts';

const TaxClass = Type.Object(
  {
    taxClassId: Id,
    name: Type.String({ description: 'Name of the class.', examples: ['standard'] }),
    links: Links,
  },
  { title: 'taxClass' },
);

const TaxClasses = Type.Object(
  {
    ...Paged(TaxClass, 'tax class list').properties,
    defaultTaxClass: { ...TaxClass, description: 'The class of a product that names none.' },
    defaultTaxClassDigital: { ...TaxClass, description: 'The class of digital goods that name none.' },
  },
  { title: 'tax class list' },
);

const TaxModel = Type.Object(
  {
    model: Type.String({
      description: 'Whether the prices of the shop contain tax.',
      enum: ['gross', 'net'],
      examples: ['gross'],
    }),
    displayTaxes: Type.Boolean({ description: 'Show a note on taxes.', examples: [true] }),
    noTaxesMessage: Nullable(
      Type.String({
        description: 'Text to show instead, when no taxes are shown.',
        examples: ['No VAT is charged (small business).'],
      }),
    ),
    deliveryThresholdIsActive: Type.Boolean({
      description: 'The delivery threshold into other EU countries is exceeded.',
      examples: [false],
    }),
    countryCode2: Type.String({ description: 'Country of the shop, ISO 3166-1 alpha-2.', examples: ['DE'] }),
  },
  { title: 'taxModel' },
);

const { parameters, pageOf } = paging();
const shared = { tag: 'taxes', labels: ['Base', 'Now'], access: 'products_read' } as const;

export const listTaxClasses = operation({
  ...shared,
  method: 'GET',
  path: '/tax-classes',
  name: 'listTaxClasses',
  summary: 'List tax classes',
  query: Type.Object({ locale: LocaleParameter, ...parameters }),
  answer: TaxClasses,
});

const getTaxClass = operation({
  ...shared,
  method: 'GET',
  path: '/tax-classes/:taxClassId',
  name: 'getTaxClass',
  summary: 'Get tax class',
  params: Type.Object({ taxClassId: Id }),
  query: Type.Object({ locale: LocaleParameter }),
  answer: TaxClass,
});

const getTaxModel = operation({
  ...shared,
  method: 'GET',
  path: '/tax-model',
  name: 'getTaxModel',
  summary: 'Get tax model',
  answer: TaxModel,
});

export function taxOperations(api: Operations): void {
  api.read(listTaxClasses, async ({ db, shopId, query, link }) => {
    const settings = await shopSettings(db, shopId);
    const locale = readingLocale(query.locale, settings);
    const page = pageOf(query);
    const all = settings.taxClasses.map((stored) => toTaxClass(stored, settings, locale, link));
    const defaultAt = settings.taxClasses.findIndex((stored) => stored.isDefault);
    const digitalAt = settings.taxClasses.findIndex((stored) => stored.isDefaultDigital);
    return {
      ...paged(page, all.length, all.slice(page.offset, page.offset + page.resultsPerPage)),
      defaultTaxClass: all[defaultAt]!,
      defaultTaxClassDigital: all[digitalAt === -1 ? defaultAt : digitalAt]!,
    };
  });

  api.read(getTaxClass, async ({ db, shopId, params, query, link }) => {
    const settings = await shopSettings(db, shopId);
    const stored = settings.taxClasses.find((one) => one.taxClassId === params.taxClassId);
    if (!stored) throw notFound();
    return toTaxClass(stored, settings, readingLocale(query.locale, settings), link);
  });

  api.read(getTaxModel, async ({ db, shopId }) => {
    const settings = await shopSettings(db, shopId);
    return {
      model: settings.taxModel.toLowerCase(),
      displayTaxes: settings.displayTaxes,
      noTaxesMessage: settings.noTaxesMessage,
      deliveryThresholdIsActive: settings.deliveryThresholdIsActive,
      countryCode2: settings.country,
    };
  });
}

function toTaxClass(
  stored: StoredClass,
  settings: Settings,
  locale: string,
  link: (path: string) => string,
): Static<typeof TaxClass> {
  return {
    taxClassId: stored.taxClassId,
    name: textIn(stored.name, locale, settings.defaultLocale) ?? stored.key,
    links: [{ rel: 'self', href: link(`/tax-classes/${stored.taxClassId}`) }],
  };
}
