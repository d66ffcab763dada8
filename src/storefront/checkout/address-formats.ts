import type { AddressField } from '../../shops/countries/address.ts';

/** How a country writes its addresses. */
export interface AddressFormat {
  layout: Layout;
  /** What its postcodes look like; without it, any will do. */
  postcode?: { pattern: RegExp; example: string };
}

export interface Layout {
  /** Fields that stand beside each other are in one row. */
  rows: readonly (readonly AddressField[])[];
  /** Without what the post does not find the way. */
  required: readonly AddressField[];
  /** What the post calls these here; else postcode and region. */
  zipCode?: 'postcode' | 'zip' | 'eircode';
  state?: 'state' | 'province' | 'county' | 'prefecture' | 'territory';
  /** The codes to choose from; without them it is typed. */
  states?: Readonly<Record<string, string>>;
}

const STREET = [['street'], ['streetDetails']] as const;

/** 20457 Hamburg */
const POSTCODE_FIRST: Layout = {
  rows: [...STREET, ['zipCode', 'city']],
  required: ['street', 'zipCode', 'city'],
};

/** 00184 Roma RM */
const WITH_PROVINCE: Layout = {
  rows: [...STREET, ['zipCode', 'city'], ['state']],
  required: ['street', 'zipCode', 'city', 'state'],
  state: 'province',
};

const BRITISH: Layout = {
  rows: [...STREET, ['city'], ['state'], ['zipCode']],
  required: ['street', 'city', 'zipCode'],
  state: 'county',
};

const IRISH: Layout = {
  rows: [...STREET, ['city'], ['state'], ['zipCode']],
  required: ['street', 'city'],
  zipCode: 'eircode',
  state: 'county',
};

const AMERICAN: Layout = {
  rows: [...STREET, ['city'], ['state', 'zipCode']],
  required: ['street', 'city', 'state', 'zipCode'],
  zipCode: 'zip',
  state: 'state',
  states: named(`
    AL Alabama|AK Alaska|AZ Arizona|AR Arkansas|CA California|CO Colorado|CT Connecticut|DE Delaware
    |DC District of Columbia|FL Florida|GA Georgia|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas
    |KY Kentucky|LA Louisiana|ME Maine|MD Maryland|MA Massachusetts|MI Michigan|MN Minnesota|MS Mississippi
    |MO Missouri|MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|NJ New Jersey|NM New Mexico|NY New York
    |NC North Carolina|ND North Dakota|OH Ohio|OK Oklahoma|OR Oregon|PA Pennsylvania|RI Rhode Island
    |SC South Carolina|SD South Dakota|TN Tennessee|TX Texas|UT Utah|VT Vermont|VA Virginia|WA Washington
    |WV West Virginia|WI Wisconsin|WY Wyoming|AS American Samoa|GU Guam|MP Northern Mariana Islands|PR Puerto Rico
    |VI U.S. Virgin Islands|AA Armed Forces Americas|AE Armed Forces Europe|AP Armed Forces Pacific`),
};

const CANADIAN: Layout = {
  rows: [...STREET, ['city'], ['state', 'zipCode']],
  required: ['street', 'city', 'state', 'zipCode'],
  state: 'province',
  states: named(`
    AB Alberta|BC British Columbia|MB Manitoba|NB New Brunswick|NL Newfoundland and Labrador|NS Nova Scotia
    |NT Northwest Territories|NU Nunavut|ON Ontario|PE Prince Edward Island|QC Québec|SK Saskatchewan|YT Yukon`),
};

const AUSTRALIAN: Layout = {
  rows: [...STREET, ['city'], ['state', 'zipCode']],
  required: ['street', 'city', 'state', 'zipCode'],
  state: 'territory',
  states: named(`
    ACT Australian Capital Territory|NSW New South Wales|NT Northern Territory|QLD Queensland|SA South Australia
    |TAS Tasmania|VIC Victoria|WA Western Australia`),
};

/** From the large to the small. */
const JAPANESE: Layout = {
  rows: [['zipCode', 'state'], ['city'], ...STREET],
  required: ['zipCode', 'state', 'city', 'street'],
  state: 'prefecture',
};

/** Of a country whose post we know nothing about: nothing but the street and the city is demanded. */
const ANYWHERE: Layout = {
  rows: [...STREET, ['zipCode', 'city'], ['state']],
  required: ['street', 'city'],
};

const four = (example: string) => ({ pattern: /^\d{4}$/, example });
const five = (example: string) => ({ pattern: /^\d{5}$/, example });
const threeAndTwo = (example: string) => ({ pattern: /^\d{3} ?\d{2}$/, example });
const plain = (postcode: NonNullable<AddressFormat['postcode']>): AddressFormat => ({
  layout: POSTCODE_FIRST,
  postcode,
});

/** Patterns say what is surely wrong: capitals and blanks are the business of the post. */
export const FORMATS: Readonly<Record<string, AddressFormat>> = {
  DE: plain(five('20457')),
  AT: plain(four('1010')),
  CH: plain(four('8001')),
  LI: plain(four('9490')),
  FR: plain(five('75001')),
  MC: plain({ pattern: /^980\d{2}$/, example: '98000' }),
  BE: plain(four('1000')),
  LU: plain({ pattern: /^(?:L-?)?\d{4}$/i, example: '1009' }),
  NL: plain({ pattern: /^\d{4} ?[a-z]{2}$/i, example: '1012 AB' }),
  DK: plain(four('1050')),
  NO: plain(four('0150')),
  SE: plain(threeAndTwo('111 22')),
  FI: plain(five('00100')),
  IS: plain({ pattern: /^\d{3}$/, example: '101' }),
  PL: plain({ pattern: /^\d{2}-?\d{3}$/, example: '00-001' }),
  CZ: plain(threeAndTwo('110 00')),
  SK: plain(threeAndTwo('811 01')),
  HU: plain(four('1011')),
  SI: plain({ pattern: /^(?:SI-?)?\d{4}$/i, example: '1000' }),
  HR: plain(five('10000')),
  BG: plain(four('1000')),
  RO: plain({ pattern: /^\d{6}$/, example: '010011' }),
  GR: plain(threeAndTwo('104 31')),
  CY: plain(four('1010')),
  MT: plain({ pattern: /^[a-z]{3} ?\d{4}$/i, example: 'VLT 1010' }),
  PT: plain({ pattern: /^\d{4}-?\d{3}$/, example: '1000-001' }),
  EE: plain(five('10111')),
  LV: plain({ pattern: /^(?:LV-?)?\d{4}$/i, example: 'LV-1010' }),
  LT: plain({ pattern: /^(?:LT-?)?\d{5}$/i, example: 'LT-01100' }),
  TR: plain(five('34000')),
  ES: { layout: WITH_PROVINCE, postcode: five('28001') },
  IT: { layout: WITH_PROVINCE, postcode: five('00184') },
  SM: { layout: WITH_PROVINCE, postcode: { pattern: /^4789\d$/, example: '47890' } },
  GB: {
    layout: BRITISH,
    postcode: { pattern: /^[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2}$/i, example: 'SW1A 1AA' },
  },
  IE: {
    layout: IRISH,
    postcode: { pattern: /^[a-z]\d[\dw] ?[a-z\d]{4}$/i, example: 'D02 X285' },
  },
  US: { layout: AMERICAN, postcode: { pattern: /^\d{5}(?:-\d{4})?$/, example: '97201' } },
  CA: { layout: CANADIAN, postcode: { pattern: /^[a-z]\d[a-z][ -]?\d[a-z]\d$/i, example: 'K1A 0B1' } },
  AU: { layout: AUSTRALIAN, postcode: four('2000') },
  NZ: plain(four('6011')),
  JP: { layout: JAPANESE, postcode: { pattern: /^\d{3}-?\d{4}$/, example: '100-0001' } },
};

export function formatOf(country: string): AddressFormat {
  return Object.hasOwn(FORMATS, country) ? FORMATS[country]! : { layout: ANYWHERE };
}

/** `AB Alberta|BC British Columbia` */
function named(list: string): Record<string, string> {
  return Object.fromEntries(
    list.split('|').map((entry): [string, string] => {
      const [code, ...name] = entry.trim().split(/\s+/);
      return [code!, name.join(' ')];
    }),
  );
}
