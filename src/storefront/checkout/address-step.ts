import type { CartChange } from '../../carts/cart.ts';
import { removeAddress, setAddress } from '../../carts/changes.ts';
import type { ShownCart } from '../../carts/shopping.ts';
import { countryName } from '../../shops/countries/countries.ts';
import { ADDRESS_FIELDS, type Address } from '../../shops/countries/address.ts';
import { ValidationError, type Problem } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import {
  addressField,
  addressFields,
  checkedAddress,
  labelOf,
  fieldErrors,
  rowsOf,
  type FieldErrors,
  type Part,
  type Typed,
} from './address-form.ts';
import { steps } from './steps.ts';
import { messages } from '../../kernel/messages.ts';
import { cartEvents } from '../scripts/events.ts';
import type { Page } from '../page.ts';
import type { FormRequest } from '../pages.ts';
import { to, type Visit } from '../visit.ts';
import { languageTag } from '../../http/locale.ts';

/** Both addresses as the form holds them. */
export interface AddressForm extends Record<Part, Typed> {
  isElsewhere: boolean;
  /** Another country was chosen since the form was made: it has another form. */
  newCountry?: string;
}

/** What the cart knows already. */
export function knownAddresses({ settings }: Visit, { shown }: ShownCart): AddressForm {
  const { billingAddress, shippingAddress } = shown;
  const country = settings.defaultCountry;
  return {
    billing: { country, ...typedOf(billingAddress) },
    shipping: { country: billingAddress?.country ?? country, ...typedOf(shippingAddress) },
    isElsewhere: shippingAddress !== null,
  };
}

function typedOf(address: Address | null): Typed {
  return Object.fromEntries(Object.entries(address ?? {}).filter(([, text]) => text !== null));
}

export function sentAddresses({ settings }: Visit, { field }: FormRequest): AddressForm {
  const partOf = (part: Part): Typed => {
    const typed: Typed = Object.fromEntries(ADDRESS_FIELDS.map((name) => [name, field(`${part}.${name}`)]));
    // The form offers the countries of the shop; what else is sent is none.
    return settings.countries.includes(typed.country ?? '') ? typed : { ...typed, country: '' };
  };
  const isElsewhere = field('elsewhere') !== '';
  const form = { billing: partOf('billing'), shipping: partOf('shipping'), isElsewhere };
  const changed = (isElsewhere ? (['billing', 'shipping'] as const) : (['billing'] as const)).find((part) => {
    const shownFor = field(`${part}.format`);
    return shownFor !== '' && shownFor !== form[part].country;
  });
  return changed ? { ...form, newCountry: form[changed].country ?? '' } : form;
}

/** Stores what was sent; throws what is wrong in both addresses. */
export function settingAddresses(visit: Visit, sent: AddressForm, known: AddressForm): CartChange {
  const { settings } = visit;
  const problems: Problem[] = [];
  const checked = (part: Part) => {
    try {
      return checkedAddress(part, sent[part], known[part], settings);
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      problems.push(...error.problems);
    }
  };
  const billing = checked('billing');
  const shipping = sent.isElsewhere ? checked('shipping') : undefined;
  if (problems.length > 0 || !billing) throw new ValidationError(problems);
  return (_cart, context) => ({
    ...setAddress('billingAddress', billing, context),
    ...(shipping ? setAddress('shippingAddress', shipping, context) : removeAddress('shippingAddress')),
  });
}

export async function addressPage(
  visit: Visit,
  shown: ShownCart,
  form: AddressForm,
  problems: readonly Problem[] = [],
): Promise<Page> {
  const { locale } = visit;
  const words = messages(locale).storefront.checkout;
  const errors = fieldErrors(visit, problems, form);
  const partOf = (part: Part) => ({ part, typed: form[part], errors });
  return {
    title: words.address,
    path: '/checkout',
    isPrivate: true,
    ...(problems.length > 0 && { status: 400 }),
    events: await cartEvents(visit, shown.shown),
    main: html`<h1>${words.title}</h1>
      ${steps(visit, shown, '/checkout')} ${errorList(visit, errors, form)}
      ${
        form.newCountry &&
        html`<p class="notice" role="status">
          ${words.countryChanged({ country: countryName(form.newCountry, languageTag(locale)) })}
        </p>`
      }
      <form class="narrow" method="post" action="${to(visit, '/checkout')}">
        <fieldset>
          <legend><h2>${words.billingAddress}</h2></legend>
          ${addressField(visit, partOf('billing'), 'emailAddress')} ${addressFields(visit, partOf('billing'))}
        </fieldset>
        <div class="field">
          <label
            ><input type="checkbox" name="elsewhere" value="yes" ${form.isElsewhere && html`checked`} />
            <span>${words.otherAddress}</span></label
          >
        </div>
        <fieldset class="elsewhere">
          <legend><h2>${words.deliveryAddress}</h2></legend>
          ${addressFields(visit, partOf('shipping'))}
        </fieldset>
        <p>
          <button class="button">${words.continue}</button>
          <a class="quiet" href="${to(visit, '/cart')}">${words.back}</a>
        </p>
      </form>`,
  };
}

/** All that is to be corrected, with links to where. */
function errorList(visit: Visit, errors: FieldErrors, form: AddressForm): Markup | false {
  if (errors.size === 0) return false;
  const parts: readonly Part[] = ['billing', 'shipping'];
  const inOrder = parts.flatMap((part) =>
    ['emailAddress', 'country', ...rowsOf(part, form[part].country ?? '', visit.settings).flat()].map(
      (name) => `${part}.${name}`,
    ),
  );
  return html`<div class="notice" role="alert">
    <p class="error">${messages(visit.locale).storefront.checkout.check}</p>
    <ul>
      ${inOrder.map((field) => {
        const message = errors.get(field);
        if (message === undefined) return false;
        const [part, name] = field.split('.') as [Part, keyof Address];
        const label = labelOf(visit, name, form[part].country ?? '');
        return html`<li><a href="#${field}">${label}</a>: ${message}</li>`;
      })}
    </ul>
  </div>`;
}
