import { inTaxType } from '../catalogue/products/prices.ts';
import { destinationOf, type Content, type ContentLine, type ContentTaxClass } from '../pricing/content.ts';
import { sum } from '../pricing/shares.ts';
import { decideTax } from '../pricing/tax.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { ManagedOrder } from './queries.ts';
import { isPricedByUnit, revised } from './revision.ts';

/**
 * The content of an order without the tax that it was charged because its VAT number was not confirmed at the time. The
 * customer pays exactly the net of what was agreed. undefined: the confirmed number changes no tax, or an app has given
 * the taxes, which the rules of the shop do not change.
 */
export function withoutVat(
  {
    content,
    billingAddress,
    shippingAddress,
    buyer,
  }: Pick<ManagedOrder, 'content' | 'billingAddress' | 'shippingAddress' | 'buyer'>,
  settings: Settings,
): Content | undefined {
  if (content.appTaxes) return undefined;
  const vatNumber = buyer?.vatCheck?.result === 'valid' ? buyer.vatCheck.vatNumber : null;
  const { country, postcode } = destinationOf({ billingAddress, shippingAddress });
  const sale = {
    destination: country === null ? null : { country, zipCode: postcode },
    isPickup: false,
    vatNumber,
  };
  const untaxed = (taxClass: ContentTaxClass): ContentTaxClass => {
    const ofShop = settings.taxClasses.find(({ taxClassId }) => taxClassId === taxClass.taxClassId);
    if (!ofShop || taxClass.rate === 0) return taxClass;
    const { treatment } = decideTax(ofShop, sale, settings);
    const isFree = treatment === 'intraCommunity' || treatment === 'reverseCharge';
    return isFree ? { ...taxClass, rate: 0, priceRate: taxClass.rate, treatment } : taxClass;
  };
  const { taxType } = content;
  const terms: Content = {
    ...content,
    shopTaxModel: content.shopTaxModel ?? (taxType === 'NET' ? 'NET' : 'GROSS'),
    serviceTaxClass: untaxed(content.serviceTaxClass),
    lines: content.lines.map((line) => untaxedLine(line, untaxed(line.taxClass), taxType)),
  };
  const isSame = terms.lines.every(({ taxClass }, index) => taxClass === content.lines[index]!.taxClass);
  if (isSame && terms.serviceTaxClass === content.serviceTaxClass) return undefined;
  const { shipping, payment } = content;
  return revised(terms, {
    ...(shipping && { shipping: { ...shipping, price: netOf(shipping, taxType) } }),
    ...(payment && { payment: { ...payment, price: netOf(payment, taxType) } }),
  });
}

/** The order is computed from the prices of the shop; a price that was set by hand belongs to the order. */
function untaxedLine(line: ContentLine, taxClass: ContentTaxClass, taxType: Content['taxType']): ContentLine {
  if (taxClass === line.taxClass) return line;
  const { quantityPrice, unitPrice, unitDeposit, unitEcoParticipation } = line;
  const isByHand = isPricedByUnit(line);
  return {
    ...line,
    taxClass,
    unitPrice:
      isByHand && taxType === 'GROSS' ? inTaxType(unitPrice, line.taxClass.rate, 'GROSS', 'NET') : unitPrice,
    shopPrices: line.shopPrices ?? {
      quantityPrice: isByHand ? null : quantityPrice,
      unitDeposit,
      unitEcoParticipation,
    },
  };
}

/** The tax of delivery and payment may be that of several rates. */
function netOf(
  { price, taxes }: Pick<NonNullable<Content['shipping']>, 'price' | 'taxes'>,
  taxType: Content['taxType'],
): number {
  return taxType === 'GROSS' ? price - sum(taxes.map(({ tax }) => tax)) : price;
}
