import { TAX_TREATMENTS } from '../../taxes/treatments.ts';
import { Type } from 'typebox';
import { Country, Pattern, List, Percent, Section } from '../fields.ts';

/** An account of a chart of accounts without the digits that a longer account adds. */
const LedgerAccount = (description: string, example: string) =>
  Pattern('^[0-9]{4,8}$', description, example, 8);

const AccountRule = Section({
  treatment: Type.Enum([...TAX_TREATMENTS], {
    description: 'How the supply is taxed.',
    examples: ['oss'],
  }),
  country: Type.Optional(Country('Only for deliveries to this country. Absent: all.', 'AT')),
  rate: Type.Optional(Percent('Only at this rate, in percent. Absent: all.', 20)),
  account: LedgerAccount('The revenue account, which takes the gross amount.', '8320'),
  taxKey: Type.Optional(
    Pattern(
      '^[0-9]{1,4}$',
      'The tax key (BU-Schlüssel). Absent: none, as automatic accounts need none.',
      '240',
      4,
    ),
  ),
});

export const Accounting = Section(
  {
    chart: Type.Optional(
      Type.Enum(['SKR03', 'SKR04'], {
        description: 'The chart of accounts. Absent: SKR03.',
        examples: ['SKR03'],
      }),
    ),
    advisorNumber: Type.Optional(
      Type.Integer({
        minimum: 1001,
        maximum: 9_999_999,
        description: "The accountant's number at DATEV.",
        examples: [29_098],
      }),
    ),
    clientNumber: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 99_999,
        description: 'The number of the shop at its accountant.',
        examples: [55_003],
      }),
    ),
    fiscalYearStart: Type.Optional(
      Pattern(
        '^(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$',
        'The first day of the fiscal year, month and day. Absent: 01-01.',
        '01-01',
      ),
    ),
    accountLength: Type.Optional(
      Type.Integer({
        minimum: 4,
        maximum: 8,
        description: 'Digits of an account; debtors have one more. Absent: 4.',
        examples: [4],
      }),
    ),
    debtors: Type.Optional(
      Type.Enum(['individual', 'collective'], {
        description:
          'individual: every customer has a debtor account, the first one of the range plus the customer number. collective: all customers share one. Absent: individual.',
        examples: ['individual'],
      }),
    ),
    collectiveDebtor: Type.Optional(
      Pattern(
        '^[1-6][0-9]{4,8}$',
        'The shared debtor account, also of customers whose number does not fit into the range. Absent: the first one of the range.',
        '10000',
        9,
      ),
    ),
    bankAccount: Type.Optional(
      LedgerAccount('Payments that were recorded by hand. Absent: 1200 in SKR03, 1800 in SKR04.', '1200'),
    ),
    clearingAccount: Type.Optional(
      LedgerAccount('Payments through a provider. Absent: 1360 in SKR03, 1460 in SKR04.', '1360'),
    ),
    accounts: Type.Optional(
      List(
        AccountRule,
        'Revenue accounts that differ from those of the chart. The first one that fits is used.',
        [{ treatment: 'oss', country: 'AT', account: '8321', taxKey: '240' }],
        { maxItems: 200 },
      ),
    ),
  },
  { description: 'How the booking batch for DATEV is written.' },
);
