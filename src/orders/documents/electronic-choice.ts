import { currencyDigits } from '../../kernel/money.ts';
import { isInEu } from '../../shops/countries/countries.ts';
import type { Invoicing } from '../../shops/settings/settings.ts';
import { isLeitwegId } from './electronic-address.ts';
import type { ElectronicFormat } from './electronic-format.ts';
import { filled, missingFacts } from './electronic-model.ts';
import type { DocumentFacts, DocumentTerms } from './facts.ts';

/** Whether a document is electronic, and what keeps it from being so. */
export interface ElectronicChoice {
  terms: Required<Pick<DocumentTerms, 'format'>> | null;
  /** Settings that the shop lacks, although it has asked for such documents. */
  missing: string[];
}

/**
 * Decides about a document. Where the shop has decided nothing, those of businesses in the European Union are
 * electronic, as far as the shop's settings suffice. A format that lacks facts of the buyer, such as the VAT number of
 * a consumer in the Peppol network, gives way to ZUGFeRD.
 */
export function electronicChoice(
  document: DocumentFacts,
  { electronic, electronicFormat }: Pick<Invoicing, 'electronic' | 'electronicFormat'>,
): ElectronicChoice {
  const none = { terms: null, missing: [] };
  // The standard allows two decimals at most.
  if (electronic === false || currencyDigits(document.content.currency) > 2) return none;
  if (electronic === undefined && !isEuropeanBusiness(document)) return none;
  const isAsked = electronic === true || electronicFormat !== undefined;
  for (const format of new Set<ElectronicFormat>([electronicFormat ?? formatFor(document), 'zugferd'])) {
    const missing = missingFacts(document, format);
    if (missing.length === 0) return { terms: { format }, missing };
    const ofShop = missing.filter((name) => name.startsWith('invoicing.'));
    if (isAsked && ofShop.length > 0) return { terms: null, missing: ofShop };
  }
  return none;
}

function formatFor({ terms, address }: DocumentFacts): ElectronicFormat {
  const reference = terms.buyer?.buyerReference;
  if (reference !== undefined && isLeitwegId(reference)) return 'xrechnung-ubl';
  // Belgian businesses must invoice each other through the Peppol network since 2026.
  return terms.seller.country === 'BE' && address.country === 'BE' ? 'peppol' : 'zugferd';
}

/** A company or an authority in the European Union, by what it has said of itself. */
function isEuropeanBusiness({ address, terms }: DocumentFacts): boolean {
  const isBusiness = filled(address.company) || filled(address.vatId) || terms.buyer !== undefined;
  return isBusiness && isInEu(address.country ?? '') && isInEu(terms.seller.country);
}
