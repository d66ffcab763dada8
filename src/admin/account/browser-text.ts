import type { BrowserName } from '../../people/accounts/browser-name.ts';
import type { AdminMessages } from '../messages.ts';

/** Such as "Firefox on Windows". */
export function browserText({ account }: AdminMessages, { browser, system }: BrowserName): string {
  if (browser !== null && system !== null) return account.browserOn({ browser, system });
  return browser ?? system ?? account.unknownBrowser;
}
