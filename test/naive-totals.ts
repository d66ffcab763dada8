import type { CouponProblem } from '../src/pricing/coupon-problems.ts';
import type { CartInput, CouponInput, LineInput, ShopRules } from '../src/pricing/input.ts';
import type { CartTotals, ServiceTax } from '../src/pricing/totals.ts';
import { currencyDigits } from '../src/kernel/money.ts';
import type { Prices } from '../src/catalogue/products/facts.ts';
import type { ShippingMethod, ShippingZone, TaxClass } from '../src/shops/settings/settings.ts';

/**
 * The totals of a cart once more, written from the rules alone: slow, obvious, with exact fractions and without any
 * code of the carts. Two that agree on many carts are seldom wrong in the same way.
 */

/** A fraction; the denominator is above 0. */
interface Exact {
  over: bigint;
  under: bigint;
}

const exact = (value: number | string): Exact =>
  Number.isInteger(value) ? { over: BigInt(value), under: 1n } : fromText(String(value));
const fromText = remembered((text: string): Exact => {
  const [whole = '', decimals = ''] = text.split('.');
  return { over: BigInt(whole + decimals), under: 10n ** BigInt(decimals.length) };
});

/** The few quantities and rates come again in many carts. */
function remembered<Key extends number | string>(compute: (key: Key) => Exact): (key: Key) => Exact {
  const known = new Map<Key, Exact>();
  return (key) => known.get(key) ?? known.set(key, compute(key)).get(key)!;
}

const add = (a: Exact, b: Exact): Exact => ({
  over: a.over * b.under + b.over * a.under,
  under: a.under * b.under,
});
const times = (a: Exact, b: Exact): Exact => ({ over: a.over * b.over, under: a.under * b.under });
const divided = (a: Exact, b: Exact): Exact => ({ over: a.over * b.under, under: a.under * b.over });
const isLess = (a: Exact, b: Exact) => a.over * b.under < b.over * a.under;

/** Half away from zero. */
function rounded({ over, under }: Exact): number {
  const size = over < 0n ? -over : over;
  const down = size / under;
  const isUp = (size - down * under) * 2n >= under;
  const whole = Number(isUp ? down + 1n : down);
  return over < 0n && whole !== 0 ? -whole : whole;
}

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);

/** 1900 basis points are 19/100. */
const share = remembered((basisPoints: number) => divided(exact(basisPoints), exact(10_000)));
const withTax = remembered((rate: number) => add(exact(1), share(rate)));

/** The members of the European Union among the countries that tests deliver to. */
const EUROPEAN_UNION = ['DE', 'FR', 'AT'];

const KILOGRAMS: Partial<Record<string, Exact>> = {
  milligram: exact('0.000001'),
  gram: exact('0.001'),
  kilogram: exact(1),
  tone: exact(1000),
  ounce: exact('0.028349523125'),
  pound: exact('0.45359237'),
};

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
const isAmong = (id: string, ids: readonly string[]) => ids.some((other) => isSame(id, other));

export function naiveTotals(cart: CartInput, shop: ShopRules): CartTotals {
  const defaultClass = shop.taxClasses.find(({ isDefault }) => isDefault)!;
  const delivery = naiveDelivery(cart, shop);
  const country = delivery.method?.kind === 'pickup' ? shop.country : (cart.country ?? shop.country);

  const rateAt = (taxClass: TaxClass, where: string) =>
    taxClass.rates[where] ?? taxClass.rates[shop.country] ?? 0;
  const isExport = shop.taxFreeOutsideEu && country !== shop.country && !EUROPEAN_UNION.includes(country);
  const rateOf = (taxClass: TaxClass) => (isExport ? 0 : rateAt(taxClass, country));

  // The tax that is in the prices of the shop but not in those of the cart, or the other way round.
  const isTaxLeftOut = shop.taxModel === 'GROSS' && cart.taxType === 'NET';
  const isTaxAdded = shop.taxModel === 'NET' && cart.taxType === 'GROSS';
  /** A price of the shop as the cart says it. */
  const asShown = (amount: number, taxClass: TaxClass) => {
    if (isTaxLeftOut) return rounded(divided(exact(amount), withTax(rateOf(taxClass))));
    return isTaxAdded ? rounded(times(exact(amount), withTax(rateOf(taxClass)))) : amount;
  };
  /** A price that the cart says, as the shop would say it. */
  const asOfShop = (amount: number, taxClass: TaxClass) => {
    if (isTaxLeftOut) return rounded(times(exact(amount), withTax(rateOf(taxClass))));
    return isTaxAdded ? rounded(divided(exact(amount), withTax(rateOf(taxClass)))) : amount;
  };
  /** What is taken off a sum of the shop, taken off the same sum as the cart says it. */
  const takenOff = (amount: number, ofShop: number, shown: number) =>
    amount === 0 ? 0 : rounded(divided(times(exact(amount), exact(shown)), exact(ofShop)));
  const inCurrency = (prices: Prices) => naivePrice(prices, cart.currency, shop);
  const ofSettings = (amount: number) => inCurrency({ [shop.defaultCurrency]: amount })!;

  // The goods, and what they are in the terms of the shop, which decides by those.
  const ofShop: { amount: number; fees: number }[] = [];
  const lines = cart.lines.map(({ quantity, price, hasCustomText, product }) => {
    const taxClass =
      shop.taxClasses.find(
        ({ taxClassId }) => product.taxClassId && isSame(taxClassId, product.taxClassId),
      ) ?? defaultClass;
    const amountPricesAreFor = exact(product.orderUnit?.priceQuantity ?? 1);
    const textPrice = (hasCustomText && inCurrency(product.customisation?.prices ?? {})) || 0;
    const shopPrice =
      naiveAskedPrice({ quantity, price, product }, cart, shop) +
      rounded(times(exact(textPrice), amountPricesAreFor));
    const asked = asShown(shopPrice, taxClass);
    const fee = (prices: Prices | undefined) =>
      rounded(times(exact((prices && inCurrency(prices)) ?? 0), exact(quantity)));
    const amountByHand = price === null ? 0 : rounded(times(exact(price), exact(quantity)));
    const amountOfShop =
      price === null
        ? rounded(divided(times(exact(shopPrice), exact(quantity)), amountPricesAreFor))
        : asOfShop(amountByHand, taxClass);
    const deposit = fee(product.depositPrices);
    const ecoParticipation = fee(product.ecoParticipationPrices);
    ofShop.push({ amount: amountOfShop, fees: deposit + ecoParticipation });
    return {
      taxClass,
      taxRate: rateOf(taxClass),
      unitPrice: price ?? rounded(divided(exact(asked), amountPricesAreFor)),
      quantityPrice: price === null ? asked : rounded(times(exact(price), amountPricesAreFor)),
      shopQuantityPrice: price === null ? shopPrice : null,
      amount: price === null ? asShown(amountOfShop, taxClass) : amountByHand,
      deposit: asShown(deposit, taxClass),
      ecoParticipation: asShown(ecoParticipation, taxClass),
    };
  });
  const subTotal = sum(lines.map(({ amount }) => amount));
  const subTotalOfShop = sum(ofShop.map(({ amount }) => amount));

  // The basket discount.
  const offers = shop.basketDiscounts.map((offer) => ({
    ...offer,
    minimumAmount: ofSettings(offer.minimumAmount),
    ...(offer.absolute !== undefined && { absolute: ofSettings(offer.absolute) }),
  }));
  const discountOfShop = Math.max(
    0,
    ...offers
      .filter(({ minimumAmount }) => minimumAmount <= subTotalOfShop)
      .map(({ absolute, percent }) => absolute ?? rounded(times(exact(subTotalOfShop), share(percent!))))
      .map((amount) => Math.min(amount, subTotalOfShop)),
  );
  const basketDiscount = takenOff(discountOfShop, subTotalOfShop, subTotal);
  const rates = lines.map(({ taxRate }) => taxRate);
  const discountShares = spread(
    basketDiscount,
    lines.map(({ amount }) => amount),
    rates,
  );
  const left = lines.map(({ amount }, index) => amount - discountShares[index]!);
  const amountsOfShop = ofShop.map(({ amount }) => amount);
  const sharesOfShop =
    isTaxLeftOut || isTaxAdded ? spread(discountOfShop, amountsOfShop, rates) : discountShares;
  const leftOfShop = amountsOfShop.map((amount, index) => amount - sharesOfShop[index]!);

  // What the delivery costs before a coupon.
  const deliveryByHand = delivery.isChosen ? cart.shipping.price : null;
  const askedDeliveryOfShop =
    deliveryByHand !== null
      ? asOfShop(deliveryByHand, defaultClass)
      : delivery.method
        ? naiveDeliveryPrice(
            delivery.method,
            delivery.zones[delivery.possible.indexOf(delivery.method)]!,
            cart,
            shop,
            subTotalOfShop,
            ofSettings,
          )
        : 0;
  const askedDelivery = deliveryByHand ?? asShown(askedDeliveryOfShop, defaultClass);

  // The payment before it is limited.
  const isEmpty = cart.lines.length === 0;
  const isPaidByHand = cart.payment.price !== null;
  const paymentMethod =
    isEmpty || isPaidByHand
      ? null
      : (shop.paymentMethods.find(
          ({ paymentMethodId }) => cart.payment.methodId && isSame(paymentMethodId, cart.payment.methodId),
        ) ??
        shop.paymentMethods[0] ??
        null);
  const askedPaymentOfShop =
    cart.payment.price === null
      ? paymentMethod
        ? ofSettings(paymentMethod.amount)
        : 0
      : asOfShop(cart.payment.price, defaultClass);

  // The coupon.
  const coupon = cart.coupon
    ? naiveCoupon(cart.coupon, {
        lines: cart.lines,
        left: leftOfShop,
        subTotal: subTotalOfShop,
        inCurrency: (amount) => inCurrency({ [cart.coupon!.currency]: amount })!,
        deliveryCost: askedDeliveryOfShop,
        shippingMethodId: delivery.method?.shippingMethodId,
        paymentMethodId: paymentMethod?.paymentMethodId,
      })
    : null;
  const deliveryCost = coupon?.isShippingFree ? 0 : askedDelivery;
  const deliveryCostOfShop = coupon?.isShippingFree ? 0 : askedDeliveryOfShop;
  const couponable = left.map((amount, index) => (coupon?.isFor[index] ? amount : 0));
  const couponAmount = coupon ? takenOff(coupon.amount, coupon.base, sum(couponable)) : 0;
  const couponShares = spread(couponAmount, couponable, rates);

  const toPay =
    subTotal -
    basketDiscount -
    couponAmount +
    sum(lines.map(({ deposit, ecoParticipation }) => deposit + ecoParticipation)) +
    deliveryCost;
  const toPayOfShop =
    subTotalOfShop -
    discountOfShop -
    (coupon?.amount ?? 0) +
    sum(ofShop.map(({ fees }) => fees)) +
    deliveryCostOfShop;
  const paymentOfShop = isEmpty ? 0 : Math.max(askedPaymentOfShop, 0 - toPayOfShop);
  let payment = 0;
  if (!isEmpty && cart.payment.price !== null) payment = Math.max(cart.payment.price, 0 - toPay);
  else if (paymentOfShop >= 0) payment = asShown(paymentOfShop, defaultClass);
  else payment = 0 - takenOff(0 - paymentOfShop, toPayOfShop, toPay);

  // The taxes: one rounding per rate. A payment that costs less than nothing is a discount on everything.
  const serviceRate = rateOf(defaultClass);
  const charges = [
    { taxClass: defaultClass, rate: serviceRate, amount: deliveryCost },
    { taxClass: defaultClass, rate: serviceRate, amount: Math.max(0, payment) },
    ...lines.map((line, index) => ({
      taxClass: line.taxClass,
      rate: line.taxRate,
      amount: left[index]! - couponShares[index]! + line.deposit + line.ecoParticipation,
    })),
  ];
  const paymentShares = spread(
    Math.max(0, 0 - payment),
    charges.map(({ amount }) => amount),
    charges.map(({ rate }) => rate),
  );
  const taxIn = (amount: number, rate: number) => {
    if (cart.taxType === 'GROSS') return rounded(divided(times(exact(amount), share(rate)), withTax(rate)));
    return cart.taxType === 'NET' ? rounded(times(exact(amount), share(rate))) : 0;
  };
  const chargedRates = [...new Set(charges.map(({ rate }) => rate))].toSorted((a, b) => a - b);
  const atRate = (rate: number, amounts: readonly number[]) =>
    sum(amounts.filter((_, index) => charges[index]!.rate === rate));
  const taxes = chargedRates.map((rate) => {
    const amount =
      atRate(
        rate,
        charges.map((charge) => charge.amount),
      ) - atRate(rate, paymentShares);
    return { rate, amount, tax: taxIn(amount, rate) };
  });
  const total = toPay + payment;
  const totalTax = sum(taxes.map(({ tax }) => tax));
  const serviceTaxes = (price: number): ServiceTax[] => [
    { taxClass: defaultClass, rate: serviceRate, tax: taxIn(price, serviceRate) },
  ];
  const paymentTaxes =
    payment < 0
      ? chargedRates
          .filter((rate) => atRate(rate, paymentShares) > 0)
          .map((rate) => ({
            taxClass: charges.find((charge) => charge.rate === rate)!.taxClass,
            rate,
            tax: taxIn(0 - atRate(rate, paymentShares), rate),
          }))
      : serviceTaxes(payment);

  // The least a cart must come to.
  const steps = [subTotalOfShop, -(coupon?.amount ?? 0), -discountOfShop, deliveryCostOfShop, paymentOfShop];
  const codes = ['SumProduct', 'SumCoupon', 'SumDiscount', 'SumDelivery', 'SumPayment'];
  const compared = sum(steps.slice(0, codes.indexOf(shop.minimumCartCode) + 1));
  const least = shop.minimumCartAmount === null ? null : ofSettings(shop.minimumCartAmount);

  return {
    country,
    serviceTax: { taxClass: defaultClass, rate: serviceRate },
    // Assigned, because a copy of each line is slow.
    lines: lines.map((line, index) =>
      Object.assign(line, { discountShare: discountShares[index]!, couponShare: couponShares[index]! }),
    ),
    subTotal,
    basketDiscount: 0 - basketDiscount,
    coupon: coupon && { amount: 0 - couponAmount, problems: coupon.problems },
    delivery,
    shipping: delivery.method
      ? { method: delivery.method, price: deliveryCost, taxes: serviceTaxes(deliveryCost) }
      : null,
    payment: isEmpty ? null : { method: paymentMethod, price: payment, taxes: paymentTaxes },
    taxes,
    totalTax,
    totalBeforeTax: cart.taxType === 'GROSS' ? total - totalTax : total,
    grandTotal: cart.taxType === 'GROSS' ? total : total + totalTax,
    minimum: { amount: least, isReached: least === null || compared >= least },
    missingToMinimum: least === null || compared >= least ? 0 : least - compared,
    offers,
  };
}

/** The price that was given in this currency, else that of the default currency or of the first that has one. */
function naivePrice(prices: Prices, currency: string, shop: ShopRules): number | null {
  if (currency in prices) return prices[currency]!;
  const from = [shop.defaultCurrency, ...shop.currencies].find((code) => code in prices);
  if (!from) return null;
  const rate = (code: string) => exact(code === shop.defaultCurrency ? 1 : shop.exchangeRates[code]!);
  const minorUnits = (code: string) => exact(10 ** currencyDigits(code));
  const inDefault = divided(divided(exact(prices[from]!), minorUnits(from)), rate(from));
  return rounded(times(times(inDefault, rate(currency)), minorUnits(currency)));
}

/** What the shop asks for the amount that prices of this product are for, in the shop's terms. */
function naiveAskedPrice({ quantity, product }: LineInput, cart: CartInput, shop: ShopRules): number {
  const reached = <T extends { quantity: string }>(tiers: readonly T[]) =>
    tiers
      .filter((tier) => !isLess(exact(quantity), exact(tier.quantity)))
      .toSorted((a, b) => (isLess(exact(a.quantity), exact(b.quantity)) ? -1 : 1))
      .at(-1);
  const bulk = reached(product.bulkPrices ?? []);
  const regular = naivePrice(bulk?.prices ?? product.prices ?? {}, cart.currency, shop) ?? 0;
  const group = product.groupPrices?.find(
    ({ customerGroupId }) => cart.customerGroupId && isSame(customerGroupId, cart.customerGroupId),
  );
  const special = reached(group?.tiers ?? []);
  if (!special) return regular;
  const reduced = times(
    exact(naivePrice(special.prices, cart.currency, shop)!),
    share(10_000 - special.discount),
  );
  return Math.min(regular, rounded(reduced));
}

const isDigital = ({ product }: LineInput, shop: ShopRules) =>
  shop.taxClasses.some(
    ({ taxClassId, digital }) => digital && product.taxClassId && isSame(taxClassId, product.taxClassId),
  );

/** One postcode, the beginning of some, or digits from one number to another. */
function isPostcodeOf(zone: ShippingZone, typed: string): boolean {
  const capitals = typed.toUpperCase();
  const withoutCountry = /^ *[A-Z]{1,3} *- *([0-9].*)$/.exec(capitals)?.[1] ?? capitals;
  return [...new Set([capitals, withoutCountry])]
    .map((text) =>
      text
        .split('')
        .filter((sign) => sign !== ' ' && sign !== '-')
        .join(''),
    )
    .some((code) =>
      zone.postcodes.some((written) => {
        const range = /^([0-9]+)-([0-9]+)$/.exec(written);
        if (!range) return new RegExp(`^${written.replace('*', '.*')}$`).test(code);
        const digits = new RegExp(`^[0-9]{${range[1]!.length}}`).exec(code);
        return digits !== null && +digits[0] >= +range[1]! && +digits[0] <= +range[2]!;
      }),
    );
}

/** The zone that prices a delivery; null: the method has none; undefined: it does not go there. */
function naiveZone(
  method: ShippingMethod,
  cart: CartInput,
  shop: ShopRules,
): ShippingZone | null | undefined {
  if (method.zones.length === 0) return null;
  const isLimited = method.zones.some((zone) => zone.maxWeight !== null || zone.weights.length > 0);
  const weight = isLimited ? naiveWeight(cart.lines, shop) : exact(0);
  const kilograms = (grams: number) => divided(exact(grams), exact(1000));
  const isBearable = (zone: ShippingZone) =>
    [
      ...(zone.maxWeight === null ? [] : [zone.maxWeight]),
      ...zone.weights.slice(-1).map(({ upTo }) => upTo),
    ].every((most) => !isLess(kilograms(most), weight));
  const there = (country: string) => method.zones.filter((zone) => zone.countries.includes(country));
  const wide = (country: string) => there(country).filter(({ postcodes }) => postcodes.length === 0);
  const { country, postcode = null } = cart;
  if (country === null) return [...wide(shop.country), ...method.zones].find(isBearable);
  const narrow = there(country).filter((zone) => postcode !== null && isPostcodeOf(zone, postcode));
  return (narrow.length > 0 ? narrow : wide(country)).find(isBearable);
}

function naiveWeight(lines: readonly LineInput[], shop: ShopRules) {
  let weight = exact(0);
  for (const { quantity, product } of lines.filter((line) => !isDigital(line, shop))) {
    if (!product.deliveryWeight) continue;
    const { amount, unit } = product.deliveryWeight;
    weight = add(weight, times(times(exact(amount), KILOGRAMS[unit]!), exact(quantity)));
  }
  return weight;
}

function naiveDelivery(cart: CartInput, shop: ShopRules): CartTotals['delivery'] {
  const { lines, shipping } = cart;
  const shipped = lines.filter((line) => !isDigital(line, shop));
  const ofShop = shop.shippingMethods.map(({ shippingMethodId }) => shippingMethodId);
  const isNeeded = shipped.length > 0;
  const fitting = shop.shippingMethods.filter(
    ({ shippingMethodId }) =>
      (isNeeded || lines.length === 0) &&
      shipped.every(({ product }) => {
        const allowed = (product.shippingMethodIds ?? []).filter((id) => isAmong(id, ofShop));
        return allowed.length === 0 || isAmong(shippingMethodId, allowed);
      }),
  );
  const zoned = fitting.map((method) => ({ method, zone: naiveZone(method, cart, shop) }));
  const served = zoned.filter(({ zone }) => zone !== undefined);
  const possible = served.map(({ method }) => method);
  const isWanted = ({ shippingMethodId }: ShippingMethod) =>
    shipping.methodId !== null && isSame(shippingMethodId, shipping.methodId);
  const chosen = possible.find(isWanted);
  return {
    possible,
    zones: served.map(({ zone }) => zone!),
    unavailable: (isNeeded && !chosen && fitting.find(isWanted)) || null,
    isUndeliverable: isNeeded && possible.length === 0 && fitting.length > 0,
    method: isNeeded ? (chosen ?? possible[0] ?? null) : null,
    isChosen: isNeeded && chosen !== undefined,
    isNeeded,
  };
}

/** In the shop's terms and the cart's currency. */
function naiveDeliveryPrice(
  method: ShippingMethod,
  zone: ShippingZone | null,
  cart: CartInput,
  shop: ShopRules,
  subTotal: number,
  ofShop: (amount: number) => number,
): number {
  const { lines } = cart;
  if (method.kind === 'pickup') return 0;
  // Bulky goods cost more with every delivery, also with one that is free.
  const surcharge = sum(
    lines
      .filter((line) => !isDigital(line, shop))
      .map(({ quantity, product }) =>
        product.shippingSurcharge
          ? rounded(
              times(exact(naivePrice(product.shippingSurcharge, cart.currency, shop)!), exact(quantity)),
            )
          : 0,
      ),
  );
  const terms = zone ?? method;
  if (terms.freeFrom !== null && ofShop(terms.freeFrom) <= subTotal) return surcharge;
  const byValue = () => ofShop(terms.tiers.findLast(({ from }) => ofShop(from) <= subTotal)?.amount ?? 0);
  if ('weights' in terms) {
    if (terms.amount !== null) return surcharge + ofShop(terms.amount);
    const weight = naiveWeight(lines, shop);
    const step = terms.weights.find(({ upTo }) => !isLess(divided(exact(upTo), exact(1000)), weight));
    return surcharge + (step ? ofShop(step.amount) : byValue());
  }
  if (method.kind === 'flat') return surcharge + ofShop(method.amount);
  if (method.kind === 'order_value') return surcharge + byValue();
  const byWeight = times(exact(method.amountPerKg), naiveWeight(lines, shop));
  return surcharge + ofShop(rounded(add(exact(method.amount), byWeight)));
}

function naiveCoupon(
  coupon: CouponInput,
  at: {
    lines: readonly LineInput[];
    left: readonly number[];
    subTotal: number;
    inCurrency: (amount: number) => number;
    deliveryCost: number;
    shippingMethodId: string | undefined;
    paymentMethodId: string | undefined;
  },
) {
  const isFor = ({ product }: LineInput) =>
    coupon.productIds === null ||
    isAmong(product.productId, coupon.productIds) ||
    (product.masterId !== null && isAmong(product.masterId, coupon.productIds));
  const base = sum(at.left.filter((_, index) => isFor(at.lines[index]!)));
  const worth = {
    FIX: () => Math.min(at.inCurrency(coupon.amount!), base),
    PERCENT: () => rounded(times(exact(base), share(coupon.amount!))),
    SHIPPING: () => 0,
  }[coupon.kind]();
  const isShippingFree = coupon.kind === 'SHIPPING' || coupon.waivesShipping;

  const isMisMatch = (allowed: readonly string[] | null, id: string | undefined) =>
    allowed !== null && !(id !== undefined && isAmong(id, allowed));
  const problems: CouponProblem[] = [];
  if (coupon.minimumOrderValue !== null && at.subTotal < at.inCurrency(coupon.minimumOrderValue))
    problems.push('LineItemsSubTotalTooSmall');
  if (coupon.isWithdrawn) problems.push('CouponIsInvalidated');
  if (coupon.isUsedUp) problems.push('ValidCouponCountReached');
  if (!coupon.isInTime) problems.push('CouponNotEffective');
  if (isMisMatch(coupon.paymentMethodIds, at.paymentMethodId)) problems.push('PaymentMethodMisMatch');
  if (isMisMatch(coupon.shippingMethodIds, at.shippingMethodId)) problems.push('ShippingMethodMisMatch');
  if (coupon.productIds !== null && !at.lines.some(isFor)) problems.push('ProductMisMatch');
  const isWithoutEffect = worth === 0 && !(isShippingFree && at.deliveryCost > 0);
  if (problems.length === 0 && isWithoutEffect) problems.push('CouponNotEffective');

  const amount = problems.length > 0 ? 0 : worth;
  return {
    amount,
    problems,
    isShippingFree: isShippingFree && problems.length === 0,
    isFor: at.lines.map(isFor),
    base,
  };
}

/** First over the rates, then within each rate over its lines. */
function spread(amount: number, weights: readonly number[], rates: readonly number[]): number[] {
  if (amount === 0) return weights.map(() => 0);
  const distinct = [...new Set(rates)].toSorted((a, b) => a - b);
  const ofRate = (rate: number) => weights.map((weight, index) => (rates[index] === rate ? weight : 0));
  const perRate = parts(
    amount,
    distinct.map((rate) => sum(ofRate(rate))),
  );
  const perLine = distinct.map((rate, index) => parts(perRate[index]!, ofRate(rate)));
  return weights.map((_, line) => sum(perLine.map((shares) => shares[line]!)));
}

/** Gives one minor unit after the other to whoever lacks most, the first of them when several do. */
function parts(amount: number, weights: readonly number[]): number[] {
  const total = sum(weights);
  if (amount === 0 || total === 0) return weights.map(() => 0);
  // In parts of the total, of which a minor unit has as many as the total has.
  const ideal = weights.map((weight) => BigInt(amount) * BigInt(weight));
  const unit = BigInt(total);
  const given = ideal.map((share) => Number(share / unit));
  const lacking = ideal.map((share) => share % unit);
  for (let rest = amount - sum(given); rest > 0; rest -= 1) {
    let neediest = 0;
    for (const index of weights.keys()) if (lacking[neediest]! < lacking[index]!) neediest = index;
    given[neediest]! += 1;
    lacking[neediest]! -= unit;
  }
  return given;
}
