export type Availability = 'OnStock' | 'WarnStock' | 'OutStock';

/** null: not tracked. At or below the warning level it still can be bought. */
export function availabilityOf(stock: number | null, minStock: number | null): Availability | null {
  if (stock === null) return null;
  if (stock <= 0) return 'OutStock';
  return minStock !== null && stock <= minStock ? 'WarnStock' : 'OnStock';
}

interface Phrases {
  inStock: string;
  notInStock: string;
  /** `%` is the number of days, which may be a range. */
  delivery: string;
}

const PHRASES: Record<string, Phrases> = {
  en: { inStock: 'In stock', notInStock: 'Not in stock', delivery: 'can be shipped within % days' },
  de: { inStock: 'Auf Lager', notInStock: 'Nicht auf Lager', delivery: 'Lieferzeit % Tage' },
  fr: { inStock: 'En stock', notInStock: 'Épuisé', delivery: 'expédié sous % jours' },
  es: { inStock: 'En existencias', notInStock: 'Agotado', delivery: 'envío en % días' },
  it: { inStock: 'Disponibile', notInStock: 'Non disponibile', delivery: 'spedizione entro % giorni' },
  nl: { inStock: 'Op voorraad', notInStock: 'Niet op voorraad', delivery: 'levertijd % dagen' },
};

export function availabilityText(
  availability: Availability | null,
  deliveryPeriod: string | undefined,
  locale: string,
): string {
  if (availability === null) return '';
  const phrases = PHRASES[locale.slice(0, 2)] ?? PHRASES['en']!;
  if (availability === 'OutStock') return phrases.notInStock;
  if (!deliveryPeriod) return phrases.inStock;
  return `${phrases.inStock}<br />${phrases.delivery.replace('%', () => deliveryPeriod)}`;
}
