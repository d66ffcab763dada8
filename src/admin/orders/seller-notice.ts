import { html, type Markup } from '../../http/html.ts';
import { missingSellerFields } from '../../shops/shop/readiness.ts';
import { settingsMessages } from '../settings/settings-messages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

/** Before a document is made: what the shop lacks for it, each with a link to its field. */
export function sellerNotice(visit: ShopVisit): Markup | false {
  const missing = missingSellerFields(visit.settings);
  if (missing.length === 0) return false;
  const { label } = settingsMessages(visit.messages, visit.language);
  return html`<div class="problem" role="alert">
    <p>${visit.messages.orders.documents.sellerIncomplete}</p>
    <ul>
      ${missing.map(
        (field) =>
          html`<li>
            <a href="${adminPath(visit, '/settings/invoices')}#field-${field}">${label(field)}</a>
          </li>`,
      )}
    </ul>
  </div>`;
}
