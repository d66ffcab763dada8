import type { Content, ContentLine } from '../src/pricing/content.ts';
import { spread, sum } from '../src/pricing/shares.ts';
import { taxOn } from '../src/pricing/tax.ts';
import type { TaxTreatment } from '../src/shops/taxes/treatments.ts';
import type { DocumentFacts, DocumentTerms } from '../src/orders/documents/facts.ts';
import type { Address } from '../src/shops/countries/address.ts';

/*
 * Documents of every kind that electronic formats must be able to hold: what rules of EN 16931, XRechnung and Peppol
 * are tried on.
 */

interface Sold {
  /** Minor units. */
  price: number;
  quantity: string;
  rate: number;
  treatment?: TaxTreatment;
  deposit?: number;
}

interface Sale {
  currency?: string;
  taxType?: Content['taxType'];
  lines: Sold[];
  coupon?: number;
  /** The cost of delivery: at one rate, or in shares. */
  shipping?: { price: number; rate: number }[];
  treatment?: TaxTreatment;
}

const taxClass = (rate: number, treatment: TaxTreatment | undefined) => ({
  taxClassId: `TAX-${rate}`,
  name: { en_GB: `Tax ${rate}` },
  rate,
  ...(treatment && { treatment }),
});

/** The content of an order, with one rounding of tax per rate and treatment, as the totals of a cart have it. */
function contentOfSale({ currency = 'EUR', taxType = 'GROSS', ...sale }: Sale): Content {
  const amounts = sale.lines.map(({ price, quantity }) => Math.round(price * Number(quantity)));
  const couponShares = spread(
    sale.coupon ?? 0,
    sale.lines.map(({ rate }, index) => ({ taxRate: rate, amount: amounts[index]! })),
  );
  const treatmentOf = (sold: Sold) => sold.treatment ?? sale.treatment;
  const lines = sale.lines.map((sold, index) => ({
    lineItemId: `LINE-${index}`,
    productId: `PRODUCT-${index}`,
    masterId: null,
    productNumber: `N-${index + 1}`,
    name: { en_GB: `Product <${index + 1}> & "more"`, de_DE: `Größe ${index + 1}` },
    variation: index === 0 ? { en_GB: 'Colour: blue', de_DE: 'Farbe: blau' } : null,
    essentialFeatures: null,
    quantity: sold.quantity,
    orderUnit: { priceQuantity: 1, unit: 'piece' },
    unitPrice: sold.price,
    quantityPrice: sold.price,
    amount: amounts[index]!,
    unitDeposit: sold.deposit ?? 0,
    unitEcoParticipation: 0,
    deposit: Math.round((sold.deposit ?? 0) * Number(sold.quantity)),
    ecoParticipation: 0,
    discountShare: 0,
    couponShare: couponShares[index]!,
    taxClass: taxClass(sold.rate, treatmentOf(sold)),
  })) as unknown as ContentLine[];
  const shares = sale.shipping ?? [];
  const serviceTreatment = sale.lines.map(treatmentOf)[0];
  const parts = [
    ...lines.map(({ taxClass: { rate, treatment }, ...line }) => ({
      rate,
      treatment,
      amount: line.amount - line.couponShare + line.deposit,
    })),
    ...shares.map(({ rate, price }) => ({ rate, treatment: serviceTreatment, amount: price })),
  ];
  const keys = [...new Map(parts.map((part) => [`${part.rate} ${part.treatment}`, part])).values()];
  const taxes = keys
    .map(({ rate, treatment }) => {
      const amount = sum(
        parts.filter((part) => part.rate === rate && part.treatment === treatment).map((part) => part.amount),
      );
      return { rate, ...(treatment && { treatment }), amount, tax: taxOn(amount, rate, taxType) };
    })
    .toSorted((left, right) => left.rate - right.rate);
  const total = sum(taxes.map(({ amount }) => amount));
  const totalTax = sum(taxes.map(({ tax }) => tax));
  const shippingPrice = sum(shares.map(({ price }) => price));
  return {
    currency,
    taxType,
    lines,
    subTotal: sum(amounts),
    basketDiscount: 0,
    coupon: sale.coupon ? ({ amount: -sale.coupon } as Content['coupon']) : null,
    shippingPrice,
    shipping:
      shares.length === 0
        ? null
        : {
            shippingMethodId: 'PARCEL',
            name: { en_GB: 'Parcel', de_DE: 'Paket' },
            price: shippingPrice,
            taxes: shares.map(({ rate, price }) => ({
              taxClass: taxClass(rate, serviceTreatment),
              amount: price,
              tax: taxOn(price, rate, taxType),
            })),
          },
    payment: null,
    serviceTaxClass: taxClass(shares[0]?.rate ?? sale.lines[0]!.rate, serviceTreatment),
    offers: [],
    taxes,
    totalTax,
    totalBeforeTax: taxType === 'GROSS' ? total - totalTax : total,
    grandTotal: taxType === 'GROSS' ? total : total + totalTax,
  };
}

interface Case {
  sale: Sale;
  buyer?: Partial<Address>;
  terms?: Partial<DocumentTerms>;
}

const FRENCH = {
  company: 'Librairie du Port SARL',
  street: '3 quai des Belges',
  zipCode: '13001',
  city: 'Marseille',
  country: 'FR',
  vatId: 'FR12732829320',
};

export const ELECTRONIC_CASES: Readonly<Record<string, Case>> = {
  'domestic, one rate': {
    sale: {
      lines: [{ price: 1190, quantity: '2', rate: 1900, treatment: 'domestic' }],
      shipping: [{ price: 490, rate: 1900 }],
    },
    terms: {
      buyer: { buyerReference: '04011000-12345-03', purchaseOrderNumber: 'PO-4711' },
      dueOn: '2026-11-29',
      note: 'Thank you.',
      notes: 'Goods remain our property\nuntil they are paid.',
    },
  },
  'several rates, coupon, delivery in shares': {
    sale: {
      lines: [
        { price: 1999, quantity: '3', rate: 1900, treatment: 'domestic' },
        { price: 1295, quantity: '1', rate: 700, treatment: 'domestic' },
        { price: 333, quantity: '7', rate: 700, treatment: 'domestic' },
      ],
      coupon: 500,
      shipping: [
        { price: 299, rate: 1900 },
        { price: 191, rate: 700 },
      ],
    },
  },
  deposit: {
    sale: { lines: [{ price: 119, quantity: '24', rate: 1900, treatment: 'domestic', deposit: 8 }] },
    terms: { isPaid: true },
  },
  'intra-community': {
    sale: {
      taxType: 'NET',
      treatment: 'intraCommunity',
      lines: [{ price: 2599, quantity: '4', rate: 0 }],
      shipping: [{ price: 1490, rate: 0 }],
    },
    buyer: FRENCH,
    terms: { deliveryCountry: 'FR', suppliedOn: null, buyer: { vatNumber: 'FR12732829320' } },
  },
  'reverse charge': {
    sale: { taxType: 'NET', treatment: 'reverseCharge', lines: [{ price: 9900, quantity: '1.5', rate: 0 }] },
    buyer: FRENCH,
    terms: { deliveryCountry: 'FR' },
  },
  export: {
    sale: {
      taxType: 'NET',
      treatment: 'export',
      lines: [{ price: 5000, quantity: '1', rate: 0 }],
      shipping: [{ price: 2500, rate: 0 }],
    },
    buyer: {
      company: 'Seeblick AG',
      street: 'Hafenstrasse 1',
      zipCode: '8590',
      city: 'Romanshorn',
      country: 'CH',
      vatId: 'CHE-116.281.710 MWST',
    },
    terms: { deliveryCountry: 'CH' },
  },
  'small business': {
    sale: { treatment: 'smallBusiness', lines: [{ price: 1500, quantity: '3', rate: 0 }] },
    terms: { noTaxesMessage: 'Kein Ausweis von Umsatzsteuer nach § 19 UStG.' },
  },
  'a currency without decimals': {
    sale: {
      currency: 'JPY',
      lines: [
        { price: 100, quantity: '7', rate: 1000, treatment: 'domestic' },
        { price: 333, quantity: '1', rate: 800, treatment: 'domestic' },
      ],
      coupon: 11,
    },
  },
  'gross prices with rounding': {
    sale: {
      lines: Array.from({ length: 12 }, (_, index) => ({
        price: 99 + index * 7,
        quantity: String(index + 1),
        rate: index % 3 === 0 ? 700 : 1900,
        treatment: 'domestic' as const,
      })),
      coupon: 777,
      shipping: [{ price: 495, rate: 1900 }],
    },
  },
  'of a sandbox': {
    sale: { lines: [{ price: 1190, quantity: '2', rate: 1900, treatment: 'domestic' }] },
    terms: { sandbox: true, note: 'Thank you.', notes: 'Goods remain our property.' },
  },
  'two ways without tax': {
    sale: {
      taxType: 'NET',
      lines: [
        { price: 2000, quantity: '1', rate: 0, treatment: 'intraCommunity' },
        { price: 3000, quantity: '1', rate: 0, treatment: 'reverseCharge' },
      ],
      shipping: [{ price: 500, rate: 0 }],
    },
    buyer: FRENCH,
    terms: { deliveryCountry: 'FR' },
  },
};

export const ELECTRONIC_KINDS = ['invoice', 'credit note', 'correction'] as const;

const HARBOUR = {
  company: 'Hafenamt & Söhne <GmbH>',
  firstName: 'Ada',
  lastName: 'Lindqvist',
  salutation: null,
  title: null,
  middleName: null,
  displayName: null,
  department: null,
  street: 'Kai 7',
  streetDetails: 'Hinterhaus',
  addressExtension: 'Tor 3',
  zipCode: '20457',
  city: 'Hamburg',
  state: null,
  country: 'DE',
  emailAddress: 'ada@mail.example',
  vatId: 'DE 136 695 976',
} as unknown as Address;

export function documentOfCase(name: string, kind: (typeof ELECTRONIC_KINDS)[number]): DocumentFacts {
  const { sale, buyer, terms } = ELECTRONIC_CASES[name]!;
  const earlier = { number: 999, issuedOn: '2026-11-01' };
  return {
    documentId: '019A8C1E-0000-7000-8000-000000001002',
    orderId: '019A8C1E-0000-7000-8000-000000001001',
    kind: kind === 'credit note' ? 'CreditNote' : 'Invoice',
    number: 1001,
    issuedAt: new Date('2026-11-15T23:30:00Z'),
    createdAt: new Date('2026-11-15T23:30:00Z'),
    address: { ...HARBOUR, ...buyer },
    content: contentOfSale(sale),
    terms: {
      orderNumber: 'ORD261115/1001',
      orderedOn: '2026-11-14',
      customerNumber: '1027',
      locale: 'de_DE',
      defaultLocale: 'en_GB',
      seller: {
        name: 'Kontor & Co.',
        country: 'DE',
        street: 'Speicherweg 4',
        zipCode: '20457',
        city: 'Hamburg',
        vatId: 'DE123456788',
        taxNumber: '27/123/45678',
        registration: 'HRB 4711, Amtsgericht Hamburg',
        phone: '+49 40 123456',
        email: 'shop@mail.example',
        bank: { iban: 'DE02 1203 0000 0000 2020 51', bic: 'BYLADEM1001' },
      },
      delivery: null,
      deliveryCountry: 'DE',
      suppliedOn: '2026-11-15',
      isPaid: false,
      dueOn: null,
      notes: null,
      noTaxesMessage: null,
      note: null,
      invoice: kind === 'credit note' ? earlier : null,
      ...(kind === 'correction' && { corrects: earlier }),
      hasServices: true,
      units: {},
      electronic: true,
      ...terms,
    },
  };
}
