import { updateOrderPayment, updateOrderShipping } from '../../orders/manage-lines.ts';
import { declareForm } from '../components/declared-form.ts';

/** Delivery and payment of an order that is edited, or placed by hand. */
export const DELIVERY = declareForm(updateOrderShipping, ({ orders: { edit: messages } }) => ({
  shippingMethodId: { kind: 'choice', label: messages.shippingMethod },
  price: { kind: 'decimal', label: messages.shippingPrice, input: 'shippingPrice' },
}));

export const PAYMENT_METHOD = declareForm(updateOrderPayment, ({ orders: { edit: messages } }) => ({
  paymentMethodId: { kind: 'choice', label: messages.paymentMethod },
}));
