/**
 * A transport provider brings electronic documents into the Peppol network: an access point with an API. It knows
 * nothing of orders or the database.
 *
 * A document is first stored at the provider and sent in a second call, so that a crash in between leaves a draft
 * behind, never a second invoice. Before each sending the provider is asked for the state, because the answer to an
 * earlier call may have been lost.
 *
 * Every call ends within CALL_TIMEOUT and is made outside of transactions. A call that throws `TransportRefused` was
 * refused for good; any other error means that the outcome is unknown, and it is retried.
 */
export interface TransportProvider {
  /** Stores a UBL document without sending it, and returns the provider's id of it, at most 200 characters. */
  upload(file: { name: string; bytes: Buffer }, account: TransportAccount): Promise<string>;
  /** Sends a stored document. */
  send(reference: string, account: TransportAccount): Promise<void>;
  /** The only source of truth. */
  status(reference: string, account: TransportAccount): Promise<TransportStatus>;
}

export interface TransportAccount {
  apiKey: string;
}

export interface TransportStatus {
  /** `stored`: not sent yet. `sending`: on its way. */
  state: 'stored' | 'sending' | 'delivered' | 'failed';
}

/** The names of the services that documents can be sent with; adding one needs nothing else but its provider. */
export const TRANSPORT_PROVIDERS = ['e-invoice.be'] as const;
export type TransportName = (typeof TRANSPORT_PROVIDERS)[number];

export type TransportProviders = Readonly<Record<TransportName, TransportProvider>>;

/**
 * The provider has understood the call and refuses it for good. The message is for the merchant, and never contains a
 * secret.
 */
export class TransportRefused extends Error {
  override name = 'TransportRefused';
}

/** The document was sent and has not arrived. It is stored again when the merchant tries again. */
export class TransportFailed extends TransportRefused {
  override name = 'TransportFailed';
}
