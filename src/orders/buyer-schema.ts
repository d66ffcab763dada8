import { Type, type Static } from 'typebox';
import { Given } from '../http/request-fields.ts';
import { Nullable } from '../http/schemas.ts';
import { MAX_REFERENCE_LENGTH, REFERENCE_PATTERN, type Buyer } from '../shops/vat-numbers/buyer.ts';

const reference = { maxLength: MAX_REFERENCE_LENGTH, pattern: REFERENCE_PATTERN };
const BUYER_REFERENCE = {
  ...reference,
  description:
    'Reference that the buyer wants on the invoice (BT-10); of German authorities their Leitweg-ID.',
  examples: ['04011000-12345-67'],
};
const ORDER_NUMBER = {
  ...reference,
  description: "Number of the buyer's own order (BT-13).",
  examples: ['PO-4711'],
};

export const BuyerAnswer = Type.Object(
  {
    buyerReference: Nullable(Type.String(BUYER_REFERENCE)),
    purchaseOrderNumber: Nullable(Type.String(ORDER_NUMBER)),
    vatCheck: Nullable(
      Type.Object(
        {
          vatNumber: Type.String({
            description: 'The number with its prefix, without blanks.',
            examples: ['FR40303265045'],
          }),
          result: Type.Enum(['valid', 'invalid', 'unavailable'], {
            description: 'The answer of the tax authorities; unavailable: they did not answer in time.',
            examples: ['valid'],
          }),
          checkedOn: Type.String({
            description: 'When they were asked.',
            examples: ['2026-11-15T08:30:00.000Z'],
          }),
          consultationNumber: Nullable(
            Type.String({
              description: 'The proof that the shop has asked.',
              examples: ['WAPIAAAAYvK1abcd'],
            }),
          ),
        },
        { title: 'vat check', description: 'The last check of the VAT number; null: there was none.' },
      ),
    ),
  },
  { title: 'buyer', description: 'Details of the buyer as a business, in addition to the addresses.' },
);
export type BuyerAnswer = Static<typeof BuyerAnswer>;

export const BuyerUpdate = Type.Object(
  {
    buyerReference: Given(Type.String(BUYER_REFERENCE)),
    purchaseOrderNumber: Given(Type.String(ORDER_NUMBER)),
  },
  { title: 'buyer (update request)' },
);

export function toBuyer(buyer: Buyer | null): BuyerAnswer {
  const { buyerReference = null, purchaseOrderNumber = null, vatCheck } = buyer ?? {};
  return {
    buyerReference,
    purchaseOrderNumber,
    vatCheck: vatCheck
      ? {
          vatNumber: vatCheck.vatNumber,
          result: vatCheck.result,
          checkedOn: vatCheck.checkedAt,
          consultationNumber: vatCheck.consultationNumber ?? null,
        }
      : null,
  };
}

/** The references of a request; a missing one is removed. */
export function referencesOf({ buyerReference, purchaseOrderNumber }: Static<typeof BuyerUpdate>) {
  return { buyerReference: buyerReference ?? '', purchaseOrderNumber: purchaseOrderNumber ?? '' };
}
