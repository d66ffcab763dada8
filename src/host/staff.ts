import type { Queries, Transaction } from '../db/database.ts';

export interface ShopOwner {
  ownerId: string;
  email: string;
  /** The invitation has not been accepted yet. */
  isInvited: boolean;
  /** In any shop; null: never. */
  signedInAt: Date | null;
}

export interface HostPerson {
  userId: string;
  /** The invitation has not been accepted yet. */
  isInvited: boolean;
  /** Runs the installation. */
  isHost: boolean;
}

/** The people of shops, as far as the host works with them. The admin has its people, and registers this. */
export interface Staff {
  owners(db: Queries, shopId: string): Promise<ShopOwner[]>;
  /** Who works in the shop with this address, in any role; undefined: there is no such person. */
  person(db: Queries, shopId: string, email: string): Promise<HostPerson | undefined>;
  /** Sends the invitation as the page of the shop's people does, and returns the id. `by` is named in it. */
  inviteOwner(tx: Transaction, shopId: string, invitation: { email: string; by: string }): Promise<string>;
  /** Never the last one. */
  removeOwner(tx: Transaction, shopId: string, ownerId: string): Promise<void>;
}
