/** What an answer says beside its data, to the assistant or to its buyer. */
export type Message =
  | { type: 'info'; code: string; content: string; path?: string }
  | {
      type: 'warning';
      code: string;
      content: string;
      path?: string;
      /** The buyer must see it beside what it is about. */
      presentation?: 'disclosure';
      image_url?: string;
      url?: string;
    }
  | {
      type: 'error';
      code: string;
      content: string;
      severity: 'recoverable' | 'unrecoverable' | 'requires_buyer_input' | 'requires_buyer_review';
      path?: string;
    };

/** Member `messages` of an answer; none where there is nothing to say. */
export const messagesMember = (messages: readonly Message[]) => (messages.length > 0 ? { messages } : {});
