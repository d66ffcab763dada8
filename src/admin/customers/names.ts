interface Named {
  firstName?: string | null;
  lastName?: string | null;
  company?: string | null;
}

/** The name of a person, else of the company; '' when neither is known. */
export function personName({ firstName, lastName, company }: Named): string {
  return [firstName, lastName].filter(Boolean).join(' ') || company || '';
}
