import { describe, expect, it } from 'vitest';
import { EMAIL_KINDS } from '../../composition/email-kinds.ts';
import { settingsFormat } from '../../composition/settings-format.ts';
import { parseSettingsFile, SettingsProblem } from './file.ts';

/** The lines of the refusal. */
function problemsIn(text: string): readonly string[] {
  try {
    parseSettingsFile(text, settingsFormat);
  } catch (error) {
    if (error instanceof SettingsProblem) return error.problems;
    throw error;
  }
  throw new Error('The file was accepted');
}

describe('a refused file says', () => {
  it.each<[string, string, string[]]>([
    [
      'nothing in it',
      '',
      ['The file is empty, expected sections such as locales, taxClasses, shippingMethods'],
    ],
    ['not a section', '- a', ['The file is a list, expected a section']],
    ['broken syntax', 'name: x\nlocales: [de_DE', [expect.stringMatching(/^line 2: Flow sequence/)]],
    ['a key twice', 'name: x\nname: y', ['line 2: Map keys must be unique']],
    ['two documents', 'name: x\n---\nname: y', ['line 2: A second document begins here, expected one']],
    ['an alias without an anchor', 'name: *x', [expect.stringMatching(/^Unresolved alias/)]],
    ['an unknown tag', 'name: !secret x', ['line 1: Unresolved tag: !secret']],
    [
      'a section without content',
      'taxClasses:',
      ['taxClasses (line 1): is empty, expected a list, or leave the key out'],
    ],
    [
      'typing errors',
      'taxClases: []\ntaxes: {modell: gross, model: gros}\nmandatoryAddressFields: [fistName]',
      [
        'taxClases (line 1): unknown key, did you mean taxClasses?',
        'taxes.modell (line 2): unknown key, did you mean model?',
        'taxes.model (line 2): is gros, did you mean gross?',
        'mandatoryAddressFields[0] (line 3): is fistName, did you mean firstName?',
      ],
    ],
    [
      'what is no domain',
      `domains:
  - https://shop.example
  - shop
  - 127.0.0.1:8080
  - demo.Localhost:8080
  - shop.example:443
  - shop.example:70000
  - Shop.example
  - shop.example`,
      [
        'domains[0] (line 2): https://shop.example is no host name like shop.example',
        'domains[1] (line 3): shop is no host name like shop.example',
      ],
    ],
    [
      'which domains can not be',
      `domains:
  - 127.0.0.1:8080
  - demo.Localhost:8080
  - shop.example:443
  - shop.example:70000
  - Shop.example
  - shop.example`,
      [
        'domains[0] (line 2): is 127.0.0.1:8080, expected a host name such as shop.example, not an address',
        "domains[1] (line 3): is demo.localhost:8080, but names below localhost need no set-up and can't be set",
        'domains[2] (line 4): is shop.example:443; leave out :443, as browsers do',
        'domains[3] (line 5): is shop.example:70000, expected a port from 1 to 65535',
        'domains[5] (line 7): shop.example is named twice',
      ],
    ],
    [
      'customer groups for net prices that are repeated or not there',
      `customerGroups: [Cafes, Schools]
netPrices:
  groups:
    - Cafes
    - Restaurants
    - Cafes`,
      [
        'netPrices.groups[2] (line 6): Cafes is named twice',
        'netPrices.groups[1] (line 5): is Restaurants, which is no customer group of the shop',
      ],
    ],
    [
      'too many domains',
      `domains: [${Array.from({ length: 21 }, (_, index) => `s${index}.example`).join(', ')}]`,
      ['domains (line 1): has more than 20 entries'],
    ],
    [
      'a far-off key',
      'minimumCart: {threshold: 5}',
      ['minimumCart.threshold (line 1): unknown key, expected one of code, amount'],
    ],
    [
      'a key with a line break, in one line',
      '"a\\nb": 1',
      [expect.stringMatching(/^"a\\nb" \(line 1\): unknown key, expected one of name, slogan/)],
    ],
    [
      'wrong types',
      'name: 5\nemail: [a]\nminimumCart: {amount: "7"}\npublicCatalogue: yes',
      [
        'name (line 1): is 5, expected a text or a section: put it in quotes',
        'email (line 2): is a list, expected a text',
        'minimumCart.amount (line 3): is 7, expected a number without quotes, such as 7.00',
        'publicCatalogue (line 4): is yes, expected true or false',
      ],
    ],
    ['no number', 'minimumCart: {amount: .nan}', ['minimumCart.amount (line 1): is NaN, expected a number']],
    [
      'bounds and forms',
      `taxClasses:
  - key: a b
    rates:
      DE: 190
      Germany: 19
basketDiscounts:
  - from: -1
    percent: 5
currencies: {default: EUR, items: [], rates: {GBP: 0}}
name: " "`,
      [
        'name (line 10): is empty, expected a text like "Harbour & Hearth"',
        'currencies.items (line 9): has no entries, expected at least one: All currencies, the default among them. Example: ["EUR","GBP"]',
        'currencies.rates.GBP (line 9): is 0, expected more than 0',
        'taxClasses[0] (line 2): name is missing: Name of the class. A text in the default locale, or texts by locale. Example: "Standard rate"',
        'taxClasses[0].key (line 2): "a b" is no key like standard',
        'taxClasses[0].rates.Germany (line 5): is not a country code such as DE',
        'taxClasses[0].rates.DE (line 4): is 190, expected 100 or less',
        'basketDiscounts[0].from (line 7): is -1, expected 0 or more',
      ],
    ],
    [
      'text that no database keeps',
      'name: "a\\0b"',
      ['name (line 1): holds a character that is not text (U+0000 or half of a surrogate pair)'],
    ],
    [
      'offers without their default',
      `locales: {default: fr_FR, items: [en_UK, de_DE, de_DE]}
countries: {default: DE, items: [AT, UK]}
country: EN`,
      [
        'country (line 3): EN is not a country, expected an ISO 3166-1 code such as DE or GB',
        'locales.default (line 1): is fr_FR, expected one of locales.items (en_UK, de_DE, de_DE)',
        'locales.items[2] (line 1): de_DE is named twice',
        'locales.items[0] (line 1): is en_UK, but UK is no country; expected language and country such as en_GB',
        'countries.default (line 2): is DE, expected one of countries.items (AT, UK)',
        'countries.items[1] (line 2): UK is not a country, expected an ISO 3166-1 code such as DE or GB',
      ],
    ],
    [
      'rates that do not fit the currencies',
      `currencies:
  default: EUR
  items: [EUR, GBP, USD, XQQ]
  rates:
    EUR: 1
    USD: 0.33333333333
    CHF: 0.94`,
      [
        'currencies.rates (line 4): GBP is missing: what 1 EUR is worth in it',
        'currencies.items[3] (line 3): XQQ is not a known currency, expected an ISO 4217 code such as EUR',
        'currencies.rates.EUR (line 5): is the default currency, which needs no rate',
        'currencies.rates.USD (line 6): is 0.33333333333, expected at most 10 decimals',
        'currencies.rates.CHF (line 7): is not in currencies.items',
      ],
    ],
    [
      'tax classes that do not fit together',
      `taxClasses:
  - {key: a, name: A, defaultDigital: true, rates: {DE: 7.125}}
  - {key: a, name: B, defaultDigital: true, rates: {XX: 7}}`,
      [
        'taxClasses[1].key (line 3): a is the key of taxClasses[0] already',
        'taxClasses (line 1): none is the default, expected default: true at exactly one class',
        'taxClasses (line 1): a and a are the default of digital goods, expected defaultDigital: true at one class at most',
        'taxClasses[0].rates.DE (line 2): is 7.125, expected percent with at most 2 decimals',
        'taxClasses[1].rates.XX (line 3): XX is not a country, expected an ISO 3166-1 code such as DE or GB',
      ],
    ],
    [
      'two defaults',
      `taxClasses:
  - {key: a, name: A, default: true, rates: {DE: 7}}
  - {key: b, name: B, default: true, rates: {DE: 19}}`,
      ['taxClasses (line 1): a and b are the default, expected default: true at exactly one class'],
    ],
    [
      'prices that do not fit the kind',
      `currencies: {default: EUR, items: [EUR]}
shippingMethods:
  - {key: a, name: A, kind: flat}
  - {key: b, name: B, kind: weight, price: 1}
  - {key: c, name: C, kind: orderValue, price: 1}
  - {key: d, name: D, kind: pickup, freeFrom: 1}
  - {key: e, name: E, kind: flat, price: 1.005}
  - key: f
    name: F
    kind: orderValue
    tiers: [{from: 1, price: 1}, {from: 1, price: 0}]`,
      [
        'shippingMethods[0] (line 3): price is missing: kind flat needs it',
        'shippingMethods[1] (line 4): pricePerKg is missing: kind weight needs it',
        'shippingMethods[2].price (line 5): does not belong to kind orderValue, which has tiers, freeFrom',
        'shippingMethods[2] (line 5): tiers is missing: kind orderValue needs it',
        'shippingMethods[3].freeFrom (line 6): does not belong to kind pickup, which has no prices',
        'shippingMethods[4].price (line 7): is 1.005, expected at most 2 decimals, as EUR has',
        'shippingMethods[5].tiers[1].from (line 11): is 1, expected more than 1 before it',
        'shippingMethods[5].tiers[0].from (line 11): is 1, expected 0: else small orders have no price',
      ],
    ],
    [
      'zones that do not hold',
      `currencies: {default: EUR, items: [EUR]}
shippingMethods:
  - {key: a, name: A, kind: flat, price: 1, zones: [
      {countries: [DE], price: 4.9},
      {countries: [DE], price: 4.9, weights: [{upTo: 2, price: 1}]},
      {countries: [XX, FR, FR]},
      {countries: [PL], price: 1, postcodes: [00-001, 90000-80000, 35000 - 35999, bt*], maxWeight: 1.0005},
      {countries: [IT], weights: [{upTo: 2, price: 1}, {upTo: 2, price: 2}], days: {from: 3, to: 1}},
      {countries: [ES], tiers: [{from: 5, price: 1}]}]}
  - {key: b, name: B, kind: pickup, place: Quay 4, zones: [{countries: [DE], price: 1}]}
  - {key: c, name: C, kind: flat, price: 1, place: Quay 4}`,
      [
        'shippingMethods[0].price (line 3): does not belong to a method with zones, because each of its 6 zones has its own',
        'shippingMethods[0].zones[1] (line 5): DE is zones[0] already, which always holds before this one',
        'shippingMethods[0].zones[1] (line 5): has price and weights, expected only one of them',
        'shippingMethods[0].zones[2].countries[0] (line 6): XX is not a country, expected an ISO 3166-1 code such as DE or GB',
        'shippingMethods[0].zones[2].countries[2] (line 6): FR is named twice',
        'shippingMethods[0].zones[2] (line 6): has no price, expected one of price, tiers, weights',
        'shippingMethods[0].zones[3].postcodes[0] (line 7): is 00-001, expected as many digits before as after the hyphen; one postcode is written without it: 00001',
        'shippingMethods[0].zones[3].postcodes[1] (line 7): is 90000-80000, expected the lower postcode first: 80000-90000',
        'shippingMethods[0].zones[3].maxWeight (line 7): is 1.0005, expected kilograms with at most 3 decimals',
        'shippingMethods[0].zones[4].weights[1].upTo (line 8): is 2, expected more than 2 before it',
        'shippingMethods[0].zones[4].days.to (line 8): is 1, expected 3 or more',
        'shippingMethods[0].zones[5].tiers[0].from (line 9): is 5, expected 0: else small orders have no price',
        'shippingMethods[1].zones (line 10): does not belong to kind pickup',
        'shippingMethods[2].place (line 11): does not belong to kind flat',
      ],
    ],
    [
      'discounts that are none or two',
      `basketDiscounts:
  - {from: 100}
  - {from: 50, absolute: 60}
  - {from: 200, absolute: 1, percent: 1}`,
      [
        'basketDiscounts[1].from (line 3): is 50, expected more than 100 before it',
        'basketDiscounts[0] (line 2): has neither absolute nor percent, expected exactly one of them',
        'basketDiscounts[1].absolute (line 3): is 60, more than the goods are worth from 50',
        'basketDiscounts[2] (line 4): has absolute and percent, expected exactly one of them',
      ],
    ],
    [
      'units and locales that are unknown',
      `locales: {default: de_DE, items: [de_DE]}
name: {en_GB: Quay}
units: {piece: {en_GB: {long: item}}}
crossSellingTitle: {fr_FR: Va bien avec}
customerGroups: [Cafes, Staff, Cafes]
mandatoryAddressFields: [city, city]`,
      [
        'name.en_GB (line 2): is not a locale of the shop, expected one of de_DE',
        'name (line 2): de_DE is missing: the text in the default locale',
        'crossSellingTitle.fr_FR (line 4): is not a locale of the shop, expected one of de_DE',
        'units.piece.en_GB (line 3): is not a locale of the shop, expected one of de_DE',
        'customerGroups[2] (line 5): Cafes is named twice',
        'mandatoryAddressFields[1] (line 6): city is named twice',
      ],
    ],
    [
      'a seller that can not be',
      `invoicing:
  vatId: DE12345
  bank: {iban: DE02 1203 0000 0000 2020 52, bic: BYLA}
  paymentDays: 1.5
  electronic: yes
  zipCode: 20457
  iban: DE02`,
      [
        'invoicing.iban (line 7): unknown key, expected one of company, street, zipCode, city, vatId, taxNumber, registration, phone, email, bank, paymentDays, notes, electronic, electronicFormat',
        'invoicing.zipCode (line 6): is 20457, expected a text: put it in quotes',
        'invoicing.bank.bic (line 3): BYLA is no BIC like BYLADEM1001',
        'invoicing.paymentDays (line 4): is 1.5, expected a whole number',
        'invoicing.electronic (line 5): is yes, expected true or false',
      ],
    ],
    [
      'numbers that do not fit',
      `invoicing:
  vatId: AT U1234
  bank: {iban: DE02 1203 0000 0000 2020 52}
  notes: {nl_NL: Bedankt}
locales: {default: de_DE, items: [de_DE]}`,
      [
        'invoicing.vatId (line 2): is ATU1234, expected AT and then U and 8 digits',
        'invoicing.bank.iban (line 3): is DE02 1203 0000 0000 2020 52, whose check digits do not fit: a character is wrong, missing or too much',
        'invoicing.notes.nl_NL (line 4): is not a locale of the shop, expected one of de_DE',
      ],
    ],
    [
      'a bank without an account',
      'invoicing: {bank: {name: Quay Bank}}',
      [
        'invoicing.bank (line 1): iban is missing: The account; blanks do not matter. Example: "DE02 1203 0000 0000 2020 51"',
      ],
    ],
    [
      'an electronic invoice without a tax number',
      'invoicing: {electronic: true}',
      [
        'invoicing.electronic (line 1): is true, which needs vatId or taxNumber: an electronic invoice must name one of them',
      ],
    ],
    [
      'mails that do not exist, or say nothing',
      `mails:
  birthday: {en_GB: {subject: Hello}}
  refund: {}
  order: {english: {subject: Hello}, en_GB: {}, en_US: {title: Hello}}
  shipped: {en_GB: {subject: "Hello\\nBcc: a", text: "\\x01"}}`,
      [
        `mails.birthday (line 2): unknown key, expected one of ${EMAIL_KINDS.map(({ name }) => name).join(', ')}`,
        'mails.order.english (line 4): is not a locale such as de_DE',
        expect.stringMatching(/^mails\.order\.en_GB \(line 4\): has no entries, expected at least one: /),
        expect.stringMatching(
          /^mails\.order\.en_US\.title \(line 4\): unknown key, expected one of subject, text$/,
        ),
        'mails.shipped.en_GB.subject (line 5): "Hello\\nBcc: a" is no single line like "News on {orderNumber}"',
        'mails.shipped.en_GB.text (line 5): "\\u0001" is no plain text like "Dear customer,\\n\\n{shopName} thanks you."',
        expect.stringMatching(
          /^mails\.refund \(line 3\): has no entries, expected at least one: To the customer/,
        ),
      ],
    ],
    [
      'placeholders that a mail does not have',
      `locales: {default: de_DE, items: [de_DE]}
mails:
  refund:
    de_DE:
      subject: "{amount} {lines}"
      text: "{ amount } {constructor} {total} {total} {}"
    nl_NL: {subject: Hallo}
  shipped:
    de_DE: {subject: "{lines}", text: "{lines}"}`,
      [
        'mails.refund.nl_NL (line 7): is not a locale of the shop, expected one of de_DE',
        'mails.refund.de_DE.subject (line 5): names {lines}, expected one of {shopName}, {shopUrl}, {orderNumber}, {amount}',
        'mails.refund.de_DE.text (line 6): names "{ amount }", expected one of {shopName}, {shopUrl}, {orderNumber}, {amount}',
        'mails.refund.de_DE.text (line 6): names {constructor}, expected one of {shopName}, {shopUrl}, {orderNumber}, {amount}',
        'mails.refund.de_DE.text (line 6): names {total}, expected one of {shopName}, {shopUrl}, {orderNumber}, {amount}',
        'mails.refund.de_DE.text (line 6): names {}, expected one of {shopName}, {shopUrl}, {orderNumber}, {amount}',
        'mails.shipped.de_DE.subject (line 9): names {lines}, expected one of {shopName}, {shopUrl}, {orderNumber}, {carrier}, {trackingCode}, {trackingUrl}, {restFollows}',
      ],
    ],
    [
      'colours, fonts and addresses that are none',
      `theme:
  accent: teal
  background: "#ffff"
  font: sans-serif
  fontUrl: https://shop.example/a.woff2")}
  colour: red`,
      [
        'theme.colour (line 6): unknown key, expected one of accent, background, text, font, fontUrl, corners, density, header, cards, css, showName',
        'theme.accent (line 2): teal is no colour like #0b5d66',
        'theme.background (line 3): #ffff is no colour like #fdfcf9',
        'theme.font (line 4): is sans-serif, expected one of sans, serif, rounded, mono',
        'theme.fontUrl (line 5): https://shop.example/a.woff2")} is no address like https://shop.example/own.woff2',
      ],
    ],
    [
      'a text that is hard to read',
      'theme: {text: "#999", background: "#fff"}',
      [
        "theme.text (line 1): is #999999, whose contrast on #ffffff is 2.84:1, expected 4.5:1 or more: else many people can't read it",
      ],
    ],
    ['an unknown unit', 'units: {tonne: {}}', ['units.tonne (line 1): unknown key, did you mean tone?']],
  ])('%s', (_, text, problems) => {
    expect(problemsIn(text)).toEqual(problems);
  });
});
