import type { Transaction } from '../db/database.ts';
import { Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { withReferences } from '../shops/vat-numbers/buyer.ts';
import { isCheckOf, numberToCheck, requesterOf, type VatRegister } from '../shops/vat-numbers/register.ts';
import { BuyerUpdate, referencesOf } from './buyer-schema.ts';
import { changeOrder, lockOrder } from './change.ts';
import { finaliseDocument } from './documents/finalise.ts';
import { findFinalised, type DocumentRow } from './documents/queries.ts';
import {
  manageOperation,
  managedOrder,
  moneyChange,
  openOrder,
  record,
  refuseCancelled,
  statesReached,
} from './manage-change.ts';
import { findManagedOrder } from './queries.ts';
import { withoutVat } from './tax-correction.ts';

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

export const correctOrderTax = operation({
  ...manageOperation,
  method: 'POST',
  path: '/orders/:orderId/tax-correction',
  name: 'correctOrderTax',
  summary: 'Correct order tax',
  description:
    'Takes off the VAT of an order whose VAT number was confirmed after it was placed: the customer then owes the net of what was agreed. Invoices are credited and issued again without tax; `refundableAmount` says what was paid too much. 409: the number is not confirmed, or it changes no tax.',
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
      // The register is asked before the transaction opens, because it may take seconds. Only the transaction refuses,
      // because it knows whether the Idempotency-Key has an answer already.
      prepare: async ({ db, shopId, params }) => {
        const [order, settings] = await Promise.all([
          findManagedOrder(db, shopId, params.orderId),
          shopSettings(db, shopId),
        ]);
        const number = order && numberToCheck(order.billingAddress, settings);
        const prepared = number && (await vatRegister.check(shopId, number, requesterOf(settings)));
        return { prepared, discard: async () => {} };
      },
    },
    async (call) => {
      const open = await openOrder(call);
      const { order, settings } = open;
      const vatCheck = call.prepared;
      if (!vatCheck || !isCheckOf(vatCheck, order.billingAddress)) {
        throw new Refusal('VAT_NUMBER_NOT_CHECKABLE');
      }
      const buyer = { ...order.buyer, vatCheck };
      const changed = await changeOrder(call.tx, call.shopId, order, { buyer });
      await record(call, open, 'VAT number checked', { result: vatCheck.result });
      return managedOrder(call.tx, call, changed, settings);
    },
  );

  api.write(correctOrderTax, async (call) => {
    const { tx, shopId } = call;
    const open = await openOrder(call);
    const { order, activity, settings, appId } = open;
    const { orderId, billingAddress, buyer } = order;
    refuseCancelled(order);
    const check = buyer?.vatCheck;
    if (check?.result !== 'valid' || !isCheckOf(check, billingAddress))
      throw new Refusal('VAT_NUMBER_NOT_VALID');
    const content = withoutVat(order, settings);
    if (!content) throw new Refusal('TAX_ALREADY_RIGHT');
    const credits = await creditInvoices(tx, shopId, orderId, appId);
    // The credit notes have changed the states of the order.
    const credited = (await lockOrder(tx, shopId, orderId))!;
    const states = statesReached({ ...credited, content }, activity.shipments, tx.now);
    await changeOrder(tx, shopId, credited, { content, ...states }, { moves: true });
    for (const { content: part, terms } of credits) {
      const lines = part.lines.map(({ lineItemId, quantity }) => ({ lineItemId, quantity }));
      await finaliseDocument(
        tx,
        shopId,
        orderId,
        { kind: 'Invoice', lines, shipping: terms.hasServices },
        appId,
      );
    }
    await record(call, open, 'tax corrected', {
      grandTotal: moneyChange(order.content.grandTotal, content.grandTotal, order),
    });
    return managedOrder(tx, call, (await lockOrder(tx, shopId, orderId))!, settings);
  });
}

/** Credits what is left of each invoice. Returns the credit notes, whose items have to be invoiced again. */
async function creditInvoices(
  tx: Transaction,
  shopId: string,
  orderId: string,
  appId: string,
): Promise<DocumentRow[]> {
  const documents = await findFinalised(tx, shopId, orderId);
  const credits: DocumentRow[] = [];
  for (const { kind, number } of documents) {
    if (kind !== 'Invoice') continue;
    const request = { kind: 'CreditNote' as const, invoiceNumber: String(number) };
    try {
      credits.push(await finaliseDocument(tx, shopId, orderId, request, appId));
    } catch (error) {
      // It was credited before.
      if (!(error instanceof Refusal && error.code === 'NOTHING_TO_CREDIT')) throw error;
    }
  }
  return credits;
}
