import { messages } from '../../kernel/messages.ts';
import type { BrowserName } from '../../people/accounts/browser-name.ts';
import type { Visit } from '../visit.ts';

/** Such as "Firefox on Windows". */
export function deviceText({ locale }: Visit, { browser, system }: BrowserName): string {
  const words = messages(locale).storefront.account.security;
  if (browser !== null && system !== null) return words.browserOn({ browser, system });
  return browser ?? system ?? words.unknown;
}
