import { html, type Markup } from '../../http/html.ts';
import type { Address, AddressField } from '../../shops/countries/address.ts';
import { countryName } from '../../shops/countries/countries.ts';
import type { ShopVisit } from '../visit.ts';

/** As on an envelope, with phone, email and the like below it. */
export function addressCard(visit: ShopVisit, address: Address | null): Markup {
  const messages = visit.messages.customers;
  if (!address) return html`<p class="quiet">${messages.noAddress}</p>`;
  const join = (...parts: (string | null)[]) => parts.filter(Boolean).join(' ');
  const lines = [
    address.company,
    join(address.salutation, address.title, address.firstName, address.middleName, address.lastName),
    address.street,
    address.streetDetails,
    join(address.zipCode, address.city),
    address.country && countryName(address.country, visit.language),
  ].filter(Boolean);
  const shown = [
    'emailAddress',
    'phoneNumber',
    'mobilePhoneNumber',
    'vatId',
  ] as const satisfies AddressField[];
  return html`<address>${lines.map((line) => html`${line}<br />`)}</address>
    <dl class="pairs">
      ${shown.map(
        (name) =>
          address[name] &&
          html`<dt>${messages.fields[name]}</dt>
            <dd>${contact(name, address[name])}</dd>`,
      )}
    </dl>`;
}

function contact(name: AddressField, value: string): Markup | string {
  if (name === 'emailAddress') return html`<a href="mailto:${value}">${value}</a>`;
  if (name.endsWith('honeNumber')) return html`<a href="tel:${value}">${value}</a>`;
  return value;
}
