import type { TaxTreatment } from '../../shops/taxes/treatments.ts';
import { isInEu } from '../../shops/countries/countries.ts';
import type { Accounting } from '../../shops/settings/settings.ts';
import type { TreatedSupply } from '../tax-reports/supplies.ts';

/** The accounts of DATEV's standard charts that a shop needs; each with four digits. */
interface Chart {
  /** The number of the chart in the header of a file. */
  id: '03' | '04';
  /** Automatic accounts, from whose gross amount DATEV takes the tax by itself; by rate in basis points. */
  domestic: Readonly<Record<number, string>>;
  /** For domestic rates that have no automatic account: the net amount and the tax are booked on their own. */
  otherRates: { revenue: string; tax: string };
  foreign: Readonly<
    Record<Exclude<TaxTreatment, 'domestic' | 'voucher'>, { account: string; taxKey?: string }>
  >;
  /** Taxed where the shop is registered outside of the European Union; with the foreign tax. */
  outsideEu: string;
  bank: string;
  /** Money in transit: what a provider has collected and not paid out yet. */
  clearing: string;
  /** Other liabilities: what is owed to the holders of gift cards, whose redemption is taxed and not their sale. */
  giftCards: string;
}

/** The key for goods that are taxed in another member state: DATEV takes country and rate from the booking. */
const DISTANCE_SALE = '240';

const CHARTS: Readonly<Record<NonNullable<Accounting['chart']>, Chart>> = {
  SKR03: {
    id: '03',
    domestic: { 1900: '8400', 700: '8300', 0: '8290' },
    otherRates: { revenue: '8200', tax: '1770' },
    foreign: {
      oss: { account: '8320', taxKey: DISTANCE_SALE },
      local: { account: '8320', taxKey: DISTANCE_SALE },
      intraCommunity: { account: '8125' },
      reverseCharge: { account: '8336' },
      export: { account: '8120' },
      smallBusiness: { account: '8195' },
    },
    outsideEu: '8338',
    bank: '1200',
    clearing: '1360',
    giftCards: '1700',
  },
  SKR04: {
    id: '04',
    domestic: { 1900: '4400', 700: '4300', 0: '4290' },
    otherRates: { revenue: '4200', tax: '3800' },
    foreign: {
      oss: { account: '4320', taxKey: DISTANCE_SALE },
      local: { account: '4320', taxKey: DISTANCE_SALE },
      intraCommunity: { account: '4125' },
      reverseCharge: { account: '4336' },
      export: { account: '4120' },
      smallBusiness: { account: '4185' },
    },
    outsideEu: '4338',
    bank: '1800',
    clearing: '1460',
    giftCards: '3500',
  },
};

const MIN_ACCOUNT_LENGTH = 4;

/** The accounts of a shop, with as many digits as its accountant uses. */
export interface Ledger {
  chartId: Chart['id'];
  accountLength: number;
  bank: string;
  clearing: string;
  giftCards: string;
  /** `tax` is the account of the tax, where the revenue account takes the net amount. */
  revenue: (supply: Pick<TreatedSupply, 'treatment' | 'country' | 'rate'>) => {
    account: string;
    taxKey?: string | undefined;
    tax?: string;
  };
  debtor: (customerNumber: string) => string;
}

export function ledgerOf(accounting: Accounting): Ledger {
  const { accountLength = MIN_ACCOUNT_LENGTH, accounts = [] } = accounting;
  const chart = CHARTS[accounting.chart ?? 'SKR03'];
  // An account of the chart is made longer by zeros after it: 8400 is 84000 with five digits.
  const inLength = (account: string) => account.padEnd(accountLength, '0');
  return {
    chartId: chart.id,
    accountLength,
    bank: inLength(accounting.bankAccount ?? chart.bank),
    clearing: inLength(accounting.clearingAccount ?? chart.clearing),
    giftCards: inLength(chart.giftCards),
    revenue: ({ treatment, country, rate }) => {
      const rule = accounts.find(
        (one) =>
          one.treatment === treatment &&
          (one.country === undefined || one.country === country) &&
          (one.rate === undefined || one.rate === rate),
      );
      if (rule) return { account: inLength(rule.account), taxKey: rule.taxKey };
      // The money is owed to the holder of the card; its redemption is booked against the same account.
      if (treatment === 'voucher') return { account: inLength(chart.giftCards) };
      if (treatment === 'local' && !isInEu(country)) return { account: inLength(chart.outsideEu) };
      if (treatment !== 'domestic') {
        const { account, taxKey } = chart.foreign[treatment];
        return { account: inLength(account), taxKey };
      }
      const automatic = chart.domestic[rate];
      if (automatic !== undefined) return { account: inLength(automatic) };
      return { account: inLength(chart.otherRates.revenue), tax: inLength(chart.otherRates.tax) };
    },
    debtor: debtorNumbers(accounting, accountLength),
  };
}

/**
 * Debtors have one digit more than accounts and begin with 1 to 6: 10000 to 69999. A customer's account is the first one
 * plus the customer number, so that it is the same in every export. Numbers that do not fit share an account.
 */
function debtorNumbers(
  { debtors = 'individual', collectiveDebtor }: Accounting,
  accountLength: number,
): Ledger['debtor'] {
  const first = 10 ** accountLength;
  const shared = (collectiveDebtor ?? String(first)).padEnd(accountLength + 1, '0');
  return (customerNumber) => {
    const number = /^[0-9]{1,9}$/.test(customerNumber) ? Number(customerNumber) : 0;
    const account = first + number;
    return debtors === 'individual' && number > 0 && account < 7 * first ? String(account) : shared;
  };
}
