import type { Address, ManagedOrder, Price, ProductLineItem } from '../schema.ts';
import { newId } from './signatures.ts';

/** Orders as a shop answers them, made from the little that a test is about. */

export interface OrderedLine {
  sku?: string;
  name?: string;
  quantity?: number;
  /** Of one, with VAT, in cents. */
  price?: number;
  /** Of one; absent: the shop does not know it. */
  grams?: number;
}

export interface NewOrder {
  orderNumber?: string;
  lines?: readonly OrderedLine[];
  /** Absent: somebody in Hamburg. */
  address?: Partial<Address>;
  /** The key and the name of the delivery that the customer has chosen. */
  shipping?: { id: string; name: string; price?: number };
  /** What the customer has chosen of an app; absent: a shipping method of the shop. */
  deliveryOption?: ManagedOrder['management']['deliveryOption'];
}

const VAT = 19;

/** An order in euros, with German VAT in its prices, which is paid and waits to be sent. */
export function newOrder({
  orderNumber = 'ORD261115/1001',
  lines = [{}],
  address = {},
  shipping = { id: 'standard', name: 'Parcel' },
  deliveryOption = null,
}: NewOrder = {}): ManagedOrder {
  const orderId = newId();
  const items = lines.map(productLine);
  const subTotal = lines.reduce((sum, { price = 1_000, quantity = 1 }) => sum + price * quantity, 0);
  const delivery = shipping.price ?? 0;
  const total = subTotal + delivery;
  const tax = taxIn(total);
  const now = new Date().toISOString();
  const moments = {
    viewedOn: null,
    lastUpdatedOnDate: null,
    rejectedOn: null,
    inProcessOn: null,
    pendingOn: null,
    readyForDispatchOn: null,
    partiallyDispatchedOn: null,
    dispatchedOn: null,
    deliveredOn: null,
    partiallyInvoicedOn: null,
    invoicedOn: null,
    partiallyPaidOn: null,
    paidOn: now,
    returnedOn: null,
    closedOn: null,
    archivedOn: null,
  };
  return {
    orderId,
    orderNumber,
    creationDate: now,
    customerId: newId(),
    customerNumber: '1001',
    locale: 'en_GB',
    currencyId: 'EUR',
    taxModel: 'GROSS',
    grandTotal: decimal(total),
    totalBeforeTax: decimal(total - tax),
    totalTax: decimal(tax),
    customerComment: null,
    internalNote: null,
    billingAddress: { ...NOBODY, ...ADA, ...address },
    shippingAddress: null,
    shippingData: {
      shippingMethod: { id: shipping.id, name: shipping.name },
      price: euros(delivery),
      taxes: [],
    },
    paymentData: {
      paymentMethod: { id: 'invoice', name: 'Invoice', providerName: null, additionalData: null },
      transactionId: null,
      price: euros(0),
      status: null,
      taxes: [],
    },
    ...moments,
    lineItemContainer: {
      grandTotal: euros(total),
      totalBeforeTax: euros(total - tax, 'NET'),
      totalTax: euros(tax, 'NONE'),
      lineItemsSubTotal: euros(subTotal),
      productLineItems: items,
      couponLineItem: null,
      shippingPrice: euros(delivery),
      deposits: [],
      ecoParticipations: [],
      shippingOptions: [],
      basketDiscount: { links: [] },
    },
    links: [],
    management: {
      editing: null,
      state: 'readyToShip',
      cancelledOn: null,
      paidAmount: euros(total),
      refundedAmount: euros(0),
      refundableAmount: euros(total),
      outstandingAmount: euros(0),
      taxes: [{ rate: VAT, amount: euros(total), tax: euros(tax, 'NONE') }],
      buyer: { buyerReference: null, purchaseOrderNumber: null, vatCheck: null },
      deliveryOption,
      shipments: [],
      returns: [],
      promotions: [],
      payments: [],
    },
  };
}

function productLine({
  sku = 'T-1',
  name = 'Tea',
  quantity = 1,
  price = 1_000,
  grams,
}: OrderedLine): ProductLineItem {
  return {
    lineItemId: newId(),
    sku,
    name,
    productId: newId(),
    quantity: { amount: quantity, unit: 'piece(s)' },
    lineItemPrice: euros(price * quantity),
    singleItemPrice: euros(price),
    lineItemCouponDiscount: null,
    images: [],
    additionalInformation: { bulkPriceInfo: [] },
    links: [],
    intervalOrder: '1.0',
    minOrder: '1.0',
    orderUnitShort: 'piece(s)',
    orderUnit: 'piece(s)',
    priceQuantity: '1.0',
    quantityPrice: euros(price),
    variationString: null,
    essentialFeatures: null,
    taxClass: { taxClassId: 'standard', name: 'standard', percentage: VAT },
    // Of all pieces, as a shop answers it.
    deliveryWeight: grams === undefined ? null : { amount: grams * quantity, unit: 'g' },
    energyLabelsString: null,
    energyLabelsMaxEfficiencyString: null,
    energyLabelSourceFile: null,
    productDataSheetSourceFile: null,
    isInWishlist: false,
  };
}

function euros(cents: number, taxType: Price['taxType'] = 'GROSS'): Price {
  const formatted = `€${decimal(cents)}`;
  return { taxType, formatted, amount: cents / 100, currency: 'EUR' };
}

const decimal = (cents: number) => (cents / 100).toFixed(2);
const taxIn = (cents: number) => Math.round((cents * VAT) / (100 + VAT));

const ADA = {
  firstName: 'Ada',
  lastName: 'Lindqvist',
  street: 'Kai 7',
  zipCode: '20457',
  city: 'Hamburg',
  country: 'DE',
  emailAddress: 'ada@mail.example',
};

const NOBODY: Address = {
  company: null,
  salutation: null,
  firstName: null,
  lastName: null,
  street: null,
  streetDetails: null,
  zipCode: null,
  city: null,
  state: null,
  country: null,
  title: null,
  vatId: null,
  birthday: null,
  emailAddress: null,
  addressExtension: null,
  bankAccountHolder: null,
  bankAccountNumber: null,
  bankName: null,
  bankSortCode: null,
  businessEmailAddress: null,
  businessPhoneNumber: null,
  department: null,
  displayName: null,
  doorCode: null,
  faxNumber: null,
  fiscalCode: null,
  gender: null,
  jobTitle: null,
  middleName: null,
  mobilePhoneNumber: null,
  phoneNumber: null,
  privateEmailAddress: null,
  privatePhoneNumber: null,
  websiteUrl: null,
};
