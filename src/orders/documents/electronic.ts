import { ciiOf } from './cii.ts';
import type { ElectronicFormat } from './electronic-format.ts';
import { electronicDocument } from './electronic-model.ts';
import type { DocumentFacts } from './facts.ts';
import { ublOf } from './ubl.ts';
import { xmlText } from './xml.ts';

/** A document as XML of EN 16931. The same facts give the same text. */
export function electronicInvoice(document: DocumentFacts, format: ElectronicFormat = 'zugferd'): string {
  const model = electronicDocument(document, format);
  return xmlText(format === 'xrechnung-ubl' || format === 'peppol' ? ublOf(model) : ciiOf(model));
}
