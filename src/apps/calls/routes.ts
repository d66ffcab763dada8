import { Type } from 'typebox';
import { toSeconds } from '../../http/dates.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Nullable, Timestamp } from '../../http/schemas.ts';
import { CALL_KINDS } from '../manifest/schema.ts';
import { findCallEntries, MAX_LOGGED_CALLS } from './queries.ts';

const listAppCalls = operation({
  under: 'manage',
  method: 'GET',
  path: '/app/calls',
  name: 'listAppCalls',
  summary: 'List slow and failed calls',
  description:
    'Of the calling app, while customers waited: those whose answer could not be used, and those that took 400 ms or more. The newest 200 of the last 14 days, newest first; of many at once only some are recorded.',
  tag: 'app-calls',
  labels: [],
  access: 'any token',
  answer: Type.Object(
    {
      items: Type.Array(
        Type.Object(
          {
            kind: Type.Enum([...CALL_KINDS], {
              description: 'What the app was asked.',
              examples: ['deliveryOptions'],
            }),
            at: { ...Timestamp, description: 'When the call ended.' },
            milliseconds: Type.Integer({ description: 'How long it took.', examples: [801] }),
            statusCode: Nullable(
              Type.Integer({ description: 'What was answered; null: nothing.', examples: [200] }),
            ),
            problem: Nullable(
              Type.String({
                description: 'Why the answer could not be used; null: it was slow.',
                examples: ['The signature of the answer is wrong: webhook-signature'],
              }),
            ),
          },
          { title: 'app call' },
        ),
        { description: 'The calls.' },
      ),
    },
    { title: 'app call list' },
  ),
});

export function appCallLog(api: Operations): void {
  api.read(listAppCalls, async ({ db, shopId, caller }) => {
    const entries = await findCallEntries(db, shopId, caller.app!.appId, MAX_LOGGED_CALLS);
    return {
      items: entries.map(({ kind, at, milliseconds, statusCode, problem }) => ({
        kind,
        at: toSeconds(at),
        milliseconds,
        statusCode,
        problem,
      })),
    };
  });
}
