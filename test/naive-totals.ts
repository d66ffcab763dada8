import type {
  CartInput,
  CouponInput,
  CouponProblem,
  LineInput,
  ShopRules,
  PromotionInput,
} from '../src/pricing/input.ts';
import type { ServiceTax } from '../src/pricing/service-tax.ts';
import { TAX_TREATMENTS, type TaxTreatment } from '../src/shops/taxes/treatments.ts';
import type { CartTotals } from '../src/pricing/totals.ts';
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

/** Their standard rates, and the British one. */
const STANDARD_RATES: Record<string, number> = { DE: 1900, FR: 2000, AT: 2000, GB: 2000 };

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

  const taxOf = (taxClass: TaxClass) => naiveTax(taxClass, cart, shop, delivery.method?.kind === 'pickup');
  /** Whether a cart says prices of this tax without any tax, if it says taxes at all. */
  const isSaidNet = ({ rate, priceRate }: NaiveTax) => cart.taxType === 'NET' || rate !== priceRate;
  /** A price of the shop as the cart says it. */
  const asShown = (amount: number, tax: NaiveTax) => {
    if (cart.taxType === 'NONE') return amount;
    const isNet = isSaidNet(tax);
    if (shop.taxModel === 'GROSS' && isNet) return rounded(divided(exact(amount), withTax(tax.priceRate)));
    return shop.taxModel === 'NET' && !isNet ? rounded(times(exact(amount), withTax(tax.priceRate))) : amount;
  };
  /** A price that the cart says, as the shop would say it. */
  const asOfShop = (amount: number, tax: NaiveTax) => {
    if (cart.taxType === 'NONE') return amount;
    const isNet = isSaidNet(tax);
    if (shop.taxModel === 'GROSS' && isNet) return rounded(times(exact(amount), withTax(tax.priceRate)));
    return shop.taxModel === 'NET' && !isNet
      ? rounded(divided(exact(amount), withTax(tax.priceRate)))
      : amount;
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
    const tax = taxOf(taxClass);
    const amountPricesAreFor = exact(product.orderUnit?.priceQuantity ?? 1);
    const textPrice = (hasCustomText && inCurrency(product.customisation?.prices ?? {})) || 0;
    const shopPrice =
      naiveAskedPrice({ quantity, price, product }, cart, shop) +
      rounded(times(exact(textPrice), amountPricesAreFor));
    const asked = asShown(shopPrice, tax);
    const fee = (prices: Prices | undefined) =>
      rounded(times(exact((prices && inCurrency(prices)) ?? 0), exact(quantity)));
    const amountByHand = price === null ? 0 : rounded(times(exact(price), exact(quantity)));
    const amountOfShop =
      price === null
        ? rounded(divided(times(exact(shopPrice), exact(quantity)), amountPricesAreFor))
        : asOfShop(amountByHand, tax);
    const deposit = fee(product.depositPrices);
    const ecoParticipation = fee(product.ecoParticipationPrices);
    ofShop.push({ amount: amountOfShop, fees: deposit + ecoParticipation });
    return {
      taxClass,
      taxRate: tax.rate,
      priceRate: tax.priceRate,
      treatment: tax.treatment,
      unitPrice: price ?? rounded(divided(exact(asked), amountPricesAreFor)),
      quantityPrice: price === null ? asked : rounded(times(exact(price), amountPricesAreFor)),
      shopQuantityPrice: price === null ? shopPrice : null,
      amount: price === null ? asShown(amountOfShop, tax) : amountByHand,
      deposit: asShown(deposit, tax),
      ecoParticipation: asShown(ecoParticipation, tax),
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
  // How delivery and payment are taxed: as the default class, though as the kind of supply that the cart is about; as
  // the goods with the highest tax in their prices; or as all goods, in proportion to what they cost.
  const kindsOf = (isKind: (taxClass: TaxClass) => boolean) =>
    lines.map(({ taxClass }) => taxClass).find(isKind);
  const main =
    kindsOf(({ digital, supply }) => !digital && supply === 'goods') ??
    kindsOf(({ digital }) => !digital) ??
    kindsOf(() => true);
  const standardTax = taxOf(
    main ? { ...defaultClass, digital: main.digital, supply: main.supply } : defaultClass,
  );
  /** What each line costs as the cart says it, before it is rounded. */
  const worths = ofShop.map(({ amount }, index): Exact => {
    const { taxRate: rate, priceRate, treatment } = lines[index]!;
    const isNet = isSaidNet({ rate, priceRate, treatment });
    if (cart.taxType === 'NONE') return exact(amount);
    if (shop.taxModel === 'GROSS' && isNet) return divided(exact(amount), withTax(priceRate));
    return shop.taxModel === 'NET' && !isNet ? times(exact(amount), withTax(priceRate)) : exact(amount);
  });
  /** The taxes of costs that belong to some of the lines. */
  const costsOf = (belongs: (index: number) => boolean) => {
    const own = lines.filter((_, index) => belongs(index));
    const [first] = own.toSorted(
      (one, other) =>
        other.priceRate - one.priceRate ||
        other.taxRate - one.taxRate ||
        (one.taxClass.taxClassId < other.taxClass.taxClassId ? -1 : 1),
    );
    const highest = shop.deliveryTax === 'highest' ? first : undefined;
    const taxClass = highest ? highest.taxClass : defaultClass;
    const tax = highest ? taxOf(taxClass) : standardTax;
    const price = sum(ofShop.filter((_, index) => belongs(index)).map(({ amount }) => amount));
    const isShared = shop.deliveryTax === 'shares' && price > 0;
    const worth = worths.filter((_, index) => belongs(index)).reduce(add, exact(0));
    const groups = inGroups(
      lines
        .filter((_, index) => belongs(index) && ofShop[index]!.amount > 0)
        .map((line) => ({
          taxClass: line.taxClass,
          rate: line.taxRate,
          treatment: line.treatment,
          amount: 0,
        })),
    );
    return {
      taxClass,
      tax,
      shown: (amount: number) =>
        isShared ? rounded(divided(times(exact(amount), worth), exact(price))) : asShown(amount, tax),
      ofShop: (amount: number) =>
        isShared ? rounded(divided(times(exact(amount), exact(price)), worth)) : asOfShop(amount, tax),
      charges: (amount: number): Charge[] => {
        if (!isShared) return [{ taxClass, ...tax, amount }];
        const shares = exactParts(
          amount,
          groups.map(({ rate, treatment }) =>
            worths
              .filter(
                (_, index) =>
                  belongs(index) && lines[index]!.taxRate === rate && lines[index]!.treatment === treatment,
              )
              .reduce(add, exact(0)),
          ),
        );
        return groups.map((group, index) => ({ ...group, amount: shares[index]! }));
      },
    };
  };
  // Who pays with the order pays for all of it. What is delivered is the goods: a download is not, nor is a service.
  const isGoods = (index: number) => {
    const { digital, supply } = lines[index]!.taxClass;
    return !digital && supply === 'goods';
  };
  const hasGoods = lines.some((_, index) => isGoods(index));
  const costsOfDelivery = costsOf((index) => !hasGoods || isGoods(index));
  const costsOfPayment = costsOf(() => true);

  // What the delivery costs before a coupon.
  const deliveryByHand = delivery.isChosen ? cart.shipping.price : null;
  const askedDeliveryOfShop =
    deliveryByHand !== null
      ? costsOfDelivery.ofShop(deliveryByHand)
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
  const askedDelivery = deliveryByHand ?? costsOfDelivery.shown(askedDeliveryOfShop);

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
      : costsOfPayment.ofShop(cart.payment.price);

  // The promotions: those that combine one after the other, then the basket discount, then the one with a code; or one
  // of those that do not combine alone. Whatever takes off most is what the cart has.
  // They see what is sold: of a bundle one thing, whatever it is made of. Its taxes are those of its first part.
  const bundles = naiveBundles(cart.lines);
  const isFirst = (index: number) => bundles.findIndex((one) => one === bundles[index]) === index;
  const together = (amounts: readonly number[]) =>
    amounts.flatMap((_, index) =>
      isFirst(index) ? [sum(amounts.filter((_amount, at) => bundles[at] === bundles[index]))] : [],
    );
  const sold = cart.lines
    .filter((_, index) => isFirst(index))
    .map((line): LineInput =>
      line.bundle ? { ...line, ...line.bundle, product: { ...line.product, ...line.bundle.product } } : line,
    );
  const soldOfShop = together(ofShop.map(({ amount }) => amount)).map((amount) => ({ amount }));
  const rates = lines.filter((_, index) => isFirst(index)).map(({ priceRate }) => priceRate);
  const classes = lines.filter((_, index) => isFirst(index)).map(({ taxClass }) => taxClass.taxClassId);
  /** What is taken off each thing that is sold, borne by its lines in proportion to these amounts. */
  const borneByLines = (shares: readonly number[], amounts: readonly number[]) => {
    const borne = amounts.map(() => 0);
    for (const [place, bundle] of [...new Set(bundles)].entries()) {
      const indexes = [...bundles.keys()].filter((index) => bundles[index] === bundle);
      const ofLines = spread(
        shares[place]!,
        indexes.map((index) => amounts[index]!),
        indexes.map((index) => lines[index]!.priceRate),
        indexes.map((index) => lines[index]!.taxClass.taxClassId),
      );
      for (const [at, index] of indexes.entries()) borne[index] = ofLines[at]!;
    }
    return borne;
  };
  const basketDiscountOf = (value: number) =>
    Math.max(
      0,
      ...offers
        .filter(({ minimumAmount }) => minimumAmount <= subTotalOfShop)
        .map(({ absolute, percent }) => absolute ?? rounded(times(exact(value), share(percent!))))
        .map((amount) => Math.min(amount, value)),
    );
  const promotions = cart.promotions ?? [];
  const combining = promotions.filter(({ combines }) => combines);
  const plans: (PromotionInput | 'basket discount')[][] = [
    [
      ...combining.filter(({ isCoupon }) => !isCoupon),
      'basket discount',
      ...combining.filter(({ isCoupon }) => isCoupon),
    ],
    ...promotions.filter(({ combines }) => !combines).map((one) => [one]),
  ];
  const outcomes = plans.map((plan) => {
    let ofShopLeft = soldOfShop.map(({ amount }) => amount);
    let shownLeft = together(lines.map(({ amount }) => amount));
    let deliveryLeft = askedDeliveryOfShop;
    let taken = 0;
    const shownPromotions: { promotionId: string; amount: number; deliveryAmount: number }[] = [];
    const shares = { discount: sold.map(() => 0), coupon: sold.map(() => 0) };
    const sums = { discount: 0, coupon: 0 };
    for (const step of plan) {
      const isBasket = step === 'basket discount';
      if (!isBasket && !naiveIsReached(step, sold, soldOfShop)) continue;
      if (!isBasket && step.isForDelivery) {
        const before = deliveryLeft;
        deliveryLeft = naiveDeliveryLeft(step, before);
        if (deliveryLeft === before) continue;
        taken += before - deliveryLeft;
        const shownBefore = before === askedDeliveryOfShop ? askedDelivery : costsOfDelivery.shown(before);
        const deliveryAmount = costsOfDelivery.shown(deliveryLeft) - shownBefore;
        shownPromotions.push({ promotionId: step.promotionId, amount: 0, deliveryAmount });
        continue;
      }
      const off = isBasket
        ? { amount: basketDiscountOf(sum(ofShopLeft)), borneBy: ofShopLeft, shownBorneBy: shownLeft }
        : naivePromotion(step, sold, ofShopLeft, shownLeft);
      if (off.amount === 0) continue;
      taken += off.amount;
      const shownAmount =
        sum(off.borneBy) === 0 ? 0 : takenOff(off.amount, sum(off.borneBy), sum(off.shownBorneBy));
      const ofShopShares = spread(off.amount, off.borneBy, rates, classes);
      const shownShares = spread(shownAmount, off.shownBorneBy, rates, classes);
      ofShopLeft = ofShopLeft.map((amount, index) => amount - ofShopShares[index]!);
      shownLeft = shownLeft.map((amount, index) => amount - shownShares[index]!);
      const kind = !isBasket && step.isCoupon ? 'coupon' : 'discount';
      shares[kind] = shares[kind].map((amount, index) => amount + shownShares[index]!);
      sums[kind] += off.amount;
      if (!isBasket)
        shownPromotions.push({ promotionId: step.promotionId, amount: 0 - shownAmount, deliveryAmount: 0 });
    }
    const codes = promotions.filter(({ isCoupon }) => isCoupon).map(({ promotionId }) => promotionId);
    const codeWorks = shownPromotions.some(({ promotionId }) => codes.includes(promotionId));
    return { taken, codeWorks, ofShopLeft, shownLeft, deliveryLeft, shownPromotions, shares, sums };
  });
  const outcome = outcomes.find(({ taken }) => taken === Math.max(...outcomes.map((one) => one.taken)))!;
  const discountShares = borneByLines(
    outcome.shares.discount,
    lines.map(({ amount }) => amount),
  );
  const basketDiscount = sum(discountShares);
  const discountOfShop = outcome.sums.discount;
  const left = lines.map(({ amount }, index) => amount - discountShares[index]!);
  const promotedDeliveryOfShop = outcome.deliveryLeft;
  const promotedDelivery =
    outcome.deliveryLeft === askedDeliveryOfShop
      ? askedDelivery
      : costsOfDelivery.shown(outcome.deliveryLeft);

  // The coupon.
  const coupon = cart.coupon
    ? naiveCoupon(cart.coupon, {
        lines: sold,
        left: outcome.ofShopLeft,
        subTotal: subTotalOfShop,
        inCurrency: (amount) => inCurrency({ [cart.coupon!.currency]: amount })!,
        deliveryCost: promotedDeliveryOfShop,
        shippingMethodId: delivery.method?.shippingMethodId,
        paymentMethodId: paymentMethod?.paymentMethodId,
      })
    : null;
  const deliveryCost = coupon?.isShippingFree ? 0 : promotedDelivery;
  const deliveryCostOfShop = coupon?.isShippingFree ? 0 : promotedDeliveryOfShop;
  const couponable = outcome.shownLeft.map((amount, index) => (coupon?.isFor[index] ? amount : 0));
  const couponShares = borneByLines(
    coupon
      ? spread(takenOff(coupon.amount, coupon.base, sum(couponable)), couponable, rates, classes)
      : outcome.shares.coupon,
    left,
  );
  const couponAmount = sum(couponShares);
  const couponOfShop = coupon?.amount ?? outcome.sums.coupon;

  const toPay =
    subTotal -
    basketDiscount -
    couponAmount +
    sum(lines.map(({ deposit, ecoParticipation }) => deposit + ecoParticipation)) +
    deliveryCost;
  const toPayOfShop =
    subTotalOfShop - discountOfShop - couponOfShop + sum(ofShop.map(({ fees }) => fees)) + deliveryCostOfShop;
  const paymentOfShop = isEmpty ? 0 : Math.max(askedPaymentOfShop, 0 - toPayOfShop);
  let payment = 0;
  if (!isEmpty && cart.payment.price !== null) payment = Math.max(cart.payment.price, 0 - toPay);
  else if (paymentOfShop >= 0) payment = costsOfPayment.shown(paymentOfShop);
  else payment = 0 - takenOff(0 - paymentOfShop, toPayOfShop, toPay);

  // The taxes: one rounding per rate. A payment that costs less than nothing is a discount on everything.
  const deliveryCharges = costsOfDelivery.charges(deliveryCost);
  const paymentCharges = costsOfPayment.charges(Math.max(0, payment));
  const charges: Charge[] = [
    ...deliveryCharges,
    ...paymentCharges,
    ...lines.map((line, index) => ({
      taxClass: line.taxClass,
      rate: line.taxRate,
      treatment: line.treatment,
      amount: left[index]! - couponShares[index]! + line.deposit + line.ecoParticipation,
    })),
  ];
  const groups = inGroups(charges);
  const paymentShares = spread(
    Math.max(0, 0 - payment),
    groups.map(({ amount }) => amount),
    groups.map(({ rate }) => rate),
  );
  const taxIn = (amount: number, rate: number) => {
    if (cart.taxType === 'GROSS') return rounded(divided(times(exact(amount), share(rate)), withTax(rate)));
    return cart.taxType === 'NET' ? rounded(times(exact(amount), share(rate))) : 0;
  };
  const chargedRates = [...new Set(groups.map(({ rate }) => rate))];
  const atRate = <T>(rate: number, all: readonly T[]) =>
    all.filter((_, index) => groups[index]!.rate === rate);
  const chargedAmounts = groups.map(({ amount }, index) => amount - paymentShares[index]!);
  const taxes = chargedRates.flatMap((rate) => {
    const amounts = atRate(rate, chargedAmounts);
    const shares = parts(taxIn(sum(amounts), rate), amounts);
    return atRate(rate, groups).map(({ treatment }, index) => ({
      rate,
      treatment,
      amount: amounts[index]!,
      tax: shares[index]!,
    }));
  });
  const total = toPay + payment;
  const totalTax = sum(taxes.map(({ tax }) => tax));
  const serviceTaxes = (of: Charge[]): ServiceTax[] =>
    of.map(({ taxClass, rate, treatment, amount }) => ({
      taxClass,
      rate,
      treatment,
      amount,
      tax: taxIn(amount, rate),
    }));
  const paymentTaxes =
    payment < 0
      ? serviceTaxes(
          chargedRates
            .map((rate) => ({
              ...charges.find((charge) => charge.rate === rate)!,
              amount: 0 - sum(atRate(rate, paymentShares)),
            }))
            .filter(({ amount }) => amount !== 0),
        )
      : serviceTaxes(paymentCharges);

  // The least a cart must come to.
  const steps = [subTotalOfShop, -couponOfShop, -discountOfShop, deliveryCostOfShop, paymentOfShop];
  const codes = ['SumProduct', 'SumCoupon', 'SumDiscount', 'SumDelivery', 'SumPayment'];
  const compared = sum(steps.slice(0, codes.indexOf(shop.minimumCartCode) + 1));
  const least = shop.minimumCartAmount === null ? null : ofSettings(shop.minimumCartAmount);

  return {
    country,
    serviceTax: {
      taxClass: costsOfDelivery.taxClass,
      taxRate: costsOfDelivery.tax.rate,
      priceRate: costsOfDelivery.tax.priceRate,
      treatment: costsOfDelivery.tax.treatment,
    },
    // Assigned, because a copy of each line is slow.
    lines: lines.map((line, index) =>
      Object.assign(line, { discountShare: discountShares[index]!, couponShare: couponShares[index]! }),
    ),
    subTotal,
    basketDiscount: 0 - basketDiscount,
    promotions: outcome.shownPromotions,
    missingForPromotions: promotions.flatMap((one) => {
      const applies = outcome.shownPromotions.some(({ promotionId }) => promotionId === one.promotionId);
      const lacking = naiveLacking(one, sold, soldOfShop);
      const isOffered = !applies && !one.isCoupon && one.counts.some(Boolean);
      return isOffered && (lacking.amount > 0 || lacking.quantity > 0)
        ? [{ promotionId: one.promotionId, ...lacking }]
        : [];
    }),
    coupon: coupon
      ? { amount: 0 - couponAmount, problems: coupon.problems }
      : naiveCodeOfPromotion({ ...cart, lines: sold }, couponAmount, outcome.codeWorks, soldOfShop),
    delivery,
    shipping: delivery.method
      ? { method: delivery.method, price: deliveryCost, taxes: serviceTaxes(deliveryCharges) }
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

/** What each line is a part of; a line that is sold by itself is the only part of itself. */
function naiveBundles(lines: readonly LineInput[]): string[] {
  return lines.map(({ bundle }, index) => bundle?.lineItemId ?? `line ${index}`);
}

/** The tax of a class: what is charged, and what is in the gross prices of the shop. */
interface NaiveTax {
  treatment: TaxTreatment;
  rate: number;
  priceRate: number;
}

interface Charge {
  taxClass: TaxClass;
  rate: number;
  treatment: TaxTreatment;
  amount: number;
}

/** What is taxed alike, by rate and then in the order of the treatments; the first class by id names it. */
function inGroups(charges: readonly Charge[]): Charge[] {
  const rates = [...new Set(charges.map(({ rate }) => rate))].toSorted((a, b) => a - b);
  return rates.flatMap((rate) =>
    TAX_TREATMENTS.flatMap((treatment) => {
      const alike = charges
        .filter((charge) => charge.rate === rate && charge.treatment === treatment)
        .toSorted((a, b) => (a.taxClass.taxClassId < b.taxClass.taxClassId ? -1 : 1));
      if (alike.length === 0) return [];
      return [{ taxClass: alike[0]!.taxClass, rate, treatment, amount: sum(alike.map((one) => one.amount)) }];
    }),
  );
}

/** Who is taxed how, for the few countries, postcodes and numbers that tests use. */
function naiveTax(taxClass: TaxClass, cart: CartInput, shop: ShopRules, isPickup: boolean): NaiveTax {
  const home = shop.country;
  const kind = taxClass.digital ? 'digital' : taxClass.supply;
  const isByTable = shop.distanceSales === 'rates';
  const isHere = cart.country === null || (isPickup && (kind === 'goods' || isByTable));
  const country = isHere ? home : cart.country!;
  const postcode = isHere || !shop.specialTerritories ? '' : (cart.postcode ?? '');
  const isHelgoland = country === 'DE' && postcode === '27498';
  const isBelfast = country === 'GB' && postcode.toUpperCase().startsWith('BT');
  const isMember = EUROPEAN_UNION.includes(country) && !isHelgoland;
  const isUnionShop = EUROPEAN_UNION.includes(home);
  const number = cart.vatNumber?.slice(0, 2);
  const rateThere = taxClass.rates[country];
  const homeRate = taxClass.rates[home] ?? 0;
  const taxed = (treatment: TaxTreatment, rate: number) => ({ treatment, rate, priceRate: rate });
  const free = (treatment: TaxTreatment) => ({
    treatment,
    rate: 0,
    priceRate: shop.smallBusiness ? 0 : homeRate,
  });
  const atHome = shop.smallBusiness ? taxed('smallBusiness', 0) : taxed('domestic', homeRate);
  const exported = () => {
    if (shop.smallBusiness) return atHome;
    return shop.exportPrices === 'asShown' ? taxed('export', 0) : free('export');
  };
  const thereAs = (treatment: TaxTreatment) =>
    taxed(treatment, rateThere ?? (homeRate === 0 ? 0 : (STANDARD_RATES[country] ?? homeRate)));
  const isRegistered = country in shop.taxRegistrations && !isHelgoland;

  if (kind !== 'goods' && number) {
    if (number === home) return atHome;
    if (isUnionShop) return free('reverseCharge');
    if (number === country && isHelgoland) return exported();
  }
  if (kind === 'services' || (country === home && !isHelgoland)) return atHome;
  if (isUnionShop && (isMember || (isBelfast && kind === 'goods'))) {
    if (kind === 'goods' && number)
      return number === home || shop.smallBusiness ? atHome : free('intraCommunity');
    if (shop.distanceSales === 'oss') return thereAs('oss');
    if (isRegistered) return thereAs('local');
    return isByTable && rateThere !== undefined && !shop.smallBusiness ? thereAs('oss') : atHome;
  }
  if (isRegistered) return thereAs('local');
  if (shop.taxFreeOutsideEu && !(isByTable && !isUnionShop && (isMember || isBelfast))) return exported();
  return isByTable && rateThere !== undefined && !isHelgoland && !shop.smallBusiness
    ? thereAs('local')
    : atHome;
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
  const { country, postcode } = cart;
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

function naiveCodeOfPromotion(
  { lines, promotions, promotionProblems }: CartInput,
  amount: number,
  works: boolean,
  ofShop: readonly { amount: number }[],
): CartTotals['coupon'] {
  if (!promotionProblems) return null;
  const problems = [...promotionProblems];
  const typed = promotions!.find(({ isCoupon }) => isCoupon);
  if (typed && !works) {
    if (!typed.counts.some(Boolean)) problems.push('ProductMisMatch');
    else if (!naiveIsReached(typed, lines, ofShop)) problems.push('LineItemsSubTotalTooSmall');
    else problems.push('CouponNotEffective');
  }
  return { amount: 0 - amount, problems };
}

const wholeUnits = ({ quantity }: LineInput) => Number(quantity.split('.')[0]);

function naiveIsReached(
  { counts, minimumAmount, minimumQuantity }: PromotionInput,
  lines: readonly LineInput[],
  ofShop: readonly { amount: number }[],
): boolean {
  let [worth, pieces, any] = [0, 0, false];
  for (const [index, line] of lines.entries()) {
    if (!counts[index]) continue;
    any = true;
    worth += ofShop[index]!.amount;
    pieces += wholeUnits(line);
  }
  return any && worth >= minimumAmount && pieces >= minimumQuantity;
}

/** The least that can be added: pieces one by one, until there are enough of them. */
function naiveLacking(
  { counts, rewards, minimumAmount, minimumQuantity, effect }: PromotionInput,
  lines: readonly LineInput[],
  ofShop: readonly { amount: number }[],
) {
  const piecesOf = (isIn: (index: number) => boolean) =>
    sum(lines.map((line, index) => (isIn(index) ? wholeUnits(line) : 0)));
  const worth = sum(ofShop.map(({ amount }, index) => (counts[index] ? amount : 0)));
  let quantity = 0;
  const isEnough = () => {
    const bought = piecesOf((index) => counts[index]!) + quantity;
    if (bought < minimumQuantity) return false;
    if (effect.kind !== 'buyGet') return true;
    const got = piecesOf((index) => rewards[index]!) + quantity;
    const all = piecesOf((index) => counts[index]! || rewards[index]!) + quantity;
    return bought >= effect.buy && got >= effect.get && all >= effect.buy + effect.get;
  };
  while (!isEnough()) quantity += 1;
  return { amount: Math.max(0, minimumAmount - worth), quantity };
}

function naiveDeliveryLeft({ effect }: PromotionInput, cost: number): number {
  if (effect.kind === 'percent') return cost - rounded(times(exact(cost), share(effect.basisPoints)));
  if (effect.kind === 'amount') return Math.max(0, cost - effect.amount);
  return effect.kind === 'price' ? Math.min(cost, effect.price) : cost;
}

/** What a promotion takes off, and what of each line bears it. */
function naivePromotion(
  { effect, counts, rewards }: PromotionInput,
  lines: readonly LineInput[],
  ofShopLeft: readonly number[],
  shownLeft: readonly number[],
) {
  const only = (amounts: readonly number[], isIn: readonly boolean[]) =>
    amounts.map((amount, index) => (isIn[index] ? amount : 0));
  const bears = (amount: number, isIn: readonly boolean[]) => ({
    amount,
    borneBy: only(ofShopLeft, isIn),
    shownBorneBy: only(shownLeft, isIn),
  });
  const base = sum(only(ofShopLeft, rewards));
  if (effect.kind === 'percent')
    return bears(rounded(times(exact(base), share(effect.basisPoints))), rewards);
  if (effect.kind === 'amount') return bears(Math.min(base, effect.amount), rewards);
  if (effect.kind === 'price') {
    const borneBy = lines.map(({ quantity }, index) => {
      const fixed = rounded(times(exact(effect.price), exact(quantity)));
      return rewards[index] && fixed < ofShopLeft[index]! ? ofShopLeft[index]! - fixed : 0;
    });
    const shownBorneBy = borneBy.map((amount, index) =>
      amount === 0
        ? 0
        : rounded(divided(times(exact(amount), exact(shownLeft[index]!)), exact(ofShopLeft[index]!))),
    );
    return { amount: sum(borneBy), borneBy, shownBorneBy };
  }
  // Every single piece, the cheapest first; of equal ones those that come first in the cart.
  const pieces = lines.flatMap((line, index) => {
    const price = divided(exact(ofShopLeft[index]!), exact(line.quantity));
    return Array.from({ length: wholeUnits(line) }, () => ({ index, price }));
  });
  const cheapestFirst = pieces.toSorted((a, b) =>
    isLess(a.price, b.price) ? -1 : isLess(b.price, a.price) ? 1 : a.index - b.index,
  );
  const both = cheapestFirst.filter(({ index }) => counts[index] && rewards[index]);
  const gotOnly = cheapestFirst.filter(({ index }) => !counts[index] && rewards[index]);
  const bought = pieces.filter(({ index }) => counts[index]).length;
  // As often as possible, and then in the way that costs the shop least: every number of pieces is tried that are got
  // though they could have been bought.
  for (let times_ = effect.maxTimes ?? pieces.length; times_ > 0; times_ -= 1) {
    let best: { pieces: { index: number }[]; worth: Exact } | undefined;
    for (let taken = 0; taken <= both.length; taken += 1) {
      const others = times_ * effect.get - taken;
      if (others < 0 || others > gotOnly.length || bought - taken < times_ * effect.buy) continue;
      const got = [...both.slice(0, taken), ...gotOnly.slice(0, others)];
      const worth = got.map(({ price }) => price).reduce(add, exact(0));
      if (!best || isLess(worth, best.worth)) best = { pieces: got, worth };
    }
    if (best) {
      const got = best.pieces.map(({ index }) => index);
      return bears(
        rounded(times(best.worth, share(effect.basisPoints))),
        counts.map((isCounted, index) => isCounted || got.includes(index)),
      );
    }
  }
  return bears(0, counts);
}

/** First over the rates, then within each rate over its classes, then within each class over its lines. */
function spread(
  amount: number,
  weights: readonly number[],
  rates: readonly number[],
  classes: readonly string[] = rates.map(() => ''),
): number[] {
  if (amount === 0) return weights.map(() => 0);
  const among = (isIn: (index: number) => boolean) =>
    weights.map((weight, index) => (isIn(index) ? weight : 0));
  const added = (lists: readonly (readonly number[])[]) =>
    weights.map((_, line) => sum(lists.map((list) => list[line]!)));
  const distinctRates = [...new Set(rates)].toSorted((a, b) => a - b);
  const ofRate = distinctRates.map((rate) => among((index) => rates[index] === rate));
  const perRate = parts(amount, ofRate.map(sum));
  return added(
    distinctRates.map((rate, at) => {
      const distinctClasses = [...new Set(classes.filter((_, index) => rates[index] === rate))].toSorted();
      const ofClass = distinctClasses.map((one) =>
        among((index) => rates[index] === rate && classes[index] === one),
      );
      const perClass = parts(perRate[at]!, ofClass.map(sum));
      return added(ofClass.map((list, place) => parts(perClass[place]!, list)));
    }),
  );
}

/** The same as `parts`, for weights that are fractions. */
function exactParts(amount: number, weights: readonly Exact[]): number[] {
  const total = weights.reduce(add, exact(0));
  const ideal = weights.map((weight) => divided(times(exact(amount), weight), total));
  const given = ideal.map(({ over, under }) => Number(over / under));
  const lacking = ideal.map((share, index) => add(share, exact(0 - given[index]!)));
  for (let rest = amount - sum(given); rest > 0; rest -= 1) {
    let neediest = 0;
    for (const index of weights.keys()) if (isLess(lacking[neediest]!, lacking[index]!)) neediest = index;
    given[neediest]! += 1;
    lacking[neediest] = add(lacking[neediest]!, exact(-1));
  }
  return given;
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
