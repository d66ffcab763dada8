import type { ManagedOrder } from '@kontor/client';
import type { DeliveryAnswer, DeliveryQuestion } from '@kontor/client/app';
import type { Settings } from './labels.ts';
import { kilos } from './labels.ts';
import type { Sendcloud, ShippingOption } from './sendcloud.ts';

/** For goods whose weight the shop does not know. */
const UNKNOWN_WEIGHT = 1_000;
const MAX_OPTIONS = 10;

/** What a checkout is told: the options that the merchant has chosen, at the prices of Sendcloud. */
export async function deliveryOptions(
  sendcloud: Sendcloud,
  settings: Settings,
  { currency, destination, lines }: DeliveryQuestion,
): Promise<DeliveryAnswer> {
  if (destination.country === null) return { options: [] };
  const { country, zipCode } = settings;
  const options = await sendcloud.options({
    from: { country: country.toUpperCase(), zipCode },
    to: { country: destination.country, zipCode: destination.zipCode },
    kilos: kilos(gramsOf(lines)),
  });
  return { options: offered(options, codesOf(settings), currency) };
}

/** Those in the currency of the cart, because nobody here knows the rate of another. */
function offered(options: readonly ShippingOption[], codes: readonly string[], currency: string) {
  return codes
    .flatMap((code) => {
      const option = options.find((one) => one.code === code);
      const total = option?.quotes?.[0]?.price.total;
      if (!option || total?.currency !== currency) return [];
      return [
        { id: idOf(code), name: option.name.slice(0, 100), price: Math.round(Number(total.value) * 100) },
      ];
    })
    .slice(0, MAX_OPTIONS);
}

export const codesOf = ({ options }: Pick<Settings, 'options'>) =>
  options
    .split(',')
    .map((code) => code.trim())
    .filter((code) => code !== '');

/** What the customer has chosen at the checkout, else the first one of the settings. */
export function codeOf(
  { management }: ManagedOrder,
  clientId: string,
  settings: Settings,
): string | undefined {
  const codes = codesOf(settings);
  const { appId, optionId } = management.deliveryOption ?? {};
  return (appId === clientId ? codes.find((code) => idOf(code) === optionId) : undefined) ?? codes[0];
}

/** Names of options have no colons and slashes. */
const idOf = (code: string) => code.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 40);

const GRAMS: Readonly<Record<string, number>> = { mg: 0.001, g: 1, kg: 1_000, t: 1_000_000 };

const sumOf = (grams: readonly number[]) => Math.ceil(grams.reduce((total, one) => total + one, 0));

const gramsOf = (lines: DeliveryQuestion['lines']) =>
  sumOf(
    lines.map(({ quantity, weight }) => {
      const unit = weight ? GRAMS[weight.unit] : undefined;
      return Number(quantity) * (weight && unit ? weight.amount * unit : UNKNOWN_WEIGHT);
    }),
  );

/** The weights of its lines are those of all their pieces. */
export const gramsOfOrder = ({ lineItemContainer }: ManagedOrder) =>
  sumOf(
    lineItemContainer.productLineItems.map(({ quantity, deliveryWeight }) => {
      const unit = deliveryWeight ? GRAMS[deliveryWeight.unit] : undefined;
      return deliveryWeight && unit ? deliveryWeight.amount * unit : quantity.amount * UNKNOWN_WEIGHT;
    }),
  );
