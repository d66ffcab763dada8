import { adminUrl } from '../../http/links.ts';
import { SHOP_PLACEHOLDERS, type EmailKind } from '../../platform/email/kind.ts';

/** A webhook was deactivated, because its receiver did not accept a delivery. */
export interface WebhookDeactivated {
  appName: string;
  eventType: string;
  callbackUrl: string;
  webhookId: string;
  /** The last failure of the receiver. */
  reason: string;
}

export const deactivationEmail: EmailKind<WebhookDeactivated> = {
  name: 'webhook',
  occasion: 'To the shop, when a webhook was deactivated because its receiver failed for more than a day.',
  example: { en_GB: { subject: 'Webhook {eventType} of {appName} is off' } },
  isLimited: false,
  sample: {
    appName: 'Stock sync',
    eventType: 'ORDER_CREATE',
    callbackUrl: 'https://app.example/hook',
    webhookId: '019A8C1E-0000-7000-8000-000000001003',
    reason: 'The receiver answered 500',
  },
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    appName: { meaning: 'Name of the app.', value: ({ appName }) => appName },
    eventType: { meaning: 'The events that it delivers.', value: ({ eventType }) => eventType },
    callbackUrl: { meaning: 'Address of the receiver.', value: ({ callbackUrl }) => callbackUrl },
    webhookId: { meaning: 'Id of the webhook.', value: ({ webhookId }) => webhookId },
    reason: { meaning: 'What went wrong with the last attempt.', value: ({ reason }) => reason },
  },
  link: (_, context) => adminUrl(context, '/apps/webhooks'),
  messages: (email) => ({ ...email.aboutShop, ...email.webhook }),
};
