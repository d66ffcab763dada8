import type { AppCalls } from '../../apps/calls/calls.ts';
import type { Database } from '../../db/database.ts';
import type { DemoAccess } from '../../http/demo-access.ts';
import type { Content } from '../../pricing/content.ts';
import type { PaymentMethod, Settings } from '../../shops/settings/settings.ts';
import { createAppProvider } from './app-provider.ts';
import { createDemoProvider } from './demo-provider.ts';
import { createMollieProvider } from './mollie.ts';
import type { PaymentProvider } from './provider.ts';
import { createStripeProvider } from './stripe.ts';

/** The providers by their names in settings files, as people and the API call them. */
export const PROVIDER_LABELS = {
  app: 'App',
  demo: 'Demo payment',
  mollie: 'Mollie',
  stripe: 'Stripe',
} as const;

export type ProviderName = keyof typeof PROVIDER_LABELS;

export type Providers = Readonly<Record<ProviderName, PaymentProvider>>;

/** `others` replace built-in ones. Without `calls`, as in a command, no payment of an app is begun or changed. */
export function createProviders(
  db: Database,
  demoAccess: DemoAccess,
  { calls, ...others }: Partial<Providers> & { calls?: AppCalls } = {},
): Providers {
  return {
    app: createAppProvider(db, calls),
    demo: createDemoProvider(db, demoAccess),
    mollie: createMollieProvider(),
    stripe: createStripeProvider(),
    ...others,
  };
}

/** false: the merchant handles the payment, or an app that only reports what came of it. */
export function isProviderName(name: string | null): name is ProviderName {
  return name !== null && Object.hasOwn(PROVIDER_LABELS, name);
}

/** The provider of a payment method: in a sandbox always the demo payment, also where the original shop has another. */
export function providerOf(
  providers: Providers,
  name: ProviderName,
  { sandbox }: Pick<Settings, 'sandbox'>,
): PaymentProvider {
  return providers[sandbox ? 'demo' : name];
}

export function providerLabel(name: string | null): string | null {
  return isProviderName(name) ? PROVIDER_LABELS[name] : name;
}

export type ProviderMethod = PaymentMethod & { providerName: ProviderName };

/**
 * The method of an order whose payment a provider handles; undefined: the merchant or an app does. A client that names
 * its own transaction has paid without us.
 */
export function providerMethodOf(
  { payment }: Pick<Content, 'payment'>,
  { paymentMethods }: Pick<Settings, 'paymentMethods'>,
): ProviderMethod | undefined {
  if (!payment?.method || payment.transactionId !== null) return undefined;
  const { paymentMethodId } = payment.method;
  return paymentMethods.find(
    (method): method is ProviderMethod =>
      method.paymentMethodId === paymentMethodId && isProviderName(method.providerName),
  );
}
