import { Type } from 'typebox';
import {
  compact,
  normalised,
  Pattern,
  LINES_OF_TEXT,
  OneLine,
  Section,
  LocalisedText,
  EMAIL,
} from '../fields.ts';

const Bank = Section(
  {
    name: Type.Optional(OneLine('Name of the bank.', 'Harbour Bank')),
    iban: normalised(
      compact,
      Pattern(
        '^[A-Z]{2}[0-9]{2}[A-Z0-9 ]{8,40}$',
        'The account; blanks do not matter.',
        'DE02 1203 0000 0000 2020 51',
      ),
    ),
    bic: Type.Optional(
      Pattern(
        '^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$',
        'BIC of the bank, 8 or 11 characters.',
        'BYLADEM1001',
      ),
    ),
  },
  { description: 'Where customers transfer money to.' },
);

/**
 * The formats of an electronic document, all of EN 16931:
 * - `zugferd`: CII in the profile EN 16931 of ZUGFeRD and Factur-X, inside of the PDF,
 * - `xrechnung-cii`, `xrechnung-ubl`: XRechnung 3.0, which German authorities demand,
 * - `peppol`: Peppol BIS Billing 3.0 in UBL.
 */
export const ELECTRONIC_FORMATS = ['zugferd', 'xrechnung-cii', 'xrechnung-ubl', 'peppol'] as const;
export type ElectronicFormat = (typeof ELECTRONIC_FORMATS)[number];

export const Invoicing = Section(
  {
    company: Type.Optional(
      OneLine('Name of the seller. Absent: the name of the shop.', 'Harbour & Hearth GmbH'),
    ),
    street: Type.Optional(OneLine('Street and number.', 'Speicherweg 4')),
    zipCode: Type.Optional(OneLine('Postcode.', '20457', 20)),
    city: Type.Optional(OneLine('Town; the country is the one of the shop.', 'Hamburg')),
    vatId: Type.Optional(
      normalised(
        compact,
        Pattern(
          '^[A-Z]{2}[A-Z0-9 +*.-]{2,20}$',
          'VAT id with the letters of its country; blanks do not matter.',
          'DE123456789',
        ),
      ),
    ),
    taxNumber: Type.Optional(OneLine('Number at the tax office.', '27/123/45678', 50)),
    registration: Type.Optional(OneLine('Where the company is registered.', 'HRB 4711, Amtsgericht Hamburg')),
    phone: Type.Optional(OneLine('Telephone.', '+49 40 123456', 50)),
    email: Type.Optional(
      Pattern(
        EMAIL,
        'Email address for questions on invoices. Absent: the one of the shop.',
        'invoices@harbour-hearth.example',
      ),
    ),
    bank: Type.Optional(Bank),
    paymentDays: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 365,
        description: 'Days until an invoice is due. Absent: no date is named.',
        examples: [14],
      }),
    ),
    notes: Type.Optional(LocalisedText('The text below the totals.', 'Thank you!', 2000, LINES_OF_TEXT)),
    electronic: Type.Optional(
      Type.Boolean({
        description:
          'Whether documents are electronic (EN 16931): all, or none. Needs vatId or taxNumber. Absent: those of businesses in the European Union are.',
        // Absence is a third choice, so forms show all of them.
        enum: [true, false],
        examples: [true],
      }),
    ),
    electronicFormat: Type.Optional(
      Type.Enum([...ELECTRONIC_FORMATS], {
        description:
          'The format of electronic documents. zugferd is a part of the PDF (ZUGFeRD, Factur-X); the others are files beside it. XRechnung needs phone. Absent: xrechnung-ubl for German authorities with a Leitweg-ID, peppol between Belgian businesses, else zugferd.',
        examples: ['zugferd'],
      }),
    ),
  },
  { description: 'The seller on invoices and credit notes. Existing documents do not change.' },
);
