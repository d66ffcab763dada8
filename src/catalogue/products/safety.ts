import type { Settings } from '../../shops/settings/settings.ts';
import type { ProductFacts, ProductSafety } from './facts.ts';

/** What the product says, and where it says nothing, what the settings say of its manufacturer; null: nothing at all. */
export function safetyOf(
  { safety, manufacturer: name }: Pick<ProductFacts, 'safety' | 'manufacturer'>,
  { manufacturers }: Pick<Settings, 'manufacturers'>,
): ProductSafety | null {
  const known =
    name === undefined
      ? undefined
      : manufacturers.find((one) => one.name.toLowerCase() === name.toLowerCase());
  const manufacturer =
    safety?.manufacturer ??
    (known && { name: known.company ?? known.name, address: known.address, contact: known.contact });
  const responsiblePerson = safety?.responsiblePerson ?? known?.responsiblePerson;
  const text = safety?.text ?? known?.safetyText;
  if (!manufacturer && !responsiblePerson && !text) return null;
  return {
    ...(manufacturer && { manufacturer }),
    ...(responsiblePerson && { responsiblePerson }),
    ...(text && { text }),
  };
}
