import { dayOf } from '../../http/dates.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import { findConcerned } from '../../downloads/delivery-queries.ts';
import { maskedKey } from '../../downloads/licence-key.ts';
import { deliverOrder, listDeliveries, setDelivery } from '../../downloads/order-routes.ts';
import type { DeliveryJson } from '../../downloads/schema.ts';
import { getManagedOrder } from '../../orders/manage.ts';
import type { ManagedOrderAnswer } from '../../orders/manage-schema.ts';
import {
  declareForm,
  declareHidden,
  declaredButton,
  optionsOf,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { momentText, plainDay } from '../components/format.ts';
import { lineName, linesOf } from '../orders/order-view.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { idOf } from './sold-product.ts';

const PATH = '/orders/:orderId/deliveries';
/** The end of a day, everywhere. */
const END_OF_DAY = 'T23:59:59Z';

const DELIVERY = declareForm(setDelivery, ({ downloads: messages }) => ({
  isRevoked: { kind: 'tick', label: messages.revoke, hint: messages.revokeHint },
  maxDownloads: { kind: 'integer', label: messages.maxDownloads, hint: messages.maxDownloadsHint },
  expiresOn: { kind: 'date', label: messages.expiresOn, hint: messages.expiresOnHint },
}));

/** Which button was pressed. */
const STEP = declareHidden({ step: 7 });

/** What an order has brought as files and keys. */
export function orderDeliveryPages(pages: ShopPages): void {
  pages.post(
    PATH,
    'orders_write',
    async (visit, form) => {
      const orderId = idOf(form, 'orderId');
      const { step } = readFields(STEP, form, visit);
      const body = step === 'email' ? { sendsEmail: true } : { isReleased: true };
      await visit.call(deliverOrder, { params: { orderId }, body });
      const messages = visit.messages.downloads;
      return backTo(visit, orderId, step === 'email' ? messages.emailSent : messages.delivered);
    },
    optionsOf(STEP),
  );

  pages.form(
    `${PATH}/:lineItemId`,
    { read: 'orders_read', write: 'orders_write' },
    { show: showDelivery, save: saveDelivery },
    optionsOf(DELIVERY),
  );
}

const backTo = (visit: ShopVisit, orderId: string, notice: string) =>
  new Redirect(adminPath(visit, `/orders/${orderId}`), notice);

/** On the page of an order; nothing where no line has to do with downloads. */
export async function deliveriesCard(visit: ShopVisit, order: ManagedOrderAnswer): Promise<Markup | false> {
  const { db, shopId } = visit;
  const { orderId } = order;
  if ((await findConcerned(db, shopId, [orderId])).length === 0) return false;
  const { items } = await visit.call(listDeliveries, { params: { orderId } });
  const messages = visit.messages.downloads;
  const action = adminPath(visit, `/orders/${orderId}/deliveries`);
  const mayWrite = visit.may('orders_write') && order.management.cancelledOn === null;
  return html`<section class="card" aria-labelledby="deliveries">
    <h2 id="deliveries">${messages.deliveries}</h2>
    ${items.length === 0 && html`<p class="hint">${messages.notDelivered}</p>`}
    ${items.map((item) => deliveryRow(visit, order, item))}
    ${
      mayWrite &&
      html`<div class="buttons">
        ${
          items.length === 0
            ? declaredButton(
                STEP,
                visit,
                { step: 'deliver' },
                { action, text: messages.deliverNow, confirm: messages.deliverSure },
              )
            : declaredButton(STEP, visit, { step: 'email' }, { action, text: messages.sendAgain })
        }
      </div>`
    }
  </section>`;
}

function deliveryRow(visit: ShopVisit, order: ManagedOrderAnswer, item: DeliveryJson): Markup {
  const { language } = visit;
  const messages = visit.messages.downloads;
  const line = linesOf(order).find(({ lineItemId }) => lineItemId === item.lineItemId);
  const name = line ? lineName(line) : item.lineItemId;
  const path = `/orders/${order.orderId}/deliveries/${item.lineItemId}`;
  const number = (count: number) => count.toLocaleString(language);
  return html`<div class="title">
      <h3>${name}</h3>
      <span class="chip">${messages.states[item.state]}</span>
    </div>
    <ul class="quiet">
      ${item.deliveredOn !== null && html`<li>${messages.deliveredOn({ time: momentText(new Date(item.deliveredOn), language) })}</li>`}
      ${item.missingKeys > 0 && html`<li>${messages.missingKeys({ count: item.missingKeys })}</li>`}
      ${item.beginsOn !== null && html`<li>${messages.beginsOn({ day: plainDay(new Date(item.beginsOn), language) })}</li>`}
      ${item.expiresOn !== null && html`<li>${messages.until({ day: plainDay(new Date(item.expiresOn), language) })}</li>`}
      ${item.files.map(
        (file) =>
          html`<li>
            ${file.name}:
            ${
              item.maxDownloads === null
                ? messages.downloaded({ count: file.downloads })
                : messages.downloadedOf({ used: number(file.downloads), max: number(item.maxDownloads) })
            }${file.lastDownloadOn !== null && `, ${momentText(new Date(file.lastDownloadOn), language)}`}
          </li>`,
      )}
      ${item.keys.map(
        (key) =>
          html`<li>
            <code>${maskedKey(key.lastCharacters)}</code>${key.isRevoked && ` ${messages.keyStates.revoked}`}
          </li>`,
      )}
    </ul>
    <p>
      <a href="${adminPath(visit, path)}">${messages.change}<span class="hidden">: ${name}</span></a>
    </p>`;
}

async function showDelivery(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const params = { orderId: idOf(request, 'orderId') };
  const lineItemId = idOf(request, 'lineItemId');
  const messages = visit.messages.downloads;
  const [order, { items }] = await Promise.all([
    visit.call(getManagedOrder, { params, query: {} }),
    visit.call(listDeliveries, { params }),
  ]);
  const item = items.find((one) => one.lineItemId === lineItemId);
  if (!item) throw notFound();
  const { isRevoked, maxDownloads, expiresOn } = item;
  const values = {
    isRevoked,
    maxDownloads,
    expiresOn: expiresOn === null ? null : dayOf(new Date(expiresOn)),
  };
  const field = showFields(DELIVERY, visit, { values, draft });
  const line = linesOf(order).find((one) => one.lineItemId === lineItemId);
  return {
    title: line ? lineName(line) : messages.deliveries,
    menu: 'orders',
    breadcrumbs: [
      { href: adminPath(visit, '/orders'), text: visit.messages.layout.menuEntries.orders },
      {
        href: adminPath(visit, `/orders/${params.orderId}`),
        text: visit.messages.orders.title({ number: order.orderNumber }),
      },
    ],
    main: html`<form
      class="card"
      method="post"
      action="${adminPath(visit, `/orders/${params.orderId}/deliveries/${lineItemId}`)}"
    >
      ${problemOf(draft)}
      <div class="row">${field('maxDownloads')} ${field('expiresOn')}</div>
      ${field('isRevoked')}
      ${visit.may('orders_write') && html`<button class="main">${visit.messages.form.save}</button>`}
    </form>`,
  };
}

async function saveDelivery(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const params = { orderId: idOf(form, 'orderId'), lineItemId: idOf(form, 'lineItemId') };
  const { expiresOn, ...body } = readFields(DELIVERY, form, visit);
  const end = expiresOn === null ? null : expiresOn + END_OF_DAY;
  await visit.call(setDelivery, { params, body: { ...body, expiresOn: end } });
  return backTo(visit, params.orderId, visit.messages.downloads.saved);
}
