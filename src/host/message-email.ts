import { adminUrl } from '../http/links.ts';
import { SHOP_PLACEHOLDERS, type EmailKind } from '../platform/email/kind.ts';

/** A message of the host, in the language of the shop. */
export interface MessageFacts {
  text: string;
}

/** To the owners of shops, by the mail server of the installation. */
export const hostMessageEmail: EmailKind<MessageFacts> = {
  name: 'hostMessage',
  occasion: 'To the owners of the shop, with a message of the operator of the service.',
  example: { en_GB: { subject: 'A message about {shopName}' } },
  sample: { text: 'On Sunday from 2 to 4 am the service is not available.' },
  // Only the host can cause it.
  isLimited: false,
  isOfService: true,
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    message: { meaning: 'The message.', value: ({ text }) => text },
  },
  link: (_, context) => adminUrl(context),
  messages: (email) => email.hostMessage,
};
