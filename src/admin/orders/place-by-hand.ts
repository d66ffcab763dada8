import { updatePaymentData, updateShippingData } from '../../carts/payment-and-shipping.ts';
import { updateLineItemPrice } from '../../carts/line-items.ts';
import { createCart } from '../../carts/routes.ts';
import { updateOrder } from '../../orders/routes.ts';
import { CART_TOKEN_HEADER } from '../../http/cart-token.ts';
import { badRequest } from '../../http/errors.ts';
import { isId } from '../../kernel/ids.ts';
import type { Order } from '../../orders/schema.ts';
import { countryName, isCountry } from '../../shops/countries/countries.ts';
import { ORDER_ADDRESS_FIELDS, typedAddress } from '../components/address-form.ts';
import { declareForm, declareHidden, readFields } from '../components/declared-form.ts';
import type { CallOperation } from '../../http/internal-call.ts';
import { updateBillingAddress, updateShippingAddress } from '../../carts/addresses.ts';
import { createOrder } from '../../checkout/routes.ts';
import type { ShopVisit } from '../visit.ts';
import type { VatCheck } from '../../shops/vat-numbers/buyer.ts';
import { numberToCheck, requesterOf } from '../../shops/vat-numbers/register.ts';
import { hasWrongVatNumber } from '../../shops/vat-numbers/vat-numbers.ts';
import { chosenLines } from './chosen-lines.ts';
import { NOTE } from './data-actions.ts';
import { DELIVERY, PAYMENT_METHOD } from './method-form.ts';
import type { FormRequest } from '../../http/page-kit.ts';

export const CART = declareForm(createCart, ({ orders: messages }) => ({
  currency: { kind: 'choice', label: messages.currency },
  locale: { kind: 'choice', label: messages.byHand.language },
}));

/** The customer who was chosen. */
const CUSTOMER = declareHidden({ customerId: 36, customerNumber: 255 });

/** The prefixes of the field names of each address. */
export const BILLING = 'billing-';
export const SHIPPING = 'shipping-';

/** An order by hand, and what the tax authorities said of the VAT number of its customer, if they had to be asked. */
export interface OrderByHand {
  order: Order;
  vatCheck: VatCheck | undefined;
}

/** Places an order from the typed values. */
export async function placeByHand(visit: ShopVisit, form: FormRequest): Promise<OrderByHand> {
  const messages = visit.messages.orders;
  const lines = chosenLines(form, visit);
  if (lines.length === 0) throw badRequest(messages.byHand.noItems);
  const { country } = typedAddress(form, ['country'], isElsewhere(form) ? SHIPPING : BILLING);
  if (country && isCountry(country) && !visit.settings.countries.includes(country)) {
    throw badRequest(messages.byHand.notDelivered({ country: countryName(country, visit.language) }));
  }
  const { vatId, country: billingCountry } = typedNumber(form);
  if (vatId !== null && hasWrongVatNumber({ vatId, country: billingCountry ?? '' })) {
    throw badRequest(messages.byHand.wrongVatNumber({ number: vatId }));
  }
  // The transaction can not wait for the register.
  const vatCheck = await checkTypedNumber(visit, form);
  const order = await visit.inTransaction((call) => orderCart(visit, call, form, lines));
  return { order, vatCheck };
}

function typedNumber(form: Pick<FormRequest, 'field'>) {
  const { vatId = null, country = null } = typedAddress(form, ['vatId', 'country'], BILLING);
  return { vatId: vatId?.trim() || null, country };
}

/** Asks the register about the typed VAT number, as the checkout does; undefined: it changes no tax. */
export async function checkTypedNumber(
  { shopId, settings, vatRegister }: ShopVisit,
  form: Pick<FormRequest, 'field'>,
): Promise<VatCheck | undefined> {
  const number = numberToCheck(typedNumber(form), settings);
  return number && vatRegister.check(shopId, number, requesterOf(settings));
}

/** What the register has said of it in the last minutes. */
export function knownCheck(
  { settings, vatRegister }: ShopVisit,
  form: Pick<FormRequest, 'field'>,
): VatCheck | undefined {
  const number = numberToCheck(typedNumber(form), settings);
  return number && vatRegister.lastAnswer(number, requesterOf(settings));
}

/** Creates a cart and orders it, by the operations that a client would call. */
async function orderCart(
  visit: ShopVisit,
  call: CallOperation,
  form: FormRequest,
  lines: ReturnType<typeof chosenLines>,
): Promise<Order> {
  const messages = visit.messages.orders;
  const { customerId } = readFields(CUSTOMER, form, visit);
  const typed = readFields(CART, form, visit);
  let cartToken: string | undefined;
  const cart = await call(createCart, {
    body: {
      ...(isId(customerId) && { customerId }),
      currency: typed.currency || null,
      locale: typed.locale || null,
      lineItems: lines.map(({ productId, quantity }) => ({ productId, quantity })),
    },
    onHeaders: (headers) => {
      cartToken = headers[CART_TOKEN_HEADER];
    },
  });
  const params = { cartId: cart.cartId };
  const { productLineItems } = cart.lineItemContainer;
  for (const { productId, quantity, price } of lines) {
    const line = productLineItems.find((one) => one.productId === productId);
    // A cart limits quantities to the stock and corrects invalid ones; here a person decides.
    if (line && line.quantity.amount !== Number(quantity)) {
      throw badRequest(messages.byHand.short({ product: line.sku, quantity: line.quantity.amount }));
    }
    if (line && price !== '') {
      const body = { singleItemPrice: price };
      await call(updateLineItemPrice, {
        params: { ...params, lineItemId: line.lineItemId },
        body,
        cartToken,
      });
    }
  }
  const addressBelow = (prefix: string) => typedAddress(form, ORDER_ADDRESS_FIELDS, prefix);
  await call(updateBillingAddress, { params, body: addressBelow(BILLING), cartToken });
  if (isElsewhere(form)) {
    await call(updateShippingAddress, { params, body: addressBelow(SHIPPING), cartToken });
  }
  const { shippingMethodId, price: priceAmount } = readFields(DELIVERY, form, visit);
  if (shippingMethodId !== '') {
    await call(updateShippingData, { params, body: { id: shippingMethodId, priceAmount }, cartToken });
  }
  const { paymentMethodId } = readFields(PAYMENT_METHOD, form, visit);
  if (paymentMethodId !== '') {
    await call(updatePaymentData, { params, body: { id: paymentMethodId }, cartToken });
  }
  const order = await call(createOrder, { params, cartToken });
  const { internalNote } = readFields(NOTE, form, visit);
  if (internalNote) {
    const body = [{ op: 'add', path: '/internalNote', value: internalNote }];
    await call(updateOrder, { params: { orderId: order.orderId }, body });
  }
  return order;
}

/** A country alone is not an address: its field always has a value. */
export function isElsewhere(form: Pick<FormRequest, 'field'>): boolean {
  const address = typedAddress(form, ['street', 'city', 'lastName', 'company'], SHIPPING);
  return Object.values(address).some((value) => value !== null);
}
