import type { Static } from 'typebox';
import { SINGLE_LEGAL_FACTS, typedLegalFact } from '../../catalogue/products/legal-facts.ts';
import type { ProductExtras } from '../../catalogue/products/manage-routes.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import {
  productFormReader,
  patchWriter,
  type ProductFormReader,
  type Patch,
  type PatchWriter,
} from './product-form.ts';
import {
  AMOUNTS,
  GUARANTEE_TEXTS,
  LOCALISED,
  PARTIES,
  PARTY_FIELDS,
  PLAIN,
  type ProductFormContext,
  type ProductFormValues,
} from './product-values.ts';

export interface ProductChanges {
  patches: Patch[];
  /** For the operation that changes fields outside the contract. */
  extras: Static<typeof ProductExtras>;
  /** The names of the changed fields, with their previous values. */
  before: ProductFormValues;
}

const AMOUNT_PATHS: Readonly<Record<(typeof AMOUNTS)[number], string>> = {
  price: '/priceInfo/price/amount',
  manufacturerPrice: '/priceInfo/manufacturerPrice/amount',
  depositPrice: '/priceInfo/depositPrice/amount',
};

/** A form's changes of a product. `typed` is undefined for a field that was not sent: it stays unchanged. */
export function productChanges(
  row: ProductRow,
  typed: (name: string) => string | undefined,
  context: ProductFormContext & { refusal: (typed: string) => string },
): ProductChanges {
  const { settings } = context;
  const form = productFormReader(row, typed, context);
  const patch = patchWriter(settings);
  changeTexts(form, patch, settings);
  changeAmounts(form, patch, settings);
  changeFacts(form, patch);
  changeMeasures(form, patch);
  changeTiers(form, patch, settings);
  changeCustomText(form, patch, settings);
  changeDataSheet(form, patch);
  changeVideos(form, patch, row);
  changeShipping(form, patch, settings);
  changeSafety(form, patch, settings);
  const extras = { ...changedExtras(form), ...changedLegalFacts(form, settings) };
  return { patches: patch.patches, extras, before: form.before };
}

function changeTexts(
  { isChanged, valueOf, textOrNothing }: ProductFormReader,
  { set }: PatchWriter,
  { locales }: Settings,
) {
  if (isChanged('productNumber')) set('/productNumber', valueOf('productNumber'));
  for (const key of PLAIN) if (isChanged(key)) set(`/${key}`, textOrNothing(key));
  for (const locale of locales) {
    for (const key of LOCALISED) {
      const name = `${key}.${locale}`;
      if (isChanged(name)) set(`/${key}`, textOrNothing(name), { locale });
    }
    if (isChanged(`searchKeywords.${locale}`)) {
      const messages = valueOf(`searchKeywords.${locale}`)
        .split(/[,;\n]/)
        .map((word) => word.trim());
      const given = messages.filter((word) => word !== '');
      set('/searchKeywords', given.length > 0 ? given : undefined, { locale });
    }
  }
}

function changeAmounts(
  { isChanged, optionalDecimal }: ProductFormReader,
  { set }: PatchWriter,
  { currencies }: Settings,
) {
  for (const currency of currencies) {
    for (const key of AMOUNTS) {
      const name = `${key}.${currency}`;
      if (isChanged(name)) set(AMOUNT_PATHS[key], optionalDecimal(name), { currency });
    }
  }
}

const FLAGS = [
  'visible',
  'isNew',
  'isManufacturerPriceRRP',
  'isVATInfoVisible',
  'isShippingLinkVisible',
] as const;

/** Fields with a single value. */
function changeFacts(
  { isChanged, valueOf, isTicked, optionalDecimal, textOrNothing }: ProductFormReader,
  { set, push }: PatchWriter,
) {
  for (const key of FLAGS) if (isChanged(key)) set(`/${key}`, isTicked(key));
  for (const key of ['productLength', 'productWidth', 'productHeight', 'maxOrder']) {
    if (isChanged(key)) set(`/${key}`, optionalDecimal(key));
  }
  if (isChanged('minStock')) set('/minStocklevel', optionalDecimal('minStock'));
  if (isChanged('stock')) {
    const value = optionalDecimal('stock');
    const path = '/stocklevel';
    push(value === undefined ? { op: 'remove', path } : { op: 'replace', path, value });
  }
  if (isChanged('taxClassId')) set('/priceInfo/taxClass/taxClassId', textOrNothing('taxClassId'));
  if (isChanged('productTypeId') && valueOf('productTypeId') !== '') {
    push({ op: 'replace', path: '/producttype', value: valueOf('productTypeId') });
  }
  if (isChanged('withdrawalExcluded')) set('/withdrawalExcluded', textOrNothing('withdrawalExcluded'));
  if (isChanged('newnessDate')) {
    const day = valueOf('newnessDate');
    set('/newnessDate', day === '' ? undefined : `${day}T00:00:00Z`);
  }
}

/** Weight, price by measure, and order steps. */
function changeMeasures(
  { isAnyChanged, valueOf, decimal, optionalDecimal }: ProductFormReader,
  { set }: PatchWriter,
) {
  if (isAnyChanged('weight.')) {
    const amount = optionalDecimal('weight.amount');
    set('/deliveryWeight', amount === undefined ? undefined : { amount, unit: valueOf('weight.unit') });
  }
  if (isAnyChanged('reference.')) {
    const isEmpty = valueOf('reference.amount') === '' && valueOf('reference.content') === '';
    set(
      '/referencePriceInfo',
      isEmpty
        ? undefined
        : {
            refAmount: decimal('reference.amount'),
            refUnit: valueOf('reference.unit'),
            refContentAmount: decimal('reference.content'),
          },
    );
  }
  if (isAnyChanged('order.')) {
    set('/orderUnitInfo', {
      priceQuantity: decimal('order.priceQuantity'),
      orderUnit: valueOf('order.unit'),
      minOrder: decimal('order.minimum'),
      intervalOrder: decimal('order.interval'),
    });
  }
}

/** Prices by quantity, for everyone and for customer groups. */
function changeTiers(
  { isAnyChanged, valueOf, decimal, optionalDecimal }: ProductFormReader,
  { set }: PatchWriter,
  { customerGroups }: Settings,
) {
  if (isAnyChanged('tier.')) {
    const priceInfo = rowsBelow('tier', valueOf).map((at) => ({
      quantity: decimal(`${at}.quantity`),
      price: decimal(`${at}.price`),
    }));
    set('/bulkPriceInfo', priceInfo.length > 0 ? { priceInfo } : undefined);
  }
  const groups = customerGroups.filter(({ customerGroupId }) => isAnyChanged(`group.${customerGroupId}.`));
  if (groups.length === 0) return;
  set(
    '/customerSpecificPriceInfo',
    groups.map(({ customerGroupId, name }) => ({
      customerGroup: name,
      priceInfo: rowsBelow(`group.${customerGroupId}`, valueOf).map((at) => ({
        quantity: decimal(`${at}.quantity`),
        price: decimal(`${at}.price`),
        discountPercentage: optionalDecimal(`${at}.discount`) ?? '0',
      })),
    })),
  );
}

/** The text that customers type. A variation that inherited it gets all of it, so every headline is written. */
function changeCustomText(
  { isChanged, isAnyChanged, valueOf, isTicked, optionalDecimal }: ProductFormReader,
  { set }: PatchWriter,
  { locales, defaultLocale }: Settings,
) {
  const isHeadlineChanged = isAnyChanged('customHeadline.');
  if (!isAnyChanged('custom.') && !isHeadlineChanged) return;
  if (!isTicked('custom.is')) return set('/customisationInfo', undefined);
  for (const locale of locales) {
    const name = `customHeadline.${locale}`;
    if (locale !== defaultLocale && valueOf(name) === '' && !isChanged(name)) continue;
    set(
      '/customisationInfo',
      {
        isCustomizable: true,
        customizableTextLength: Number(optionalDecimal('custom.length') ?? 0),
        customizableHeadlineText: valueOf(name),
        isCustomizableTextRequired: isTicked('custom.required'),
        isCustomizableTextWithdrawable: isTicked('custom.withdrawable'),
        customizablePrice: optionalDecimal('custom.price') ?? '0',
      },
      { locale },
    );
  }
}

function changeDataSheet({ isAnyChanged, valueOf }: ProductFormReader, { set }: PatchWriter) {
  if (isAnyChanged('dataSheet.')) {
    const url = valueOf('dataSheet.url');
    const fileName = valueOf('dataSheet.fileName') || (url.split('/').at(-1) ?? url).slice(0, 200);
    set('/productDataSheet', url === '' ? undefined : { url, fileName });
  }
}

function changeVideos(
  { isChanged, valueOf }: ProductFormReader,
  { push }: PatchWriter,
  { facts }: ProductRow,
) {
  if (!isChanged('videos')) return;
  for (const { source } of facts.videos ?? []) {
    push({ op: 'remove', path: '/video', value: { id: source } });
  }
  const addresses = valueOf('videos')
    .split('\n')
    .filter((line) => line.trim() !== '');
  for (const address of addresses) push({ op: 'add', path: '/video', value: videoOf(address.trim()) });
}

function changeShipping(
  { isAnyChanged, isTicked }: ProductFormReader,
  { set }: PatchWriter,
  { shippingMethods }: Settings,
) {
  if (!isAnyChanged('shipping.')) return;
  const ids = shippingMethods
    .map(({ shippingMethodId }) => shippingMethodId)
    .filter((id) => isTicked(`shipping.${id}`));
  set('/shippingMethodsRestrictedTo', ids.length > 0 ? ids : undefined);
}

/** All of it is written in each locale whose text has changed: the parties are the same in all of them. */
function changeSafety(
  { isChanged, isAnyChanged, valueOf }: ProductFormReader,
  { set }: PatchWriter,
  { locales, defaultLocale }: Settings,
) {
  const isPartyChanged = isAnyChanged('safety.');
  const changedLocales = locales.filter((locale) => isChanged(`safetyText.${locale}`));
  const written = isPartyChanged ? [...new Set([defaultLocale, ...changedLocales])] : changedLocales;
  for (const locale of written) {
    const parties = PARTIES.flatMap((party) => {
      const fields = PARTY_FIELDS.map((field) => [field, valueOf(`safety.${party}.${field}`)] as const);
      return fields.some(([, text]) => text !== '') ? [[party, Object.fromEntries(fields)] as const] : [];
    });
    const text = valueOf(`safetyText.${locale}`);
    const isEmpty = parties.length === 0 && locales.every((one) => valueOf(`safetyText.${one}`) === '');
    set('/safetyInfo', isEmpty ? undefined : { ...Object.fromEntries(parties), text }, { locale });
  }
}

/** Fields that the operation of the contract can't change. */
function changedExtras({ isChanged, isAnyChanged, valueOf, isTicked, optionalDecimal }: ProductFormReader) {
  const extras: Static<typeof ProductExtras> = {};
  for (const key of ['specialOffer', 'isProductNumberVisible'] as const) {
    if (isChanged(key)) extras[key] = isTicked(key);
  }
  for (const key of ['ecoParticipationPrice', 'shippingSurcharge'] as const) {
    if (isChanged(key)) extras[key] = optionalDecimal(key) ?? null;
  }
  for (const key of ['forSaleFrom', 'forSaleUntil'] as const) {
    if (isChanged(key)) extras[key] = valueOf(key) === '' ? null : `${valueOf(key)}:00Z`;
  }
  if (isAnyChanged('giftCard.')) {
    const minimum = optionalDecimal('giftCard.minimum');
    const maximum = optionalDecimal('giftCard.maximum');
    const isEmpty = minimum === undefined && maximum === undefined;
    extras.giftCard = isEmpty ? null : { minimum: minimum ?? '0', maximum: maximum ?? '0' };
  }
  if (isAnyChanged('backorder.')) {
    const kind = valueOf('backorder.kind');
    const expectedOn = valueOf('backorder.expectedOn') || null;
    extras.backorder =
      kind === ''
        ? null
        : {
            kind: kind as NonNullable<typeof extras.backorder>['kind'],
            limit: Number(optionalDecimal('backorder.limit') ?? 0),
            expectedOn,
          };
  }
  if (isAnyChanged('energy.')) {
    const classes = valueOf('energy.classes');
    extras.energyLabel =
      classes === '' ? null : { classes, best: valueOf('energy.best'), file: valueOf('energy.file') };
  }
  return extras;
}

/** A guarantee is written as a whole, and a claim with its source: half of either is refused. */
function changedLegalFacts(
  { isChanged, isAnyChanged, valueOf, optionalDecimal }: ProductFormReader,
  { locales }: Settings,
): Static<typeof ProductExtras> {
  const extras: Static<typeof ProductExtras> = {};
  if (isAnyChanged('guarantee.')) {
    const texts = Object.fromEntries(
      GUARANTEE_TEXTS.map((key) => [key, valueOf(`guarantee.${key}`)]),
    ) as Record<(typeof GUARANTEE_TEXTS)[number], string>;
    const years = optionalDecimal('guarantee.years');
    const isEmpty = years === undefined && Object.values(texts).every((text) => text === '');
    extras.durabilityGuarantee = isEmpty ? null : { years: Number(years ?? 0), ...texts };
  }
  // Both are checked, so that both are undone.
  const isClaimChanged = [isAnyChanged('claim.'), isAnyChanged('claimSource.')].includes(true);
  if (isClaimChanged) {
    extras.environmentalClaims = locales
      .map((locale) => ({
        locale,
        claim: valueOf(`claim.${locale}`),
        source: valueOf(`claimSource.${locale}`),
      }))
      .filter(({ claim, source }) => claim !== '' || source !== '');
  }
  for (const key of SINGLE_LEGAL_FACTS) {
    const name = `law.${key}`;
    if (isChanged(name)) extras[key] = typedLegalFact(key, valueOf(name)) || null;
  }
  return extras;
}

/** The non-empty rows of a table: `tier.0`, `tier.2`. */
function rowsBelow(start: string, valueOf: (name: string) => string): string[] {
  return Array.from({ length: MAX_ROWS }, (_, index) => `${start}.${index}`).filter(
    (at) => valueOf(`${at}.quantity`) !== '' || valueOf(`${at}.price`) !== '',
  );
}

const MAX_ROWS = 100;

/** The id of a video from a copied address; anything else is taken as the source itself. */
function videoOf(address: string): { type: 'YouTube' | 'Vimeo'; id: string } {
  const [, vimeo] = /vimeo\.com\/(?:video\/)?(\d+)/.exec(address) ?? [];
  if (vimeo !== undefined) return { type: 'Vimeo', id: vimeo };
  const [, youTube] =
    /(?:youtu\.be\/|youtube(?:-nocookie)?\.com\/(?:watch\?(?:.*&)?v=|embed\/|shorts\/))([\w-]+)/.exec(
      address,
    ) ?? [];
  return { type: 'YouTube', id: youTube ?? address };
}
