import { Type, type Static } from 'typebox';
import { Text } from '../schema.ts';

/** What an assistant says of its buyer, beside the products: the forms of the protocol's extensions. */

const PostalAddress = {
  first_name: Type.Optional(Text('First name.', 255)),
  last_name: Type.Optional(Text('Last name.', 255)),
  street_address: Type.Optional(Text('Street and number.', 255)),
  extended_address: Type.Optional(Text('Flat, floor, or who lives there.', 255)),
  address_locality: Type.Optional(Text('City.', 255)),
  address_region: Type.Optional(Text('State or province, where a country has them.', 64)),
  postal_code: Type.Optional(Text('Postcode.', 32)),
  address_country: Type.Optional(Text('Country, ISO 3166-1 alpha-2.', 100)),
  phone_number: Type.Optional(Text('Telephone number.', 64)),
};

export type PostalAddress = Static<typeof PostalAddressObject>;
const PostalAddressObject = Type.Object(PostalAddress, { description: 'An address.' });

const Decision = {
  granted: Type.Boolean({ description: 'Whether the buyer agrees.' }),
  source: Type.String({ description: 'platform: the buyer has said so.', maxLength: 20 }),
};

/** Purposes and segments that the shop has not named are ignored, as the protocol demands. */
const Consent = Type.Object(
  {
    'dev.ucp.consent.marketing': Type.Optional(
      Type.Object(
        {
          ...Decision,
          segments: Type.Optional(
            Type.Object(
              {
                'dev.ucp.consent.marketing.email': Type.Optional(
                  Type.Object(Decision, { description: 'By email.' }),
                ),
              },
              { description: 'The ways of it.' },
            ),
          ),
        },
        { description: 'News and offers.' },
      ),
    ),
  },
  { description: 'What the buyer agrees to.' },
);

export const Buyer = Type.Object(
  {
    first_name: Type.Optional(Text('First name.', 255)),
    last_name: Type.Optional(Text('Last name.', 255)),
    email: Type.Optional(Text('Email address.', 254)),
    phone_number: Type.Optional(Text('Telephone number, E.164.', 64)),
    consent: Type.Optional(Consent),
  },
  { description: 'Who buys.' },
);
export type Buyer = Static<typeof Buyer>;

/** A try of each costs the shop a look-up. */
const MAX_CODES = 5;

export const Discounts = Type.Object(
  {
    codes: Type.Optional(
      Type.Array(Text('Code of a coupon.', 100), {
        description: 'Replaces the codes that were sent before; an empty list removes them.',
        maxItems: MAX_CODES,
      }),
    ),
  },
  { description: 'Codes of coupons.' },
);
export type Discounts = Static<typeof Discounts>;

const Id = (description: string) => Text(description, 100);
const OrNull = (id: ReturnType<typeof Id>) => Type.Optional(Type.Union([id, Type.Null()]));

const MAX_METHODS = 10;
const MAX_DESTINATIONS = 10;

export const Fulfillment = Type.Object(
  {
    methods: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.Optional(Id('Id of the method.')),
          type: Type.Optional(Text('shipping or pickup.', 40)),
          line_item_ids: Type.Optional(
            Type.Array(Id('Id of a line.'), { description: 'The lines that it delivers.', maxItems: 500 }),
          ),
          destinations: Type.Optional(
            Type.Array(Type.Object({ id: Type.Optional(Id('Id of the address.')), ...PostalAddress }), {
              description: 'The addresses of the buyer.',
              maxItems: MAX_DESTINATIONS,
            }),
          ),
          selected_destination_id: OrNull(
            Id('The address, or the place where the buyer collects the goods.'),
          ),
          groups: Type.Optional(
            Type.Array(
              Type.Object({
                id: Type.Optional(Id('Id of the group.')),
                selected_option_id: OrNull(Id('The option that the buyer has chosen.')),
              }),
              { description: 'Which option is chosen.', maxItems: 10 },
            ),
          ),
        }),
        { description: 'How the goods are delivered.', maxItems: MAX_METHODS },
      ),
    ),
  },
  { description: 'Where and how the goods are delivered.' },
);
export type Fulfillment = Static<typeof Fulfillment>;
export type FulfillmentMethod = NonNullable<Fulfillment['methods']>[number];

const MAX_INSTRUMENTS = 10;

export const Payment = Type.Object(
  {
    instruments: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.Optional(Id('Id of the instrument.')),
          handler_id: Type.Optional(Id('The handler of the shop.')),
          selected: Type.Optional(Type.Boolean({ description: 'The buyer pays with it.' })),
          billing_address: Type.Optional(PostalAddressObject),
          credential: Type.Optional(
            Type.Object(
              {
                type: Text('What kind of credential it is.', 100),
                token: Type.Optional(Text('The token.', 500)),
              },
              { description: 'What the buyer pays with.' },
            ),
          ),
        }),
        { description: 'What the buyer may pay with.', maxItems: MAX_INSTRUMENTS },
      ),
    ),
  },
  { description: 'How the buyer pays.' },
);
export type Payment = Static<typeof Payment>;
export type Instrument = NonNullable<Payment['instruments']>[number];

/** The one that the buyer pays with. */
export function selectedInstrument(payment: Payment | undefined): Instrument | undefined {
  const instruments = payment?.instruments ?? [];
  return (
    instruments.find(({ selected }) => selected) ?? (instruments.length === 1 ? instruments[0] : undefined)
  );
}
