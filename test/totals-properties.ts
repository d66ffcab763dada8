import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { CartInput, ShopRules } from '../src/pricing/input.ts';
import { cartTotals, type CartTotals } from '../src/pricing/totals.ts';
import { bundledCarts, generatedCarts, promotedCarts } from './generated-carts.ts';
import { naiveTotals } from './naive-totals.ts';

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);

/**
 * By how much a gross and a net cart may differ, in minor units. One of them is shown in another tax type than the
 * shop's: there each amount is rounded once, by half a unit at most. A discount is rounded as a whole, by half a unit,
 * and its shares by less than a unit for each rate, in both carts; where it is for some lines only, what the discounts
 * before have left of each line is rounded too. All this is at most (1 + rate) times as much with tax. The tax is
 * rounded once per rate, by half a unit in each cart.
 */
function roundingOf({ lines, taxes, shipping, payment, basketDiscount, coupon }: CartTotals): number {
  const discounts = [basketDiscount, coupon?.amount ?? 0, Math.min(payment?.price ?? 0, 0)];
  const discountCount = discounts.filter((amount) => amount !== 0).length;
  const perRate = taxes.map(({ rate }) => {
    const ofRate = lines.filter(({ taxRate }) => taxRate === rate);
    // Costs in shares are rounded as a whole, and each share again, as discounts are.
    const isShared = (shipping?.taxes.length ?? 0) > 1 || (payment?.taxes.length ?? 0) > 1;
    const costs = [shipping?.price ?? 0, Math.max(payment?.price ?? 0, 0)];
    const services = isShared ? [...costs, ...costs, ...costs, ...costs, ...costs] : costs;
    const amounts = [
      ...ofRate.flatMap(({ amount, deposit, ecoParticipation }) => [amount, deposit, ecoParticipation]),
      ...services,
    ].filter((amount) => amount !== 0);
    const shares = basketDiscount !== 0 && coupon ? ofRate.length : 0;
    return 1 + (1 + rate / 10_000) * (amounts.length / 2 + 2.5 * discountCount + shares);
  });
  return sum(perRate);
}

type Check = (totals: CartTotals, cart: CartInput, shop: ShopRules) => void;

// Compared plainly first: an assertion is slow, and there are 100,000 carts.
const CHECKS: Record<string, Check> = {
  'what is paid is what is left before tax and the tax': ({ grandTotal, totalBeforeTax, totalTax }) => {
    if (grandTotal !== totalBeforeTax + totalTax) assert.equal(grandTotal, totalBeforeTax + totalTax);
  },

  'the parts sum to the whole': (totals, { taxType }) => {
    const whole = taxType === 'GROSS' ? totals.grandTotal : totals.totalBeforeTax;
    const parts = [
      totals.subTotal,
      totals.basketDiscount,
      totals.coupon?.amount ?? 0,
      totals.shipping?.price ?? 0,
      totals.payment?.price ?? 0,
      ...totals.lines.flatMap(({ deposit, ecoParticipation }) => [deposit, ecoParticipation]),
    ];
    if (sum(parts) !== whole) assert.equal(sum(parts), whole);
    const amounts = sum(totals.taxes.map(({ amount }) => amount));
    if (amounts !== whole) assert.equal(amounts, whole);
    const tax = sum(totals.taxes.map(({ tax }) => tax));
    if (tax !== totals.totalTax) assert.equal(tax, totals.totalTax);
  },

  'a rate is rounded once, over all of its amounts': ({ taxes }, { taxType }) => {
    for (const rate of new Set(taxes.map((one) => one.rate))) {
      const ofRate = taxes.filter((one) => one.rate === rate);
      const amount = sum(ofRate.map((one) => one.amount));
      const tax = sum(ofRate.map((one) => one.tax));
      // The exact tax is amount x rate / parts.
      const parts = { GROSS: 10_000 + rate, NET: 10_000, NONE: 1 }[taxType];
      const exact = taxType === 'NONE' ? 0n : BigInt(amount) * BigInt(rate);
      const distance = BigInt(tax) * BigInt(parts) - exact;
      if (2n * (distance < 0n ? -distance : distance) > BigInt(parts))
        assert.equal({ rate, amount, tax }, 'at most half a minor unit from the exact tax');
    }
  },

  'the shares of the coupon sum to the coupon, and none exceeds its line': ({ lines, coupon }) => {
    const shares = sum(lines.map(({ couponShare }) => couponShare));
    if (shares !== 0 - (coupon?.amount ?? 0)) assert.equal(shares, 0 - (coupon?.amount ?? 0));
    for (const { couponShare, amount } of lines)
      if (couponShare < 0 || couponShare > amount) assert.equal(couponShare, `from 0 to ${amount}`);
  },

  'what is not delivered has no share in the delivery': ({ lines, shipping }, _cart, shop) => {
    const goods = lines.filter(
      ({ taxClass, amount }) => !taxClass.digital && taxClass.supply === 'goods' && amount > 0,
    );
    if (shop.deliveryTax !== 'shares' || goods.length === 0 || !shipping) return;
    const strange = shipping.taxes.filter(
      ({ rate, treatment }) => !goods.some((line) => line.taxRate === rate && line.treatment === treatment),
    );
    if (strange.length > 0) assert.deepEqual(strange, []);
  },

  'nothing falls below zero, whatever is taken off': (totals) => {
    const amounts = [
      totals.grandTotal,
      totals.totalBeforeTax,
      totals.totalTax,
      totals.subTotal + totals.basketDiscount + (totals.coupon?.amount ?? 0),
      ...totals.taxes.flatMap(({ amount, tax }) => [amount, tax]),
    ];
    if (Math.min(...amounts) < 0) assert.equal(amounts, 'nothing below zero');
  },

  'neither the order of the lines nor how a quantity came about changes a total': (totals, cart, shop) => {
    // A coupon for some of the lines meets what the basket discount left of them, and of two equal lines the earlier
    // one bears the odd cent.
    if (cart.coupon?.productIds && totals.basketDiscount !== 0) return;
    // What is added in steps is written with the decimals of the steps: 1.25 and 1.75 are 3.00.
    const lines = cart.lines.toReversed().map((line) => ({
      ...line,
      quantity: line.quantity.includes('.') ? `${line.quantity}00` : `${line.quantity}.00`,
    }));
    const turned = cartTotals({ ...cart, lines }, shop);
    // Of two classes with the same rate the earlier one names a discount for the payment.
    const comparable = ({ lines, payment, ...others }: CartTotals) => ({
      ...others,
      amounts: lines.map(({ amount }) => amount).toSorted((a, b) => a - b),
      payment: [payment?.price, payment?.taxes.map(({ rate, tax }) => [rate, tax])],
    });
    if (!isDeepStrictEqual(comparable(turned), comparable(totals)))
      assert.deepEqual(comparable(turned), comparable(totals));
  },

  'agrees with an implementation that only knows the rules': (totals, cart, shop) => {
    const naive = naiveTotals(cart, shop);
    if (!isDeepStrictEqual(totals, naive)) assert.deepEqual(totals, naive);
  },
};

/** Every property holds for carts of every kind. Throws with the smallest one that breaks it, else says how many there were. */
export function checkTotals(seed: number, carts: number): number {
  return checkAll(generatedCarts, CHECKS, { seed, carts });
}

const {
  'neither the order of the lines nor how a quantity came about changes a total': _order,
  ...CHECKS_IN_ORDER
} = CHECKS;

/** The same for carts with promotions, of which equal lines may bear different ones. */
export function checkPromotions(seed: number, carts: number): number {
  return checkAll(promotedCarts, CHECKS_IN_ORDER, { seed, carts });
}

/** The same for carts with bundles, whose parts bear what is taken off them. */
export function checkBundles(seed: number, carts: number): number {
  return checkAll(bundledCarts, CHECKS_IN_ORDER, { seed, carts });
}

function checkAll(
  generated: typeof generatedCarts,
  checks: Record<string, Check>,
  { seed, carts }: { seed: number; carts: number },
): number {
  let checked = 0;
  fc.assert(
    fc.property(generated, ({ cart, shop }) => {
      const totals = cartTotals(cart, shop);
      for (const [property, check] of Object.entries(checks)) {
        try {
          check(totals, cart, shop);
        } catch (error) {
          throw new Error(`Not so: ${property}`, { cause: error });
        }
      }
      checked += 1;
    }),
    { seed, numRuns: carts },
  );
  return checked;
}

/** The tax type changes how prices are shown and not what is paid. */
export function checkTaxTypes(seed: number, carts: number): number {
  let checked = 0;
  const decisions = ({ minimum, missingToMinimum, coupon }: CartTotals) => ({
    minimum,
    missingToMinimum,
    problems: coupon?.problems,
  });
  fc.assert(
    fc.property(generatedCarts, ({ cart, shop }) => {
      // What was set by hand is in the tax type of the cart: in another one it is another price.
      const asked: CartInput = {
        ...cart,
        lines: cart.lines.map((line) => ({ ...line, price: null })),
        shipping: { ...cart.shipping, price: null },
        payment: { ...cart.payment, price: null },
      };
      const gross = cartTotals({ ...asked, taxType: 'GROSS' }, shop);
      const net = cartTotals({ ...asked, taxType: 'NET' }, shop);
      const distance = Math.abs(gross.grandTotal - net.grandTotal);
      if (distance > roundingOf(gross)) assert.equal(distance, `at most ${roundingOf(gross)}`);
      if (!isDeepStrictEqual(decisions(gross), decisions(net)))
        assert.deepEqual(decisions(gross), decisions(net));
      checked += 1;
    }),
    { seed, numRuns: carts },
  );
  return checked;
}

/**
 * A business in another member state pays exactly what the same goods come to before tax for a net customer at home,
 * whichever tax type its cart has.
 */
export function checkBusinesses(seed: number, carts: number): number {
  let checked = 0;
  fc.assert(
    fc.property(generatedCarts, ({ cart, shop: generated }) => {
      const shop: ShopRules = {
        ...generated,
        country: generated.country === 'FR' ? 'FR' : 'DE',
        smallBusiness: false,
        // Both have the same price of delivery.
        shippingMethods: generated.shippingMethods.flatMap((method) =>
          method.kind === 'pickup' ? [] : [{ ...method, zones: [] }],
        ),
      };
      const asked: CartInput = {
        ...cart,
        postcode: null,
        lines: cart.lines.map((line) => ({ ...line, price: null })),
        shipping: { ...cart.shipping, price: null },
        payment: { ...cart.payment, price: null },
      };
      const atHome = cartTotals({ ...asked, country: shop.country, vatNumber: null, taxType: 'NET' }, shop);
      for (const taxType of ['GROSS', 'NET'] as const) {
        const abroad = cartTotals({ ...asked, country: 'AT', vatNumber: 'ATU12345678', taxType }, shop);
        assert.equal(abroad.totalTax, 0);
        assert.equal(abroad.grandTotal, atHome.totalBeforeTax);
        assert.deepEqual(
          abroad.lines.map(({ amount, discountShare, couponShare }) => [amount, discountShare, couponShare]),
          atHome.lines.map(({ amount, discountShare, couponShare }) => [amount, discountShare, couponShare]),
        );
        const treatments = abroad.taxes.map(({ treatment }) => treatment);
        assert.ok(treatments.every((one) => one === 'intraCommunity' || one === 'reverseCharge'));
      }
      checked += 1;
    }),
    { seed, numRuns: carts },
  );
  return checked;
}
