import { notFound, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { withReferences } from '../shops/vat-numbers/buyer.ts';
import { isCheckOf, numberToCheck, requesterOf, type VatRegister } from '../shops/vat-numbers/register.ts';
import { BuyerUpdate, referencesOf } from './buyer-schema.ts';
import { changeOrder } from './change.ts';
import { manageOperation, managedOrder, openOrder, record } from './manage-change.ts';
import { findManagedOrder } from './queries.ts';

export const updateOrderBuyer = operation({
  ...manageOperation,
  method: 'PUT',
  path: '/orders/:orderId/buyer',
  name: 'updateOrderBuyer',
  summary: 'Update order buyer',
  description:
    'Replaces the reference and the order number of the buyer, which invoices name. What is missing is removed. Existing invoices stay as they are.',
  body: BuyerUpdate,
});

export const checkOrderVatNumber = operation({
  ...manageOperation,
  method: 'POST',
  path: '/orders/:orderId/vat-check',
  name: 'checkOrderVatNumber',
  summary: 'Check order VAT number',
  description:
    'Asks the tax authorities about the VAT number of the billing address, and keeps their answer with the order. Its taxes stay as they are. 409: there is no number of another member state, or the shop has none itself.',
});

export function managedBuyers(api: Operations, vatRegister: VatRegister): void {
  api.write(updateOrderBuyer, async (call) => {
    const open = await openOrder(call);
    const { order, settings } = open;
    const buyer = withReferences(order.buyer, referencesOf(call.body));
    const changed = await changeOrder(call.tx, call.shopId, order, { buyer });
    await record(call, open, 'patched', { paths: ['/buyer'] });
    return managedOrder(call.tx, call, changed, settings);
  });

  api.write(
    {
      ...checkOrderVatNumber,
      // The register is asked before the transaction opens, because it may take seconds.
      prepare: async ({ db, shopId, params }) => {
        const [order, settings] = await Promise.all([
          findManagedOrder(db, shopId, params.orderId),
          shopSettings(db, shopId),
        ]);
        if (!order) throw notFound();
        const number = numberToCheck(order.billingAddress, settings);
        if (!number) throw new Refusal('VAT_NUMBER_NOT_CHECKABLE');
        const prepared = await vatRegister.check(shopId, number, requesterOf(settings));
        return { prepared, discard: async () => {} };
      },
    },
    async (call) => {
      const open = await openOrder(call);
      const { order, settings } = open;
      if (!isCheckOf(call.prepared, order.billingAddress)) throw new Refusal('VAT_NUMBER_NOT_CHECKABLE');
      const buyer = { ...order.buyer, vatCheck: call.prepared };
      const changed = await changeOrder(call.tx, call.shopId, order, { buyer });
      await record(call, open, 'VAT number checked', { result: call.prepared.result });
      return managedOrder(call.tx, call, changed, settings);
    },
  );
}
