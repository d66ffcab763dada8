import { Type } from 'typebox';
import {
  COUNTRY,
  Flag,
  Key,
  List,
  MapOf,
  OneLine,
  OrElse,
  OrNull,
  Percent,
  Plain,
  Section,
  stored,
  LocalisedText,
} from '../fields.ts';

export const EXPORT_PRICES = ['asShown', 'withoutTax'] as const;
export const DISTANCE_SALES = ['rates', 'origin', 'oss'] as const;
export const DELIVERY_TAXES = ['standard', 'shares', 'highest'] as const;

export const Taxes = Section(
  {
    model: stored(
      Type.Enum(['gross', 'net'], {
        description: 'gross: all prices contain tax (usual towards consumers); net: tax is added to them.',
        examples: ['gross'],
      }),
      {
        toStored: (model) => (model === 'gross' ? ('GROSS' as const) : ('NET' as const)),
        toWritten: (model) => (model === 'GROSS' ? 'gross' : 'net'),
      },
    ),
    displayTaxes: Flag('Show a note on taxes.', true),
    noTaxesMessage: OrNull(
      Plain('Text to show instead, when no taxes are shown.', 'No VAT is charged (small business).', 1000),
    ),
    deliveryThresholdIsActive: Flag('The delivery threshold into other EU countries is exceeded.', false),
    taxFreeOutsideEu: Flag('No tax on deliveries to countries outside the European Union.', true),
    exportPrices: OrElse(
      'asShown',
      Type.Enum([...EXPORT_PRICES], {
        description:
          "Gross prices on deliveries without tax outside the European Union. asShown: unchanged. withoutTax: less the tax of the shop's own country. Absent: asShown.",
        default: 'asShown',
        examples: ['withoutTax'],
      }),
    ),
    smallBusiness: Flag('The shop charges no tax, because its country exempts small businesses.', false),
    distanceSales: OrElse(
      'rates',
      Type.Enum([...DISTANCE_SALES], {
        description:
          "Sales to consumers in other states of the European Union. rates: at the rate of the destination where the tax class has one, else at the shop's own. origin: at the shop's own rates, below the threshold of 10,000 euros a year. oss: at the rates of the destination, declared through the One Stop Shop. Absent: rates.",
        default: 'rates',
        examples: ['oss'],
      }),
    ),
    registrations: OrElse(
      {},
      MapOf(
        COUNTRY,
        OneLine('VAT number of the shop there.', 'FR12345678901', 50),
        'Other countries where the shop has a VAT number: sales there are taxed at their rates. Absent: none.',
        { FR: 'FR12345678901' },
      ),
    ),
    specialTerritories: Flag(
      'Places with other taxes than their country are told apart by postcode: Canary Islands, Helgoland, Northern Ireland and others.',
      false,
    ),
    delivery: OrElse(
      'standard',
      Type.Enum([...DELIVERY_TAXES], {
        description:
          'Tax of the costs of delivery and payment. standard: the rate of the default tax class. shares: the rates of the goods, in proportion to their amounts (usual in Germany and Austria). highest: the highest rate of the goods. Absent: standard.',
        default: 'standard',
        examples: ['shares'],
      }),
    ),
  },
  {
    description: 'How prices and taxes go together.',
    isInline: true,
    names: { model: 'taxModel', registrations: 'taxRegistrations', delivery: 'deliveryTax' },
  },
);

export const NetPrices = Section(
  {
    shownTo: OrElse(
      'nobody',
      Type.Enum(['nobody', 'businesses', 'choice'], {
        description:
          'The visitors who see prices without tax. businesses: customers who are signed in and have a confirmed VAT number, or belong to one of the groups; choice: visitors who say that they buy as a business, too. Absent: none.',
        default: 'nobody',
        examples: ['businesses'],
      }),
    ),
    groups: OrElse(
      [],
      List(Plain('Name of a group.', 'Cafes'), 'Customer groups of businesses.', ['Cafes'], {
        maxItems: 100,
      }),
    ),
  },
  {
    description:
      'Prices without tax on the pages of a shop whose prices contain it. Consumers always see what they pay.',
  },
);

export const TaxClass = Section(
  {
    key: Key('Its name in this file; the id belongs to it.', 'standard'),
    name: LocalisedText('Name of the class.', 'Standard rate'),
    default: Flag('The class of a product that names none; exactly one class is it.', false),
    defaultDigital: Flag(
      'The class of digital goods that name none; when no class says so, it is the default one.',
      false,
    ),
    digital: Flag('Goods of this class are not shipped: downloads, tickets.', false),
    supply: OrElse(
      'goods',
      Type.Enum(['goods', 'services'], {
        description:
          'What is sold with this class: goods, or services such as repairs and courses. Digital goods need no word here. Absent: goods.',
        default: 'goods',
        examples: ['services'],
      }),
    ),
    rates: MapOf(
      COUNTRY,
      Percent('Percent, at most 2 decimals.', 19),
      "Percent by country of delivery, the shop's own country among them.",
      { DE: 19, AT: 20 },
    ),
  },
  {
    names: { default: 'isDefault', defaultDigital: 'isDefaultDigital' },
    isOmitted: (key, written) => written === false || (key === 'supply' && written === 'goods'),
  },
);
