import type { Settings } from '../../shops/settings/settings.ts';
import type { ProductFacts, ProductSafety } from './facts.ts';

/** The product's own data, and by default that of its manufacturer in the settings; null: none. */
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
