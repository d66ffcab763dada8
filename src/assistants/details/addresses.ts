import { createHash } from 'node:crypto';
import type { AssistantNotes, OfferedDestination, NotedBuyer } from '../../carts/assistant-notes.ts';
import { ValidationError, type FieldProblem } from '../../http/errors.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { toAddress, type Address, type AddressField } from '../../shops/countries/address.ts';
import { countryCodeOf } from '../../shops/countries/countries.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import {
  fieldErrors,
  labelOf,
  parseAddress,
  type AddressKind,
  type AddressValues,
} from '../../storefront/checkout/address-form.ts';
import { formatOf } from '../../storefront/checkout/address-formats.ts';
import type { Message } from '../messages.ts';
import type { PostalAddress } from './schema.ts';

/** An address of the protocol in the fields of the shop. */
export function toShopAddress(sent: PostalAddress): Partial<Address> {
  const country = sent.address_country === undefined ? undefined : countryCodeOf(sent.address_country);
  const fields: Partial<Record<AddressField, string | undefined>> = {
    firstName: sent.first_name,
    lastName: sent.last_name,
    street: sent.street_address,
    streetDetails: sent.extended_address,
    city: sent.address_locality,
    state: sent.address_region === undefined ? undefined : stateCodeOf(sent.address_region, country),
    zipCode: sent.postal_code,
    country,
    phoneNumber: sent.phone_number,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, text]) => text?.trim()));
}

/** The code of a state that is named in full, where the shop knows the states of the country. */
function stateCodeOf(region: string, country: string | undefined): string {
  const states = Object.entries(formatOf(country ?? '').layout.states ?? {});
  const name = region.trim().toLowerCase();
  return (
    states.find(([code, state]) => code.toLowerCase() === name || state.toLowerCase() === name)?.[0] ?? region
  );
}

/** The same as the protocol writes it. */
export function toPostalAddress(address: Partial<Address>): PostalAddress {
  const fields: Record<keyof PostalAddress, string | null | undefined> = {
    first_name: address.firstName,
    last_name: address.lastName,
    street_address: address.street,
    extended_address: address.streetDetails,
    address_locality: address.city,
    address_region: address.state,
    postal_code: address.zipCode,
    address_country: address.country,
    phone_number: address.phoneNumber,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, text]) => text));
}

/** An address without an id gets one that the same address has again. */
export function toDestination({ id, ...sent }: PostalAddress & { id?: string }): OfferedDestination {
  const address = toShopAddress(sent);
  const digest = createHash('sha256').update(JSON.stringify(address)).digest('hex').slice(0, 16);
  return { id: id?.trim() || `address-${digest}`, address };
}

export const selectedDestination = ({
  destinations,
  destinationId,
}: AssistantNotes): OfferedDestination | undefined => destinations?.find(({ id }) => id === destinationId);

/** The addresses of a cart as far as they are known, and what is missing to the order. */
export interface CartAddresses {
  billingAddress: Address | null;
  shippingAddress: Address | null;
  /** By the form of the shop: `billing.city`. */
  problems: readonly FieldProblem[];
  /** What was checked. */
  values: Record<AddressKind, AddressValues>;
}

/**
 * The addresses that follow from what an assistant has said, by the rules of the shop's own form. The billing address is
 * that of the payment, else the one that is delivered to. Until it is complete, the cart has a delivery address at most,
 * which its delivery and taxes depend on.
 */
export function addressesOf(notes: AssistantNotes, settings: Settings): CartAddresses {
  const destination = selectedDestination(notes);
  const named = (
    { firstName, lastName, phoneNumber }: NotedBuyer,
    address: Partial<Address>,
  ): AddressValues => ({
    ...valuesOf({ firstName, lastName, phoneNumber }),
    ...valuesOf(address),
  });
  const { buyer = {}, billing } = notes;
  const values = {
    billing: {
      ...named(buyer, billing ?? destination?.address ?? {}),
      ...valuesOf({ emailAddress: buyer.email }),
    },
    shipping: named(buyer, destination?.address ?? {}),
  };
  const problems: FieldProblem[] = [];
  const parsed = (part: AddressKind) => {
    try {
      return parseAddress(part, values[part], {}, settings);
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      problems.push(...error.problems);
      return null;
    }
  };
  const billingAddress = parsed('billing');
  const isElsewhere = billing !== undefined && destination !== undefined;
  const shippingAddress = isElsewhere ? parsed('shipping') : null;
  if (billingAddress && problems.length === 0) return { billingAddress, shippingAddress, problems, values };
  return { billingAddress: null, shippingAddress: partialAddress(values.shipping), problems, values };
}

/** An address with a country and perhaps nothing else; null: it has none. */
function partialAddress(values: AddressValues): Address | null {
  return values.country ? toAddress(values, '') : null;
}

const valuesOf = (fields: Partial<Record<AddressField, string | null | undefined>>): AddressValues =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, text]) => (text?.trim() ? [[name, text.trim()]] : [])),
  );

/** The fields of an address that the protocol has. */
const ADDRESS_PATHS: Partial<Record<AddressField, keyof PostalAddress>> = {
  firstName: 'first_name',
  lastName: 'last_name',
  street: 'street_address',
  streetDetails: 'extended_address',
  city: 'address_locality',
  state: 'address_region',
  zipCode: 'postal_code',
  country: 'address_country',
  phoneNumber: 'phone_number',
};

const BUYER_PATHS: Partial<Record<AddressField, string>> = {
  emailAddress: 'email',
  firstName: 'first_name',
  lastName: 'last_name',
  phoneNumber: 'phone_number',
};

/** What the assistant still has to say of the buyer. `hasDestinations`: it can name addresses. */
export function addressMessages(
  notes: AssistantNotes,
  { settings, locale }: { settings: Settings; locale: string },
  hasDestinations: boolean,
): Message[] {
  const { problems, values } = addressesOf(notes, settings);
  const destination = selectedDestination(notes);
  const place = notes.destinations?.findIndex(({ id }) => id === notes.destinationId) ?? -1;
  const addressPath = notes.billing
    ? '$.payment.instruments[0].billing_address'
    : `$.fulfillment.methods[0].destinations[${place}]`;
  const texts = fieldErrors({ locale }, problems, values);
  const { address, checkout } = messagesIn(locale).storefront;
  const isWithoutAddress = !destination && !notes.billing;
  const messages = new Map<string, Message>();
  for (const { code, field } of problems) {
    const [part, name] = field.split('.') as [AddressKind, AddressField];
    const buyerField = BUYER_PATHS[name];
    const addressField = ADDRESS_PATHS[name];
    const isMissing = code === 'STRING_EMPTY';
    const isOfBuyer =
      name === 'emailAddress' || (buyerField !== undefined && (isMissing || isWithoutAddress));
    if (isWithoutAddress && !isOfBuyer && addressField !== undefined) continue;
    const path = isOfBuyer ? `$.buyer.${buyerField}` : addressField && `${addressPath}.${addressField}`;
    const label = labelOf({ locale }, name, values[part].country ?? '');
    const content = `${label}: ${texts.get(field)!}`;
    if (path === undefined) {
      // The protocol has no place for it, so the buyer says it in the shop.
      messages.set(field, {
        type: 'error',
        code: 'buyer_input_required',
        severity: 'requires_buyer_input',
        content,
      });
    } else if (!messages.has(path)) {
      const isElsewhere = name === 'country' && code === 'UNKNOWN_VALUE';
      const why = isElsewhere ? 'address_undeliverable' : isMissing ? 'field_required' : 'field_invalid';
      messages.set(path, { type: 'error', code: why, severity: 'recoverable', path, content });
    }
  }
  if (isWithoutAddress && hasDestinations) {
    const path = '$.fulfillment.methods[0].selected_destination_id';
    messages.set(path, {
      type: 'error',
      code: 'field_required',
      severity: 'recoverable',
      path,
      content: `${checkout.deliveryAddress}: ${address.problems.STRING_EMPTY}`,
    });
  }
  return [...messages.values()];
}
