import { HttpError } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { checkOrderVatNumber, updateOrderBuyer } from '../../orders/manage-buyer.ts';
import { Redirect } from '../../http/page-kit.ts';
import { numberToCheck } from '../../shops/vat-numbers/register.ts';
import { declareForm, readFields, showFields } from '../components/declared-form.ts';
import { buttonForm } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import { refusalText } from '../components/validation.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath } from '../visit.ts';
import type { OrderAction } from './action.ts';
import { readOrder, type OrderView } from './order-view.ts';

const BUYER = declareForm(updateOrderBuyer, ({ orders: { business: messages } }) => ({
  buyerReference: { label: messages.buyerReference, hint: messages.buyerReferenceHint },
  purchaseOrderNumber: { label: messages.purchaseOrderNumber },
}));

/** Changes what the buyer wants to read on the invoice. */
export const buyer: OrderAction = {
  name: 'buyer',
  isPossible: () => true,
  form: BUYER,
  fields: ({ visit, order }, draft) => {
    const field = showFields(BUYER, visit, { values: order.management.buyer, draft });
    return html`${field('buyerReference')} ${field('purchaseOrderNumber')}`;
  },
  save: async (visit, form, { orderId }) => {
    await visit.call(updateOrderBuyer, { params: { orderId }, body: readFields(BUYER, form, visit) });
    return { text: visit.messages.form.saved };
  },
};

/** The VAT number and its check, the reference and the order number. */
export function businessCard(view: OrderView, edit: Markup | false): Markup {
  const { visit, order } = view;
  const messages = visit.messages.orders.business;
  const { buyerReference, purchaseOrderNumber, vatCheck } = order.management.buyer;
  const vatNumber = order.billingAddress.vatId || vatCheck?.vatNumber;
  const isEmpty = !vatNumber && buyerReference === null && purchaseOrderNumber === null;
  return html`<section class="card">
    <div class="split">
      <h2>${messages.title}</h2>
      ${edit}
    </div>
    ${isEmpty && html`<p class="quiet">${messages.none}</p>`}
    ${vatNumber && html`<p>${messages.vatNumber}: ${vatNumber} (${messages.results[vatCheck?.result ?? 'unchecked']})</p>`}
    ${
      vatCheck &&
      html`<p class="quiet">
        ${messages.checked({ moment: momentText(new Date(vatCheck.checkedOn), visit.language) })}${
          vatCheck.consultationNumber !== null &&
          html`<br />${messages.proof({ number: vatCheck.consultationNumber })}`
        }
      </p>`
    }
    ${buyerReference !== null && html`<p>${messages.buyerReference}: ${buyerReference}</p>`}
    ${purchaseOrderNumber !== null && html`<p>${messages.purchaseOrderNumber}: ${purchaseOrderNumber}</p>`}
    ${visit.may('orders_write') && buttons(view)}
  </section>`;
}

function buttons({ visit, order }: OrderView): Markup | false {
  const messages = visit.messages.orders.business;
  const isCheckable = numberToCheck(order.billingAddress, visit.settings) !== undefined;
  const { vatCheck } = order.management.buyer;
  if (!isCheckable || vatCheck?.result === 'valid') return false;
  return html`<div class="actions">
    ${buttonForm({
      action: adminPath(visit, `/orders/${order.orderId}/vat-check`),
      text: vatCheck ? messages.checkAgain : messages.check,
    })}
  </div>`;
}

/** The register is asked outside of the transaction in which other actions change an order. */
export function businessPages(pages: ShopPages): void {
  pages.post('/orders/:orderId/vat-check', 'orders_write', async (visit, { params }) => {
    const { orderId } = await readOrder(visit, params['orderId']!);
    const path = adminPath(visit, `/orders/${orderId}`);
    try {
      const { management } = await visit.call(checkOrderVatNumber, { params: { orderId } });
      const { result } = management.buyer.vatCheck!;
      const text = visit.messages.orders.business.done[result];
      return new Redirect(path, { text, isProblem: result !== 'valid' });
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 409) throw error;
      return new Redirect(path, { text: refusalText(visit, error), isProblem: true });
    }
  });
}
