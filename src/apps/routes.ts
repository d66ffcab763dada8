import { Type } from 'typebox';
import { recordEntry } from '../http/audit-entry.ts';
import { Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { isId, isSecretOf, newId, newSecret, secretHash } from '../kernel/ids.ts';
import { deleteTokensOf, insertToken, lockApp, takeAuthorisationCode } from './queries.ts';

const TokenRequest = Type.Object(
  {
    code: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The code that came with the call of the callback address.',
      examples: ['DemoCode0000000000000000000000A1'],
    }),
    client_id: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The client id of the app.',
      examples: ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E'],
    }),
    client_secret: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The client secret of the app.',
      examples: ['DemoSecret00000000000000000000Z9'],
    }),
  },
  { title: 'access token request' },
);

const AccessToken = Type.Object(
  {
    access_token: Type.String({
      description: 'Send it as `Authorization: Bearer <token>`. It lives until the app is uninstalled.',
      examples: ['4HZ9hriF6J3GOnd10JbFzdVehycOvAZf'],
    }),
  },
  { title: 'access token' },
);

const createAccessToken = operation({
  method: 'POST',
  path: '/token',
  name: 'createAccessToken',
  summary: 'Create access token',
  description:
    'The last step of installing an app: a code is exchanged for a token with the scopes of the app. A code works once, within ten minutes. An earlier token of the app ends. The exchange is in the audit log.',
  tag: 'token',
  labels: [],
  access: 'public',
  accepts: 'form',
  body: TokenRequest,
  answer: AccessToken,
  secretAnswer: 'not stored',
});

export function appOperations(api: Operations): void {
  api.write(createAccessToken, async ({ tx, shopId, body, header, afterCommit }) => {
    // Locked, so that of two concurrent exchanges the later one also ends the token of the earlier.
    const app = isId(body.client_id) ? await lockApp(tx, shopId, body.client_id) : undefined;
    if (!app?.secretHash || !isSecretOf(body.client_secret, app.secretHash)) {
      throw new Refusal('CLIENT_SECRET_WRONG');
    }
    if ((await takeAuthorisationCode(tx, shopId, app.appId, secretHash(body.code))) === 0) {
      throw new Refusal('INSTALL_CODE_WRONG');
    }
    const token = newSecret(32);
    await deleteTokensOf(tx, shopId, app.appId);
    await insertToken(tx, shopId, {
      tokenHash: secretHash(token),
      appId: app.appId,
      scopes: app.scopes,
    });
    // The caller is not authenticated yet, so the log is told whose token it is. It never holds the token.
    await recordEntry(tx, {
      shopId,
      entryId: newId(tx.now),
      at: tx.now,
      appId: app.appId,
      appName: app.name,
      method: 'POST',
      route: '/rs/shops/:shopId/token',
      object: { appId: app.appId.toUpperCase() },
    });
    afterCommit(() => api.callers.invalidate(shopId));
    header('cache-control', 'no-store');
    return { access_token: token };
  });
}
