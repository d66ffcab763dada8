/** What carts and orders say by themselves, in the languages that are built in; others get English. */
const WORDS = {
  en: { basketDiscount: 'cart discount', deposit: 'Deposit', ecoParticipation: 'Recycling fee' },
  de: { basketDiscount: 'Warenkorbrabatt', deposit: 'Pfand', ecoParticipation: 'Recyclingbeitrag' },
  fr: { basketDiscount: 'remise panier', deposit: 'Consigne', ecoParticipation: 'Éco-participation' },
  es: { basketDiscount: 'descuento', deposit: 'Depósito', ecoParticipation: 'Tasa de reciclaje' },
  it: { basketDiscount: 'sconto carrello', deposit: 'Cauzione', ecoParticipation: 'Contributo RAEE' },
  nl: { basketDiscount: 'winkelwagenkorting', deposit: 'Statiegeld', ecoParticipation: 'Recyclingbijdrage' },
};

export function wordsIn(locale: string): (typeof WORDS)['en'] {
  const language = locale.slice(0, 2);
  return Object.hasOwn(WORDS, language) ? WORDS[language as keyof typeof WORDS] : WORDS.en;
}
