import type { Address } from '../shops/countries/address.ts';

/** Details that an assistant has named for the buyer of its cart and that the cart itself has no place for. */
export interface AssistantNotes {
  /** Also when the address of the order is not complete yet. */
  buyer?: NotedBuyer;
  /** The addresses of the buyer, by the ids that the assistant knows them by. */
  destinations?: readonly OfferedDestination[];
  /** The one that is delivered to. */
  destinationId?: string;
  /** The address of the payment; missing: the one that is delivered to. */
  billing?: Partial<Address>;
  /** The codes as they were sent, the refused ones too. */
  codes?: readonly NotedCode[];
  /** Whether the buyer wants the newsletter; missing: the buyer was not asked. */
  wantsNewsletter?: boolean;
}

export interface NotedBuyer {
  firstName?: string;
  lastName?: string;
  email?: string;
  phoneNumber?: string;
}

export interface NotedCode {
  code: string;
  /** No coupon has it, or there is another one already; missing: it is the coupon of the cart. */
  refusal?: 'unknown' | 'second';
}

export interface OfferedDestination {
  id: string;
  address: Partial<Address>;
}
