import { readJson } from '../../kernel/json-file.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { isInEu } from '../countries/countries.ts';
import type { SettingsFile } from '../settings/schema.ts';
import { fromBasisPoints } from '../settings/fields.ts';
import { reducedVat, standardVat } from '../taxes/vat-rates.ts';
import type { NewShop } from './insert-shop.ts';

/** The currencies of countries, and the price of a parcel in each: defaults that the merchant changes. */
const { currencies, deliveryPrices } = readJson(new URL('./start-values.json', import.meta.url)) as {
  currencies: Readonly<Record<string, string>>;
  deliveryPrices: Readonly<Record<string, number>>;
};

/** undefined: not known here. */
export function currencyOf(country: string): string | undefined {
  return currencies[country];
}

/** The language that most people of a country read, according to Unicode's data: de_AT. */
export function localeOf(country: string): string {
  return `${new Intl.Locale(`und-${country}`).maximize().language.slice(0, 2)}_${country}`;
}

/** Countries that show prices without tax, which is added at the till. */
const NET_COUNTRIES = ['US', 'CA'];

/** Countries where delivery is usually taxed as the goods are. */
const SHARED_DELIVERY_TAX = ['DE', 'AT'];

/** Beside the European Union: countries whose law lets consumers withdraw from a purchase within 14 days. */
const WITHDRAWAL_COUNTRIES = ['GB', 'IS', 'LI', 'NO'];

export function hasWithdrawal(country: string): boolean {
  return isInEu(country) || WITHDRAWAL_COUNTRIES.includes(country);
}

/** In the default currency. 0: the currency is unknown. */
export function starterDeliveryPrice(currency: string): number {
  return deliveryPrices[currency] ?? 0;
}

/** What a new shop needs to sell: its country's taxes, a delivery method and a payment method, in its language. */
export function starterSettings(
  { name, country, locale, currency }: NewShop,
  { url, colour }: { url: string; colour: string },
): SettingsFile {
  const words = messagesIn(locale).newShop;
  return {
    logoUrl: url,
    theme: { accent: colour, showName: true },
    taxes: {
      model: NET_COUNTRIES.includes(country) ? 'net' : 'gross',
      ...(isInEu(country) && { specialTerritories: true }),
      ...(SHARED_DELIVERY_TAX.includes(country) && { delivery: 'shares' }),
    },
    taxClasses: taxClasses(country, locale),
    shippingMethods: [
      { key: 'parcel', name: words.parcel, kind: 'flat', price: starterDeliveryPrice(currency) },
    ],
    paymentMethods: [{ key: 'advance', name: words.advance }],
    ...(!hasWithdrawal(country) && { withdrawal: { days: 0 } }),
    invoicing: { company: name },
  };
}

function taxClasses(country: string, locale: string): NonNullable<SettingsFile['taxClasses']> {
  const words = messagesIn(locale).newShop;
  const standard = standardVat(country);
  const reduced = reducedVat(country);
  const percent = new Intl.NumberFormat(locale.replace('_', '-'), {
    style: 'percent',
    maximumFractionDigits: 2,
  });
  const reducedName = (rate: number) => {
    if (rate === 0) return words.zeroRate;
    return reduced.length === 1
      ? words.reducedRate
      : words.reducedRateOf({ rate: percent.format(rate / 1e4) });
  };
  return [
    {
      key: 'standard',
      name: standard === undefined ? words.noTax : words.standardRate,
      default: true,
      defaultDigital: true,
      rates: { [country]: fromBasisPoints(standard ?? 0) },
    },
    ...reduced.map((rate, index) => ({
      key: index === 0 ? 'reduced' : `reduced-${index + 1}`,
      name: reducedName(rate),
      rates: { [country]: fromBasisPoints(rate) },
    })),
  ];
}
