import type { GivenTax } from './input.ts';
import type { AppliedTax } from './tax.ts';

/**
 * The tax that an app has given instead of the shop's own. A price that includes tax stays what it is: the tax in it is
 * another one. Where the shop charges no tax either, it is taken off the price as by the shop.
 */
export function givenTax(
  own: AppliedTax,
  { name, rate, treatment }: GivenTax,
  { isAbroad }: { isAbroad: boolean },
): AppliedTax {
  const taxClass = { ...own.taxClass, name };
  if (rate === 0 && own.taxRate === 0) {
    return { taxClass, taxRate: 0, priceRate: own.priceRate, treatment: treatment ?? own.treatment };
  }
  const isCharged = CHARGED.includes(own.treatment);
  return {
    taxClass,
    taxRate: rate,
    priceRate: rate,
    treatment: treatment ?? (isCharged ? own.treatment : isAbroad ? 'local' : 'domestic'),
  };
}

const CHARGED: readonly AppliedTax['treatment'][] = ['domestic', 'oss', 'local'];
