import { fieldCard } from '../fields/value-pages.ts';
import { html, type Markup } from '../../http/html.ts';
import { leavesUnion } from '../../orders/documents/proforma.ts';
import { isWaitingForPayment } from '../../orders/order-state.ts';
import { HttpError, notFound } from '../../http/errors.ts';
import { optionsOf } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { orderActionsOfApps, blocksOf } from '../apps/frames.ts';
import type { ActionName, OrderAction } from './action.ts';
import { buyer } from './business.ts';
import { billingAddress, cancel, note, shippingAddress, tagCard } from './data-actions.ts';
import { credit, email, invoice } from './document-actions.ts';
import { documentsCard } from './documents.ts';
import { isReturnWaiting, recordReturn, RETURN_OPTIONS, returnFields, saveReturn } from './return-actions.ts';
import { deliveriesCard } from '../downloads/order-deliveries.ts';
import { ship } from './shipment-actions.ts';
import { historyCard } from './history-view.ts';
import { capture, pay, refund } from './money-actions.ts';
import { activityCards, linesCard, sideCards } from './order-cards.ts';
import { loadView, readManagedOrder, type OrderReturn, type OrderView } from './order-view.ts';
import { isOrderPartlyReturned } from './quantities.ts';
import { chipsView, goodsChips, paymentChips } from './states.ts';
import { type FormRequest, type PageRequest, Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { lockManagedOrder } from '../../orders/manage-change.ts';
import { undoShipment } from '../../orders/manage-shipments.ts';

/** Actions with a button, in this order; the others are reached from the card that they change. */
const BUTTONS: readonly OrderAction[] = [pay, capture, ship, invoice, refund];
const MORE: readonly OrderAction[] = [email, credit, recordReturn, cancel];
const ACTIONS: readonly OrderAction[] = [...BUTTONS, ...MORE, note, billingAddress, shippingAddress, buyer];

/** The open panel of an order's page: an action, or a waiting return. */
type Panel = { action: OrderAction } | { returned: OrderReturn };

/** The page of an order. Each action has its own address, at which the page shows its form. */
export function orderPages(pages: ShopPages): void {
  pages.get('/orders/:orderId', 'orders_read', async (visit, request) => {
    const view = await loadView(visit, request.params['orderId']!);
    return orderPage(view, request, nextStep(view));
  });

  for (const action of ACTIONS) {
    pages.form(
      `/orders/:orderId/${action.name}`,
      { read: 'orders_read', write: 'orders_write' },
      {
        show: async (visit, request, draft) =>
          orderPage(await loadView(visit, request.params['orderId']!), request, { action }, draft),
        save: (visit, form) => saveUnchanged(visit, form, action.save),
      },
      action.options ?? (action.form && optionsOf(action.form)),
    );
  }

  pages.form(
    '/orders/:orderId/returns/:returnId',
    { read: 'orders_read', write: 'orders_write' },
    {
      show: async (visit, request, draft) => {
        const view = await loadView(visit, request.params['orderId']!);
        const { returnId } = request.params;
        const returned = view.order.management.returns.find((one) => one.returnId === returnId);
        if (!returned) throw notFound();
        return orderPage(view, request, { returned }, draft);
      },
      save: (visit, form) => saveUnchanged(visit, form, saveReturn),
    },
    RETURN_OPTIONS,
  );

  // The button beside a parcel that was recorded some minutes ago.
  pages.post('/orders/:orderId/shipments/:shipmentId/undo', 'orders_write', async (visit, { params }) => {
    const { orderId } = await readManagedOrder(visit, params['orderId']!);
    const path = adminPath(visit, `/orders/${orderId}`);
    const messages = visit.messages.orders.shipping;
    try {
      await visit.call(undoShipment, { params: { orderId, shipmentId: params['shipmentId']! } });
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 409) throw error;
      return new Redirect(path, { text: messages.notUndone, isProblem: true });
    }
    return new Redirect(path, messages.undone);
  });
}

/**
 * Saves an action on an order that is still as the form has shown it. The order is locked first: of two people at once,
 * or two clicks, one is second and sees what the first has done.
 */
async function saveUnchanged(
  visit: ShopVisit,
  form: FormRequest,
  save: OrderAction['save'],
): Promise<Redirect> {
  const orderId = form.params['orderId']!;
  if (!isId(orderId)) throw notFound();
  const { query, ...notice } = await visit.inTransaction(async (call, tx) => {
    const order = await lockManagedOrder(tx, visit, orderId);
    requireUnchanged(form, order, visit.messages);
    return save({ ...visit, call }, form, order);
  });
  return new Redirect(adminPath(visit, `/orders/${orderId}`, query), notice);
}

/** The most likely next step; its form is already open. */
function nextStep(view: OrderView): Panel | undefined {
  const returned = view.order.management.returns.find(isReturnWaiting);
  if (returned) return { returned };
  const steps = isWaitingForPayment(view.order.management.state)
    ? [capture, pay, ship]
    : [capture, ship, pay];
  const action = steps.find(({ isPossible }) => isPossible(view));
  return action && { action };
}

async function orderPage(
  view: OrderView,
  request: PageRequest,
  panel: Panel | undefined,
  draft?: Draft,
): Promise<AdminPage> {
  const { visit, order } = view;
  const [fields, tags, deliveries] = await Promise.all([
    fieldCard(visit, 'order', { orderId: order.orderId }),
    tagCard(visit, order.orderId),
    deliveriesCard(visit, order),
  ]);
  const { messages, language } = visit;
  const blocks = blocksOf(visit, 'order', [order.orderId]);
  return {
    title: messages.orders.title({ number: order.orderNumber }),
    menu: 'orders',
    breadcrumbs: [{ href: adminPath(visit, '/orders'), text: messages.layout.menuEntries.orders }],
    actions: actionButtons(view),
    main: html`<p class="facts">
        ${stateChips(view)}
        <span class="quiet">${momentText(new Date(order.creationDate), language)}</span>
        ${
          view.assistant !== undefined &&
          html`<span class="quiet">${messages.orders.preparedBy({ name: view.assistant })}</span>`
        }
      </p>
      ${editingNotice(view)}
      <div class="sides">
        <div class="stack">
          ${panelView(view, panel, draft)} ${linesCard(view)} ${deliveries} ${activityCards(view)}
          ${view.documents.length > 0 && documentsCard(view, request.query('document'))} ${historyCard(view)}
        </div>
        <div class="stack">${sideCards(view)} ${tags} ${fields} ${blocks.markup}</div>
      </div>`,
    frames: blocks.frames,
    scripts: blocks.scripts,
  };
}

function stateChips({ visit, order }: OrderView): Markup {
  const { management } = order;
  const chipped = {
    ...order,
    state: management.state,
    paid: management.paidAmount.amount,
    refunded: management.refundedAmount.amount,
    isPartlyReturned: isOrderPartlyReturned(order),
  };
  return chipsView([...paymentChips(chipped), ...goodsChips(chipped)], visit.messages);
}

const pathOf = (visit: ShopVisit, orderId: string, name: ActionName) =>
  adminPath(visit, `/orders/${orderId}/${name}`);

function actionButtons(view: OrderView): Markup {
  const { visit, order } = view;
  const messages = visit.messages.orders;
  const link = (action: OrderAction, kind: string) => {
    const href = pathOf(visit, order.orderId, action.name);
    return html`<a
      class="${kind}"
      href="${href}"
      hx-get="${href}"
      hx-target="#panel"
      hx-select="#panel"
      hx-swap="outerHTML"
      >${messages.actions[action.name]}</a
    >`;
  };
  const mayWrite = visit.may('orders_write');
  const shown = (actions: readonly OrderAction[]) =>
    mayWrite ? actions.filter(({ isPossible }) => isPossible(view)) : [];
  const isEditable = mayWrite && order.management.cancelledOn === null && view.documents.length === 0;
  return html`${shown(BUTTONS).map((action) => link(action, 'button'))}
    <details class="more">
      <summary class="button">${messages.more}</summary>
      <div class="popover">
        ${isEditable && html`<a href="${adminPath(visit, `/orders/${order.orderId}/edit`)}">${messages.edit.title}</a>`}
        ${shown(MORE).map((action) => link(action, action.kind ?? ''))}
        ${orderActionsOfApps(visit).map(
          ({ text, path }) => html`<a href="${adminPath(visit, path, { id: order.orderId })}">${text}</a>`,
        )}
        <a href="${adminPath(visit, '/orders/packing-slips', { id: order.orderId })}"
          >${messages.bulk.packingSlip}</a
        >
        ${
          leavesUnion(order, visit.settings) &&
          html`<a
            href="${adminPath(visit, `/orders/${order.orderId}/proforma`)}"
            target="_blank"
            rel="noopener"
            >${messages.bulk.proforma}</a
          >`
        }
      </div>
    </details>`;
}

/** The open form. The element exists even without one, so that a form can be put into it. */
function panelView(view: OrderView, panel: Panel | undefined, draft: Draft | undefined): Markup {
  const { visit, order } = view;
  const { messages } = visit;
  const isShown = panel !== undefined && visit.may('orders_write');
  if (!isShown) return html`<div id="panel"></div>`;
  const path = `/orders/${order.orderId}`;
  const form = (name: string, title: string, fields: Markup, buttons?: Markup) =>
    html`<form method="post" action="${adminPath(visit, `${path}/${name}`)}" class="card panel" id="panel">
      <h2>${title}</h2>
      ${problemOf(draft)} ${versionField(order)} ${fields} ${buttons}
    </form>`;
  if ('returned' in panel) {
    const { returned } = panel;
    const title = messages.orders.returns.states[returned.state];
    return form(`returns/${returned.returnId}`, title, returnFields(view, returned, draft));
  }
  const { action } = panel;
  return form(
    action.name,
    messages.orders.actions[action.name],
    action.fields(view, draft),
    html`<div class="actions">
      <button class="${action.kind ?? 'main'}">${messages.orders.submit[action.name]}</button>
      ${action.name !== 'pay' && action.name !== 'ship' && html`<a class="button" href="${adminPath(visit, path)}">${messages.form.cancel}</a>`}
    </div>`,
  );
}

/** An app, or a colleague, has locked the lines for editing: no one else can change them until it is done. */
function editingNotice({ visit, order, emails }: OrderView): Markup | false {
  const { editing } = order.management;
  if (!editing) return false;
  const messages = visit.messages.orders.edit;
  const who = emails.get(editing.appId.toUpperCase()) ?? messages.anApp;
  return html`<div class="problem">
    <span>${messages.isEdited({ who })}</span>
    ${
      visit.may('orders_write') &&
      html`<form method="post" action="${adminPath(visit, `/orders/${order.orderId}/edit/end`)}">
        <button class="link">${messages.end}</button>
      </form>`
    }
  </div>`;
}
