import type { Content } from '../src/pricing/content.ts';
import type { Order } from '../src/orders/schema.ts';
import { DISCOUNTS, EXPRESS, PARCEL, PAYMENT, RATES, type KeptOrder } from './shop.ts';
import { must, mustEqual, sum } from './stage.ts';

/** Orders added up once more, in cents, without any code of the carts. */

const cents = (amount: number) => Math.round(amount * 100);

/** Half up; all that is rounded here is above 0. */
const rounded = (amount: number) => Math.floor(amount + 0.5 + 1e-9);

/** The answer's parts come to its total, and it says the same total in both places. */
export function mustAddUp(order: Order): void {
  const { lineItemContainer: all, orderNumber, paymentData, shippingData } = order;
  const lines = all.productLineItems.map(({ quantity, singleItemPrice, lineItemPrice }) => {
    const amount = cents(lineItemPrice.amount);
    mustEqual(`${orderNumber}: a line`, amount, rounded(cents(singleItemPrice.amount) * quantity.amount));
    return amount;
  });
  mustEqual(`${orderNumber}: the subtotal`, cents(all.lineItemsSubTotal.amount), sum(lines));
  mustEqual(
    `${orderNumber}: the delivery`,
    cents(all.shippingPrice.amount),
    cents(shippingData?.price.amount ?? 0),
  );
  const parts = [
    all.lineItemsSubTotal,
    all.basketDiscount.lineItemPrice,
    all.couponLineItem?.lineItemPrice,
    ...[...all.deposits, ...all.ecoParticipations].map(({ lineItemPrice }) => lineItemPrice),
    all.shippingPrice,
    paymentData?.price,
  ];
  const grandTotal = sum(parts.map((part) => cents(part?.amount ?? 0)));
  mustEqual(`${orderNumber}: the total of its parts`, cents(all.grandTotal.amount), grandTotal);
  mustEqual(`${orderNumber}: the total of the order`, cents(Number(order.grandTotal)), grandTotal);
  mustEqual(
    `${orderNumber}: before tax and tax`,
    cents(Number(order.totalBeforeTax)) + cents(Number(order.totalTax)),
    grandTotal,
  );
}

/** The row's content comes to the row's totals, at the rates of the country it goes to. */
export function mustBeWhole({ orderNumber, content, country, ...row }: KeptOrder): void {
  const { lines, subTotal, basketDiscount, coupon, shippingPrice, payment, taxes } = content;
  for (const line of lines) {
    mustEqual(`${orderNumber}: a line`, line.amount, rounded(line.unitPrice * Number(line.quantity)));
  }
  mustEqual(`${orderNumber}: the subtotal`, subTotal, sum(lines.map(({ amount }) => amount)));
  const couponAmount = coupon?.amount ?? 0;
  mustEqual(
    `${orderNumber}: the coupon's shares`,
    sum(lines.map(({ couponShare }) => couponShare)),
    -couponAmount || 0,
  );
  const fees = sum(lines.map(({ deposit, ecoParticipation }) => deposit + ecoParticipation));
  const services = shippingPrice + (payment?.price ?? 0);
  const grandTotal = subTotal + basketDiscount + couponAmount + fees + services;
  mustEqual(`${orderNumber}: the total of its parts`, content.grandTotal, grandTotal);
  mustEqual(`${orderNumber}: the total of the row`, row.grandTotal, grandTotal);
  mustEqual(`${orderNumber}: the amounts by rate`, sum(taxes.map(({ amount }) => amount)), grandTotal);
  mustEqual(`${orderNumber}: the tax`, sum(taxes.map(({ tax }) => tax)), row.totalTax);
  mustEqual(`${orderNumber}: before tax`, row.totalBeforeTax, grandTotal - row.totalTax);
  mustBeTaxed(orderNumber, country, content, services);
  mustBeAsOffered(orderNumber, content);
}

/** Discount, delivery and payment are what the shop asks for these very lines. */
function mustBeAsOffered(
  orderNumber: string,
  { lines, subTotal, basketDiscount, shipping, payment }: Content,
): void {
  const discounts = DISCOUNTS.filter(({ from }) => subTotal >= cents(from)).map(({ absolute, percent = 0 }) =>
    absolute === undefined ? rounded((subTotal * percent) / 100) : cents(absolute),
  );
  mustEqual(`${orderNumber}: the discount`, basketDiscount, 0 - Math.max(0, ...discounts));
  const kilograms = sum(lines.map(({ weight, quantity }) => (weight?.amount ?? 0) * Number(quantity)));
  const isExpress = Object.values(shipping?.name ?? {}).includes('Express');
  const asked = isExpress ? EXPRESS.price : PARCEL.price + PARCEL.pricePerKg * kilograms;
  mustEqual(`${orderNumber}: the delivery`, shipping?.price, rounded(100 * asked));
  mustEqual(`${orderNumber}: the payment`, payment?.price, cents(PAYMENT.price));
}

/** What each rate is on is what was ordered at it; a discount is spread, which rounds by a cent at most. */
function mustBeTaxed(orderNumber: string, country: string, content: Content, services: number): void {
  const { lines, subTotal, basketDiscount, taxes } = content;
  const standard = 100 * RATES.standard[country as 'DE' | 'FR'];
  const reduced = 100 * RATES.reduced[country as 'DE' | 'FR'];
  for (const { rate, amount, tax } of taxes) {
    must(rate === standard || rate === reduced, `${orderNumber}: a rate of ${rate} in ${country}`);
    mustEqual(`${orderNumber}: the tax at ${rate}`, tax, rounded((amount * rate) / (10_000 + rate)));
    const ofRate = lines.filter(({ taxClass }) => taxClass.rate === rate);
    const goods = sum(ofRate.map((line) => line.amount));
    const rest = sum(ofRate.map((line) => line.deposit + line.ecoParticipation - line.couponShare));
    const discount = subTotal === 0 ? 0 : (basketDiscount * goods) / subTotal;
    const expected = goods + discount + rest + (rate === standard ? services : 0);
    must(Math.abs(amount - expected) < 1, `${orderNumber}: ${amount} at ${rate} instead of ${expected}`);
  }
}

/** What was answered is what is kept. */
export function mustBeKept(answer: Order, row: KeptOrder): void {
  const { lineItemContainer: all } = answer;
  mustEqual(
    `${answer.orderNumber}: what is kept`,
    {
      number: row.orderNumber,
      total: row.grandTotal,
      beforeTax: row.totalBeforeTax,
      tax: row.totalTax,
      address: [row.country, row.city],
      lines: row.content.lines.map((line) => [line.lineItemId, line.productId, line.quantity, line.amount]),
      coupon: row.content.coupon?.amount ?? null,
    },
    {
      number: answer.orderNumber,
      total: cents(Number(answer.grandTotal)),
      beforeTax: cents(Number(answer.totalBeforeTax)),
      tax: cents(Number(answer.totalTax)),
      address: [answer.billingAddress.country, answer.billingAddress.city],
      lines: all.productLineItems.map(({ lineItemId, productId, quantity, lineItemPrice }) => [
        lineItemId,
        productId,
        String(quantity.amount),
        cents(lineItemPrice.amount),
      ]),
      coupon: all.couponLineItem ? cents(all.couponLineItem.lineItemPrice.amount) : null,
    },
  );
}
