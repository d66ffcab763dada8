import { badRequest } from '../../http/errors.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { decimalOf } from '../components/decimal.ts';
import {
  AMOUNTS,
  LOCALISED,
  oneLineEnd,
  PARTIES,
  PARTY_FIELDS,
  PLAIN,
  productValues,
  type FormContext,
  type Values,
} from './product-values.ts';

export interface Operation {
  op: 'add' | 'replace' | 'remove';
  path: string;
  value?: unknown;
}

/** The operations of one call: texts are written in its locale, prices in its currency. */
export interface Patch {
  locale: string;
  currency: string;
  operations: Operation[];
}

export interface ProductChanges {
  patches: Patch[];
  /** For the operation that changes what the contract can't. */
  extras: Record<string, unknown>;
  /** The names of the fields that have changed, with what they were. */
  before: Values;
}

const AMOUNT_PATHS: Readonly<Record<(typeof AMOUNTS)[number], string>> = {
  price: '/priceInfo/price/amount',
  manufacturerPrice: '/priceInfo/manufacturerPrice/amount',
  depositPrice: '/priceInfo/depositPrice/amount',
};

/** What a form changes of a product. `typed` is undefined for a field that was not sent: it stays as it is. */
export function productChanges(
  row: ProductRow,
  typed: (name: string) => string | undefined,
  context: FormContext & { refusal: (typed: string) => string },
): ProductChanges {
  const { settings, language, refusal } = context;
  const { defaultLocale, defaultCurrency, locales, currencies } = settings;
  const values = productValues(row, context);
  const valueOf = (name: string) => oneLineEnd(typed(name) ?? values[name] ?? '');
  const before: Record<string, string> = {};
  const isChanged = (name: string) => {
    if (valueOf(name) === oneLineEnd(values[name] ?? '')) return false;
    before[name] = values[name] ?? '';
    return true;
  };
  /** Asks for each of them, so that all are taken back together. */
  const isAnyChanged = (names: readonly string[]) => names.filter(isChanged).length > 0;
  const namesBelow = (start: string) => Object.keys(values).filter((name) => name.startsWith(start));
  const decimal = (name: string): string => {
    const number = decimalOf(valueOf(name), language);
    if (number === undefined) throw badRequest(refusal(valueOf(name)));
    return number;
  };
  const optionalDecimal = (name: string) => (valueOf(name) === '' ? undefined : decimal(name));
  const isTicked = (name: string) => valueOf(name) === 'yes';

  const patches: Patch[] = [];
  const operationsIn = (locale: string, currency: string) => {
    let patch = patches.find((one) => one.locale === locale && one.currency === currency);
    if (!patch) patches.push((patch = { locale, currency, operations: [] }));
    return patch.operations;
  };
  const set = (path: string, value: unknown, operations = operationsIn(defaultLocale, defaultCurrency)) =>
    operations.push(value === undefined ? { op: 'remove', path } : { op: 'add', path, value });
  const textOrNothing = (name: string) => valueOf(name) || undefined;

  if (isChanged('productNumber')) set('/productNumber', valueOf('productNumber'));
  for (const key of PLAIN) if (isChanged(key)) set(`/${key}`, textOrNothing(key));
  for (const locale of locales) {
    for (const key of LOCALISED) {
      const name = `${key}.${locale}`;
      if (isChanged(name)) set(`/${key}`, textOrNothing(name), operationsIn(locale, defaultCurrency));
    }
    if (isChanged(`searchKeywords.${locale}`)) {
      const words = valueOf(`searchKeywords.${locale}`)
        .split(/[,;\n]/)
        .map((word) => word.trim());
      const given = words.filter((word) => word !== '');
      set('/searchKeywords', given.length > 0 ? given : undefined, operationsIn(locale, defaultCurrency));
    }
  }
  for (const currency of currencies) {
    for (const key of AMOUNTS) {
      const name = `${key}.${currency}`;
      if (isChanged(name))
        set(AMOUNT_PATHS[key], optionalDecimal(name), operationsIn(defaultLocale, currency));
    }
  }
  for (const key of [
    'visible',
    'isNew',
    'isManufacturerPriceRRP',
    'isVATInfoVisible',
    'isShippingLinkVisible',
  ]) {
    if (isChanged(key)) set(`/${key}`, isTicked(key));
  }
  for (const key of ['productLength', 'productWidth', 'productHeight', 'maxOrder']) {
    if (isChanged(key)) set(`/${key}`, optionalDecimal(key));
  }
  if (isChanged('minStock')) set('/minStocklevel', optionalDecimal('minStock'));
  if (isChanged('stock')) {
    const value = optionalDecimal('stock');
    operationsIn(defaultLocale, defaultCurrency).push(
      value === undefined
        ? { op: 'remove', path: '/stocklevel' }
        : { op: 'replace', path: '/stocklevel', value },
    );
  }
  if (isChanged('taxClassId')) set('/priceInfo/taxClass/taxClassId', textOrNothing('taxClassId'));
  if (isChanged('productTypeId') && valueOf('productTypeId') !== '') {
    operationsIn(defaultLocale, defaultCurrency).push({
      op: 'replace',
      path: '/producttype',
      value: valueOf('productTypeId'),
    });
  }
  if (isChanged('withdrawalExcluded')) set('/withdrawalExcluded', textOrNothing('withdrawalExcluded'));
  if (isChanged('newnessDate')) {
    const day = valueOf('newnessDate');
    set('/newnessDate', day === '' ? undefined : `${day}T00:00:00Z`);
  }

  if (isAnyChanged(namesBelow('weight.'))) {
    const amount = optionalDecimal('weight.amount');
    set('/deliveryWeight', amount === undefined ? undefined : { amount, unit: valueOf('weight.unit') });
  }
  if (isAnyChanged(namesBelow('reference.'))) {
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
  if (isAnyChanged(namesBelow('order.'))) {
    set('/orderUnitInfo', {
      priceQuantity: decimal('order.priceQuantity'),
      orderUnit: valueOf('order.unit'),
      minOrder: decimal('order.minimum'),
      intervalOrder: decimal('order.interval'),
    });
  }
  if (isAnyChanged(namesBelow('tier.'))) {
    const priceInfo = rowsBelow('tier', valueOf).map((at) => ({
      quantity: decimal(`${at}.quantity`),
      price: decimal(`${at}.price`),
    }));
    set('/bulkPriceInfo', priceInfo.length > 0 ? { priceInfo } : undefined);
  }
  const groups = settings.customerGroups.filter(({ customerGroupId }) =>
    isAnyChanged(namesBelow(`group.${customerGroupId}.`)),
  );
  if (groups.length > 0) {
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
  if (isAnyChanged(namesBelow('custom.'))) {
    set(
      '/customisationInfo',
      isTicked('custom.is')
        ? {
            isCustomizable: true,
            customizableTextLength: Number(optionalDecimal('custom.length') ?? 0),
            customizableHeadlineText: valueOf('custom.headline'),
            isCustomizableTextRequired: isTicked('custom.required'),
            customizablePrice: optionalDecimal('custom.price') ?? '0',
          }
        : undefined,
    );
  }
  if (isAnyChanged(namesBelow('dataSheet.'))) {
    const url = valueOf('dataSheet.url');
    const fileName = valueOf('dataSheet.fileName') || (url.split('/').at(-1) ?? url).slice(0, 200);
    set('/productDataSheet', url === '' ? undefined : { url, fileName });
  }
  if (isChanged('videos')) {
    const operations = operationsIn(defaultLocale, defaultCurrency);
    for (const { source } of row.facts.videos ?? []) {
      operations.push({ op: 'remove', path: '/video', value: { id: source } });
    }
    for (const address of valueOf('videos')
      .split('\n')
      .filter((line) => line.trim() !== '')) {
      operations.push({ op: 'add', path: '/video', value: videoOf(address.trim()) });
    }
  }
  if (isAnyChanged(namesBelow('shipping.'))) {
    const ids = settings.shippingMethods
      .map(({ shippingMethodId }) => shippingMethodId)
      .filter((id) => isTicked(`shipping.${id}`));
    set('/shippingMethodsRestrictedTo', ids.length > 0 ? ids : undefined);
  }
  changeSafety();

  const extras: Record<string, unknown> = {};
  for (const key of ['specialOffer', 'isProductNumberVisible'])
    if (isChanged(key)) extras[key] = isTicked(key);
  if (isChanged('ecoParticipationPrice')) {
    extras['ecoParticipationPrice'] = optionalDecimal('ecoParticipationPrice') ?? null;
  }
  for (const key of ['forSaleFrom', 'forSaleUntil']) {
    if (isChanged(key)) extras[key] = valueOf(key) === '' ? null : `${valueOf(key)}:00Z`;
  }
  if (isAnyChanged(namesBelow('energy.'))) {
    const classes = valueOf('energy.classes');
    extras['energyLabel'] =
      classes === '' ? null : { classes, best: valueOf('energy.best'), file: valueOf('energy.file') };
  }
  return { patches, extras, before };

  /** The whole of it is written in each locale whose text has changed: the parties are the same in all of them. */
  function changeSafety() {
    const isPartyChanged = isAnyChanged(namesBelow('safety.'));
    const changedLocales = locales.filter((locale) => isChanged(`safetyText.${locale}`));
    const written = isPartyChanged ? [...new Set([defaultLocale, ...changedLocales])] : changedLocales;
    for (const locale of written) {
      const parties = PARTIES.flatMap((party) => {
        const fields = PARTY_FIELDS.map((field) => [field, valueOf(`safety.${party}.${field}`)] as const);
        return fields.some(([, text]) => text !== '') ? [[party, Object.fromEntries(fields)] as const] : [];
      });
      const text = valueOf(`safetyText.${locale}`);
      const isEmpty = parties.length === 0 && locales.every((one) => valueOf(`safetyText.${one}`) === '');
      set(
        '/safetyInfo',
        isEmpty ? undefined : { ...Object.fromEntries(parties), text },
        operationsIn(locale, defaultCurrency),
      );
    }
  }
}

/** The rows of a table in which something stands: `tier.0`, `tier.2`. */
function rowsBelow(start: string, valueOf: (name: string) => string): string[] {
  return Array.from({ length: MOST_ROWS }, (_, index) => `${start}.${index}`).filter(
    (at) => valueOf(`${at}.quantity`) !== '' || valueOf(`${at}.price`) !== '',
  );
}

const MOST_ROWS = 100;

/** The id of a video in the addresses that people copy; anything else is taken as the source itself. */
export function videoOf(address: string): { type: 'YouTube' | 'Vimeo'; id: string } {
  const [, vimeo] = /vimeo\.com\/(?:video\/)?(\d+)/.exec(address) ?? [];
  if (vimeo !== undefined) return { type: 'Vimeo', id: vimeo };
  const [, youTube] =
    /(?:youtu\.be\/|youtube(?:-nocookie)?\.com\/(?:watch\?(?:.*&)?v=|embed\/|shorts\/))([\w-]+)/.exec(
      address,
    ) ?? [];
  return { type: 'YouTube', id: youTube ?? address };
}
