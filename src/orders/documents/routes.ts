import { Type } from 'typebox';
import { notFound, Refusal } from '../../http/errors.ts';
import { readingLocale } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { Id, LocaleParameter, Paged } from '../../http/schemas.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { findDelivery, findTransport, requestDelivery } from '../transport/queries.ts';
import { ELECTRONIC_FORMATS } from './electronic-format.ts';
import { electronicFile, fileOf, networkFormat, sha256Of, storeDocumentFile } from './file.ts';
import { finaliseDocument } from './finalise.ts';
import { countDocuments, findDocument, findDocuments } from './queries.ts';
import { toDocumentTransport, toDocument } from './render.ts';
import {
  DocumentDelivery,
  ElectronicFile,
  FinalisedDocument,
  NewCreditNote,
  NewInvoice,
  OrderDocument,
} from './schema.ts';

const { parameters, pageOf } = paging();

export const getOrderDocuments = operation({
  method: 'GET',
  path: '/orders/:orderId/documents',
  name: 'getOrderDocuments',
  summary: 'Get documents of order',
  description: 'Finalised invoices and credit notes, newest first.',
  tag: 'orders',
  labels: ['Base', 'Now'],
  access: 'orders_read',
  params: Type.Object({ orderId: Id }),
  query: Type.Object({
    locale: LocaleParameter,
    ...parameters,
    includePdf: Type.Optional(
      Type.Boolean({
        description: 'Adds the PDF in base64, in the language of the checkout.',
        examples: [true],
      }),
    ),
  }),
  answer: Paged(OrderDocument, 'order document list'),
  keepsKeyOrder: true,
});

export const getElectronicDocument = operation({
  method: 'GET',
  under: 'manage',
  path: '/orders/:orderId/documents/:documentId/electronic',
  name: 'getElectronicDocument',
  summary: 'Get electronic document',
  description:
    'The XML of an invoice or a credit note, in any of the formats. 409 names the facts that a format demands and the document lacks.',
  tag: 'orders',
  labels: [],
  access: 'orders_read',
  params: Type.Object({ orderId: Id, documentId: Id }),
  query: Type.Object({
    format: Type.Optional(
      Type.Enum([...ELECTRONIC_FORMATS], {
        description: 'Absent: the format that the customer got; zugferd, if it got none.',
        examples: ['xrechnung-ubl'],
      }),
    ),
  }),
  answer: ElectronicFile,
});

export const sendElectronicDocument = operation({
  method: 'POST',
  under: 'manage',
  path: '/orders/:orderId/documents/:documentId/delivery',
  name: 'sendElectronicDocument',
  summary: 'Send electronic document',
  description:
    'Sends an invoice or a credit note through the Peppol network, or sends it again after that has failed. One that is on its way or was delivered is not sent twice. 409: the shop has no account of a provider, or the document lacks facts.',
  tag: 'orders',
  labels: [],
  access: 'orders_write',
  params: Type.Object({ orderId: Id, documentId: Id }),
  answer: DocumentDelivery,
});

const finalisation = {
  method: 'POST',
  under: 'manage',
  tag: 'orders',
  labels: [],
  access: 'orders_write',
  params: Type.Object({ orderId: Id }),
  status: 201,
  answer: FinalisedDocument,
  keepsKeyOrder: true,
} as const;

export const finaliseInvoice = operation({
  ...finalisation,
  path: '/orders/:orderId/invoices',
  name: 'finaliseInvoice',
  summary: 'Finalise invoice',
  description:
    'Invoices the whole order or some of its lines, never more than was ordered: 409 names the rest. 409 SELLER_INCOMPLETE: the shop lacks its address or tax number, which every document must name.',
  body: NewInvoice,
});

export const finaliseCreditNote = operation({
  ...finalisation,
  path: '/orders/:orderId/credit-notes',
  name: 'finaliseCreditNote',
  summary: 'Finalise credit note',
  description:
    'Credits a whole invoice or some of its lines, never more than was invoiced: 409 names the rest. With returnId it credits the items of a return that are back, and delivery as the return refunds it. With refund, the money is refunded as by createOrderRefund; 409 if none is left.',
  body: NewCreditNote,
});

const KINDS = [
  { kind: 'Invoice', finalise: finaliseInvoice },
  { kind: 'CreditNote', finalise: finaliseCreditNote },
] as const;

export function documents(api: Operations): void {
  api.read(getOrderDocuments, async ({ db, shopId, params, query, origin }) => {
    const page = pageOf(query);
    const withPdf = query.includePdf === true;
    const [settings, counted, rows] = await Promise.all([
      shopSettings(db, shopId),
      countDocuments(db, shopId, params.orderId),
      findDocuments(db, shopId, params.orderId, {
        limit: page.resultsPerPage,
        offset: page.offset,
        withPdf,
      }),
    ]);
    if (!counted) throw notFound();
    const context = { locale: readingLocale(query.locale, settings), origin, settings };
    const documents: OrderDocument[] = [];
    // One after the other, because making a file takes the processor for some time, and other requests need it in
    // between.
    for (const row of rows) documents.push(toDocument(row, context, withPdf ? await fileOf(row) : undefined));
    return paged(page, counted.count, documents);
  });

  api.read(getElectronicDocument, async ({ db, shopId, params, query }) => {
    const row = await findDocument(db, shopId, params.documentId);
    if (row?.orderId !== params.orderId.toUpperCase()) throw notFound();
    const format = query.format ?? row.terms.format ?? 'zugferd';
    const { name, bytes } = electronicFile(row, format);
    const delivery = await findDelivery(db, shopId, params.documentId);
    return {
      documentId: row.documentId,
      format,
      fileName: name,
      xml: bytes.toString('utf8'),
      sha256: sha256Of(bytes),
      delivery: delivery ? toDocumentTransport(delivery) : null,
    };
  });

  api.write(sendElectronicDocument, async ({ tx, shopId, params }) => {
    const row = await findDocument(tx, shopId, params.documentId);
    if (row?.orderId !== params.orderId.toUpperCase()) throw notFound();
    const provider = await findTransport(tx, shopId);
    if (!provider) throw new Refusal('TRANSPORT_NOT_SET');
    electronicFile(row, networkFormat(row));
    await requestDelivery(tx, shopId, params.documentId, provider);
    return toDocumentTransport((await findDelivery(tx, shopId, params.documentId))!);
  });

  for (const { kind, finalise } of KINDS) {
    api.write(
      finalise,
      async ({ tx, shopId, params, body: wanted, caller, origin, created, afterCommit }) => {
        const appId = caller.app?.appId ?? null;
        const document = await finaliseDocument(tx, shopId, params.orderId, { ...wanted, kind }, appId);
        created({ documentId: document.documentId });
        afterCommit(() => storeDocumentFile(api.db, shopId, document));
        const settings = await shopSettings(tx, shopId);
        const { documentId } = document;
        const context = { locale: settings.defaultLocale, origin, settings };
        return { documentId, ...toDocument(document, context) };
      },
    );
  }
}
