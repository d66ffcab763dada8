import type { FastifyBaseLogger } from 'fastify';
import { adminLinkCleanup } from '../admin/users/links.ts';
import { adminSessionCleanup } from '../admin/users/queries.ts';
import { appUseCleanup } from '../apps/app-use.ts';
import { callLogCleanup } from '../apps/calls/queries.ts';
import { signingKeyCleanup } from '../apps/manifest/signing-keys.ts';
import { oauthCleanup } from '../apps/oauth/tokens.ts';
import { assistantCallCleanup } from '../assistants/calls.ts';
import { assistantKeyRotation } from '../assistants/keys.ts';
import { sessionCleanup } from '../assistants/sessions.ts';
import { auditCleanup } from '../apps/audit-log/queries.ts';
import { abandonedCarts } from '../carts/abandoned.ts';
import { bulkEditCleanup } from '../catalogue/products/bulk-edit-queries.ts';
import { importCleanup } from '../catalogue/products/import-queries.ts';
import { sentPictureCleanup } from '../catalogue/products/sent-pictures.ts';
import { missedAddressCleanup } from '../catalogue/redirects/queries.ts';
import { mailingCleanup } from '../content/mailings/run-queries.ts';
import { cartDays } from '../carts/cart-days.ts';
import { cartCleanup } from '../carts/queries.ts';
import { ruleRunCleanup } from '../rules/queries.ts';
import { taskCleanup } from '../rules/task-queries.ts';
import { fieldCleanup } from '../fields/queries.ts';
import type { Config } from '../config.ts';
import { restoreCleanup, uploadCleanup } from '../host/backups/restore-queries.ts';
import { shopDeletion } from '../host/delete-shops.ts';
import { hostLinkCleanup } from '../host/links.ts';
import { supportVisitCleanup } from '../host/support.ts';
import { answerCleanup, hostAnswerCleanup } from '../http/idempotency.ts';
import { planCleanup } from '../mcp/plans/plans.ts';
import { windowCleanup } from '../http/rate-limit.ts';
import { emailCountCleanup } from '../platform/email/daily-limit.ts';
import { emailProblemCleanup } from '../platform/email/problems.ts';
import { eventCleanup } from '../platform/events/queries.ts';
import { moveCleanup } from '../imports/moves/queries.ts';
import { shopDayCleanup, shopDays } from '../platform/plans/shop-days.ts';
import { failedJobCleanup } from '../platform/jobs/queries.ts';
import { openMediaStorage } from '../platform/media/open-storage.ts';
import { mediaCleanup } from '../platform/media/sweep.ts';
import { accountSessionCleanup, signInRequestCleanup } from '../people/accounts/queries.ts';
import { requestCleanup } from '../people/newsletters/queries.ts';
import { privacyRequestCleanup } from '../people/privacy/requests.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import { deliveryCleanup } from '../apps/webhooks/delivery-queries.ts';
import { customerTotals } from '../orders/customer-totals.ts';
import { reviewCleanup, reviewInvitations } from '../reviews/invite.ts';
import { reportSums } from '../orders/reports/counting.ts';
import { giftCardExpiry } from '../giftcards/expire.ts';
import { giftCardDelivery } from '../orders/sold-cards/send.ts';
import { unpaidOrderRelease } from '../orders/release-unpaid.ts';
import { wishlistCleanup } from '../storefront/wishlist/queries.ts';

/** Steps that count what reports show, shop by shop. With many shops that takes long, so they do not hold up the others. */
export const COUNTING_STEPS: readonly CleanupStep[] = [reportSums, customerTotals, cartDays, shopDays];

/** The steps of the clean-up: each module's own, one after the other in this order. */
export function cleanupSteps(config: Config, log: FastifyBaseLogger): CleanupStep[] {
  return [
    unpaidOrderRelease,
    giftCardExpiry,
    giftCardDelivery,
    ...(config.CART_ABANDONED_AFTER > 0 ? [abandonedCarts(config.CART_ABANDONED_AFTER)] : []),
    reviewInvitations,
    answerCleanup,
    hostAnswerCleanup,
    windowCleanup,
    cartCleanup,
    auditCleanup,
    appUseCleanup,
    callLogCleanup,
    signingKeyCleanup,
    assistantKeyRotation(config),
    assistantCallCleanup,
    oauthCleanup,
    planCleanup,
    sessionCleanup,
    requestCleanup,
    mailingCleanup,
    privacyRequestCleanup,
    signInRequestCleanup,
    accountSessionCleanup,
    adminSessionCleanup,
    adminLinkCleanup,
    hostLinkCleanup,
    supportVisitCleanup,
    wishlistCleanup,
    emailCountCleanup,
    emailProblemCleanup,
    shopDayCleanup,
    failedJobCleanup,
    importCleanup,
    moveCleanup,
    missedAddressCleanup,
    fieldCleanup,
    ruleRunCleanup,
    taskCleanup,
    reviewCleanup,
    bulkEditCleanup,
    sentPictureCleanup,
    uploadCleanup,
    restoreCleanup,
    deliveryCleanup(config.EVENT_DAYS),
    eventCleanup(config.EVENT_DAYS),
    mediaCleanup(openMediaStorage(config), { config, log }),
    shopDeletion(openMediaStorage(config), log),
  ];
}
