import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import cases from '../../test/tax-cases.json' with { type: 'json' };
import type { TaxClass } from '../shops/settings/settings.ts';
import { type SupplyKind, type TaxRules, appliedTax, decideTax } from './tax.ts';

interface TaxCase {
  id: string;
  says: string;
  shop?: Partial<TaxRules>;
  supply?: SupplyKind;
  /** The rates of the tax class, in basis points. */
  rates?: Record<string, number>;
  to: string | null;
  zipCode?: string;
  vatNumber?: string;
  isPickup?: boolean;
  treatment: string;
  rateCountry: string;
  rateRegion?: string;
}

const SHOP: TaxRules = {
  country: 'DE',
  taxFreeOutsideEu: true,
  smallBusiness: false,
  distanceSales: 'oss',
  taxRegistrations: {},
  specialTerritories: true,
};
const CASES = cases as TaxCase[];

test.each(CASES)('$id: $says', (one) => {
  const {
    shop,
    supply = 'goods',
    rates,
    to,
    zipCode,
    vatNumber,
    isPickup,
    treatment,
    rateCountry,
    rateRegion,
  } = one;
  const rules = { ...SHOP, ...shop };
  const taxClass = {
    digital: supply === 'digital',
    supply: supply === 'digital' ? ('goods' as const) : supply,
    rates: rates ?? { [rules.country]: 1900 },
  };
  const sale = {
    destination: to === null ? null : { country: to, zipCode: zipCode ?? null },
    isPickup: isPickup ?? false,
    vatNumber: vatNumber ?? null,
  };
  expect(decideTax(taxClass, sale, rules)).toEqual({ treatment, rateCountry, rateRegion });
});

test.each([
  ['the standard rate, which the class does not name', {}, '9500-321', 1600],
  ['the same on Madeira', {}, '9000-017', 2200],
  ['the reduced rate that the class has for Portugal', { PT: 600 }, '9500-321', 400],
  ['the intermediate one on Madeira', { PT: 1300 }, '9400', 1200],
  ['a rate of the shop that Portugal does not have', { PT: 2100 }, '9500-321', 2100],
  ['the mainland', { PT: 600 }, '1100-053', 600],
  ['no postcode', {}, null, 2300],
] as const)('Portugal: %s', (_, rates, zipCode, taxRate) => {
  const taxClass = { digital: false, supply: 'goods', rates: { DE: 1900, ...rates } } as unknown as TaxClass;
  const sale = { destination: { country: 'PT', zipCode }, isPickup: false, vatNumber: null };
  expect(appliedTax(taxClass, sale, { ...SHOP, exportPrices: 'asShown' })).toMatchObject({
    taxRate,
    priceRate: taxRate,
    treatment: 'oss',
  });
});

test('the page of the documentation has exactly these cases', () => {
  const page = readFileSync(new URL('../../docs/taxes.md', import.meta.url), 'utf8');
  const shown = page
    .slice(page.indexOf('## Cases'))
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.replaceAll(/\s+/g, ' ').trim());
  expect(shown).toEqual(CASES.map(tableRow));
  expect(CASES.length).toBeGreaterThanOrEqual(60);
});

/** One line of the table in `docs/taxes.md`. */
function tableRow({ id, says, shop, supply, to, zipCode, vatNumber, isPickup, ...result }: TaxCase): string {
  const rules = Object.entries(shop ?? {}).map(([key, value]) =>
    typeof value === 'object' ? `${key} ${Object.keys(value).join(' ')}` : `${key} ${String(value)}`,
  );
  const place = [to ?? 'unknown', zipCode, isPickup && 'pickup'].filter(Boolean).join(' ');
  const cells = [
    `\`${id}\``,
    says,
    rules.join(', '),
    supply ?? 'goods',
    place,
    vatNumber?.slice(0, 2) ?? '',
    `${result.treatment}, ${result.rateRegion ?? result.rateCountry}`,
  ];
  return `| ${cells.join(' | ')} |`.replaceAll(/\s+/g, ' ');
}
