import { expect, test } from 'vitest';
import { createSessions, SESSION_SECONDS, type Session } from './session.ts';

const sessions = createSessions(Buffer.alloc(32, 1));
const now = new Date('2026-11-16T12:00:00Z');

test('a session comes back from its cookie, in its shop and until it ends', () => {
  const session: Session = { visitor: 'secret', wishlistCount: 2, currency: 'EUR' };
  const cookie = sessions.write('DemoShop', session, now);
  expect(sessions.read('DemoShop', cookie, now)).toEqual(session);
  expect(sessions.read('OtherShop', cookie, now)).toEqual({});
  expect(sessions.read('DemoShop', `x${cookie}`, now)).toEqual({});
  expect(sessions.read('DemoShop', undefined, now)).toEqual({});
  expect(sessions.read('DemoShop', cookie, new Date(now.getTime() + SESSION_SECONDS * 1000))).toEqual({});
});
