import { refusalBeside } from '../components/validation.ts';
import type { ShopVisit } from '../visit.ts';
import type { ProductChanges } from './product-changes.ts';
import { productFieldFinder } from './product-declaration.ts';

const LANGUAGE = 'locale';
const CURRENCY = 'currency';

/** The inputs of the form by the paths of the patch; some are there for each language, or for each currency. */
const FIELDS: Readonly<
  Record<string, string | readonly [name: string, by: typeof LANGUAGE | typeof CURRENCY]>
> = {
  '/name': ['name', LANGUAGE],
  '/shortDescription': ['shortDescription', LANGUAGE],
  '/description': ['description', LANGUAGE],
  '/title': ['title', LANGUAGE],
  '/essentialFeatures': ['essentialFeatures', LANGUAGE],
  '/searchKeywords': ['searchKeywords', LANGUAGE],
  '/priceInfo/price/amount': ['price', CURRENCY],
  '/priceInfo/manufacturerPrice/amount': ['manufacturerPrice', CURRENCY],
  '/priceInfo/depositPrice/amount': ['depositPrice', CURRENCY],
  '/priceInfo/taxClass/taxClassId': 'taxClassId',
  '/producttype': 'productTypeId',
  '/stocklevel': 'stock',
  '/minStocklevel': 'minStock',
  '/deliveryWeight': 'weight.amount',
  '/referencePriceInfo.refAmount': 'reference.amount',
  '/referencePriceInfo.refContentAmount': 'reference.content',
  '/referencePriceInfo.refUnit': 'reference.unit',
  '/orderUnitInfo.priceQuantity': 'order.priceQuantity',
  '/orderUnitInfo.orderUnit': 'order.unit',
  '/orderUnitInfo.minOrder': 'order.minimum',
  '/orderUnitInfo.intervalOrder': 'order.interval',
  '/customisationInfo.customizableTextLength': 'custom.length',
  '/customisationInfo.customizablePrice': 'custom.price',
  '/customisationInfo.customizableHeadlineText': ['customHeadline', LANGUAGE],
  '/productDataSheet': 'dataSheet.url',
  '/productDataSheet.fileName': 'dataSheet.fileName',
  '/video': 'videos',
  '/safetyInfo.text': ['safetyText', LANGUAGE],
};

/** Names that the body and the form have for the same group of values. */
const GROUPS: readonly (readonly [inBody: RegExp, inForm: string])[] = [
  [/^energyLabel\./, 'energy.'],
  [/^durabilityGuarantee\./, 'guarantee.'],
];

/** `patches[0].operations[2] /priceInfo/price/amount.value`, as the operation names it. */
const IN_PATCH = /^patches\[(\d+)\]\.operations\[\d+\] (\/[^.]*)(?:\.value)?(.*)$/;

const CLAIM = /^environmentalClaims\.(\d+)\.(claim|source)$/;

/** The input of the form that a refused value was typed in. */
export function inputOfProblem(field: string, { patches, extras }: ProductChanges): string {
  const [, index, path = '', rest = ''] = IN_PATCH.exec(field) ?? [];
  if (index !== undefined) {
    const declared = FIELDS[path + rest] ?? FIELDS[path];
    if (typeof declared === 'object') return `${declared[0]}.${patches[Number(index)]![declared[1]]}`;
    if (path === '/safetyInfo' && rest !== '') return `safety${rest}`;
    return declared ?? path.slice(1);
  }
  const [, place, kind] = CLAIM.exec(field) ?? [];
  const claim = extras.environmentalClaims?.[Number(place)];
  if (claim) return `${kind === 'claim' ? 'claim' : 'claimSource'}.${claim.locale}`;
  const group = GROUPS.find(([inBody]) => inBody.test(field));
  return group ? field.replace(...group) : field;
}

/** A refusal of the operation as a problem of the field that it is about, in the reader's language. */
export function productRefusal(error: unknown, changes: ProductChanges, visit: ShopVisit): unknown {
  const find = productFieldFinder(visit.messages);
  return refusalBeside(error, visit, (place) => {
    const name = inputOfProblem(place, changes);
    const input = [name, `law.${name}`].find((one) => find(one));
    return input === undefined ? undefined : { input, label: find(input)!.label };
  });
}
