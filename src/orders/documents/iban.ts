/** An account number as people read it: in groups of four. */
export const grouped = (iban: string) => iban.replaceAll(' ', '').replaceAll(/.{4}(?=.)/g, '$& ');
