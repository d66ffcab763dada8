import { Type } from 'typebox';
import { Country, Flag, Pattern, LINES_OF_TEXT, OneLine, OrElse, Section, LocalisedText } from '../fields.ts';

const safetyParty = {
  address: Pattern(
    LINES_OF_TEXT,
    'Postal address, in one line or more.',
    'Kaistrasse 4, 20457 Hamburg, Germany',
    500,
  ),
  contact: OneLine('Electronic address: of email, or of a website.', 'safety@beacon.example'),
};

export const Manufacturer = Section(
  {
    name: OneLine('The manufacturer as products name it.', 'Beacon'),
    company: Type.Optional(OneLine('Its registered name, where that is another.', 'Beacon Appliances Ltd')),
    ...safetyParty,
    responsiblePerson: Type.Optional(
      Section(
        {
          name: OneLine('Name, or registered name.', 'Harbour Imports GmbH'),
          address: { ...safetyParty.address },
          contact: { ...safetyParty.contact },
        },
        {
          description:
            'Who is responsible in the European Union; needed where the manufacturer is established elsewhere.',
        },
      ),
    ),
    safetyText: Type.Optional(
      LocalisedText('Warnings and safety information.', 'Keep away from children.', 10_000, LINES_OF_TEXT),
    ),
  },
  { description: 'What Regulation (EU) 2023/988, article 19, wants to be said of every offer.' },
);

/** The kinds of goods that producer registers have numbers for. */
export const REGISTRATION_KINDS = [
  'packaging',
  'electrical',
  'batteries',
  'textiles',
  'furniture',
  'other',
] as const;

export const ProducerRegistration = Section({
  country: Country('Country of the register, ISO 3166-1 alpha-2.', 'DE'),
  kind: Type.Enum([...REGISTRATION_KINDS], {
    description: 'The register: packaging (LUCID), electrical devices (WEEE), batteries and so on.',
    examples: ['packaging'],
  }),
  number: OneLine('The number, as the register writes it.', 'DE1234567890123', 100),
});

export const OrderPageTexts = Section(
  {
    cancellation: Flag('Customers may cancel an order themselves until it is invoiced or packed.', true),
    returnDays: OrElse(
      30,
      Type.Integer({
        minimum: 0,
        maximum: 3650,
        description:
          'Days after the delivery in which customers may ask for a return; 0: they may not. Absent: 30. The right of withdrawal does not depend on it.',
        default: 30,
        examples: [30],
      }),
    ),
  },
  { description: 'Actions that customers can take on the page of their order.' },
);

export const Returns = Section(
  {
    refundDelivery: Flag(
      'The cost of delivery and payment is refunded when everything of an order has come back. After a withdrawal from the whole order it always is.',
      true,
    ),
  },
  { description: 'The refund rules for returns.' },
);

export const Withdrawal = Section(
  {
    days: OrElse(
      14,
      Type.Integer({
        minimum: 0,
        maximum: 365,
        description:
          'Days in which a consumer may withdraw from the contract; the law of the European Union grants 14. 0: the shop sells to businesses only, and no page offers it. Absent: 14.',
        default: 14,
        examples: [14],
      }),
    ),
    transitDays: OrElse(
      5,
      Type.Integer({
        minimum: 0,
        maximum: 90,
        description:
          'Delivery buffer: days after the last shipment. Where no date of delivery is recorded, the period begins then. Absent: 5.',
        default: 5,
        examples: [5],
      }),
    ),
  },
  { description: 'Withdrawal from the contract by a button (Consumer Rights Directive, article 11a).' },
);
