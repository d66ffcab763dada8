import { html, type Markup } from '../../http/html.ts';
import { checkOrderVatNumber, correctOrderTax, updateOrderBuyer } from '../../orders/manage-buyer.ts';
import type { Notice, Redirect } from '../../http/page-kit.ts';
import { numberToCheck } from '../../shops/vat-numbers/register.ts';
import { declareForm, readFields, showFields } from '../components/declared-form.ts';
import { buttonForm } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { redirectWithNotice } from '../refused-button.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import type { OrderAction } from './action.ts';
import { readManagedOrder, type OrderView } from './order-view.ts';

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

function buttons(view: OrderView): Markup | false {
  const { visit, order } = view;
  const messages = visit.messages.orders.business;
  const isCheckable = numberToCheck(order.billingAddress, visit.settings) !== undefined;
  const { vatCheck } = order.management.buyer;
  if (!isCheckable || order.management.cancelledOn !== null) return false;
  if (vatCheck?.result === 'valid') return correction(view);
  return html`<div class="actions">
    ${buttonForm({
      action: adminPath(visit, `/orders/${order.orderId}/vat-check`),
      text: vatCheck ? messages.checkAgain : messages.check,
    })}
  </div>`;
}

/** An order with a confirmed number that has tax was placed before it was confirmed. */
function correction({ visit, order }: OrderView): Markup | false {
  const messages = visit.messages.orders.business;
  if (order.lineItemContainer.totalTax.amount === 0) return false;
  return html`<p class="hint">${messages.correctHint}</p>
    <div class="actions">
      ${buttonForm({
        action: adminPath(visit, `/orders/${order.orderId}/tax-correction`),
        text: messages.correct,
        kind: 'main',
      })}
    </div>`;
}

/** The register is asked outside of the transaction in which other actions change an order. */
export function businessPages(pages: ShopPages): void {
  pages.post('/orders/:orderId/vat-check', 'orders_write', async (visit, { params }) => {
    const { orderId } = await readManagedOrder(visit, params['orderId']!);
    return noticeOf(visit, orderId, async () => {
      const { management } = await visit.call(checkOrderVatNumber, { params: { orderId } });
      const { result } = management.buyer.vatCheck!;
      return { text: visit.messages.orders.business.done[result], isProblem: result !== 'valid' };
    });
  });

  pages.post('/orders/:orderId/tax-correction', 'orders_write', async (visit, { params }) => {
    const { orderId } = await readManagedOrder(visit, params['orderId']!);
    return noticeOf(visit, orderId, async () => {
      await visit.call(correctOrderTax, { params: { orderId } });
      return { text: visit.messages.orders.business.corrected };
    });
  });
}

/** Goes back to the order, with the result or the refusal in words. */
const noticeOf = (visit: ShopVisit, orderId: string, work: () => Promise<Notice>): Promise<Redirect> =>
  redirectWithNotice(visit, adminPath(visit, `/orders/${orderId}`), work);
