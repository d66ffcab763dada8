import { countryName } from '../../shops/countries/countries.ts';
import type { Address } from '../../shops/countries/address.ts';

/** The addressee: the company, or the person. */
export function addresseeName(address: Address): string {
  const { company, displayName, emailAddress } = address;
  return firstOf(company, fullName(address), displayName, emailAddress) ?? '';
}

/** The person without the company. */
export function fullName({ title, firstName, middleName, lastName }: Address): string {
  return joined(title, firstName, middleName, lastName);
}

/** An address as written on an envelope; the country is left out if it is the sender's. */
export function addressLines(address: Address, senderCountry: string, language: string): string[] {
  const { company, salutation, department, street, streetDetails, addressExtension, country } = address;
  const person = fullName(address);
  return [
    ...(company
      ? [company, joined(salutation, person)]
      : [person ? joined(salutation, person) : addresseeName(address)]),
    department,
    street,
    streetDetails,
    addressExtension,
    ...placeLines(address),
    country === null || country === senderCountry ? null : countryName(country, language).toUpperCase(),
  ].filter((line): line is string => line !== null && line.trim() !== '');
}

/** Puts the postcode where the country's post expects it. */
function placeLines({ zipCode, city, state, country }: Address): string[] {
  if (country === 'US' || country === 'CA' || country === 'AU') return [joined(city, state, zipCode)];
  if (country === 'GB' || country === 'IE') return [joined(city), joined(zipCode)];
  return [joined(zipCode, city)];
}

function joined(...parts: (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(' ');
}

function firstOf(...texts: (string | null)[]): string | undefined {
  return texts.find((text): text is string => text !== null && text.trim() !== '');
}
