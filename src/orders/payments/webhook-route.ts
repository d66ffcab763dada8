import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config.ts';
import { notFound, Refusal, unavailable } from '../../http/errors.ts';
import { addressCaller, countCall, type RateLimiter } from '../../http/rate-limit.ts';
import { findSettings } from '../../shops/settings/settings.ts';
import { loadAccount } from './accounts.ts';
import type { PaymentDeps } from './calls.ts';
import { isProviderName, providerOf } from './providers.ts';
import { requestChecks } from './queries.ts';

const MAX_BYTES = 262_144;
const MAX_REFERENCES = 100;

export interface PaymentWebhookDeps {
  payments: PaymentDeps;
  config: Config;
  limiter: RateLimiter;
  isMigrated: () => boolean;
}

/** Where a provider sends webhooks for the payments of one method, on the host of the service. */
export const webhookPath = (shopId: string, methodKey: string) => `/payments/${shopId}/${methodKey}/webhook`;

/**
 * Receives the webhooks of payment providers. Their content is not trusted: it only makes the worker ask the provider
 * at once. A payment that is unknown here belongs elsewhere, and is no error.
 */
export async function paymentWebhooks(app: FastifyInstance, deps: PaymentWebhookDeps): Promise<void> {
  const { payments, config, limiter, isMigrated } = deps;
  const { db, providers, loadKey, log } = payments;
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // Signatures are made over the bytes.
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.post<{ Params: { shopId: string; methodKey: string } }>(
      webhookPath(':shopId', ':methodKey'),
      { schema: { hide: true }, bodyLimit: MAX_BYTES },
      async (request, reply) => {
        if (!isMigrated()) throw unavailable();
        const { shopId, methodKey } = request.params;
        const limit = config.RATE_LIMIT_ANONYMOUS;
        if (limit > 0) await countCall(limiter, `payments/${addressCaller(request.ip)}`, limit);
        const settings = request.url.includes('%00') ? undefined : await findSettings(db, shopId);
        const method = settings?.paymentMethods.find(({ key }) => key === methodKey);
        if (!method || !isProviderName(method.providerName)) throw notFound();
        const provider = providerOf(providers, method.providerName, settings!);
        let references: readonly string[] | undefined;
        try {
          const account = await loadAccount(db, await loadKey(), shopId, method, provider);
          const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
          const named = await provider.webhook({ headers: request.headers, body }, account);
          // PostgreSQL does not allow character 0 in texts.
          references = named?.filter((reference) => !reference.includes('\0')).slice(0, MAX_REFERENCES);
        } catch (error) {
          log.warn(
            { shop: shopId, method: methodKey, err: error },
            'the webhook of a provider was not understood',
          );
        }
        if (!references) throw new Refusal('WEBHOOK_SIGNATURE_WRONG');
        await requestChecks(db.atClockOf(shopId), shopId, method.paymentMethodId, references);
        return reply.code(200).send();
      },
    );
  });
}
