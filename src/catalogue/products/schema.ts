import { Type, type Static } from 'typebox';
import { ShownFields } from '../../shops/settings/shown-fields.ts';
import { Price } from '../../http/price.ts';
import { Id, Links, Nullable, Paged, Timestamp } from '../../http/schemas.ts';
import { Image } from '../../platform/media/schema.ts';
import { UNIT_KEYS } from '../../kernel/units.ts';
import { WITHDRAWAL_EXCLUSIONS } from './facts.ts';
import { LegalInfo } from './legal-facts.ts';

/** The product as responses show it. Keys are in the order of the wire. */

export const Quantity = Type.Object(
  {
    amount: Type.Number({ description: 'Quantity.', examples: [1] }),
    unit: Type.String({
      description: 'Sign of the unit, or its name where it has no sign.',
      examples: ['piece(s)'],
    }),
  },
  { title: 'quantity' },
);

export const TaxClassInfo = Type.Object(
  {
    taxClassId: Id,
    name: Type.String({ description: 'Name in the shop.', examples: ['standard'] }),
    percentage: Type.Number({ description: "Rate in percent in the shop's country.", examples: [19] }),
  },
  { title: 'taxClassInfo', description: 'How the product is taxed.' },
);

const BasePrice = Type.Object(
  {
    refQuantity: { ...Quantity, description: 'The reference amount.' },
    refPrice: { ...Price, description: 'The price of it.' },
    formatted: Type.String({ description: 'Both as text.', examples: ['100 g = 3.96 €'] }),
    quantity: { ...Quantity, description: 'The content of the product.' },
  },
  { title: 'basePrice', description: 'Price per reference amount; null when none is set.' },
);

export const PercentInfo = Type.Object(
  {
    percentage: Type.Number({ description: 'Per cent; 0: none.', examples: [5] }),
    formatted: Type.String({ description: 'As text.', examples: ['5 %'] }),
  },
  { title: 'percent' },
);

export const BulkPriceInfo = Type.Object(
  {
    quantity: { ...Quantity, description: 'The tier starts here.' },
    price: { ...Price, description: 'Price of one unit in the tier.' },
    basePrice: Nullable(BasePrice),
    priceSavings: Nullable(
      Type.Object(
        {
          percent: { ...PercentInfo, description: 'The saving for the customer.' },
          regularBulkPrice: { ...Price, description: 'Price of the tier without the saving.' },
        },
        { title: 'priceSavings', description: 'Saving of a customer group.' },
      ),
    ),
  },
  { title: 'bulkPriceInfo' },
);

export const CustomerSpecificPriceInfo = Type.Object(
  {
    customerGroup: Type.String({ description: 'Name of the group.', examples: ['Cafes'] }),
    customerGroupId: Id,
    priceInfo: Type.Array(BulkPriceInfo, { description: 'Tiers of the group, ascending.' }),
  },
  { title: 'customerSpecificPriceInfo' },
);

const price = (description: string) => Nullable({ ...Price, description });

const PriceInfo = Type.Object(
  {
    quantity: { ...Quantity, description: 'The quantity that the price is for.' },
    taxClass: TaxClassInfo,
    price: price('Selling price; null when there is none.'),
    depositPrice: price('Deposit.'),
    ecoParticipationPrice: price('Recycling fee.'),
    priceWithDeposits: price('Price, deposit and recycling fee together.'),
    lowestPrice: price('Cheapest variation; of a master whose variations have prices of their own.'),
    lowestRefPriceFormatted: Nullable(
      Type.String({
        description: 'Lowest base price of the variations, as text.',
        examples: ['100 g = 3.10 €'],
      }),
    ),
    highestPrice: price('Dearest variation.'),
    manufacturerPrice: price('Strike-through or recommended price.'),
    basePrice: Nullable(BasePrice),
    lowestPrice30Days: price(
      'Lowest price of the 30 days before the current reduction (article 6a of directive 98/6/EC); null when the price was not reduced.',
    ),
  },
  { title: 'priceInfo', description: 'Prices in the tax model of the shop.' },
);

export const VariationIdentifier = Type.Object(
  {
    name: Type.String({ description: 'Key of the attribute.', examples: ['Roast'] }),
    displayName: Type.String({ description: 'Label of the attribute.', examples: ['Roast'] }),
    value: Type.String({ description: 'Key of the value.', examples: ['Dark'] }),
    displayValue: Type.String({ description: 'Label of the value.', examples: ['Dark'] }),
  },
  { title: 'variationIdentifier' },
);

export const Weight = Type.Object(
  {
    amount: Type.Number({ description: 'How much.', examples: [260] }),
    unit: Type.String({ description: 'Sign of a unit of weight.', examples: ['g'] }),
  },
  { title: 'weight' },
);

const Video = Type.Object(
  {
    type: Type.String({ description: 'Provider.', enum: ['YouTube', 'Vimeo'], examples: ['YouTube'] }),
    source: Type.String({ description: 'Id or address of the video.', examples: ['kettleTour01'] }),
  },
  { title: 'video' },
);

const text = (description: string, example: string) =>
  Nullable(Type.String({ description, examples: [example] }));
const flag = (description: string, example = false) => Type.Boolean({ description, examples: [example] });
const number = (description: string, example: number) => Type.Number({ description, examples: [example] });

const SafetyParty = Type.Object(
  {
    name: Type.String({ description: 'Name, or registered name.', examples: ['Beacon Appliances Ltd'] }),
    address: Type.String({
      description: 'Postal address.',
      examples: ['Kaistrasse 4, 20457 Hamburg, Germany'],
    }),
    contact: Type.String({
      description: 'Electronic address: of email, or of a website.',
      examples: ['safety@beacon.example'],
    }),
  },
  { title: 'safetyParty' },
);

export const Product = Type.Object(
  {
    productId: Id,
    name: Type.String({ description: 'Name.', examples: ['Beacon Kettle 1.7 l'] }),
    visible: flag('Shown in the shop.', true),
    productVariationType: Type.String({
      description: 'Role: a master has variations, which can be bought.',
      enum: ['master', 'regular', 'variation'],
      examples: ['regular'],
    }),
    productVariationMasterName: text('Name of the master; of a variation only.', 'Tidewater Espresso Beans'),
    productVariationMasterId: Nullable({ ...Id, description: 'The master; of a variation only.' }),
    manufacturerProductNumber: text('Number at the manufacturer.', 'BK-17'),
    productLength: Nullable(number('mm.', 220)),
    productWidth: Nullable(number('mm.', 160)),
    productHeight: Nullable(number('mm.', 240)),
    productVariationSelection: Nullable(
      Type.Array(VariationIdentifier, { description: 'The selected values; only for a variation.' }),
    ),
    shortDescription: text('A short text; may contain markup.', 'Boils in three minutes.'),
    deliveryPeriod: text('Days.', '3-5'),
    description: text('May contain markup.', '<p>Steel, with a lid that opens by itself.</p>'),
    title: text('Title of its page.', 'Beacon Kettle 1.7 l - Harbour & Hearth'),
    productImage: text('File name of the main image.', 'AP-100_1.png'),
    images: Type.Array(Image, { description: 'Five sizes of the main image.' }),
    priceInfo: PriceInfo,
    bulkPriceInfo: Type.Optional(
      Type.Array(BulkPriceInfo, { description: 'Prices from a quantity on, ascending.' }),
    ),
    customerSpecificPriceInfo: Type.Optional(
      Type.Array(CustomerSpecificPriceInfo, { description: 'Prices of customer groups.' }),
    ),
    forSale: flag('Can be put into a cart: visible, with a price above 0, no master.', true),
    specialOffer: flag('Special offer.'),
    deliveryWeight: Nullable({ ...Weight, description: 'Weight of the parcel.' }),
    shippingMethodsRestrictedTo: Type.Optional(
      Nullable({ ...Links, description: 'The shipping methods that may deliver it; null: all.' }),
    ),
    availabilityText: Type.String({
      description: 'For the shopper; empty when stock is not tracked.',
      examples: ['In stock<br />can be shipped within 3-5 days'],
    }),
    availability: Nullable(
      Type.String({
        description: 'State of the stock; null when it is not tracked, and for a master.',
        enum: ['OnStock', 'WarnStock', 'OutStock', null],
        examples: ['OnStock'],
      }),
    ),
    energyLabelsString: text('Energy class, or best and worst.', 'B,D'),
    energyLabelsMaxEfficiencyString: text('Best class of the scale.', 'A'),
    energyLabelSourceFile: text('Address of the label.', 'https://shop.example/labels/AP-110.png'),
    productDataSheet: text('Address of the data sheet.', 'https://shop.example/sheets/AP-100.pdf'),
    sfUrl: Type.String({
      description: 'Address in the storefront.',
      examples: ['https://shop.example/shop/DemoShop/Products/AP-100'],
    }),
    productNumber: Type.String({ description: 'Number, unique in the shop.', examples: ['AP-100'] }),
    isProductNumberVisible: flag('Number shown in the shop.', true),
    isNew: flag('Marked as new.'),
    isManufacturerPriceRRP: flag('The manufacturer price is a recommended retail price.'),
    isShippingLinkVisible: flag('Link to the shipping costs shown.', true),
    isCustomizable: flag('The customer may enter a text.'),
    customizableTextLength: number('Longest text.', 40),
    customizableHeadlineText: Type.String({
      description: 'Headline of the field.',
      examples: ['Your engraving'],
    }),
    isCustomizableTextRequired: Type.Optional(
      flag('Only sold with a text; absent: the customer may leave it out.', true),
    ),
    isCustomizableTextWithdrawable: Type.Optional(
      flag('With a text, it still has the right of withdrawal; absent: it has not.', true),
    ),
    customizablePrice: Type.Optional({
      ...Price,
      description: 'The price of the text for each unit; absent: free of charge.',
    }),
    newnessDate: Nullable({ ...Timestamp, description: 'When the mark "new" ends.' }),
    refAmount: number('Reference amount of the base price.', 100),
    refUnit: Type.String({ description: 'Its unit.', enum: [...UNIT_KEYS], examples: ['gram'] }),
    refContentAmount: number('Content of the product in that unit.', 250),
    priceQuantity: number('Amount that the price is for.', 1),
    orderUnit: Type.String({ description: 'Long name of the unit of orders.', examples: ['piece(s)'] }),
    minOrder: number('Smallest amount of an order.', 1),
    intervalOrder: number('Step of the amount.', 1),
    maxOrder: Type.Optional(number('Largest amount of an order; absent: any.', 10)),
    withdrawalExcluded: Type.Optional(
      Type.Enum(WITHDRAWAL_EXCLUSIONS, {
        description:
          'Why it is sold without the right of withdrawal, or when the right ends (Directive 2011/83/EU, article 16); absent: it has the right.',
        examples: ['madeToMeasure'],
      }),
    ),
    safetyInfo: Type.Optional(
      Type.Object(
        {
          manufacturer: Type.Optional({ ...SafetyParty, description: 'The manufacturer.' }),
          responsiblePerson: Type.Optional({
            ...SafetyParty,
            description: 'Who is responsible in the European Union.',
          }),
          text: Type.Optional(
            Type.String({
              description: 'Warnings and safety information, in lines.',
              examples: ['Keep away from children.'],
            }),
          ),
        },
        {
          title: 'safetyInfo',
          description:
            'Safety data (EU 2023/988) of the product, or of its manufacturer in the settings; absent in lists, and when there is none.',
        },
      ),
    ),
    giftCard: Type.Optional(
      Type.Object(
        {
          minimum: { ...Price, description: 'The least value that customers may choose.' },
          maximum: { ...Price, description: 'The highest value.' },
        },
        {
          title: 'gift card values',
          description: 'It is a gift card, whose price is the proposed value. Absent: it is none.',
        },
      ),
    ),
    backorder: Type.Optional(
      Type.Object(
        {
          kind: Type.Enum(['backorder', 'preorder'], {
            description: 'Sold beyond the stock, or before it exists.',
            examples: ['preorder'],
          }),
          expectedOn: Nullable(
            Type.String({
              description: 'When it is expected; null: it is not known.',
              examples: ['2027-03-01'],
            }),
          ),
          isOpen: Type.Boolean({
            description:
              'More than the stock can be ordered now. False: the limit is reached, the day has passed, or the stock is not counted.',
            examples: [true],
          }),
          limit: Type.Optional(
            number('How many more than the stock may be promised; only with the scope products_write.', 50),
          ),
          promised: Type.Optional(number('How many orders wait for; only with the scope products_write.', 3)),
        },
        { title: 'product backorder', description: 'It is sold beyond its stock. Absent: it is not.' },
      ),
    ),
    legalInfo: Type.Optional(LegalInfo),
    productCode: text('EAN, UPC, ISBN or the like.', '4012345678901'),
    manufacturer: text('Manufacturer.', 'Beacon'),
    upc: text('UPC.', '012345678905'),
    ean: text('EAN.', '4012345678901'),
    essentialFeatures: text('Lines of text.', '1.7 litres\nswitches itself off'),
    searchKeywords: Nullable(
      Type.Array(Type.String({ description: 'A word.', examples: ['kettle'] }), {
        description: 'More words it is found by.',
      }),
    ),
    stocklevel: Nullable(number('Stock; null: not tracked. May be negative.', 22)),
    minStocklevel: Type.Optional(Nullable(number('Warning level; only with the scope products_write.', 5))),
    isInWishlist: flag('Always false for apps.'),
    videos: Type.Array(Video, { description: 'Videos.' }),
    links: Links,
    fields: ShownFields,
  },
  { title: 'product' },
);
/** The key of a value for pages only: JSON, and so the API, leaves out symbol keys. */
export const LOWEST_BASE_PRICE = Symbol('lowest base price');

type ApiProduct = Static<typeof Product>;
type BasePrice = NonNullable<ApiProduct['priceInfo']['basePrice']>;

export type Product = Omit<ApiProduct, 'priceInfo'> & {
  /** The API has the lowest base price of a master as a text only. */
  priceInfo: ApiProduct['priceInfo'] & {
    [LOWEST_BASE_PRICE]?: Pick<BasePrice, 'refQuantity' | 'refPrice'>;
  };
};

/** For a list found by a search. */
export const MoreResults = Type.Optional(
  Type.Boolean({
    description:
      'Only of a search, and only true: more products match than were compared. results, pages and facets are of those ' +
      'that were; a narrower search finds the others.',
    examples: [true],
  }),
);

export const ProductList = Type.Object(
  { ...Paged(Product, '').properties, moreResults: MoreResults },
  { title: 'product list' },
);
