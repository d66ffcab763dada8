import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { MAX_REFERENCE_LENGTH, type Buyer, type References } from '../../shops/vat-numbers/buyer.ts';
import type { ShopFormRequest } from '../pages.ts';
import type { Visit } from '../visit.ts';
import { addressField, addressRows, type AddressValues, type FormPart } from './address-form.ts';

/** What a business says of itself beside its address. */
export interface BusinessForm extends References {
  isBusiness: boolean;
}

export const NO_REFERENCES: References = { buyerReference: '', purchaseOrderNumber: '' };

/** The stored values. Who has a company or a VAT number is taken for a business. */
export function businessForm({ company, vatId }: AddressValues, buyer: Buyer | null): BusinessForm {
  const { buyerReference = '', purchaseOrderNumber = '' } = buyer ?? {};
  const isBusiness = Boolean(company || vatId || buyerReference || purchaseOrderNumber);
  return { isBusiness, buyerReference, purchaseOrderNumber };
}

/** undefined: the form has no such fields, so what is stored stays. */
export function parseBusiness({ field }: ShopFormRequest): BusinessForm | undefined {
  if (field('business.form') === '') return undefined;
  const isBusiness = field('business') !== '';
  const reference = (name: keyof References) => (isBusiness ? oneLine(field(`business.${name}`)) : '');
  return {
    isBusiness,
    buyerReference: reference('buyerReference'),
    purchaseOrderNumber: reference('purchaseOrderNumber'),
  };
}

/** Control characters can't be sent by a field of one line, and would break an electronic invoice. */
function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029\ufffe\uffff]+/gu, ' ')
    .trim()
    .slice(0, MAX_REFERENCE_LENGTH);
}

/** A choice that opens the fields of a business; without a script, a style does. */
export function businessFields(
  visit: Visit,
  form: FormPart,
  { isBusiness, ...references }: BusinessForm,
  { hasReferences }: { hasReferences: boolean },
): Markup {
  const messages = messagesIn(visit.locale).storefront.checkout;
  const rows = addressRows('billing', form.values.country ?? '', visit.settings).flat();
  return html`<div class="field">
      <input type="hidden" name="business.form" value="yes" />
      <label
        ><input type="checkbox" name="business" value="yes" ${isBusiness && html`checked`} />
        <span>${messages.business}</span></label
      >
    </div>
    <div class="business" role="group" aria-label="${messages.businessDetails}">
      ${!rows.includes('vatId') && addressField(visit, form, 'vatId')}
      ${
        hasReferences &&
        html`${reference(visit, 'buyerReference', references, messages.buyerReferenceHint)}
        ${reference(visit, 'purchaseOrderNumber', references)}`
      }
    </div>`;
}

function reference({ locale }: Visit, name: keyof References, values: References, hint?: string): Markup {
  const messages = messagesIn(locale).storefront;
  const id = `business.${name}`;
  return html`<div class="field">
    <label for="${id}">${messages.checkout[name]} <small>(${messages.address.optional})</small></label>
    <input
      id="${id}"
      name="${id}"
      value="${values[name]}"
      maxlength="${MAX_REFERENCE_LENGTH}"
      autocomplete="off"
      ${hint !== undefined && html`aria-describedby="${id}-hint"`}
    />
    ${hint !== undefined && html`<small id="${id}-hint">${hint}</small>`}
  </div>`;
}
