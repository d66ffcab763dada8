import { readJson } from '../../kernel/json-file.ts';
import type { Messages } from '../../kernel/messages.ts';
import type { AddressField } from '../../shops/countries/address.ts';
import type file from './address-formats.json';

/** How a country writes its addresses. */
export interface AddressFormat {
  layout: Layout;
  /** The format of its postcodes; without it, any postcode is accepted. */
  postcode?: { pattern: RegExp; example: string };
}

type AddressTexts = Messages['storefront']['address'];

export interface Layout {
  /** The fields of one row are side by side. */
  rows: readonly (readonly AddressField[])[];
  /** The fields without which the post cannot deliver. */
  required: readonly AddressField[];
  /** The local names of these two fields, if not postcode and region. */
  zipCode?: keyof AddressTexts['zipCodes'];
  state?: keyof AddressTexts['states'];
  /** The codes to choose from; without them the field is a text field. */
  states?: Readonly<Record<string, string>>;
}

type LayoutName = keyof typeof file.layouts;

const { layouts, countries } = readJson(new URL('./address-formats.json', import.meta.url)) as {
  layouts: Readonly<Record<LayoutName, Layout>>;
  countries: Readonly<Record<string, { layout: LayoutName; postcode: { pattern: string; example: string } }>>;
};

/** Patterns refuse only what is certainly wrong, ignoring case: everything else is left to the post. */
export const FORMATS: Readonly<Record<string, AddressFormat>> = Object.fromEntries(
  Object.entries(countries).map(([country, { layout, postcode }]) => [
    country,
    {
      layout: layouts[layout],
      postcode: { pattern: new RegExp(postcode.pattern, 'i'), example: postcode.example },
    },
  ]),
);

/** For a country that is not in the file, only the street and the city are required. */
export function formatOf(country: string): AddressFormat {
  return Object.hasOwn(FORMATS, country) ? FORMATS[country]! : { layout: layouts.unknown };
}
