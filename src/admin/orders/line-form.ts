import { Type } from 'typebox';
import { updateOrderLine } from '../../orders/manage-lines.ts';
import { declareRows } from '../components/declared-form.ts';

const decimal = { kind: 'decimal', isCell: true, maxLength: 20 } as const;

/** What people type into the rows of an order: a row is a line, a product that becomes one, or a line of an invoice. */
export const LINE = declareRows(
  { body: Type.Object({ ...updateOrderLine.body!.properties, remove: Type.Boolean() }) },
  ({ orders: { edit: messages } }) => ({
    quantity: { ...decimal, label: messages.quantity },
    price: { ...decimal, label: messages.price },
    remove: { kind: 'tick', isCell: true, label: messages.remove },
  }),
);

/** The row of a line of an invoice: an order may have several invoices with the same line. */
export const invoiceRow = (invoiceNumber: number | string, lineItemId: string) =>
  `${invoiceNumber}-${lineItemId}`;
