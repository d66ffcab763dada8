import type fc from 'fast-check';
import { contentOf, type Content } from '../src/pricing/content.ts';
import type { CartInput, ShopRules } from '../src/pricing/input.ts';
import type { CartProduct } from '../src/pricing/cart-product.ts';
import type { Promotion, Settings } from '../src/shops/settings/settings.ts';
import { generatedCarts } from './generated-carts.ts';

/** Orders of every kind: what generated carts hold once they were placed. */
export interface GeneratedOrder {
  content: Content;
  /** Of the shop, and where the goods go. */
  country: string;
  deliveryCountry: string;
}

export const generatedOrders: fc.Arbitrary<GeneratedOrder> = generatedCarts.map(({ cart, shop }) => ({
  content: contentFrom(cart, shop),
  country: shop.country,
  deliveryCountry: cart.country ?? shop.country,
}));

function contentFrom(cart: CartInput, shop: ShopRules): Content {
  const { content } = contentOf(
    {
      ...cart,
      // A product may be there twice here: as two of the same price, under an id for each line.
      lines: cart.lines.map(({ quantity, price }, index) => ({
        lineItemId: `LINE-${index}`,
        productId: `PRODUCT-OF-${index}`,
        quantity,
        ...(price !== null && { price }),
      })),
      products: cart.lines.map(
        ({ product }, index) =>
          ({
            ...product,
            productId: `PRODUCT-OF-${index}`,
            productNumber: `N-${index}`,
            selection: null,
            image: null,
            categoryIds: [],
            master: null,
            facts: { ...product, name: { en_GB: `Product <${index}> & "more"`, de_DE: `Größe ${index}` } },
          }) as unknown as CartProduct,
      ),
      coupon: cart.coupon && {
        ...cart.coupon,
        codeKey: 'code',
        campaignId: 'CAMPAIGN',
        withdrawnAt: cart.coupon.isWithdrawn ? NOW.toISOString() : null,
        used: cart.coupon.isUsedUp ? 1 : 0,
        usageLimit: 1,
        campaignUsed: 0,
        campaignUsageLimit: null,
        validFrom: null,
        validTo: cart.coupon.isInTime ? null : NOW.toISOString(),
      },
      couponLineItemId: cart.coupon && 'COUPON',
      billingAddress: cart.country === null ? null : { country: cart.country, zipCode: cart.postcode },
      shippingAddress: null,
      buyer: cart.vatNumber === null ? null : { vatCheck: checkOf(cart.vatNumber) },
      shippingMethodId: cart.shipping.methodId,
      shippingPrice: cart.shipping.price,
      paymentMethodId: cart.payment.methodId,
      paymentTransactionId: null,
      paymentStatus: null,
      paymentName: null,
      paymentPrice: cart.payment.price,
    },
    {
      ...shop,
      promotions: cart.lines.length % 2 === 0 ? PROMOTIONS : [],
      customerGroups: [],
      priceLists: [],
      defaultLocale: 'en_GB',
      locales: ['en_GB', 'de_DE'],
      units: {},
      deliveryTimes: { timeZone: 'Europe/Berlin' },
    } as unknown as Settings,
    NOW,
  );
  return content;
}

const promotion = (changes: Partial<Promotion>): Promotion => ({
  promotionId: changes.effect!,
  key: changes.effect!,
  name: { en_GB: changes.effect! },
  active: true,
  code: null,
  effect: 'percent',
  on: 'goods',
  percent: null,
  amount: null,
  buy: null,
  get: null,
  rewardProducts: [],
  rewardCategories: [],
  timesPerOrder: null,
  products: [],
  categories: [],
  manufacturers: [],
  minimumAmount: null,
  minimumQuantity: null,
  from: null,
  to: null,
  weekdays: [],
  fromHour: null,
  toHour: null,
  countries: [],
  currencies: [],
  customerGroups: [],
  priority: 0,
  combines: true,
  usageLimit: null,
  usageLimitPerCustomer: null,
  ...changes,
});

/** Every other order has some of the goods free, and others at a price. */
const PROMOTIONS = [
  promotion({ effect: 'buyGet', buy: 2, get: 1 }),
  promotion({ effect: 'price', amount: 900, products: ['N-1', 'N-2'] }),
  promotion({ effect: 'percent', percent: 5000, on: 'delivery' }),
];

const NOW = new Date('2026-11-15T08:30:00Z');

/** A confirmed VAT number. */
const checkOf = (vatNumber: string) => ({
  vatNumber,
  result: 'valid' as const,
  checkedAt: NOW.toISOString(),
});
