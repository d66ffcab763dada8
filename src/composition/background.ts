import type { FastifyBaseLogger } from 'fastify';
import { runDueEdits } from '../catalogue/products/bulk-edit-runner.ts';
import { runDueImports } from '../catalogue/products/import-runner.ts';
import { runDueRebuilds } from '../catalogue/products/listing-rebuild.ts';
import { runDueMailings } from '../content/mailings/runner.ts';
import { runDueCopies } from '../admin/sandbox/copy-runner.ts';
import { staffOf } from '../admin/users/staff.ts';
import { backupPlans, runDueBackups, type BackupDeps } from '../host/backups/runner.ts';
import { runDueRestores } from '../host/backups/restore-runner.ts';
import { backupVerification } from '../host/backups/verify.ts';
import { emailDueMessages } from '../host/message-sender.ts';
import { cleanupSteps, COUNTING_STEPS } from './cleanup-steps.ts';
import { isPrivate, type Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { runDueMoves } from '../imports/moves/runner.ts';
import type { DemoAccess } from '../http/demo-access.ts';
import { repeat, type Background } from '../platform/background.ts';
import { runCleanup } from '../platform/cleanup.ts';
import { openBackupStore } from '../platform/backup/store.ts';
import { openMediaStorage } from '../platform/media/open-storage.ts';
import { startBackorderNotices } from '../orders/backorder-notices.ts';
import { createProviders, type Providers } from '../orders/payments/providers.ts';
import { startPaymentWorker } from '../orders/payments/worker.ts';
import { createEInvoiceBe } from '../orders/transport/e-invoice-be.ts';
import { startTransportWorker } from '../orders/transport/worker.ts';
import { installationKey } from '../platform/sealing.ts';
import type { AppCalls } from '../apps/calls/calls.ts';
import { receiverPolicy, type Resolve } from '../apps/webhooks/receiver-address.ts';
import { startOrderNotices } from '../assistants/orders/notices.ts';
import { createPlatformProfiles } from '../assistants/profiles.ts';
import { readDueManifests } from '../apps/manifest/worker.ts';
import { createSender } from '../apps/webhooks/sending.ts';
import { startRuleCalls } from '../rules/calls.ts';
import { runDueRules } from '../rules/runner.ts';
import { startWebhookWorker } from '../apps/webhooks/worker.ts';
import { runDueSupplies } from '../downloads/runner.ts';
import { createServiceAddresses } from '../shops/domains/service-addresses.ts';
import { startDkimChecks } from '../shops/email/dkim.ts';
import { startDomainChecks } from '../shops/domains/worker.ts';
import type { ShopHosts } from '../shops/shop/hosts.ts';
import { domainChallenges } from '../shops/shop/domain-challenge.ts';
import { readDeliveryOption, WEBHOOK_ENTITIES } from './webhook-entities.ts';

const CHECK_REBUILDS = 5_000;
const CHECK_CLEANUP = 60_000;
const CHECK_BACKUPS = 5_000;
const CHECK_MAILINGS = 2_000;
const CHECK_RULES = 2_000;
/** A customer who has paid waits for it. */
const CHECK_SUPPLIES = 1_000;
const CHECK_MESSAGES = 10_000;
/** A merchant waits for it. */
const CHECK_IMPORTS = 1_000;

/** Starts the background work. Every process checks for it; leases in the database decide which one runs it. */
export function startBackground(
  db: Database,
  config: Config,
  demoAccess: DemoAccess,
  log: FastifyBaseLogger,
): Background {
  const steps = cleanupSteps(config, log);
  const media = openMediaStorage(config);
  const policy = receiverPolicy(config, demoAccess);
  const ownHost = config.PUBLIC_URL === undefined ? undefined : new URL(config.PUBLIC_URL).hostname;
  let key: Promise<Buffer> | undefined;
  const loadKey = () => (key ??= installationKey(config));
  const store = openBackupStore(config);
  const works = [
    ...(store ? backupWorks({ db, config, store, log }) : []),
    repeat('the restore of shops', CHECK_IMPORTS, log, (signal) =>
      runDueRestores({ db, config, store, staff: staffOf(config), loadKey, log }, signal),
    ),
    repeat('the sandboxes of shops', CHECK_IMPORTS, log, (signal) =>
      runDueCopies({ db, config, log }, signal),
    ),
    repeat('the rebuild of lists', CHECK_REBUILDS, log, (signal) => runDueRebuilds(db, signal)),
    repeat('the import of products', CHECK_IMPORTS, log, (signal) =>
      runDueImports({ db, config, media, log }, signal),
    ),
    repeat('the import of shops', CHECK_IMPORTS, log, (signal) =>
      runDueMoves({ db, config, media, log, policy, loadKey }, signal),
    ),
    repeat('the bulk edits of products', CHECK_IMPORTS, log, (signal) => runDueEdits({ db, log }, signal)),
    repeat('the messages of the host', CHECK_MESSAGES, log, (signal) =>
      emailDueMessages(db, staffOf(config), signal),
    ),
    repeat('the manifests of apps', CHECK_CLEANUP, log, (signal) =>
      readDueManifests(
        { db, policy, loadKey, isOwnOrigin: (origin) => new URL(origin).hostname === ownHost },
        log,
        signal,
      ),
    ),
    repeat('the rules', CHECK_RULES, log, (signal) => runDueRules({ db, log }, signal)),
    repeat('the supply of downloads', CHECK_SUPPLIES, log, (signal) => runDueSupplies({ db, log }, signal)),
    startBackorderNotices(db, log),
    repeat('the mailings', CHECK_MAILINGS, log, (signal) => runDueMailings({ db, config, log }, signal)),
    repeat('the counts of shops', CHECK_CLEANUP, log, (signal) =>
      runCleanup(db, COUNTING_STEPS, { log, signal }),
    ),
    repeat('the clean-up', CHECK_CLEANUP, log, (signal) => runCleanup(db, steps, { log, signal })),
  ];
  return { stop: async () => void (await Promise.all(works.map((work) => work.stop()))) };
}

/** The verification restores a whole shop: other steps of the clean-up do not wait for it. */
function backupWorks(deps: BackupDeps): Background[] {
  const { db, log } = deps;
  const plans = [backupPlans];
  const verification = [backupVerification(deps)];
  return [
    repeat('the plans of backups', CHECK_CLEANUP, log, (signal) => runCleanup(db, plans, { log, signal })),
    repeat('the backups of shops', CHECK_BACKUPS, log, (signal) => runDueBackups(deps, signal)),
    repeat('the verification of backups', CHECK_CLEANUP, log, (signal) =>
      runCleanup(db, verification, { log, signal }),
    ),
  ];
}

/**
 * Starts to check the domains of shops, and the records of their signatures. A service that only this machine can call checks none: nobody can reach it
 * under them. Undefined then.
 */
export async function startDomains({
  db,
  config,
  hosts,
  log,
}: {
  db: Database;
  config: Config;
  hosts: ShopHosts;
  log: FastifyBaseLogger;
}): Promise<Background | undefined> {
  if (isPrivate(config)) return undefined;
  const challengeOf = domainChallenges(await installationKey(config));
  const checks = [
    startDomainChecks({ db, log, challengeOf, hosts, service: createServiceAddresses(config) }),
    startDkimChecks(db, log),
  ];
  return { stop: async () => void (await Promise.all(checks.map((check) => check.stop()))) };
}

export interface WebhookWorkDeps {
  db: Database;
  config: Config;
  demoAccess: DemoAccess;
  log: FastifyBaseLogger;
  /** Scheme and host of the links in payloads. */
  origin: string;
  /** Milliseconds between two sweeps. */
  pause?: number;
  /** Timeout of a receiver in milliseconds. */
  timeout?: number;
  /** Finds the addresses of a receiver; absent: by DNS. */
  resolve?: Resolve;
}

/** Starts to deliver events to webhooks. */
export function startWebhooks(deps: WebhookWorkDeps): Background {
  return startWebhookWorker({ ...deps, entities: WEBHOOK_ENTITIES, readDeliveryOption });
}

/** Starts to call the addresses that rules name. */
export function startCallsOfRules(deps: WebhookWorkDeps): Background {
  const { db, config, demoAccess, log, origin, pause, timeout, resolve } = deps;
  let key: Promise<Buffer> | undefined;
  const policy = receiverPolicy(config, demoAccess, resolve);
  return startRuleCalls({
    db,
    log,
    origin,
    pause,
    sender: createSender(policy, { ...(timeout !== undefined && { timeout }) }),
    loadKey: () => (key ??= installationKey(config)),
  });
}

/** Starts to tell assistants of the orders that their buyers have placed. */
export function startNoticesOfOrders(deps: WebhookWorkDeps & { hosts: ShopHosts }): Background {
  const { db, config, demoAccess, log, hosts, origin, pause, timeout, resolve } = deps;
  let key: Promise<Buffer> | undefined;
  const policy = receiverPolicy(config, demoAccess, resolve);
  return startOrderNotices({
    db,
    log,
    hosts,
    origin,
    pause,
    sender: createSender(policy, { ...(timeout !== undefined && { timeout }) }),
    profiles: createPlatformProfiles(db, policy),
    loadKey: () => (key ??= installationKey(config)),
  });
}

export interface TransportWorkDeps {
  db: Database;
  config: Config;
  demoAccess: DemoAccess;
  log: FastifyBaseLogger;
  /** The address of the provider's API; absent: the real one. */
  endpoint?: string;
  /** Milliseconds between two rounds. */
  pause?: number;
}

/** Starts to bring electronic documents into the Peppol network. */
export function startTransport({
  db,
  config,
  demoAccess,
  log,
  endpoint,
  pause,
}: TransportWorkDeps): Background {
  let key: Promise<Buffer> | undefined;
  const policy = receiverPolicy(config, demoAccess);
  return startTransportWorker({
    db,
    log,
    pause,
    providers: { 'e-invoice.be': createEInvoiceBe(policy, endpoint === undefined ? {} : { endpoint }) },
    loadKey: () => (key ??= installationKey(config)),
  });
}

export interface PaymentWorkDeps {
  db: Database;
  config: Config;
  demoAccess: DemoAccess;
  log: FastifyBaseLogger;
  /** Asks apps about their payments. */
  calls: AppCalls;
  /** Payment providers that replace built-in ones. */
  providers?: Partial<Providers> | undefined;
  /** Milliseconds between two rounds. */
  pause?: number;
}

/** Starts to ask payment providers about the state of payments, and to make refunds. */
export function startPayments({
  db,
  config,
  demoAccess,
  log,
  calls,
  providers,
  pause,
}: PaymentWorkDeps): Background {
  let key: Promise<Buffer> | undefined;
  return startPaymentWorker({
    db,
    log,
    pause,
    providers: createProviders(db, demoAccess, { calls, ...providers }),
    loadKey: () => (key ??= installationKey(config)),
  });
}
