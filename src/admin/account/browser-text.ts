import type { BrowserName } from '../../people/accounts/browser-name.ts';
import type { Words } from '../messages.ts';

/** Such as "Firefox on Windows". */
export function browserText({ account }: Words, { browser, system }: BrowserName): string {
  if (browser !== null && system !== null) return account.browserOn({ browser, system });
  return browser ?? system ?? account.unknownBrowser;
}
