import { messagesIn } from '../../kernel/messages.ts';
import type { BrowserName } from '../../people/accounts/browser-name.ts';
import type { Visit } from '../visit.ts';

/** Such as "Firefox on Windows". */
export function deviceText({ locale }: Visit, { browser, system }: BrowserName): string {
  const messages = messagesIn(locale).storefront.account.security;
  if (browser !== null && system !== null) return messages.browserOn({ browser, system });
  return browser ?? system ?? messages.unknown;
}
