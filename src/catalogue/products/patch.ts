import { Type, type Static, type TSchema } from 'typebox';
import { parseMoment, toSeconds } from '../../http/dates.ts';
import { invalid, Refusal } from '../../http/errors.ts';
import { patchOf, type JsonPatch, type PatchPath } from '../../http/json-patch.ts';
import type { Localised } from '../../http/locale.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { MAX_CUSTOM_TEXT_LENGTH, withHeadline } from './custom-text.ts';
import { setFact, WITHDRAWAL_EXCLUSIONS, type PriceTier, type ProductFacts } from './facts.ts';
import { withGroups, withPrice, withTiers } from './prices.ts';
import type { StoredProduct } from './queries.ts';
import { ORDER_UNIT } from './orderable.ts';
import {
  Keywords,
  keywordsOf,
  MAX_LENGTHS,
  ProductNumber,
  STOCK,
  taxClassIdOf,
  requestedWeight,
  WeightRequest,
} from './request-fields.ts';
import { findUnit } from './units.ts';
import { amountOf, Decimal, decimalOf, Given, Text } from '../../http/request-fields.ts';

/** The paths of a product, each with its operations, the schema of its value and its change. */

interface Change {
  op: 'add' | 'replace' | 'remove';
  /** Names the entry in a refusal: `[2] /ean`. */
  field: string;
  locale: string;
  currency: string;
  settings: Settings;
  /** Names of the images of the slideshow. */
  imageNames: ReadonlySet<string>;
  /** The value sent along with a removal. */
  removed: unknown;
}

/** undefined: remove it. */
type Apply<Value> = (product: StoredProduct, value: Value | undefined, change: Change) => void;
type ProductPath = PatchPath & { apply: Apply<unknown> };

function path<Value extends TSchema>(
  ops: PatchPath['ops'],
  value: Value,
  apply: Apply<Static<Value>>,
): ProductPath {
  return { ops, value, apply: apply as Apply<unknown> };
}

const ADD_REMOVE = ['add', 'remove'] as const;

type KeysOf<Type> = {
  [Key in keyof ProductFacts]-?: ProductFacts[Key] extends Type ? Key : never;
}[keyof ProductFacts];

type LocalisedKey = 'name' | 'shortDescription' | 'description' | 'essentialFeatures' | 'title';

function localised(key: LocalisedKey, longest: number): ProductPath {
  return path(ADD_REMOVE, Text('Text in the locale.', 'A text', longest), (product, text, { locale }) => {
    const { [locale]: _old, ...others } = product.facts[key] ?? {};
    const next: Localised = text === undefined ? others : { ...others, [locale]: text };
    setFact(product, key, Object.keys(next).length > 0 ? next : undefined);
  });
}

function plain(key: KeysOf<string | undefined>): ProductPath {
  return path(ADD_REMOVE, Text('Text.', 'A text', MAX_LENGTHS.line), (product, text) =>
    setFact(product, key, text === '' ? undefined : text),
  );
}

function flag(key: KeysOf<boolean | undefined>): ProductPath {
  return path(ADD_REMOVE, Type.Boolean(), (product, value) => setFact(product, key, value));
}

function length(key: 'length' | 'width' | 'height'): ProductPath {
  return path(ADD_REMOVE, Decimal('mm.', 120), (product, value, { field }) =>
    setFact(
      product,
      key,
      value === undefined ? undefined : decimalOf(value, `${field}.value`, { min: 0, max: 1e9 }),
    ),
  );
}

function amount(key: 'manufacturerPrices' | 'depositPrices'): ProductPath {
  return path(ADD_REMOVE, Decimal('Amount.', 9.9), (product, value, { field, currency }) => {
    const minor = value === undefined ? null : amountOf(value, currency, `${field}.value`);
    setFact(product, key, withPrice(product.facts[key], currency, minor));
  });
}

const TierRequest = Type.Object({
  quantity: Decimal('From this quantity on.', 5),
  price: Type.Unsafe<number | string | false | null>({
    ...Decimal('Price of one unit; false takes the tier away.', 11.9),
    type: ['number', 'string', 'boolean', 'null'],
    not: { const: true },
  }),
});
const BulkRequest = Type.Object({ priceInfo: Type.Array(TierRequest, { maxItems: 100 }) });

const GroupRequest = Type.Array(
  Type.Object({
    customerGroup: Text('Name of the group.', 'Cafes', MAX_LENGTHS.line),
    priceInfo: Type.Array(
      Type.Object({
        quantity: Decimal('From this quantity on.', 5),
        price: Decimal('Price of one unit, before the discount.', 11.9),
        discountPercentage: Given(Decimal('Discount in per cent.', 5)),
      }),
      { maxItems: 100 },
    ),
  }),
  { maxItems: 100 },
);

const SafetyPartyRequest = Type.Object({
  name: Text('Name, or registered name.', 'Beacon Appliances Ltd', 255),
  address: Text('Postal address.', 'Kaistrasse 4, 20457 Hamburg, Germany', 500),
  contact: Text('Electronic address: of email, or of a website.', 'safety@beacon.example', 255),
});

const QUANTITY = { min: 0.000001, max: 1e9 };

function quantityOf(value: number | string, field: string): string {
  return String(decimalOf(value, field, QUANTITY));
}

const paths: Record<string, ProductPath> = {
  '/productNumber': path(['add'], ProductNumber, (product, value) => {
    product.productNumber = value!;
  }),
  '/name': localised('name', MAX_LENGTHS.name),
  '/shortDescription': localised('shortDescription', MAX_LENGTHS.text),
  '/description': localised('description', MAX_LENGTHS.text),
  '/essentialFeatures': localised('essentialFeatures', MAX_LENGTHS.features),
  '/title': localised('title', MAX_LENGTHS.line),
  '/searchKeywords': path(ADD_REMOVE, Keywords, (product, words, { locale }) => {
    const { [locale]: _old, ...others } = product.facts.searchKeywords ?? {};
    const next = words === undefined ? others : { ...others, [locale]: keywordsOf(words) };
    setFact(product, 'searchKeywords', Object.keys(next).length > 0 ? next : undefined);
  }),
  '/manufacturer': plain('manufacturer'),
  '/manufacturerProductNumber': plain('manufacturerProductNumber'),
  '/upc': plain('upc'),
  '/ean': plain('ean'),
  '/productCode': plain('productCode'),
  '/deliveryPeriod': plain('deliveryPeriod'),
  '/isNew': flag('isNew'),
  '/isVATInfoVisible': flag('isVatInfoVisible'),
  '/isManufacturerPriceRRP': flag('isManufacturerPriceRrp'),
  '/isShippingLinkVisible': flag('isShippingLinkVisible'),
  '/productLength': length('length'),
  '/productWidth': length('width'),
  '/productHeight': length('height'),
  '/priceInfo/manufacturerPrice/amount': amount('manufacturerPrices'),
  '/priceInfo/depositPrice/amount': amount('depositPrices'),
  '/priceInfo/price/amount': path(
    ADD_REMOVE,
    Decimal('Selling price.', 9.9),
    (product, value, { field, currency }) => {
      const minor = value === undefined ? null : amountOf(value, currency, `${field}.value`);
      product.prices = withPrice(product.prices, currency, minor) ?? null;
    },
  ),
  '/priceInfo/taxClass/taxClassId': path(
    ['replace', 'add', 'remove'],
    Type.String({ maxLength: 100 }),
    (product, value, { settings, field }) => {
      product.taxClassId = taxClassIdOf(value, settings, `${field}.value`);
    },
  ),
  '/bulkPriceInfo': path(
    ['add', 'replace', 'remove'],
    BulkRequest,
    (product, value, { op, field, currency }) => {
      const changes = (value?.priceInfo ?? []).map(({ quantity, price }, index) => {
        const at = `${field}.value.priceInfo[${index}]`;
        return {
          quantity: quantityOf(quantity, `${at}.quantity`),
          price: price === false || price === null ? null : amountOf(price, currency, `${at}.price`),
        };
      });
      const given = new Set(changes.map(({ quantity }) => Number(quantity)));
      const old = product.facts.bulkPrices ?? [];
      const base = op === 'replace' ? old : old.filter(({ quantity }) => given.has(Number(quantity)));
      const tiers = withTiers(base, changes, currency);
      setFact(product, 'bulkPrices', tiers.length > 0 ? tiers : undefined);
    },
  ),
  '/customerSpecificPriceInfo': path(['add'], GroupRequest, (product, value, change) => {
    const groups = value!.map(({ customerGroup, priceInfo }, index) => {
      const at = `${change.field}.value[${index}]`;
      const group = change.settings.customerGroups.find(({ name }) => name === customerGroup);
      if (!group) throw invalid('UNKNOWN_VALUE', `${at}.customerGroup`);
      return {
        customerGroupId: group.customerGroupId,
        tiers: priceInfo
          .map((tier, place) => groupTier(tier, change.currency, `${at}.priceInfo[${place}]`))
          .toSorted((left, right) => Number(left.quantity) - Number(right.quantity)),
      };
    });
    const next = withGroups(product.facts.groupPrices ?? [], groups);
    setFact(product, 'groupPrices', next.length > 0 ? next : undefined);
  }),
  '/deliveryWeight': path(ADD_REMOVE, WeightRequest, (product, value, { settings, field }) =>
    setFact(product, 'deliveryWeight', value && requestedWeight(value, settings, `${field}.value`)),
  ),
  '/stocklevel': path(
    ['add', 'replace', 'remove'],
    Decimal('Stock: add changes it by the value, replace sets it.', 1),
    (product, value, { op, field }) => {
      if (product.kind === 'master') throw new Refusal('PRODUCT_MASTER_HAS_NO_STOCK');
      if (value === undefined) product.stock = null;
      else {
        const number = decimalOf(value, `${field}.value`, STOCK);
        product.stock = decimalOf(
          (op === 'add' ? (product.stock ?? 0) : 0) + number,
          `${field}.value`,
          STOCK,
        );
      }
    },
  ),
  '/minStocklevel': path(ADD_REMOVE, Decimal('Warning level.', 5), (product, value, { field }) => {
    product.minStock = value === undefined ? null : decimalOf(value, `${field}.value`, STOCK);
  }),
  '/visible': path(['add'], Type.Boolean(), (product, value) => {
    product.visible = value!;
  }),
  '/producttype': path(
    ['replace'],
    Type.String({ maxLength: 100 }),
    (product, value, { settings, field }) => {
      if (product.kind === 'variation') throw new Refusal('VARIATION_WITH_MASTER_TYPE');
      const typeId = value!.toUpperCase();
      const type = settings.productTypes.find(({ productTypeId }) => productTypeId === typeId);
      if (!type) throw invalid('UNKNOWN_VALUE', `${field}.value`);
      product.productTypeId = type.productTypeId;
    },
  ),
  '/productImage': path(
    ['add'],
    Text('Name of an image of the slideshow.', 'AP-100_1.png', 200),
    (product, value, { imageNames, field }) => {
      if (!imageNames.has(value!)) throw invalid('UNKNOWN_VALUE', `${field}.value`);
      product.mainImage = value!;
    },
  ),
  '/newnessDate': path(
    ADD_REMOVE,
    Text('When the mark "new" ends.', '2027-01-31T00:00:00Z', 40),
    (product, value, { field }) =>
      setFact(
        product,
        'newUntil',
        value === undefined ? undefined : toSeconds(parseMoment(value, `${field}.value`)),
      ),
  ),
  '/video': path(
    ADD_REMOVE,
    Type.Object({
      type: Type.Union([Type.Literal('YouTube'), Type.Literal('Vimeo')]),
      id: Type.String({ minLength: 1, maxLength: 500 }),
    }),
    (product, value, { removed }) => {
      const { videos = [] } = product.facts;
      const named = value?.id ?? (removed as { id?: unknown } | null | undefined)?.id;
      const others = named === undefined ? [] : videos.filter(({ source }) => source !== named);
      const next = value ? [...others, { type: value.type, source: value.id }] : others;
      setFact(product, 'videos', next.length > 0 ? next.slice(-50) : undefined);
    },
  ),
  '/referencePriceInfo': path(
    ADD_REMOVE,
    Type.Object({
      refAmount: Decimal('Reference amount.', 100),
      refUnit: Text('Unit.', 'gram', 100),
      refContentAmount: Decimal('Content of the product.', 250),
    }),
    (product, value, { settings, field }) => {
      if (!value) return setFact(product, 'reference', undefined);
      const unit = findUnit(value.refUnit, settings);
      if (!unit) throw invalid('UNKNOWN_VALUE', `${field}.value.refUnit`);
      setFact(product, 'reference', {
        amount: decimalOf(value.refAmount, `${field}.value.refAmount`, QUANTITY),
        unit,
        content: decimalOf(value.refContentAmount, `${field}.value.refContentAmount`, QUANTITY),
      });
    },
  ),
  '/customisationInfo': path(
    ADD_REMOVE,
    Type.Object({
      isCustomizable: Type.Boolean(),
      customizableTextLength: Given(Type.Integer({ minimum: 0, maximum: MAX_CUSTOM_TEXT_LENGTH })),
      customizableHeadlineText: Given(Text('Headline, in the locale.', 'Your engraving', MAX_LENGTHS.line)),
      isCustomizableTextRequired: Given(Type.Boolean()),
      isCustomizableTextWithdrawable: Given(Type.Boolean()),
      customizablePrice: Given(Decimal('What the text costs with each unit; 0: nothing.', 4.5)),
    }),
    (product, value, { field, currency, locale, settings }) => {
      if (!value?.isCustomizable) return setFact(product, 'customisation', undefined);
      // Clients that only know the other three keys must not remove these.
      const old = product.facts.customisation;
      const { isCustomizableTextRequired: isRequired = old?.isRequired, customizablePrice: price } = value;
      const { isCustomizableTextWithdrawable: isWithdrawable = old?.isWithdrawable } = value;
      const prices =
        price !== undefined && price !== null
          ? withPrice(
              old?.prices,
              currency,
              amountOf(price, currency, `${field}.value.customizablePrice`) || null,
            )
          : old?.prices;
      setFact(product, 'customisation', {
        textLength: value.customizableTextLength ?? 0,
        ...withHeadline(old, value.customizableHeadlineText ?? '', locale, settings.defaultLocale),
        ...(isRequired && { isRequired }),
        ...(isWithdrawable && { isWithdrawable }),
        ...(prices && { prices }),
      });
    },
  ),
  '/productDataSheet': path(
    ADD_REMOVE,
    Type.Object({
      fileName: Text('Name of the file.', 'kettle.pdf', 200),
      url: Type.String({ maxLength: 2_000, pattern: '^https?://[^\\s]+$' }),
    }),
    (product, value) => setFact(product, 'dataSheet', value),
  ),
  '/shippingMethodsRestrictedTo': path(
    ADD_REMOVE,
    Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 }),
    (product, value, { settings, field }) => {
      const ids = value?.map((id, index) => {
        const methodId = id.toUpperCase();
        const known = settings.shippingMethods.some(({ shippingMethodId }) => shippingMethodId === methodId);
        if (!known) throw invalid('UNKNOWN_VALUE', `${field}.value[${index}]`);
        return methodId;
      });
      setFact(product, 'shippingMethodIds', ids && ids.length > 0 ? [...new Set(ids)] : undefined);
    },
  ),
  '/maxOrder': path(
    ADD_REMOVE,
    Decimal('Largest amount of an order, in place of that of the shop.', 10),
    (product, value, { field }) =>
      setFact(
        product,
        'maxOrder',
        value === undefined ? undefined : decimalOf(value, `${field}.value`, QUANTITY),
      ),
  ),
  '/withdrawalExcluded': path(
    ADD_REMOVE,
    Type.Enum(WITHDRAWAL_EXCLUSIONS, {
      description: 'Why it is sold without the right of withdrawal.',
      examples: ['madeToMeasure'],
    }),
    (product, value) => setFact(product, 'withdrawalExcluded', value),
  ),
  '/safetyInfo': path(
    ADD_REMOVE,
    Type.Object({
      manufacturer: Given(SafetyPartyRequest),
      responsiblePerson: Given(SafetyPartyRequest),
      text: Given(Text('Warnings, in the locale.', 'Keep away from children.', MAX_LENGTHS.features)),
    }),
    (product, value, { locale }) => {
      if (!value) return setFact(product, 'safety', undefined);
      const { manufacturer, responsiblePerson, text } = value;
      // The texts of other locales stay, as with every text of a product.
      const { [locale]: _old, ...others } = product.facts.safety?.text ?? {};
      const texts: Localised = text ? { ...others, [locale]: text } : others;
      setFact(product, 'safety', {
        ...(manufacturer && { manufacturer }),
        ...(responsiblePerson && { responsiblePerson }),
        ...(Object.keys(texts).length > 0 && { text: texts }),
      });
    },
  ),
  '/orderUnitInfo': path(
    ['add'],
    Type.Object({
      priceQuantity: Given(Decimal('Amount that the price is for.', 1)),
      orderUnit: Given(Text('Unit.', 'piece(s)', 100)),
      minOrder: Given(Decimal('Smallest amount.', 1)),
      intervalOrder: Given(Decimal('Step.', 1)),
    }),
    (product, value, { settings, field }) => {
      const { priceQuantity, orderUnit, minOrder, intervalOrder } = value!;
      const old = product.facts.orderUnit ?? ORDER_UNIT;
      const unit = orderUnit ? findUnit(orderUnit, settings) : old.unit;
      if (!unit) throw invalid('UNKNOWN_VALUE', `${field}.value.orderUnit`);
      const given = (number: number | string | null | undefined, key: string, standard: number) =>
        number === null || number === undefined
          ? standard
          : decimalOf(number, `${field}.value.${key}`, QUANTITY);
      setFact(product, 'orderUnit', {
        priceQuantity: given(priceQuantity, 'priceQuantity', old.priceQuantity),
        unit,
        minimum: given(minOrder, 'minOrder', old.minimum),
        interval: given(intervalOrder, 'intervalOrder', old.interval),
      });
    },
  ),
};

function groupTier(
  tier: { quantity: number | string; price: number | string; discountPercentage?: number | string | null },
  currency: string,
  at: string,
): PriceTier & { discount: number } {
  const percent = decimalOf(tier.discountPercentage ?? 0, `${at}.discountPercentage`, {
    min: 0,
    max: 100,
  });
  return {
    quantity: quantityOf(tier.quantity, `${at}.quantity`),
    prices: { [currency]: amountOf(tier.price, currency, `${at}.price`) },
    discount: Math.round(percent * 100),
  };
}

const checked = patchOf(paths);

export const PATHS = Object.keys(paths);

/** The schema of the value of a path, by which a form bounds its input. */
export const patchValue = (name: string): TSchema => paths[name]!.value;

/** Whether these changes need the image names. */
export const namesImage = (body: Static<typeof JsonPatch>) =>
  body.some(({ path }) => path === '/productImage');

/** The product after these changes; throws at the first impossible one, naming it. */
export function patchedProduct(
  product: StoredProduct,
  body: Static<typeof JsonPatch>,
  context: Pick<Change, 'locale' | 'currency' | 'settings' | 'imageNames'>,
): StoredProduct {
  const next = { ...product };
  checked(body).forEach(({ op, path: name, value }, index) => {
    const change: Change = { ...context, op, field: `[${index}] ${name}`, removed: value };
    paths[name]!.apply(next, op === 'remove' ? undefined : value, change);
  });
  return next;
}
