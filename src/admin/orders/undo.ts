import { HttpError } from '../../http/errors.ts';
import { Redirect } from '../../http/page-kit.ts';
import { undoShipment } from '../../orders/undo-shipment.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath } from '../visit.ts';
import { readOrder } from './order-view.ts';

/** The button beside a parcel that was recorded some minutes ago. */
export function shipmentUndoPages(pages: ShopPages): void {
  pages.post('/orders/:orderId/shipments/:shipmentId/undo', 'orders_write', async (visit, { params }) => {
    const { orderId } = await readOrder(visit, params['orderId']!);
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
