import type { CartChange } from '../../carts/cart.ts';
import { removeAddress, setAddress } from '../../carts/changes.ts';
import type { VisitorCart } from '../../checkout/visitor-cart.ts';
import { countryName } from '../../shops/countries/countries.ts';
import { ADDRESS_FIELDS, type Address } from '../../shops/countries/address.ts';
import { ValidationError, type FieldProblem } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import {
  addressField,
  checkoutAddressFields,
  parseAddress,
  labelOf,
  fieldErrors,
  addressRows,
  type FieldErrors,
  type AddressKind,
  type AddressValues,
} from './address-form.ts';
import {
  businessFields,
  businessForm,
  NO_REFERENCES,
  parseBusiness,
  type BusinessForm,
} from './business-fields.ts';
import { withReferences, type VatCheck } from '../../shops/vat-numbers/buyer.ts';
import { besideCart, checkoutHeader } from './steps.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { cartEvents } from '../scripts/events.ts';
import type { Page } from '../page.ts';
import type { ShopFormRequest } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import { languageTag } from '../../http/locale.ts';

/** The values of the form with both addresses. */
export interface AddressForm extends Record<AddressKind, AddressValues> {
  isElsewhere: boolean;
  /** Missing: the form did not ask. */
  business?: BusinessForm | undefined;
  /** The country was changed, so the form must be shown again with the fields of the new one. */
  newCountry?: string;
}

/** The addresses already in the cart. */
export function cartAddresses({ settings }: Visit, { view, cart }: VisitorCart): AddressForm {
  const { billingAddress, shippingAddress } = view;
  const country = settings.defaultCountry;
  const billing = billingAddress ?? notedAddress(cart);
  return {
    billing: { country, ...addressValues(billing) },
    shipping: { country: billingAddress?.country ?? country, ...addressValues(shippingAddress) },
    isElsewhere: shippingAddress !== null && billingAddress !== null,
    business: businessForm(addressValues(billingAddress), cart.buyer),
  };
}

/** What an assistant has said of its buyer before the address was complete. */
function notedAddress({ assistantNotes, shippingAddress }: VisitorCart['cart']): Partial<Address> | null {
  if (!assistantNotes) return null;
  const { email: emailAddress, ...buyer } = assistantNotes.buyer ?? {};
  const named = { ...buyer, ...(emailAddress !== undefined && { emailAddress }) };
  return { ...addressValues(shippingAddress), ...named };
}

export function addressValues(address: Partial<Address> | null): AddressValues {
  return Object.fromEntries(Object.entries(address ?? {}).filter(([, text]) => text !== null));
}

export function parseAddresses({ settings }: Visit, request: ShopFormRequest): AddressForm {
  const { field } = request;
  const business = parseBusiness(request);
  const formOf = (part: AddressKind): AddressValues => {
    const values: AddressValues = Object.fromEntries(
      ADDRESS_FIELDS.map((name) => [name, field(`${part}.${name}`)]),
    );
    // The form offers the countries of the shop only, so any other value is dropped.
    return settings.countries.includes(values.country ?? '') ? values : { ...values, country: '' };
  };
  const isElsewhere = field('elsewhere') !== '';
  const billing = formOf('billing');
  const form = {
    billing: settings.mandatoryAddressFields.includes('vatId') ? billing : ofBusiness(billing, business),
    shipping: formOf('shipping'),
    isElsewhere,
    business,
  };
  const changed = (isElsewhere ? (['billing', 'shipping'] as const) : (['billing'] as const)).find((part) => {
    const formCountry = field(`${part}.format`);
    return formCountry !== '' && formCountry !== form[part].country;
  });
  return changed ? { ...form, newCountry: form[changed].country ?? '' } : form;
}

/** The VAT number is one of the fields of a business. A form without these fields keeps the stored number. */
function ofBusiness(billing: AddressValues, business: BusinessForm | undefined): AddressValues {
  if (business?.isBusiness) return billing;
  const { vatId: _hidden, ...others } = billing;
  return business ? { ...others, vatId: '' } : others;
}

/**
 * The problem for which an order would be refused: the delivery address is in a country that the shop does not serve.
 */
export function destinationProblems({ settings }: Visit, form: AddressForm): FieldProblem[] {
  const part: AddressKind = form.isElsewhere ? 'shipping' : 'billing';
  const isKnown = settings.countries.includes(form[part].country ?? '');
  return isKnown ? [] : [{ code: 'UNKNOWN_VALUE', field: `${part}.country` }];
}

/** Throws the problems of both addresses at once. */
export function checkAddresses(
  { settings }: Visit,
  form: AddressForm,
  stored: AddressForm,
): CheckedAddresses {
  const problems: FieldProblem[] = [];
  const checked = (part: AddressKind) => {
    try {
      return parseAddress(part, form[part], stored[part], settings);
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      problems.push(...error.problems);
    }
  };
  const billing = checked('billing');
  const shipping = form.isElsewhere ? checked('shipping') : undefined;
  if (problems.length > 0 || !billing) throw new ValidationError(problems);
  return { billing, shipping, business: form.business };
}

/** Addresses that fit their form. */
export interface CheckedAddresses {
  billing: Address;
  /** undefined: it is delivered to the billing address. */
  shipping: Address | undefined;
  business?: BusinessForm | undefined;
}

/** `vatCheck` is the answer of the register to the number in the billing address. */
export function setAddresses(
  { billing, shipping, business }: CheckedAddresses,
  vatCheck: VatCheck | undefined,
): CartChange {
  return (cart, context) => {
    const { buyer = cart.buyer, ...addresses } = setAddress(
      'billingAddress',
      billing,
      cart,
      context,
      vatCheck,
    );
    return {
      ...addresses,
      buyer: business ? withReferences(buyer, business) : buyer,
      ...(shipping
        ? setAddress('shippingAddress', shipping, cart, context)
        : removeAddress('shippingAddress', cart)),
    };
  };
}

export async function addressPage(
  visit: Visit,
  visitorCart: VisitorCart,
  form: AddressForm,
  {
    problems = [],
    status = problems.length > 0 ? 400 : 200,
    help,
  }: { problems?: readonly FieldProblem[]; status?: number; help?: Markup | false } = {},
): Promise<Page> {
  const { locale } = visit;
  const messages = messagesIn(locale).storefront.checkout;
  const errors = fieldErrors(visit, problems, form);
  const formOf = (part: AddressKind) => ({ part, values: form[part], errors });
  return {
    title: messages.address,
    path: '/checkout',
    isPrivate: true,
    status,
    events: await cartEvents(visit, visitorCart.view),
    header: checkoutHeader(visit, visitorCart, '/checkout'),
    main: html`<h1>${messages.address}</h1>
      ${help} ${errorList(visit, errors, form)}
      ${
        // The address of the cart, which the form shows unless it has errors of its own.
        errors.size === 0 &&
        visitorCart.priced.totals.delivery.isUndeliverable &&
        html`<div class="notice" role="alert">
          <p class="error">${messagesIn(locale).storefront.cart.addressUndeliverable}</p>
        </div>`
      }
      ${
        form.newCountry &&
        html`<p class="notice" role="status">
          ${messages.countryChanged({ country: countryName(form.newCountry, languageTag(locale)) })}
        </p>`
      }
      ${besideCart(
        visit,
        visitorCart,
        html`<form class="narrow" method="post" action="${shopPath(visit, '/checkout')}">
          <fieldset>
            <legend><h2>${messages.billingAddress}</h2></legend>
            ${addressField(visit, formOf('billing'), 'emailAddress')}
            ${checkoutAddressFields(visit, formOf('billing'))}
            ${businessFields(visit, formOf('billing'), form.business ?? { isBusiness: false, ...NO_REFERENCES }, { hasReferences: true })}
          </fieldset>
          <div class="field">
            <label
              ><input type="checkbox" name="elsewhere" value="yes" ${form.isElsewhere && html`checked`} />
              <span>${messages.otherAddress}</span></label
            >
          </div>
          <fieldset class="elsewhere">
            <legend><h2>${messages.deliveryAddress}</h2></legend>
            ${checkoutAddressFields(visit, formOf('shipping'))}
          </fieldset>
          <p><button class="button">${messages.continue}</button></p>
        </form>`,
      )}`,
  };
}

/** Lists all errors with links to their fields. */
export function errorList(visit: Visit, errors: FieldErrors, form: AddressForm): Markup | false {
  if (errors.size === 0) return false;
  const parts: readonly AddressKind[] = ['billing', 'shipping'];
  const named = parts.flatMap((part) =>
    [
      'emailAddress',
      'country',
      ...addressRows(part, form[part].country ?? '', visit.settings).flat(),
      'vatId',
    ].map((name) => `${part}.${name}`),
  );
  return html`<div class="notice" role="alert">
    <p class="error">${messagesIn(visit.locale).storefront.checkout.check}</p>
    <ul>
      ${[...new Set(named)].map((field) => {
        const message = errors.get(field);
        if (message === undefined) return false;
        const [part, name] = field.split('.') as [AddressKind, keyof Address];
        const label = labelOf(visit, name, form[part].country ?? '');
        return html`<li><a href="#${field}">${label}</a>: ${message}</li>`;
      })}
    </ul>
  </div>`;
}
