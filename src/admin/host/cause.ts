import type { Cause } from '../../host/log.ts';
import type { Visit } from '../visit.ts';

/** The cause of a change by a page of the installation. `route` is below /admin. */
export function causeOfPage({ user }: Visit<'host'>, route: string): Cause & { appName: string } {
  return { appId: user.userId, appName: user.email, method: 'POST', route: `/admin${route}` };
}
