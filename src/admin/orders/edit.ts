import {
  addOrderLine,
  removeOrderLine,
  updateOrderLine,
  updateOrderPayment,
  updateOrderShipping,
} from '../../orders/manage-lines.ts';
import { endOrderEditing, startOrderEditing } from '../../orders/manage.ts';
import { html, type Markup } from '../../http/html.ts';
import type { ManagedOrderAnswer } from '../../orders/manage-schema.ts';
import { decimalText } from '../components/decimal.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { methodChoices } from '../components/method-choices.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import type { CallOperation } from '../../http/internal-call.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import {
  chosenHeads,
  chosenLines,
  chosenRows,
  loadChosen,
  pressedButton,
  productFinder,
} from './chosen-lines.ts';
import { LINE } from './line-form.ts';
import { DELIVERY, PAYMENT_METHOD } from './method-form.ts';
import { lineName, linePicture, linesOf, readManagedOrder, type OrderLine } from './order-view.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';

/** Items, delivery and payment method of a placed order. */
export function editPages(pages: ShopPages): void {
  pages.form(
    '/orders/:orderId/edit',
    { read: 'orders_write', write: 'orders_write' },
    {
      show: async (visit, request, draft) =>
        editPage(visit, await readManagedOrder(visit, request.params['orderId']!), draft),
      save: async (visit, form) => {
        const order = await readManagedOrder(visit, form.params['orderId']!);
        // Every other button shows the form again, with changed products.
        if (pressedButton(form, visit) !== 'save') return editPage(visit, order, { ...form, problem: '' });
        requireUnchanged(form, order, visit.messages);
        await visit.inTransaction(async (call) => {
          const params = { orderId: order.orderId };
          await call(startOrderEditing, { params });
          await saveEdits(visit, call, order, form);
          await call(endOrderEditing, { params });
        });
        return new Redirect(adminPath(visit, `/orders/${order.orderId}`), visit.messages.orders.edit.saved);
      },
    },
    optionsOf(DELIVERY, PAYMENT_METHOD, LINE),
  );

  pages.post('/orders/:orderId/edit/end', 'orders_write', async (visit, { params }) => {
    const { orderId } = await readManagedOrder(visit, params['orderId']!);
    await visit.call(endOrderEditing, { params: { orderId }, query: { force: true } });
    return new Redirect(adminPath(visit, `/orders/${orderId}`), visit.messages.orders.edit.ended);
  });
}

/** Each change is an operation. Additions come first, because the last line of an order can't be removed. */
async function saveEdits(
  visit: ShopVisit,
  call: CallOperation,
  order: ManagedOrderAnswer,
  form: FormRequest,
): Promise<void> {
  const params = { orderId: order.orderId };
  for (const { productId, quantity, price } of chosenLines(form, visit)) {
    await call(addOrderLine, { params, body: { productId, quantity, price: price || null } });
  }
  for (const line of linesOf(order)) {
    const ofLine = { ...params, lineItemId: line.lineItemId };
    const { quantity, price, remove } = readFields(LINE, form, visit, { row: line.lineItemId });
    if (remove) {
      await call(removeOrderLine, { params: ofLine });
      continue;
    }
    const body = {
      ...(quantity && Number(quantity) !== line.quantity.amount && { quantity }),
      ...(price && Number(price) !== line.singleItemPrice.amount && { price }),
    };
    if (Object.keys(body).length > 0) await call(updateOrderLine, { params: ofLine, body });
  }
  const delivery = readFields(DELIVERY, form, visit);
  if (delivery.shippingMethodId !== '' || delivery.price !== null) {
    const shippingMethodId = delivery.shippingMethodId || (order.shippingData?.shippingMethod.id ?? '');
    await call(updateOrderShipping, { params, body: { ...delivery, shippingMethodId } });
  }
  const payment = readFields(PAYMENT_METHOD, form, visit);
  if (payment.paymentMethodId !== '') await call(updateOrderPayment, { params, body: payment });
}

async function editPage(visit: ShopVisit, order: ManagedOrderAnswer, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.orders.edit;
  const text = draft?.field('q') ?? '';
  const chosen = await loadChosen(visit, draft ? chosenLines(draft, visit) : [], text, {
    currency: order.currencyId,
    taxType: order.taxModel,
    customerGroupId: null,
  });
  const methods = methodChoices(visit);
  const delivery = showFields(DELIVERY, visit, { draft });
  const path = `/orders/${order.orderId}`;
  return {
    title: messages.title,
    menu: 'orders',
    breadcrumbs: [
      { href: adminPath(visit, '/orders'), text: visit.messages.layout.menuEntries.orders },
      { href: adminPath(visit, path), text: order.orderNumber },
    ],
    main: html`<form method="post" action="${adminPath(visit, `${path}/edit`)}" class="card">
      ${draft?.problem !== '' && problemOf(draft)} ${versionField(order)}
      <button name="do" value="find" class="hidden" tabindex="-1">${messages.findButton}</button>
      <ul class="chosen">
        ${chosenHeads(visit)} ${linesOf(order).map((line) => lineRow(visit, line, draft))}
      </ul>
      ${chosen.lines.length > 0 && chosenRows(visit, chosen)} ${productFinder(visit, text, chosen)}
      <div class="row">
        ${delivery('shippingMethodId', {
          empty: order.shippingData?.shippingMethod.name ?? messages.unchanged,
          choices: methods.shipping,
        })}
        ${delivery('price', {
          unit: order.currencyId,
          placeholder: order.shippingData ? decimalText(order.shippingData.price.amount, visit.language) : '',
        })}
        ${showFields(PAYMENT_METHOD, visit, { draft })('paymentMethodId', {
          empty: order.paymentData?.paymentMethod?.name ?? messages.unchanged,
          choices: methods.payment,
        })}
      </div>
      <p class="hint">${messages.hint}</p>
      <div class="actions">
        <button class="main" name="do" value="save">${visit.messages.form.save}</button>
        <a class="button" href="${adminPath(visit, path)}">${visit.messages.form.cancel}</a>
      </div>
    </form>`,
  };
}

function lineRow(visit: ShopVisit, line: OrderLine, draft: Draft | undefined): Markup {
  const messages = visit.messages.orders.edit;
  const name = lineName(line);
  const { amount, currency } = line.singleItemPrice;
  const price = decimalText(amount, visit.language, currencyDigits(currency));
  const values = { quantity: line.quantity.amount, price };
  const field = showFields(LINE, visit, { values, row: line.lineItemId, draft });
  return html`<li>
    ${linePicture(line)} <span class="grow">${name} <span class="quiet">${line.sku}</span></span>
    ${field('quantity', { label: `${messages.quantity}: ${name}` })}
    ${field('price', { label: `${messages.price}: ${name}` })}
    <label class="remove"
      >${field('remove', { label: `${messages.remove}: ${name}` })} ${messages.remove}</label
    >
  </li>`;
}
